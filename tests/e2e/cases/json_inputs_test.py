#!/usr/bin/env python3
"""Proofs, public signals and verification keys in JSON: what `verify` and `calldata` accept, refuse and call invalid.

The base is a golden proof of case sj-mul3 (2 public signals), so nothing is proved here. "refused" is exit code 2 with
one line on stderr, "invalid" exit code 1 with INVALID on stdout.
"""

import json
import os

import harness
from harness import VKEY, case_path, proofmill, read_json

from bn254 import G1, G2, Q, R
from twist_points import point_of_small_cofactor_order, point_outside_the_subgroup

GOLDEN = read_json(harness.TESTS, "vectors", "golden", "sj-mul3.json")
PROOF, PUBLIC = GOLDEN["proofs"][3]["proof"], GOLDEN["public"]
G1_INFINITY, G2_INFINITY = ["0", "1", "0"], [["0", "0"], ["1", "0"], ["0", "0"]]

# What a number must not look like, wherever a number stands. `good` is the right text of it.
BAD_NUMBERS = {
    "an_integer": lambda good: int(good),
    "a_float": lambda good: 1.5,
    "float_text": lambda good: good + ".0",
    "exponent_text": lambda good: "1e3",
    "hexadecimal": lambda good: hex(int(good)),
    "negative": lambda good: "-" + good,
    "a_plus_sign": lambda good: "+" + good,
    "a_leading_zero": lambda good: "0" + good,
    "a_leading_space": lambda good: " " + good,
    "a_trailing_space": lambda good: good + " ",
    "a_trailing_newline": lambda good: good + "\n",
    "a_trailing_nul": lambda good: good + "\0",
    "empty_text": lambda good: "",
    "words": lambda good: "one",
    "other_digits": lambda good: "\u0661",  # an Arabic-Indic digit one
    "null": lambda good: None,
    "true": lambda good: True,
    "an_object": lambda good: {"value": good},
    "an_array": lambda good: [good],
    "all_ones": lambda good: str((1 << 256) - 1),
    "one_more_than_all_ones": lambda good: str(1 << 256),
    "plus_2_to_256": lambda good: str(int(good) + (1 << 256)),
    "a_hundred_thousand_digits": lambda good: "9" * 100_000,
}
# What no JSON file of ours may be.
BAD_FILES = {
    "empty": b"",
    "spaces": b"   \n",
    "null": b"null",
    "a_number": b"7",
    "a_text": b'"proof"',
    "words": b"this is not JSON",
    "not_utf8": b'{"pi_a": "\xff\xfe"}',
    "binary": bytes(range(256)),
    "deep_arrays": b"[" * 100_000,
    "deep_objects": b'{"a":' * 100_000,
    "only_an_opening": b"{",
    "a_comment": b"// nothing\n[]",
}


def edited(value, path, edit):
    """A copy of a JSON value with the part at `path` replaced by edit(part)."""
    copy = json.loads(json.dumps(value))
    place = copy
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = edit(place[path[-1]])
    return copy


class JsonTest(harness.CaseTest):
    def setUp(self):
        super().setUp()
        self.vkey = case_path("sj-mul3", VKEY)

    def verify(self, proof=None, public=None, vkey=None):
        """Arguments: the file's content (bytes, text or a JSON value); without, the good one."""
        return proofmill("verify", self.vkey if vkey is None else self.write("vkey.json", vkey),
                         self.write("public.json", PUBLIC if public is None else public),
                         self.write("proof.json", PROOF if proof is None else proof))

    def calldata(self, proof, public):
        return proofmill("calldata", self.write("public.json", public), self.write("proof.json", proof))


