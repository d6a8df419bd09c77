#!/usr/bin/env python3
"""Every good case through the real binary, with snarkjs as the judge: prove, verify, vkey, calldata, public signals."""

import json
import os

import harness
from harness import KEY, PUBLIC, VKEY, WITNESS, case_path, proofmill, read_bytes, read_json

from bn254 import Q  # the oracle, on the path since harness

DOMAIN_MAX_UNDER_SANITIZER = 1024


class ProvingTest(harness.CaseTest):
    def prove(self, name, prefix=""):
        """Proves a case; returns the paths of the proof and of the public signals."""
        proof, public = self.path(prefix + "proof.json"), self.path(prefix + "public.json")
        self.assert_success(proofmill("prove", case_path(name, KEY), case_path(name, WITNESS), proof, public))
        return proof, public


class GoodCases(ProvingTest):
    @classmethod
    def setUpClass(cls):
        cls.judge = harness.Judge()
        cls.addClassCleanup(cls.judge.close)

    def check_case(self, name):
        proof, public = self.prove(name)
        vkey = case_path(name, VKEY)

        self.assertEqual(read_json(public), read_json(case_path(name, PUBLIC)))
        self.assertEqual(list(read_json(proof)), ["pi_a", "pi_b", "pi_c", "protocol", "curve"])
        self.assert_snarkjs_layout(proof)
        self.assert_snarkjs_layout(public)
        self.assert_valid(proofmill("verify", vkey, public, proof))
        self.assertIs(self.judge.ask("verify", vkey=vkey, publicSignals=public, proof=proof), True)
        self.check_calldata(public, proof)
        self.check_vkey(name)

    def assert_snarkjs_layout(self, path):
        """One space a level, as the command line of snarkjs writes it."""
        text = read_bytes(path).decode()
        self.assertEqual(text, json.dumps(json.loads(text), indent=1))

    def check_calldata(self, public, proof):
        line = self.assert_success(proofmill("calldata", public, proof)).stdout

        self.assertEqual(line, self.judge.ask("calldata", publicSignals=public, proof=proof) + "\n")

    def check_vkey(self, name):
        written = self.path("vkey.json")
        self.assert_success(proofmill("vkey", case_path(name, KEY), written))

        self.assertEqual(read_json(written), read_json(case_path(name, VKEY)))
        self.assertEqual(len(read_json(written)["vk_alphabeta_12"]), 2)
        self.assert_snarkjs_layout(written)


class Proofs(ProvingTest):
    """What holds of the proofs of one small case."""

    VKEY = property(lambda self: case_path("mul3", VKEY))

    def test_two_proofs_of_one_witness_differ_and_both_verify(self):
        first, second = self.prove("mul3", "first-"), self.prove("mul3", "second-")

        for proof, public in (first, second):
            self.assert_valid(proofmill("verify", self.VKEY, public, proof))
        for element in ("pi_a", "pi_b", "pi_c"):
            self.assertNotEqual(read_json(first[0])[element], read_json(second[0])[element])

    def test_a_proof_does_not_verify_with_other_public_signals(self):
        proof, public = self.prove("mul3")
        signals = read_json(public)
        for i in range(len(signals)):
            changed = list(signals)
            changed[i] = str(int(changed[i]) + 1)

            self.assert_invalid(proofmill("verify", self.VKEY, self.write("other.json", changed), proof))

    def test_a_proof_does_not_verify_under_another_setup_of_the_same_circuit(self):
        proof, public = self.prove("mul3")

        self.assert_invalid(proofmill("verify", case_path("sj-mul3", VKEY), public, proof))

    def test_elements_of_two_proofs_do_not_mix(self):
        first, public = self.prove("mul3", "first-")
        second, _ = self.prove("mul3", "second-")
        for element in ("pi_a", "pi_b", "pi_c"):
            mixed = read_json(first) | {element: read_json(second)[element]}

            self.assert_invalid(proofmill("verify", self.VKEY, public, self.write("mixed.json", mixed)))

    def test_a_and_b_negated_together_verify_too(self):
        """Groth16 proofs are malleable, and users must know it; a verifier that refused this would be a wrong one."""
        proof, public = self.prove("mul3")
        twin = read_json(proof)
        twin["pi_a"][1] = negated(twin["pi_a"][1])
        twin["pi_b"][1] = [negated(part) for part in twin["pi_b"][1]]

        self.assert_valid(proofmill("verify", self.VKEY, public, self.write("twin.json", twin)))

    def test_nothing_is_written_beside_the_inputs(self):
        self.write("circuit.zkey", read_bytes(case_path("mul3", KEY)))
        self.write("witness.wtns", read_bytes(case_path("mul3", WITNESS)))
        os.mkdir(self.path("out"))
        before = folder_state(self.folder)
        self.assert_success(proofmill("prove", self.path("circuit.zkey"), self.path("witness.wtns"),
                                      self.path("out/proof.json"), self.path("out/public.json")))

        self.assertEqual(folder_state(self.folder), before)
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["proof.json", "public.json"])


def negated(coordinate):
    return str(-int(coordinate) % Q)


def folder_state(folder):
    """Names, sizes and times of the files (folders aside) in `folder`."""
    return {entry.name: (entry.stat().st_size, entry.stat().st_mtime_ns)
            for entry in os.scandir(folder) if entry.is_file()}


def define_tests():
    domain_max = DOMAIN_MAX_UNDER_SANITIZER if harness.options.sanitizer else 1 << 28
    names = [case["name"] for case in harness.good_cases(domain_max)]
    harness.add_tests(GoodCases, names, GoodCases.check_case, "snarkjs_agrees_on_")


if __name__ == "__main__":
    harness.main(define_tests)
