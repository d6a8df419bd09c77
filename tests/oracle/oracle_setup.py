"""A Groth16 setup with known secrets, for test circuits only: keys that our own `proofmill setup` had no part in.

The secrets come from a seed through SHA-256, so that a seed and a circuit always give the same key, byte for byte.
gamma is one, as in every key of snarkjs; delta is not unless the caller says so: a key with gamma = delta is one that
nobody contributed to, with which anybody forges proofs.
"""

import hashlib

from bn254 import G1, G2, R
from groth16_oracle import root_of_unity
from iden3_files import Zkey


class FixedBase:
    """Many multiples of one point: a table of [d * 256^k]point for each byte d and place k."""

    def __init__(self, curve, point):
        self.curve = curve
        self.rows = []
        for _ in range(32):
            row = [None]
            for _ in range(255):
                row.append(curve.add(row[-1], point))
            self.rows.append(row)
            point = curve.add(row[-1], point)

    def multiply(self, scalar):
        total = None
        for place, row in enumerate(self.rows):
            total = self.curve.add(total, row[(scalar >> 8 * place) & 255])
        return total


G1_TABLE = FixedBase(G1, G1.generator)
G2_TABLE = FixedBase(G2, G2.generator)


def domain_size(circuit):
    rows = len(circuit.constraints) + circuit.n_public + 1
    size = 2
    while size < rows:
        size *= 2
    return size


def coefficients(circuit):
    """The records of section 4: by constraint, A before B, then one row of A for each public wire and wire zero."""
    records = []
    for row, (a, b, _) in enumerate(circuit.constraints):
        records += [(0, row, wire, value % R) for wire, value in sorted(a.items())]
        records += [(1, row, wire, value % R) for wire, value in sorted(b.items())]
    first = len(circuit.constraints)
    return records + [(0, first + wire, wire, 1) for wire in range(circuit.n_public + 1)]


def lagrange_at(point, log2_n):
    """L_i(point) for the domain of 2^log2_n points."""
    n, root = 1 << log2_n, root_of_unity(log2_n)
    numerator = (pow(point, n, R) - 1) * pow(n, -1, R) % R
    values, power = [], 1
    for _ in range(n):
        values.append(power * numerator % R * pow(point - power, -1, R) % R)
        power = power * root % R
    return values


def wire_polynomials(circuit, lagrange):
    """Each wire's A, B and C polynomials at tau."""
    u, v, w = ([0] * circuit.n_wires for _ in range(3))
    for matrix, row, wire, value in coefficients(circuit):
        target = v if matrix else u
        target[wire] = (target[wire] + value * lagrange[row]) % R
    for row, (_, _, c) in enumerate(circuit.constraints):
        for wire, value in c.items():
            w[wire] = (w[wire] + value * lagrange[row]) % R
    return u, v, w


def setup(circuit, seed, delta=None):
    secret = lambda name: int.from_bytes(hashlib.sha256(f"{seed}/{name}".encode()).digest(), "big") % R
    tau, alpha, beta = map(secret, ("tau", "alpha", "beta"))
    delta = secret("delta") if delta is None else delta
    delta_inverse = pow(delta, -1, R)
    size = domain_size(circuit)
    log2_n = size.bit_length() - 1

    u, v, w = wire_polynomials(circuit, lagrange_at(tau, log2_n))
    mixed = [(beta * u_i + alpha * v_i + w_i) % R for u_i, v_i, w_i in zip(u, v, w)]
    odd_lagrange = lagrange_at(tau, log2_n + 1)[1::2]
    g1, g2 = G1_TABLE.multiply, G2_TABLE.multiply
    n_public = circuit.n_public
    return Zkey(
        circuit.n_wires, n_public, size,
        alpha1=g1(alpha), beta1=g1(beta), beta2=g2(beta), gamma2=G2.generator, delta1=g1(delta), delta2=g2(delta),
        coefficients=coefficients(circuit),
        ic=[g1(value) for value in mixed[: n_public + 1]],
        a=[g1(value) for value in u],
        b1=[g1(value) for value in v],
        b2=[g2(value) for value in v],
        c=[g1(value * delta_inverse % R) for value in mixed[n_public + 1 :]],
        h=[g1(value * delta_inverse % R) for value in odd_lagrange],
    )