class Proofs(JsonTest):
    def test_the_base_is_accepted(self):
        self.assert_valid(self.verify())

    def test_a_file_that_is_no_proof_is_refused(self):
        text = json.dumps(PROOF)
        files = BAD_FILES | {"an_array": b"[]", "an_object": b"{}", "cut": text[:-1], "doubled": text + text,
                             "text_after_it": text + "x", "a_nul_after_it": text + "\0"}
        for name, content in files.items():
            with self.subTest(name):
                self.assert_refused(self.verify(proof=content))
                self.assert_refused(self.calldata(content, PUBLIC))

    def test_every_part_is_needed(self):
        for key in ("pi_a", "pi_b", "pi_c", "protocol"):
            with self.subTest(key):
                self.assert_refused(self.verify(proof={k: v for k, v in PROOF.items() if k != key}))

    def test_a_key_given_twice_is_refused(self):
        text = json.dumps(PROOF)

        self.assert_refused(self.verify(proof=text[:-1] + ', "pi_a": ' + json.dumps(PROOF["pi_a"]) + "}"))

    def test_another_protocol_or_curve_is_refused(self):
        for key, value in (("protocol", "plonk"), ("protocol", 1), ("curve", "bls12381"), ("curve", None)):
            with self.subTest(key=key, value=value):
                self.assert_refused(self.verify(proof=PROOF | {key: value}))

    def test_arrays_of_another_length_are_refused(self):
        for path in (["pi_a"], ["pi_b"], ["pi_c"], ["pi_b", 0], ["pi_b", 1], ["pi_b", 2]):
            for name, edit in (("shorter", lambda old: old[:-1]), ("longer", lambda old: [*old, old[-1]]),
                               ("empty", lambda old: []), ("an_object", lambda old: {"x": old[0]}),
                               ("a_text", lambda old: "0"), ("null", lambda old: None)):
                with self.subTest(path=path, edit=name):
                    self.assert_refused(self.verify(proof=edited(PROOF, path, edit)))

    def test_numbers_in_another_form_are_refused(self):
        for path in (["pi_a", 0], ["pi_a", 2], ["pi_b", 0, 1], ["pi_b", 2, 0], ["pi_c", 1]):
            for name, edit in BAD_NUMBERS.items():
                with self.subTest(path=path, number=name):
                    self.assert_refused(self.verify(proof=edited(PROOF, path, edit)))

    def test_coordinates_of_q_or_more_are_refused(self):
        for path in (["pi_a", 0], ["pi_a", 1], ["pi_b", 0, 0], ["pi_b", 0, 1], ["pi_b", 1, 0], ["pi_b", 1, 1],
                     ["pi_c", 0], ["pi_c", 1]):
            for name, edit in (("q", lambda old: str(Q)), ("plus_q", lambda old: str(int(old) + Q))):
                with self.subTest(path=path, edit=name):
                    self.assert_refused(self.verify(proof=edited(PROOF, path, edit)))

    def test_a_point_off_its_curve_is_refused(self):
        for path in (["pi_a", 1], ["pi_b", 1, 0], ["pi_c", 0]):
            with self.subTest(path=path):
                changed = edited(PROOF, path, lambda old: str(int(old) ^ 1))
                self.assert_refused(self.verify(proof=changed))
                self.assert_refused(self.calldata(changed, PUBLIC))

    def test_a_projective_point_is_refused(self):
        for path, value in ((["pi_a", 2], "2"), (["pi_a", 2], "0"), (["pi_b", 2, 1], "1"), (["pi_b", 2, 0], "0")):
            with self.subTest(path=path, value=value):
                self.assert_refused(self.verify(proof=edited(PROOF, path, lambda _, v=value: v)))

    def test_b_outside_the_subgroup_is_invalid(self):
        for point in (point_outside_the_subgroup(), point_of_small_cofactor_order()):
            x, y = ([str(part) for part in coordinate] for coordinate in point)

            self.assert_invalid(self.verify(proof=PROOF | {"pi_b": [x, y, ["1", "0"]]}))

    def test_points_at_infinity_are_invalid_and_have_no_calldata(self):
        for key, infinity in (("pi_a", G1_INFINITY), ("pi_b", G2_INFINITY), ("pi_c", G1_INFINITY)):
            proof = PROOF | {key: infinity}
            self.assert_invalid(self.verify(proof=proof))
            outcome = self.assert_refused(self.calldata(proof, PUBLIC))

            self.assertIn("infinity", outcome.stderr)
            self.assertEqual(outcome.stdout, "")

    def test_other_points_of_the_curves_are_invalid(self):
        g1 = [str(part) for part in G1.generator] + ["1"]
        g2 = [[str(part) for part in coordinate] for coordinate in G2.generator] + [["1", "0"]]
        for key, value in (("pi_a", g1), ("pi_b", g2), ("pi_c", g1)):
            self.assert_invalid(self.verify(proof=PROOF | {key: value}))

    def test_the_variants_of_rapidsnark_are_read(self):
        bare = {key: PROOF[key] for key in ("pi_a", "pi_b", "pi_c", "protocol")}
        for content in (json.dumps(bare, separators=(",", ":"), sort_keys=True), json.dumps(PROOF, indent=4) + "\n",
                        json.dumps(dict(reversed(list(PROOF.items())))), "\n\t" + json.dumps(PROOF)):
            self.assert_valid(self.verify(proof=content))
            self.assertEqual(self.calldata(content, PUBLIC).stdout, self.calldata(PROOF, PUBLIC).stdout)


