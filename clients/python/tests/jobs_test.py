"""WHIR and jobs against real services: the program that PROOFMILL names. `proofmill whir verify` is the judge of WHIR."""

import array
import contextlib
import json
import pathlib
import subprocess
import tempfile
import unittest

import grpc
import proofmill
from proofmill.inputs import P
from service_test import PROGRAM, WHIR_PARAMETERS, Service

VARIABLES = WHIR_PARAMETERS["num_variables"]
VALUES = [7 * i for i in range(2**VARIABLES)]  # the value at a point z is 7 sum of z_j 2^(n-1-j)


def point(seed):
    return [[seed + j, 1, 0, P - 1, j] for j in range(VARIABLES)]


def value_at(place):
    return [sum(7 * z[k] << (VARIABLES - 1 - j) for j, z in enumerate(place)) % P for k in range(5)]


CLAIMS = [{"point": point(3)}, {"point": point(1000), "value": value_at(point(1000))}]


class ServicesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.services = []
        for name in ("first", "second"):
            (cls.folder / name).mkdir()
            cls.services.append(Service(cls.folder / name))
            cls.addClassCleanup(cls.services[-1].stop)
        cls.client, cls.other = (cls.enterClassContext(proofmill.Client(service.target)) for service in cls.services)
        cls.witness = cls.services[0].circuits["epoch-key-lite"][1]

    def judge(self, result, claims=None):
        """What `proofmill whir verify` says of the proof."""
        statement, proof = self.folder / "statement.json", self.folder / "proof.bin"
        statement.write_text(json.dumps({"parameters": WHIR_PARAMETERS, "claims": claims or result.claims}))
        proof.write_bytes(result.proof)
        return subprocess.run([PROGRAM, "whir", "verify", statement, proof], capture_output=True, text=True, check=False).stdout


class WhirTest(ServicesTest):
    def test_the_program_and_the_service_accept_a_proof_however_the_values_come(self):
        words = array.array("I", VALUES)
        file = self.folder / "polynomial.bin"
        file.write_bytes(words.tobytes())
        proofs = set()
        for values in (VALUES, words, memoryview(words), words.tobytes(), file, str(file)):
            for options in ({}, {"on_progress": lambda progress: None}):
                result = self.client.prove_whir("poly", values, CLAIMS, **options)
                proofs.add(result.proof)

        self.assertEqual(len(proofs), 1)
        self.assertEqual(result.claims, [{"point": claim["point"], "value": value_at(claim["point"])} for claim in CLAIMS])
        self.assertEqual(self.judge(result), "OK\n")
        self.assertIs(self.client.verify_whir("poly", result), True)
        self.assertGreater(result.stages["sumcheck"], 0)
        print("poly: proofmill whir verify says OK")

    def test_an_altered_proof_or_claim_is_not_valid(self):
        good = self.client.prove_whir("poly", VALUES, CLAIMS)
        altered = bytearray(good.proof)
        altered[100] ^= 1
        claims = [{**good.claims[0], "value": [1, 2, 3, 4, 5]}, good.claims[1]]
        for change in ({"proof": bytes(altered)}, {"proof": b""}, {"commitment": bytes(32)}, {"claims": claims},
                       {"claims": good.claims[::-1]}):
            fields = {**good.__dict__, **change}
            self.assertIs(self.client.verify_whir("poly", proofmill.WhirResult(**fields)), False, change.keys())
        self.assertEqual(self.judge(good, claims), "INVALID\n")

    def test_what_cannot_be_is_refused_without_a_value(self):
        for values in ([1, -77], [1, 77 << 40], [1.77]):
            with self.assertRaises(ValueError) as caught:
                self.client.prove_whir("poly", values, CLAIMS)
            self.assertNotIn("77", str(caught.exception))
        for element in ([1, 2, 3], [1, 2, 3, P]):
            with self.assertRaises(ValueError):
                self.client.prove_whir("poly", VALUES, [{"point": [element]}])
        for values, reason in ((VALUES[1:], "WITNESS_LENGTH"), ([P, *VALUES[1:]], "WITNESS_NOT_CANONICAL")):
            with self.assertRaises(proofmill.WitnessError) as caught:
                self.client.prove_whir("poly", values, CLAIMS)
            self.assertEqual(caught.exception.reason, reason)
        with self.assertRaises(proofmill.WitnessError) as caught:
            self.client.prove_whir("poly", VALUES, [CLAIMS[0], {"point": point(5), "value": [1, 2, 3, 4, 5]}])
        self.assertEqual(caught.exception.reason, "WITNESS_UNSATISFIED")
        with self.assertRaises(proofmill.RequestError):
            self.client.prove_whir("poly", VALUES, CLAIMS[:1])


