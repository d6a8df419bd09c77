#!/usr/bin/env python3
"""Keys and proofs in both directions: snarkjs works with our keys, and we verify the proofs that snarkjs makes."""

import atexit
import json
import os
import shutil
import tempfile

import harness
from harness import KEY, WITNESS, case_path, proofmill, read_bytes, read_json

from special_circuits import CIRCUITS, write_all

CONTRIBUTION_NAME = "proofmill insecure test setup"


class ExchangeTest(harness.CaseTest):
    special_folder = None

    @classmethod
    def setUpClass(cls):
        cls.judge = harness.Judge()
        cls.addClassCleanup(cls.judge.close)

    def check_exchange(self, key, witness):
        """Both provers, both verifiers and both exports on one key."""
        vkey = self.path("vkey.json")
        self.assert_success(proofmill("vkey", key, vkey))
        self.assertEqual(read_json(vkey), self.judge.ask("vkey", zkey=key))

        ours, our_public = self.path("ours.json"), self.path("our_public.json")
        self.assert_success(proofmill("prove", key, witness, ours, our_public))
        self.assertIs(self.judge.ask("verify", vkey=vkey, publicSignals=our_public, proof=ours), True)

        theirs, their_public = self.path("theirs.json"), self.path("their_public.json")
        self.judge.ask("prove", zkey=key, wtns=witness, proof=theirs, publicSignals=their_public)
        self.assert_valid(proofmill("verify", vkey, their_public, theirs))
        self.assertEqual(read_json(our_public), read_json(their_public))
        self.check_calldata(our_public, ours)

    def check_calldata(self, public, proof):
        line = self.assert_success(proofmill("calldata", public, proof)).stdout

        self.assertEqual(line, self.judge.ask("calldata", publicSignals=public, proof=proof) + "\n")

    def check_contribution(self, key, witness):
        """snarkjs reads our section 10 and adds to it; the new key proves, and still carries our warning."""
        contributed = self.path("contributed.zkey")
        self.judge.ask("contribute", zkey=key, contributed=contributed, name="second", entropy="fixed")
        report = json.loads(self.assert_success(proofmill("inspect", contributed, "--json")).stdout)
        names = [row["name"] for row in report["contributions"]]

        self.assertEqual(names, [CONTRIBUTION_NAME, "second"])
        self.check_exchange(contributed, witness)


class OurSetup(ExchangeTest):
    def check_circuit(self, name):
        circuit, witness = (os.path.join(self.special_folder, name + suffix) for suffix in (".r1cs", ".wtns"))
        key = self.path("key.zkey")
        self.assert_success(proofmill("setup", circuit, key, "--insecure_test_setup", "--seed", 5))

        self.assertIs(self.judge.ask("checkWitness", r1cs=circuit, wtns=witness), True)
        self.check_exchange(key, witness)
        self.check_contribution(key, witness)

    def test_synthetic_circuits(self):
        for profile in ("dense", "bits"):
            for log2_domain in (3, 6, 9):
                with self.subTest(profile=profile, log2_domain=log2_domain):
                    key, witness = self.path("synth.zkey"), self.path("synth.wtns")
                    self.assert_success(proofmill("synth", "--log2_domain", log2_domain, "--profile", profile, key,
                                                  witness))

                    self.check_exchange(key, witness)
                    self.check_contribution(key, witness)

    def test_every_synthetic_witness_satisfies_its_circuit_and_each_has_public_signals_of_its_own(self):
        for profile in ("dense", "bits"):
            shape = ("--log2_domain", 8, "--profile", profile, "--seed", 2)
            circuit, key = self.path("synth.r1cs"), self.path("synth.zkey")
            self.assert_success(proofmill("synth", *shape, "--r1cs", circuit, key, self.path("0.wtns")))
            signals = set()
            for seed in range(1, 4):
                witness = self.path("other.wtns")
                self.assert_success(proofmill("synth", *shape, "--witness_only", "--witness_seed", seed, witness))
                self.assertIs(self.judge.ask("checkWitness", r1cs=circuit, wtns=witness), True)
                self.check_exchange(key, witness)
                signals.add(json.dumps(read_json(self.path("our_public.json"))))

            self.assertEqual(len(signals), 3)

    def test_one_seed_gives_one_key_and_another_seed_another(self):
        circuit = os.path.join(self.special_folder, "all_public.r1cs")
        keys = []
        for i, seed in enumerate((5, 5, 6)):
            key = self.path(f"{i}.zkey")
            self.assert_success(proofmill("setup", circuit, key, "--insecure_test_setup", "--seed", seed))
            keys.append(read_bytes(key))

        self.assertEqual(keys[0], keys[1])
        self.assertNotEqual(keys[0], keys[2])

    def test_the_setup_needs_the_flag_that_says_what_it_is(self):
        key = self.path("key.zkey")
        outcome = self.assert_refused(proofmill("setup", os.path.join(self.special_folder, "all_public.r1cs"), key))

        self.assertIn("--insecure_test_setup", outcome.stderr)
        self.assertFalse(os.path.exists(key))


class TheirKeys(ExchangeTest):
    def check_case(self, name):
        self.check_exchange(case_path(name, KEY), case_path(name, WITNESS))


def define_tests():
    ExchangeTest.special_folder = tempfile.mkdtemp(prefix="proofmill-special-")
    atexit.register(shutil.rmtree, ExchangeTest.special_folder)
    write_all(ExchangeTest.special_folder)
    harness.add_tests(OurSetup, CIRCUITS, OurSetup.check_circuit, "setup_of_")
    small = [case["name"] for case in harness.good_cases(domain_max=1024)]
    harness.add_tests(TheirKeys, small, TheirKeys.check_case, "case_")


if __name__ == "__main__":
    harness.main(define_tests)
