#!/usr/bin/env python3
"""Damaged and unusual keys, witnesses and circuits: the manifest's `corrupt` cases and our own mutations, as one table.

Whatever the input, the binary ends by itself with an answer. "reject" and "no-valid-proof": exit code 2, one line on
stderr, no output file, under two seconds and 64 MiB plus twice the size of the inputs. "ok": a proof that verifies.
"reject-or-ok": one of the two. Under sanitizers time and memory are not judged; a report is a failure.
"""

import os
import random

import harness
from harness import KEY, PUBLIC, VKEY, WITNESS, case_path, proofmill, read_bytes, read_json

import key_mutations
import r1cs_mutations
import witness_mutations
from iden3_files import write_r1cs
from special_circuits import all_public

SECONDS_MAX = 2.0
MEMORY_BASE = 64 << 20
RANDOM_FLIPS = {"key": 200, "witness": 60}
RANDOM_FLIPS_UNDER_SANITIZER = {"key": 30, "witness": 10}
BASE = "sj-mul3"


class DamagedTest(harness.CaseTest):
    def assert_rejected(self, outcome, inputs, outputs, says=()):
        self.assert_refused(outcome)
        for path in outputs:
            self.assertFalse(os.path.lexists(path), f"{path} was written")
        self.assertEqual(os.listdir(self.path("out")), [], "something was left in the output folder")
        for word in says:
            self.assertIn(word.lower(), outcome.stderr.lower(), outcome.describe())
        if not harness.options.sanitizer:
            limit = MEMORY_BASE + 2 * sum(os.path.getsize(path) for path in inputs)
            self.assertLess(outcome.seconds, SECONDS_MAX, outcome.describe())
            self.assertLess(harness.own_peak_bytes(), MEMORY_BASE, "this program is too big to measure its children")
            self.assertLessEqual(outcome.peak_bytes, limit, outcome.describe())

    def judge_prove(self, key, witness, expect, vkey, expected_public, says=()):
        os.makedirs(self.path("out"), exist_ok=True)
        proof, public = self.path("out/proof.json"), self.path("out/public.json")
        outcome = proofmill("prove", key, witness, proof, public)
        self.assert_no_crash(outcome)

        if expect == "ok" or (expect == "reject-or-ok" and outcome.exit_code == 0):
            self.assert_success(outcome)
            self.assertEqual(read_json(public), read_json(expected_public))
            self.assert_valid(proofmill("verify", vkey, public, proof))
        else:
            self.assert_rejected(outcome, [key, witness], [proof, public], says)

    def judge_base(self, key, witness, expect, says=()):
        self.judge_prove(key, witness, expect, case_path(BASE, VKEY), case_path(BASE, PUBLIC), says)


class Manifest(DamagedTest):
    entries = {}

    def check_entry(self, name):
        folder = os.path.join(harness.cases_folder(), "corrupt")
        key, witness = (os.path.join(folder, name, file) for file in (KEY, WITNESS))

        self.judge_prove(key, witness, self.entries[name]["expect"], os.path.join(folder, VKEY),
                         os.path.join(folder, PUBLIC))

    def check_inspect(self, name):
        """Whoever is given a strange file looks into it first."""
        for file in (KEY, WITNESS):
            outcome = proofmill("inspect", os.path.join(harness.cases_folder(), "corrupt", name, file))

            self.assert_no_crash(outcome)
            self.assertIn(outcome.exit_code, (0, 2), outcome.describe())


class Mutations(DamagedTest):
    tables = {}

    def check_key(self, name):
        mutation = self.tables["key"][name]
        key = self.write("key.zkey", mutation.make(read_bytes(case_path(BASE, KEY))))

        self.judge_base(key, case_path(BASE, WITNESS), mutation.expect, mutation.says)

    def check_witness(self, name):
        mutation = self.tables["witness"][name]
        witness = self.write("w.wtns", mutation.make(read_bytes(case_path(BASE, WITNESS))))

        self.judge_base(case_path(BASE, KEY), witness, mutation.expect, mutation.says)

    def check_circuit(self, name):
        mutation = self.tables["circuit"][name]
        circuit = self.write("c.r1cs", mutation.make(write_r1cs(all_public()[0])))
        os.mkdir(self.path("out"))
        key = self.path("out/key.zkey")
        outcome = proofmill("setup", circuit, key, "--insecure_test_setup")

        if mutation.expect == "ok":
            self.assert_success(outcome)
        else:
            self.assert_rejected(outcome, [circuit], [key], mutation.says)


