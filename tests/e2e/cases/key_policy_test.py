#!/usr/bin/env python3
"""Keys that are well formed and still not to be trusted, and what stands beside a key on disk."""

import json
import os

import harness
from harness import KEY, VKEY, WITNESS, case_path, proofmill, read_bytes

from iden3_files import read_zkey, write_r1cs, write_wtns, write_zkey
from oracle_setup import setup
from special_circuits import all_public


class KeyPolicy(harness.CaseTest):
    def prove(self, key, witness, *flags):
        return proofmill("prove", key, witness, self.path("proof.json"), self.path("public.json"), *flags)

    def case_files(self):
        """A copy of a case in a folder of its own, so that files can be put beside its key."""
        key = self.write("circuit.zkey", read_bytes(case_path("sj-mul3", KEY)))
        return key, case_path("sj-mul3", WITNESS)

    def assert_not_proved(self, outcome, *words):
        self.assert_refused(outcome)
        self.assertFalse(os.path.exists(self.path("proof.json")))
        for word in words:
            self.assertIn(word, outcome.stderr)

    def test_a_key_that_nobody_contributed_to_is_refused_unless_a_flag_accepts_it(self):
        circuit, witness = all_public()
        key = setup(circuit, "nobody", delta=1)  # as a fresh `groth16 setup` leaves it
        paths = self.write("key.zkey", write_zkey(key)), self.write("w.wtns", write_wtns(witness))

        self.assert_not_proved(self.prove(*paths), "gamma", "delta", "allow_unsafe_setup")
        self.assert_success(self.prove(*paths, "--allow_unsafe_setup"))
        self.assert_success(proofmill("vkey", paths[0], self.path("vkey.json")))
        results = (self.path(name) for name in ("vkey.json", "public.json", "proof.json"))
        self.assert_valid(proofmill("verify", *results))

    def test_a_verification_key_beside_the_key_must_be_its_own(self):
        files = self.case_files()
        self.write("verification_key.json", read_bytes(case_path("sj-mul3", VKEY)))
        self.assert_success(self.prove(*files))
        os.remove(self.path("proof.json"))

        for name, content in (("of another setup", read_bytes(case_path("mul3", VKEY))), ("cut", b'{"protocol"'),
                              ("empty", b"")):
            with self.subTest(name):
                self.write("verification_key.json", content)
                self.assert_not_proved(self.prove(*files), "verification_key.json")

    def test_the_key_of_another_setup_of_the_same_circuit_makes_no_proof_with_this_vkey(self):
        self.write("circuit.zkey", read_bytes(case_path("mul3", KEY)))
        self.write("circuit.verification_key.json", read_bytes(case_path("sj-mul3", VKEY)))

        self.assert_not_proved(self.prove(self.path("circuit.zkey"), case_path("mul3", WITNESS)), "verification_key")

    def test_an_unsatisfied_witness_is_blamed_and_not_shown(self):
        circuit, witness = all_public()
        witness[2] = 1234567890123456789012345678901234567890
        key = self.write("key.zkey", write_zkey(setup(circuit, "blame")))
        outcome = self.prove(key, self.write("w.wtns", write_wtns(witness)))

        self.assert_not_proved(outcome, "does not satisfy")
        self.assertNotIn("1234567890123456789", outcome.stderr)

    def test_with_the_circuit_beside_the_key_the_failing_constraint_is_named(self):
        circuit, witness = all_public()
        witness[4] += 1  # only in constraint 1
        key = self.write("key.zkey", write_zkey(setup(circuit, "blame")))
        self.write("key.r1cs", write_r1cs(circuit))

        self.assert_not_proved(self.prove(key, self.write("w.wtns", write_wtns(witness))), "does not satisfy",
                               "constraint 1")

    def test_the_name_of_a_contribution_cannot_write_to_the_terminal(self):
        key = read_zkey(read_bytes(case_path("mul3", KEY)))
        data = bytearray(write_zkey(key))
        name = b"\x1b[31mred\nline\x07\xff"
        contribution = bytes(64 * 3 + 128 + 64) + bytes(4) + (2 + len(name)).to_bytes(4, "little")
        contribution += b"\x01" + bytes([len(name)]) + name
        section = bytes(64) + (1).to_bytes(4, "little") + contribution
        data[-80:] = (10).to_bytes(4, "little") + len(section).to_bytes(8, "little") + section
        path = self.write("key.zkey", bytes(data))

        self.assert_success(self.prove(path, case_path("mul3", WITNESS)))
        text = self.assert_success(proofmill("inspect", path)).stdout
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\x07", text)
        listing = json.loads(self.assert_success(proofmill("inspect", path, "--json")).stdout)
        self.assertIn("red", json.dumps(listing))

    def test_inspect_tells_the_facts_of_a_good_key(self):
        facts = json.loads(self.assert_success(proofmill("inspect", case_path("sj-mul3", KEY), "--json")).stdout)
        expected = next(case for case in harness.good_cases() if case["name"] == "sj-mul3")
        values = [value for value in facts.values() if isinstance(value, int) and not isinstance(value, bool)]

        for fact in ("nVars", "nPublic", "domainSize", "nCoefs", "zkeyBytes"):
            self.assertIn(expected[fact], values, fact)
        self.assertEqual(facts["kind"], "zkey")


if __name__ == "__main__":
    harness.main(lambda: None)
