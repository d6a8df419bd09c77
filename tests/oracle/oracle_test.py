#!/usr/bin/env python3
"""The oracle against facts that it did not make: published constants, group and pairing laws, keys of snarkjs."""

import os
import unittest

from bn254 import G1, G2, Q, R
from groth16_oracle import evaluate_everywhere, interpolate, prove, root_of_unity, verify
from iden3_files import read_wtns, read_zkey, write_wtns, write_zkey
from oracle_setup import setup
from pairing import product_is_one
from special_circuits import CIRCUITS, draw, satisfied, scrambled
from twist_points import point_of_small_cofactor_order, point_outside_the_subgroup

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "vectors", "cases")

# From the description of the file formats, which took them from snarkjs; not made by this program.
DOCUMENTED_ROOTS = {
    28: 0x2A3C09F0A58A7E8500E0A7EB8EF62ABC402D111E41112ED49BD61B6E725B19F0,
    23: 0x0210FE635AB4C74D6B7BCF70BC23A1395680C64022DD991FB54D4506AB80C59D,
    21: 0x1DED8980AE2BDD1A4222150E8598FC8C58F50577CA5A5CE3B2C87885FCD0B523,
    4: 0x21082CA216CBBF4E1C6E4F4594DD508C996DFBE1174EFB98B11509C6E306460B,
}


class FieldsAndCurves(unittest.TestCase):
    def test_the_moduli_are_those_of_the_curve_polynomials(self):
        x = 4965661367192848881

        self.assertEqual(Q, 36 * x**4 + 36 * x**3 + 24 * x**2 + 6 * x + 1)
        self.assertEqual(R, 36 * x**4 + 36 * x**3 + 18 * x**2 + 6 * x + 1)

    def test_the_roots_of_unity_are_the_documented_ones(self):
        for log2_n, root in DOCUMENTED_ROOTS.items():
            self.assertEqual(root_of_unity(log2_n), root)

    def test_generators_are_on_their_curves_and_of_order_r(self):
        for curve in (G1, G2):
            self.assertTrue(curve.contains(curve.generator))
            self.assertTrue(curve.in_subgroup(curve.generator))

    def test_a_point_of_the_twist_outside_the_subgroup_is_told(self):
        self.assertFalse(G2.in_subgroup(point_outside_the_subgroup()))

    def test_the_twist_has_points_that_10069_times_r_kills_but_r_does_not(self):
        point = point_of_small_cofactor_order()

        self.assertTrue(G2.contains(point))
        self.assertFalse(G2.in_subgroup(point))
        self.assertTrue(G2.in_subgroup(G2.multiply(point, 10069)))

    def test_doubling_of_the_generator_is_the_published_point(self):
        # EIP-196 test vector: the double of (1, 2).
        self.assertEqual(G1.add((1, 2), (1, 2)), (
            0x030644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD3,
            0x15ED738C0E0A7C92E7845F96B2AE9C0A68A6A449E3538FC7FF3EBF7A5A18A2C4))

    def test_bucket_sums_equal_the_sums_of_single_multiples(self):
        for curve in (G1, G2):
            points = [curve.multiply(curve.generator, draw("point", i)) for i in range(6)]
            points += [None, points[0], curve.negate(points[1])]
            scalars = [0, 1, R - 1, 1 << 253, draw("scalar", 0), 255, 7, R - 1, draw("scalar", 1)]
            expected = None
            for point, scalar in zip(points, scalars):
                expected = curve.add(expected, curve.multiply(point, scalar))

            self.assertEqual(curve.sum_of_products(points, scalars), expected)

    def test_transform_equals_evaluation_by_hand_and_interpolation_undoes_it(self):
        coefficients = [draw("coefficient", i) for i in range(8)]
        root = root_of_unity(3)
        by_hand = [sum(c * pow(root, i * k, R) for k, c in enumerate(coefficients)) % R for i in range(8)]

        self.assertEqual(evaluate_everywhere(coefficients, root), by_hand)
        self.assertEqual(interpolate(by_hand, root), coefficients)


class Pairing(unittest.TestCase):
    def test_it_is_bilinear_and_not_trivial(self):
        p, q, a, b = G1.generator, G2.generator, draw("a", 0), draw("b", 0)
        minus_ab = G1.multiply(p, R - a * b % R)

        self.assertTrue(product_is_one([(G1.multiply(p, a), G2.multiply(q, b)), (minus_ab, q)]))
        self.assertFalse(product_is_one([(G1.multiply(p, a), G2.multiply(q, b)), (minus_ab, G2.add(q, q))]))
        self.assertFalse(product_is_one([(p, q)]))

    def test_infinity_on_either_side_counts_as_one(self):
        self.assertTrue(product_is_one([(None, G2.generator), (G1.generator, None)]))


class Prover(unittest.TestCase):
    def test_every_special_witness_satisfies_its_circuit(self):
        for name, make in CIRCUITS.items():
            self.assertTrue(satisfied(*make()), name)

    def test_a_wrong_witness_gives_a_proof_that_does_not_verify(self):
        circuit, witness = CIRCUITS["domain_two"]()
        key = setup(circuit, "wrong witness")
        self.assertTrue(verify(key, witness, prove(key, witness, 3, 4)))
        witness[3] += 1

        self.assertFalse(verify(key, witness, prove(key, witness, 3, 4)))

    def test_split_and_reversed_coefficients_change_nothing(self):
        circuit, witness = CIRCUITS["all_public"]()
        key = setup(circuit, "scrambled")
        plain = prove(key, witness, 1, 2)

        self.assertEqual(prove(scrambled(key), witness, 1, 2), plain)

    def test_a_key_and_a_witness_survive_writing_and_reading(self):
        circuit, witness = CIRCUITS["b_at_infinity"]()
        key = setup(circuit, "files")

        self.assertEqual(read_zkey(write_zkey(key)), key)
        self.assertEqual(read_wtns(write_wtns(witness)), witness)

    def test_keys_of_snarkjs_prove_and_verify(self):
        for name in ("mul3", "sj-mul3"):
            key = read_zkey(read_file(CASES, name, "circuit.zkey"))
            witness = read_wtns(read_file(CASES, name, "witness.wtns"))

            self.assertTrue(verify(key, witness, prove(key, witness, R - 1, 2)), name)


def read_file(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


if __name__ == "__main__":
    unittest.main()