class PublicSignals(JsonTest):
    def test_a_file_that_is_no_list_is_refused(self):
        text = json.dumps(PUBLIC)
        files = BAD_FILES | {"an_object": b"{}", "cut": text[:-1], "doubled": text + text, "text_after_it": text + "x"}
        for name, content in files.items():
            with self.subTest(name):
                self.assert_refused(self.verify(public=content))
                if name != "null":  # rapidsnark's form of no signals
                    self.assert_refused(self.calldata(PROOF, content))

    def test_the_number_of_signals_must_be_that_of_the_key(self):
        for signals in ([], PUBLIC[:1], PUBLIC + ["0"], PUBLIC * 50):
            with self.subTest(count=len(signals)):
                outcome = self.assert_refused(self.verify(public=signals))

                self.assertIn(str(len(signals)), outcome.stderr)
                self.assertIn(str(len(PUBLIC)), outcome.stderr)

    def test_an_alias_plus_r_is_refused(self):
        """The double-spend of CVE-2023-33252: x and x + r are the same to the equation, but not to a nullifier set."""
        for index in range(len(PUBLIC)):
            for multiple in (1, 2, 4):
                alias = list(PUBLIC)
                alias[index] = str(int(alias[index]) + multiple * R)
                self.assert_refused(self.verify(public=alias))
                self.assert_refused(self.calldata(PROOF, alias))

    def test_numbers_in_another_form_are_refused(self):
        for name, edit in (BAD_NUMBERS | {"r": lambda old: str(R)}).items():
            with self.subTest(name):
                self.assert_refused(self.verify(public=edited(PUBLIC, [1], edit)))

    def test_signals_in_another_order_are_invalid(self):
        self.assertNotEqual(PUBLIC[0], PUBLIC[1])

        self.assert_invalid(self.verify(public=PUBLIC[::-1]))