class Unusual(DamagedTest):
    """Inputs that are not a changed byte string."""

    def test_single_flipped_bits_give_an_error_or_a_proof_that_verifies(self):
        counts = RANDOM_FLIPS_UNDER_SANITIZER if harness.options.sanitizer else RANDOM_FLIPS
        generator = random.Random(1)
        for kind, file in (("key", KEY), ("witness", WITNESS)):
            base = read_bytes(case_path(BASE, file))
            for _ in range(counts[kind]):
                bit = generator.randrange(8 * len(base))
                flipped = bytearray(base)
                flipped[bit // 8] ^= 1 << bit % 8
                paths = {"key": case_path(BASE, KEY), "witness": case_path(BASE, WITNESS)}
                paths[kind] = self.write("flipped", bytes(flipped))
                with self.subTest(file=kind, bit=bit):
                    self.judge_flipped(paths["key"], paths["witness"])

    def judge_flipped(self, key, witness):
        """A flipped bit can leave a good key (in a contribution record, for one), so a proof is fine if it verifies."""
        os.makedirs(self.path("out"), exist_ok=True)
        proof, public = self.path("out/proof.json"), self.path("out/public.json")
        outcome = proofmill("prove", key, witness, proof, public)
        self.assert_no_crash(outcome)
        if outcome.exit_code == 0:
            self.assert_valid(proofmill("verify", case_path(BASE, VKEY), public, proof))
            os.remove(proof)
            os.remove(public)
        else:
            self.assert_rejected(outcome, [key, witness], [proof, public])

    def test_a_length_of_more_than_32_bits_is_not_cut_to_32(self):
        """Section 7 is 2^32 bytes too long, in a file that really is: a sparse one."""
        container = key_mutations.Container(read_bytes(case_path(BASE, KEY)))
        container.order([1, 2, 3, 4, 5, 6, 8, 9, 10, 7])
        data = container.bytes()
        offset = container.length_offset(7)
        data = data[:offset] + (len(container[7]) + (1 << 32)).to_bytes(8, "little") + data[offset + 8 :]
        key = self.write("sparse.zkey", data)
        os.truncate(key, len(data) + (1 << 32))

        self.judge_base(key, case_path(BASE, WITNESS), "reject", ("section 7", str(len(container[7]) + (1 << 32))))

    def test_things_that_are_not_files_are_refused_without_waiting(self):
        os.mkfifo(self.path("fifo"))
        os.mkdir(self.path("folder"))
        for thing in (self.path("fifo"), self.path("folder"), "/dev/zero", "/dev/null", self.path("nothing"), ""):
            with self.subTest(thing=thing):
                self.judge_not_file(thing, case_path(BASE, WITNESS))
                self.judge_not_file(case_path(BASE, KEY), thing)

    def judge_not_file(self, key, witness):
        os.makedirs(self.path("out"), exist_ok=True)
        outputs = [self.path("out/proof.json"), self.path("out/public.json")]

        self.assert_rejected(proofmill("prove", key, witness, *outputs, seconds_max=20), [], outputs)

    def test_a_link_to_a_key_is_as_good_as_the_key(self):
        os.symlink(os.path.abspath(case_path(BASE, KEY)), self.path("link.zkey"))

        self.judge_base(self.path("link.zkey"), case_path(BASE, WITNESS), "ok")

    def test_a_refused_proof_leaves_the_old_files_alone(self):
        proof, public = self.write("proof.json", "old proof"), self.write("public.json", "old public")
        witness = self.write("w.wtns", read_bytes(case_path(BASE, WITNESS))[:-1])
        self.assert_refused(proofmill("prove", case_path(BASE, KEY), witness, proof, public))

        self.assertEqual((read_bytes(proof), read_bytes(public)), (b"old proof", b"old public"))

    def test_output_over_input_is_refused_and_the_input_kept(self):
        key = self.write("key.zkey", read_bytes(case_path(BASE, KEY)))
        witness = case_path(BASE, WITNESS)
        self.assert_refused(proofmill("prove", key, witness, key, self.path("public.json")))
        self.assert_refused(proofmill("prove", key, witness, self.path("same.json"), self.path("same.json")))
        self.assert_refused(proofmill("vkey", key, key))

        self.assertEqual(read_bytes(key), read_bytes(case_path(BASE, KEY)))

    def test_an_output_folder_that_is_missing_is_named(self):
        outcome = proofmill("prove", case_path(BASE, KEY), case_path(BASE, WITNESS), self.path("no/proof.json"),
                            self.path("public.json"))

        self.assertIn("no", self.assert_refused(outcome).stderr)
        self.assertFalse(os.path.exists(self.path("public.json")))


def define_tests():
    Manifest.entries = {entry["name"]: entry for entry in harness.manifest()["corrupt"]}
    harness.add_tests(Manifest, Manifest.entries, Manifest.check_entry, "proving_")
    harness.add_tests(Manifest, Manifest.entries, Manifest.check_inspect, "inspecting_")
    for kind, module, check in (("key", key_mutations, Mutations.check_key),
                                ("witness", witness_mutations, Mutations.check_witness),
                                ("circuit", r1cs_mutations, Mutations.check_circuit)):
        Mutations.tables[kind] = {mutation.name: mutation for mutation in module.MUTATIONS}
        harness.add_tests(Mutations, Mutations.tables[kind], check, kind + "_")


if __name__ == "__main__":
    harness.main(define_tests)
