#!/usr/bin/env python3
"""The oracle prover: Groth16 over BN254 exactly as snarkjs defines it, in the plainest Python.

  groth16_oracle.py KEY.zkey WITNESS.wtns --blinding R,S     prints {"proof": ..., "public": ...}

Given the same key, witness and blinding r, s, every right prover gives the same proof, byte for byte. This one shares
nothing with the C++ prover and takes no shortcut, so a difference is an error in one of the two. It proves a circuit
of domain 4096 in about ten seconds.
"""

import argparse
import dataclasses
import json
import sys

from bn254 import G1, G2, R
from iden3_files import read_wtns, read_zkey
from pairing import groth16_holds

ROOT_OF_2_28 = pow(5, (R - 1) >> 28, R)
COSET_SHIFT_AT_2_28 = 25  # there is no 2^29-th root of one


def root_of_unity(log2_n):
    return pow(ROOT_OF_2_28, 1 << (28 - log2_n), R)


def evaluate_everywhere(coefficients, root):
    """The values of a polynomial at root^0, root^1, ...: the textbook recursive transform."""
    n = len(coefficients)
    if n == 1:
        return coefficients
    even = evaluate_everywhere(coefficients[0::2], root * root % R)
    odd = evaluate_everywhere(coefficients[1::2], root * root % R)
    values, power = [0] * n, 1
    for i in range(n // 2):
        term = power * odd[i] % R
        values[i] = (even[i] + term) % R
        values[i + n // 2] = (even[i] - term) % R
        power = power * root % R
    return values


def interpolate(values, root):
    n_inverse = pow(len(values), -1, R)
    return [value * n_inverse % R for value in evaluate_everywhere(values, pow(root, -1, R))]


def shift_to_odd_coset(values, log2_n):
    """From the values on the domain of n points to those at the odd points of the domain of 2n points."""
    root = root_of_unity(log2_n)
    shift = root_of_unity(log2_n + 1) if log2_n < 28 else COSET_SHIFT_AT_2_28
    shifted, power = [], 1
    for coefficient in interpolate(values, root):
        shifted.append(coefficient * power % R)
        power = power * shift % R
    return evaluate_everywhere(shifted, root)


def quotient_values(key, witness):
    """The scalars of section 9: A*B - C at the odd coset, C the interpolation of a*b on the domain."""
    n = key.domain_size
    log2_n = n.bit_length() - 1
    rows = ([0] * n, [0] * n)
    for matrix, constraint, signal, value in key.coefficients:
        rows[matrix][constraint] = (rows[matrix][constraint] + value * witness[signal]) % R
    products = [a * b % R for a, b in zip(*rows)]
    a, b, c = (shift_to_odd_coset(values, log2_n) for values in (*rows, products))
    return [(x * y - z) % R for x, y, z in zip(a, b, c)]


@dataclasses.dataclass
class Sums:
    """What the witness contributes to a proof, before the blinding."""

    a: tuple
    b1: tuple
    b2: tuple
    c: tuple
    h: tuple


def witness_sums(key, witness):
    """REQUIRES: one witness value for each wire, all below the scalar modulus."""
    if len(witness) != key.n_vars:
        raise ValueError(f"{len(witness)} witness values for {key.n_vars} wires")
    return Sums(
        a=G1.sum_of_products(key.a, witness),
        b1=G1.sum_of_products(key.b1, witness),
        b2=G2.sum_of_products(key.b2, witness),
        c=G1.sum_of_products(key.c, witness[key.n_public + 1 :]),
        h=G1.sum_of_products(key.h, quotient_values(key, witness)),
    )


def blind(key, sums, r, s):
    """The proof (a, b, c) from the sums."""
    a = G1.add(G1.add(key.alpha1, sums.a), G1.multiply(key.delta1, r))
    b = G2.add(G2.add(key.beta2, sums.b2), G2.multiply(key.delta2, s))
    b1 = G1.add(G1.add(key.beta1, sums.b1), G1.multiply(key.delta1, s))
    c = G1.add(sums.c, sums.h)
    c = G1.add(c, G1.multiply(a, s))
    c = G1.add(c, G1.multiply(b1, r))
    c = G1.add(c, G1.multiply(key.delta1, -r * s % R))
    return a, b, c


def prove(key, witness, r, s):
    return blind(key, witness_sums(key, witness), r, s)


def verify(key, witness, proof):
    return groth16_holds(key, witness[1 : key.n_public + 1], proof)


def proof_to_json(proof):
    a, b, c = proof
    g1 = lambda p: ["0", "1", "0"] if p is None else [str(p[0]), str(p[1]), "1"]
    pair = lambda v: [str(v[0]), str(v[1])]
    g2 = [["0", "0"], ["1", "0"], ["0", "0"]] if b is None else [pair(b[0]), pair(b[1]), ["1", "0"]]
    return {"pi_a": g1(a), "pi_b": g2, "pi_c": g1(c), "protocol": "groth16", "curve": "bn128"}


def public_to_json(key, witness):
    return [str(value) for value in witness[1 : key.n_public + 1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("key")
    parser.add_argument("witness")
    parser.add_argument("--blinding", required=True, metavar="R,S", help="two decimal integers")
    options = parser.parse_args()
    r, s = (int(part) % R for part in options.blinding.split(","))
    with open(options.key, "rb") as file:
        key = read_zkey(file.read())
    with open(options.witness, "rb") as file:
        witness = read_wtns(file.read())
    proof = prove(key, witness, r, s)
    json.dump({"proof": proof_to_json(proof), "public": public_to_json(key, witness)}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