class VerificationKeys(JsonTest):
    def setUp(self):
        super().setUp()
        self.good = read_json(self.vkey)

    def test_a_file_that_is_no_key_is_refused(self):
        for name, content in (BAD_FILES | {"an_array": b"[]", "an_object": b"{}"}).items():
            with self.subTest(name):
                self.assert_refused(self.verify(vkey=content))

    def test_every_part_is_needed(self):
        for key in ("protocol", "nPublic", "vk_alpha_1", "vk_beta_2", "vk_gamma_2", "vk_delta_2", "IC"):
            with self.subTest(key):
                self.assert_refused(self.verify(vkey={k: v for k, v in self.good.items() if k != key}))

    def test_ic_and_the_count_must_agree(self):
        for edit in (lambda ic: ic[:-1], lambda ic: ic + ic[:1], lambda ic: []):
            self.assert_refused(self.verify(vkey=edited(self.good, ["IC"], edit)))
        for count in (1, 3, -1, 2.5, "2", 4294967298):
            self.assert_refused(self.verify(vkey=self.good | {"nPublic": count}))

    def test_points_at_infinity_are_refused(self):
        for key, infinity in (("vk_alpha_1", G1_INFINITY), ("vk_beta_2", G2_INFINITY), ("vk_gamma_2", G2_INFINITY),
                              ("vk_delta_2", G2_INFINITY)):
            with self.subTest(key):
                self.assert_refused(self.verify(vkey=self.good | {key: infinity}))

    def test_points_off_their_curve_are_refused(self):
        for path in (["vk_alpha_1", 0], ["vk_beta_2", 0, 0], ["vk_gamma_2", 1, 1], ["vk_delta_2", 0, 1], ["IC", 1, 1]):
            with self.subTest(path=path):
                self.assert_refused(self.verify(vkey=edited(self.good, path, lambda old: str(int(old) ^ 1))))

    def test_g2_points_outside_the_subgroup_do_not_verify(self):
        for key in ("vk_beta_2", "vk_gamma_2", "vk_delta_2"):
            x, y = ([str(part) for part in coordinate] for coordinate in point_of_small_cofactor_order())
            outcome = self.verify(vkey=self.good | {key: [x, y, ["1", "0"]]})

            self.assert_no_crash(outcome)
            self.assertIn(outcome.exit_code, (1, 2), outcome.describe())

    def test_a_wrong_product_of_alpha_and_beta_is_refused(self):
        self.assert_refused(self.verify(vkey=edited(self.good, ["vk_alphabeta_12", 1, 2, 0], lambda _: "5")))

    def test_a_key_without_the_product_of_alpha_and_beta_is_read(self):
        self.assert_valid(self.verify(vkey={k: v for k, v in self.good.items() if k != "vk_alphabeta_12"}))


class NoSignals(JsonTest):
    def test_an_empty_list_and_null_are_no_signals(self):
        golden = read_json(harness.TESTS, "vectors", "golden", "big1.json")
        vkey = read_json(case_path("big1", VKEY))
        for content in ([], "null", "[ ]\n"):
            self.assert_valid(self.verify(golden["proofs"][1]["proof"], content, vkey))
            self.assertTrue(self.calldata(golden["proofs"][1]["proof"], content).stdout.endswith(",[]\n"))


class Files(JsonTest):
    def test_things_that_are_not_files_are_refused_without_waiting(self):
        os.mkfifo(self.path("fifo"))
        public, proof = self.write("public.json", PUBLIC), self.write("proof.json", PROOF)
        for thing in (self.path("fifo"), self.folder, "/dev/zero", self.path("nothing"), ""):
            for arguments in ((thing, public, proof), (self.vkey, thing, proof), (self.vkey, public, thing)):
                with self.subTest(arguments):
                    self.assert_refused(proofmill("verify", *arguments, seconds_max=20))

    def test_a_gigabyte_of_spaces_is_refused_by_its_size(self):
        big = self.write("big.json", b" ")
        os.truncate(big, 1 << 30)
        public, proof = self.write("public.json", PUBLIC), self.write("proof.json", PROOF)
        for arguments in ((big, public, proof), (self.vkey, big, proof), (self.vkey, public, big)):
            outcome = self.assert_refused(proofmill("verify", *arguments))

            if not harness.options.sanitizer:
                self.assertLess(outcome.peak_bytes, 128 << 20, outcome.describe())

    def test_inspect_survives_every_bad_file(self):
        for name, content in BAD_FILES.items():
            if name != "null":  # rapidsnark's form of no signals
                with self.subTest(name):
                    self.assert_refused(proofmill("inspect", self.write("bad.json", content)))


if __name__ == "__main__":
    harness.main(lambda: None)
