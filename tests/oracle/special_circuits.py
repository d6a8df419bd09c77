#!/usr/bin/env python3
"""Small circuits at the edges of what a key can be, each with a witness; the circuits that no compiler makes.

  special_circuits.py FOLDER    writes NAME.r1cs, NAME.wtns and NAME.zkey (by oracle_setup.py) for each

Each entry says which property it is there for. All is derived from fixed seeds: two runs write the same bytes.
"""

import hashlib
import os
import sys

from bn254 import R
from iden3_files import R1cs, write_r1cs, write_wtns, write_zkey
from oracle_setup import setup


def draw(name, i):
    """A fixed pseudo-random element of the scalar field."""
    return int.from_bytes(hashlib.sha256(f"{name}/{i}".encode()).digest(), "big") % R


def satisfied(circuit, witness):
    value = lambda terms: sum(witness[wire] * factor for wire, factor in terms.items()) % R
    return len(witness) == circuit.n_wires and all(
        value(a) * value(b) % R == value(c) for a, b, c in circuit.constraints)


def domain_two():
    """One constraint and no public signal: the smallest domain there is, and `[]` as public.json."""
    x, y = draw("domain_two", 0), draw("domain_two", 1)
    return R1cs(4, 0, 0, 2, [({1: 1}, {2: 1}, {3: 1})]), [1, x, y, x * y % R]


def only_one():
    """No constraint, no signal, only the constant wire: every section as short as it can be."""
    return R1cs(1, 0, 0, 0, []), [1]


def all_public():
    """Every wire public: section 8 has length zero."""
    x, y = draw("all_public", 0), draw("all_public", 1)
    constraints = [({2: 1}, {3: 1}, {1: 1}), ({2: 1, 0: 5}, {2: 1}, {4: 1})]
    return R1cs(5, 1, 3, 0, constraints), [1, x * y % R, x, y, (x + 5) * x % R]


def b_at_infinity():
    """Public signals and no constraint: no wire has a B polynomial, so all of sections 6 and 7 is infinity."""
    return R1cs(6, 0, 3, 2, []), [1] + [draw("b_at_infinity", i) for i in range(5)]


def a_only_publics():
    """Constraints 0 * B = 0: private wires have B but no A and no C polynomial."""
    constraints = [({}, {4: draw("a_only_publics", i), 5: 1, 0: i}, {}) for i in range(3)]
    return R1cs(6, 0, 3, 2, constraints), [1] + [draw("a_only_publics", i) for i in range(5)]


def zero_coefficients():
    """Terms 0 * w, as a compiler may leave them: wires 3 and 4 have records in section 4, but no polynomial."""
    x, y = draw("zero_coefficients", 0), draw("zero_coefficients", 1)
    constraints = [({1: 1, 3: 0}, {2: 1, 4: 0}, {5: 1, 3: 0})]
    unused = [draw("zero_coefficients", 2), draw("zero_coefficients", 3)]
    return R1cs(6, 0, 1, 3, constraints), [1, x, y, *unused, x * y % R]


def wires_above_domain():
    """300 wires in a domain of 8: long sums in three constraints."""
    inner = list(range(5, 300))
    constraints = [
        ({wire: draw("a", wire) for wire in inner}, {wire: draw("b", wire) for wire in inner[::2]}, {1: 1}),
        ({wire: draw("c", wire) for wire in inner[1::2]}, {0: 1}, {2: 1}),
        ({3: 1}, {4: 1}, {4: 1}),
    ]
    witness = [1, 0, 0, 1, draw("wires", 4)] + [draw("wires", wire) for wire in inner]
    total = lambda terms: sum(witness[wire] * factor for wire, factor in terms.items()) % R
    witness[1] = total(constraints[0][0]) * total(constraints[0][1]) % R
    witness[2] = total(constraints[1][0])
    return R1cs(300, 2, 0, 295, constraints), witness


def wires_below_domain():
    """Three wires in 250 constraints, domain 256: (px + q)(sx + t) = ps y + (pt + qs)x + qt with y = x^2."""
    constraints = []
    for i in range(250):
        p, q, s, t = (draw("wires_below_domain", 4 * i + k) for k in range(4))
        constraints.append(({1: p, 0: q}, {1: s, 0: t}, {2: p * s, 1: p * t + q * s, 0: q * t}))
    x = draw("wires_below_domain", 1000)
    return R1cs(3, 0, 1, 0, constraints), [1, x, x * x % R]


def any_witness(values):
    """Constraints w_i * 1 = w_i and 1 * w_i = w_i in turn: every witness satisfies them, so its shape is free."""
    constraints = [({i: 1}, {0: 1}, {i: 1}) if i % 2 else ({0: 1}, {i: 1}, {i: 1}) for i in range(1, len(values) + 1)]
    return R1cs(len(values) + 1, 1, 1, len(values) - 2, constraints), [1] + values


WITNESS_SHAPES = {
    "zeros": [0] * 40,
    "ones": [1] * 40,
    "one_hot": [0] * 23 + [draw("one_hot", 0)] + [0] * 16,
    "largest": [R - 1] * 40,
    "top_bit": [1 << 253] * 40,
    "repeated": [draw("repeated", 0)] * 40,
    "bits": [int(i % 100 != 7) if i % 3 else draw("bits", i) for i in range(40)],
    "uniform": [draw("uniform", i) for i in range(40)],
    "window_edges": [(1 << i * 6) % R for i in range(1, 21)] + [((1 << i * 6) - 1) % R for i in range(1, 21)],
}

CIRCUITS = {
    "domain_two": domain_two,
    "only_one": only_one,
    "all_public": all_public,
    "b_at_infinity": b_at_infinity,
    "a_only_publics": a_only_publics,
    "zero_coefficients": zero_coefficients,
    "wires_above_domain": wires_above_domain,
    "wires_below_domain": wires_below_domain,
} | {"any_" + name: (lambda values=values: any_witness(values)) for name, values in WITNESS_SHAPES.items()}

SCRAMBLED = ["wires_below_domain", "zero_coefficients"]  # have a second key


def scrambled(key):
    """The same key with its coefficients backwards and each split into two records that must be added up."""
    records = []
    for matrix, constraint, signal, value in reversed(key.coefficients):
        part = draw("scrambled", len(records))
        records += [(matrix, constraint, signal, part), (matrix, constraint, signal, (value - part) % R)]
    key.coefficients = records
    return key


def write(folder, name, circuit, witness, key):
    for suffix, data in (("r1cs", write_r1cs(circuit)), ("wtns", write_wtns(witness)), ("zkey", write_zkey(key))):
        with open(os.path.join(folder, f"{name}.{suffix}"), "wb") as file:
            file.write(data)


def write_all(folder):
    """Writes every circuit and the second keys. Returns the names."""
    for name, make in CIRCUITS.items():
        circuit, witness = make()
        if not satisfied(circuit, witness):
            raise AssertionError(f"{name}: its witness does not satisfy it")
        key = setup(circuit, seed=name)
        write(folder, name, circuit, witness, key)
        if name in SCRAMBLED:
            write(folder, "scrambled_" + name, circuit, witness, scrambled(key))
    return [*CIRCUITS, *("scrambled_" + name for name in SCRAMBLED)]


if __name__ == "__main__":
    write_all(sys.argv[1])
