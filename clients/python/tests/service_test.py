"""The client against the real service: the program that PROOFMILL names. `proofmill verify` is the judge."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import grpc
import proofmill

PROGRAM = os.environ["PROOFMILL"]
ROOT = pathlib.Path(__file__).resolve().parents[3]
BUNDLED = ROOT / "deploy/examples/circuits"
SEMAPHORE = ROOT.parent / "shared/cases/semaphore-20"
READY_SECONDS_MAX = 60
# A circuit of WHIR that any machine proves in no time.
WHIR_PARAMETERS = {"num_variables": 10, "folding": {"constant": 2}, "security_level": 30, "max_pow_bits": 6, "num_claims": 2}


class Service:
    """A running service with the bundled circuit, "poly" of WHIR, and semaphore-20 where the cases of real applications are."""

    def __init__(self, folder, *flags):
        self.circuits = {"epoch-key-lite": (BUNDLED / "epoch-key-lite/circuit.zkey", BUNDLED / "epoch-key-lite/canary.wtns")}
        if SEMAPHORE.exists():
            self.circuits["semaphore-20"] = (SEMAPHORE / "circuit.zkey", SEMAPHORE / "witness.wtns")
        for name, (key, _) in self.circuits.items():
            (folder / "circuits" / name).mkdir(parents=True)
            (folder / "circuits" / name / "circuit.zkey").symlink_to(key)
        (folder / "circuits/poly.whir.json").write_text(json.dumps(WHIR_PARAMETERS))
        self._ports = folder / "ports"
        listeners = [word for name in ("listen", "admin_listen", "metrics_listen") for word in (f"--{name}", "127.0.0.1:0")]
        with open(folder / "server.log", "wb") as log:
            self._process = subprocess.Popen([PROGRAM, "serve", "--circuits", str(folder / "circuits"), "--backend", "cpu",
                                              "--port_file", str(self._ports), *listeners, *flags],
                                             stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._wait(folder)

    def _wait(self, folder):
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                raise AssertionError(f"expected a ready service, got: {(folder / 'server.log').read_text()[-2000:]}")
            time.sleep(0.1)

    def _is_ready(self):
        lines = self._ports.read_text().splitlines() if self._ports.exists() else []
        addresses = dict(line.split("=", 1) for line in lines)
        self.target = addresses.get("data")
        return "metrics" in addresses and subprocess.run([PROGRAM, "client", "health", "--target", addresses["admin"]],
                                                         capture_output=True, check=False).returncode == 0

    def stop(self):
        self._process.terminate()
        assert self._process.wait() == 0


class ServiceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.service = Service(cls.folder)
        cls.addClassCleanup(cls.service.stop)
        cls.client = cls.enterClassContext(proofmill.Client(cls.service.target))

    def judge(self, key, result):
        """What `proofmill verify` says of the proof."""
        files = {name: self.folder / f"{name}.json" for name in ("vkey", "public", "proof")}
        files["vkey"].unlink(missing_ok=True)
        subprocess.run([PROGRAM, "vkey", key, files["vkey"]], check=True, capture_output=True)
        files["public"].write_text(json.dumps(result.public_signals))
        files["proof"].write_text(json.dumps(result.proof))
        return subprocess.run([PROGRAM, "verify", *files.values()], capture_output=True, text=True, check=False).stdout

    def test_proofs_hold_by_one_message_and_by_a_stream(self):
        for circuit, (key, witness) in self.service.circuits.items():
            seen = []
            for options in ({}, {"on_progress": seen.append}):
                result = self.client.prove(circuit, witness, **options)

                self.assertEqual(self.judge(key, result), "OK\n")
                self.assertIs(self.client.verify(circuit, result.public_signals, result.proof), True)
                self.assertEqual((result.circuit, result.device), (circuit, "cpu"))
                self.assertGreater(result.stages["msm_a"], 0)
                self.assertGreaterEqual(result.run_time, result.stages["msm_a"])
            self.assertIn("sending", [progress.phase for progress in seen])
            self.assertIn("running", [progress.phase for progress in seen])
            print(f"{circuit}: proofmill verify says OK, {len(seen)} progress events")

    def test_altered_proofs_do_not_hold(self):
        _, witness = self.service.circuits["epoch-key-lite"]
        result = self.client.prove("epoch-key-lite", witness)
        signals = ["1", *result.public_signals[1:]]

        self.assertIs(self.client.verify("epoch-key-lite", signals, result.proof), False)
        self.assertIs(self.client.verify("epoch-key-lite", [str(2**254)], result.proof), False)
        self.assertIs(self.client.verify("epoch-key-lite", result.public_signals, {**result.proof, "pi_a": ["1", "1", "1"]}), False)

    def test_refusals_have_their_classes_and_reasons(self):
        witness = bytearray(self.service.circuits["epoch-key-lite"][1].read_bytes())
        with self.assertRaises(proofmill.CircuitError) as caught:
            self.client.prove("no-such-circuit", witness)
        self.assertEqual(caught.exception.reason, "CIRCUIT_UNKNOWN")
        witness[-32] ^= 1
        with self.assertRaises(proofmill.WitnessError) as caught:
            self.client.prove("epoch-key-lite", witness)
        self.assertEqual(caught.exception.reason, "WITNESS_UNSATISFIED")
        self.assertIs(caught.exception.code, grpc.StatusCode.INVALID_ARGUMENT)

    def test_circuits_are_listed_and_one_comes_with_its_verification_key(self):
        states = {circuit.id: circuit.state for circuit in self.client.circuits()}
        expected = json.loads((BUNDLED / "epoch-key-lite/verification_key.json").read_text())

        self.assertEqual(states, {circuit: "ready" for circuit in [*self.service.circuits, "poly"]})
        self.assertEqual(self.client.circuit("epoch-key-lite").verification_key["IC"], expected["IC"])
        self.assertEqual([self.client.circuit(circuit).system for circuit in ("epoch-key-lite", "poly")], ["groth16", "whir"])

    def test_the_example_proves_and_verifies(self):
        example = ROOT / "clients/python/examples/prove.py"
        output = subprocess.run([sys.executable, example, "epoch-key-lite", self.service.circuits["epoch-key-lite"][1]], text=True,
                                env={**os.environ, "PROOFMILL_TARGET": self.service.target}, capture_output=True, check=True).stdout

        self.assertEqual(output.splitlines()[0], "connecting ")
        self.assertEqual(output.splitlines()[-1], "OK")


class MutualTlsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        request = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        self.openssl(*request, "-x509", "-days", "1", "-subj", "/CN=test authority", "-keyout", "ca.key", "-out", "ca.pem")
        for name in ("server", "client"):
            self.openssl(*request, "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:prover.test", "-keyout", f"{name}.key",
                         "-out", f"{name}.csr")
            self.openssl("x509", "-req", "-days", "1", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                         "-copy_extensions", "copy", "-out", f"{name}.pem")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def test_with_the_right_files_a_proof_is_made_and_without_any_of_them_none_is(self):
        path = {name: str(self.folder / name) for name in ("ca.pem", "server.pem", "server.key", "client.pem", "client.key")}
        service = Service(self.folder, "--tls_cert", path["server.pem"], "--tls_key", path["server.key"], "--tls_client_ca", path["ca.pem"])
        self.addCleanup(service.stop)
        right = {"ca_file": path["ca.pem"], "cert_file": path["client.pem"], "key_file": path["client.key"], "tls_server_name": "prover.test"}
        witness = service.circuits["epoch-key-lite"][1]

        def prove(**options):
            with proofmill.Client(service.target, retry=proofmill.RetryPolicy(attempts_max=1), **options) as client:
                return client.prove("epoch-key-lite", witness)

        self.assertEqual(prove(**right).circuit, "epoch-key-lite")
        for wrong in ({"ca_file": None}, {"tls_server_name": "other.test"}, {"cert_file": None, "key_file": None}):
            with self.assertRaises(proofmill.UnavailableError):
                prove(**{**right, **wrong})


if __name__ == "__main__":
    unittest.main()
