#!/usr/bin/env python3
"""With fixed blinding the binary's proofs equal those of the Python oracle, byte for byte.

Three comparisons: with the committed golden proofs; with the oracle run now, on keys of the oracle's own setup and on
keys that `proofmill setup` makes of the same circuits; and with the oracle run now on synthetic circuits of domain
4096.
"""

import atexit
import hashlib
import json
import os
import shutil
import tempfile

import harness
from harness import KEY, WITNESS, case_path, proofmill, read_bytes, read_json

from groth16_oracle import blind, proof_to_json, public_to_json, witness_sums
from iden3_files import read_wtns, read_zkey
from make_goldens import BLINDINGS
from special_circuits import write_all

GOLDEN = os.path.join(harness.TESTS, "vectors", "golden")


class OracleTest(harness.CaseTest):
    special_folder = None  # files of the special circuits, written once

    def assert_proof(self, key, witness, blinding, expected_proof, expected_public):
        """The two files are the expected values in the layout of snarkjs, byte for byte."""
        proof, public = self.path("proof.json"), self.path("public.json")
        self.assert_success(proofmill("prove", key, witness, proof, public, "--blinding", "%s,%s" % blinding))

        self.assertEqual(read_bytes(proof).decode(), json.dumps(expected_proof, indent=1))
        self.assertEqual(read_bytes(public).decode(), json.dumps(expected_public, indent=1))

    def assert_proofs_of_the_oracle(self, key_path, witness_path):
        key, witness = read_zkey(read_bytes(key_path)), read_wtns(read_bytes(witness_path))
        sums = witness_sums(key, witness)
        for blinding in BLINDINGS:
            self.assert_proof(key_path, witness_path, blinding, proof_to_json(blind(key, sums, *blinding)),
                              public_to_json(key, witness))


class Golden(OracleTest):
    def check_golden(self, name):
        golden = read_json(GOLDEN, name + ".json")
        key, witness = golden_inputs(name)
        self.assertEqual(hashlib.sha256(read_bytes(key)).hexdigest(), golden["zkey_sha256"])
        self.assertEqual(hashlib.sha256(read_bytes(witness)).hexdigest(), golden["wtns_sha256"])

        for entry in golden["proofs"]:
            self.assert_proof(key, witness, (entry["r"], entry["s"]), entry["proof"], golden["public"])


class Live(OracleTest):
    """The oracle computes anew, so that a stale golden cannot hide an error."""

    def check_oracle_key(self, name):
        self.assert_proofs_of_the_oracle(*golden_inputs(name))

    def check_our_setup(self, name):
        circuit, witness = (os.path.join(self.special_folder, name + suffix) for suffix in (".r1cs", ".wtns"))
        key = self.path("ours.zkey")
        self.assert_success(proofmill("setup", circuit, key, "--insecure_test_setup", "--seed", 7))

        self.assert_proofs_of_the_oracle(key, witness)

    def test_a_synthetic_circuit_of_domain_4096(self):
        log2_domain = 6 if harness.options.sanitizer else 12
        for profile in ("dense", "bits"):
            key, witness = self.path(profile + ".zkey"), self.path(profile + ".wtns")
            self.assert_success(proofmill("synth", "--log2_domain", log2_domain, "--profile", profile, "--seed", 3, key,
                                          witness))

            self.assert_proofs_of_the_oracle(key, witness)


def golden_inputs(name):
    special = os.path.join(OracleTest.special_folder, name)
    if os.path.exists(special + ".zkey"):
        return special + ".zkey", special + ".wtns"
    return case_path(name, KEY), case_path(name, WITNESS)


def define_tests():
    OracleTest.special_folder = tempfile.mkdtemp(prefix="proofmill-special-")
    atexit.register(shutil.rmtree, OracleTest.special_folder)
    special = write_all(OracleTest.special_folder)
    domain_max = 256 if harness.options.sanitizer else 4096
    goldens = [file[:-5] for file in sorted(os.listdir(GOLDEN)) if file.endswith(".json")]
    available = [name for name in goldens if os.path.exists(golden_inputs(name)[0])
                 and read_json(GOLDEN, name + ".json")["domain_size"] <= domain_max]
    harness.add_tests(Golden, available, Golden.check_golden, "the_golden_proofs_of_")
    small = [name for name in available if read_json(GOLDEN, name + ".json")["domain_size"] <= 256]
    harness.add_tests(Live, small, Live.check_oracle_key, "the_oracle_now_on_")
    circuits = [name for name in special if not name.startswith("scrambled_")]  # those differ only in their keys
    harness.add_tests(Live, circuits, Live.check_our_setup, "a_key_of_our_setup_for_")


if __name__ == "__main__":
    harness.main(define_tests)