class JobsTest(ServicesTest):
    def test_a_job_is_made_watched_asked_for_again_listed_and_forgotten(self):
        jobs = self.client.jobs
        job = jobs.create("epoch-key-lite", self.witness, request_id="order-1", job_timeout=30, priority="high")
        states = [seen.state for seen in jobs.watch(job.name)]
        result = jobs.result(job.name, timeout=60)

        self.assertEqual((job.request_id, job.circuit, states[-1]), ("order-1", "epoch-key-lite", "succeeded"))
        self.assertAlmostEqual((job.deadline - job.create_time).total_seconds(), 30, delta=1)
        self.assertIs(self.client.verify("epoch-key-lite", result.public_signals, result.proof), True)
        self.assertEqual(jobs.get(job.name).result, result)
        self.assertEqual(jobs.create("epoch-key-lite", self.witness, request_id="order-1", job_timeout=30).name, job.name)
        self.assertIn((job.name, "succeeded"), [(listed.name, listed.state) for listed in jobs.list()])
        with self.assertRaises(proofmill.RequestError) as caught:
            jobs.create("poly", evaluations=VALUES, claims=CLAIMS, request_id="order-1")
        self.assertEqual(caught.exception.reason, "REQUEST_ID_CONFLICT")
        jobs.delete(job.name)
        with self.assertRaises(proofmill.RequestError) as caught:
            jobs.get(job.name)
        self.assertEqual(caught.exception.reason, "JOB_UNKNOWN")

    def test_a_polynomial_is_proved_in_the_background_in_pieces_too(self):
        with proofmill.Client(self.services[0].target, unary_bytes_max=1000) as pieces:
            for client in (self.client, pieces):
                seen = []
                job = client.jobs.create("poly", evaluations=VALUES, claims=CLAIMS, on_progress=seen.append)

                self.assertEqual(self.judge(client.jobs.result(job.name)), "OK\n")
        self.assertEqual((seen[-1].phase, seen[-1].sent_bytes), ("sending", 4096))

    def test_a_job_that_fails_raises_its_error(self):
        witness = bytearray(self.witness.read_bytes())
        witness[-32] ^= 1
        job = self.client.jobs.create("epoch-key-lite", witness)
        with self.assertRaises(proofmill.WitnessError) as caught:
            self.client.jobs.result(job.name)
        self.assertEqual(caught.exception.reason, "WITNESS_UNSATISFIED")
        self.assertEqual(self.client.jobs.get(job.name).state, "failed")

    def test_a_job_is_given_up_and_whoever_leaves_a_watch_leaves_the_job_alone(self):
        jobs = [self.client.jobs.create("epoch-key-lite", self.witness, priority="low") for _ in range(12)]
        with contextlib.closing(self.client.jobs.watch(jobs[-2].name)) as watched:
            self.assertIn(next(watched).state, ("queued", "running", "succeeded"))
        self.client.jobs.cancel(jobs[-1].name)
        with self.assertRaises(proofmill.ProofmillError) as caught:
            self.client.jobs.result(jobs[-1].name)
        self.assertIs(caught.exception.code, grpc.StatusCode.CANCELLED)
        self.assertEqual(self.client.jobs.get(jobs[-1].name).state, "cancelled")
        self.assertEqual(self.client.jobs.result(jobs[-2].name).circuit, "epoch-key-lite")

    def test_another_process_tells_where_a_job_is(self):
        job = self.other.jobs.create("epoch-key-lite", self.witness)

        self.assertEqual(self.client.jobs.result(job.name).circuit, "epoch-key-lite")
        self.client.jobs.delete(job.name)
        with self.assertRaises(proofmill.RequestError):
            self.other.jobs.get(job.name)

    def test_what_is_no_job_is_refused(self):
        for wrong in ({}, {"wtns": self.witness, "evaluations": VALUES, "claims": CLAIMS}, {"evaluations": VALUES}):
            with self.assertRaises(ValueError):
                self.client.jobs.create("poly", **wrong)
        with self.assertRaises(proofmill.DeadlineError):
            self.client.jobs.result("jobs/a/b", timeout=1e-6)


if __name__ == "__main__":
    unittest.main()
