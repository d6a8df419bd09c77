"""The binary files of the circom and snarkjs tools as Python values: .zkey (Groth16, version 1), .wtns and .r1cs.

Reads and writes them on its own: no code is shared with engine/formats. The reader trusts its input, as an oracle may:
a damaged file gives an exception of Python, not a careful message.

In a .zkey the coordinates are Montgomery (x * 2^256 mod q) and the coefficients are v * 2^512 mod r; in the values
below both are plain. Infinity is all zero bytes there and None here.
"""

import dataclasses
import struct

from bn254 import Q, R

MONTGOMERY = 1 << 256
Q_UNDO = pow(MONTGOMERY, -1, Q)
COEFFICIENT_FACTOR = MONTGOMERY * MONTGOMERY % R
COEFFICIENT_UNDO = pow(COEFFICIENT_FACTOR, -1, R)


@dataclasses.dataclass
class Zkey:
    n_vars: int
    n_public: int
    domain_size: int
    alpha1: tuple
    beta1: tuple
    beta2: tuple
    gamma2: tuple
    delta1: tuple
    delta2: tuple
    coefficients: list  # (matrix, constraint, signal, value)
    ic: list
    a: list
    b1: list
    b2: list
    c: list
    h: list


@dataclasses.dataclass
class R1cs:
    """constraints: triples of {wire: coefficient}; wires are one, outputs, public inputs, private inputs, inner."""

    n_wires: int
    n_outputs: int
    n_public_inputs: int
    n_private_inputs: int
    constraints: list

    @property
    def n_public(self):
        return self.n_outputs + self.n_public_inputs


# --- container ---


def read_sections(data, magic):
    if data[:4] != magic:
        raise ValueError(f"magic {data[:4]!r}, expected {magic!r}")
    count = struct.unpack_from("<I", data, 8)[0]
    sections, offset = {}, 12
    for _ in range(count):
        identifier, length = struct.unpack_from("<IQ", data, offset)
        sections[identifier] = data[offset + 12 : offset + 12 + length]
        offset += 12 + length
    return sections


def write_sections(magic, version, sections):
    """`sections`: pairs (id, payload) in the order of the file."""
    parts = [magic, struct.pack("<II", version, len(sections))]
    for identifier, payload in sections:
        parts += [struct.pack("<IQ", identifier, len(payload)), payload]
    return b"".join(parts)


def _integer(data, offset):
    return int.from_bytes(data[offset : offset + 32], "little")


def _bytes(value):
    return value.to_bytes(32, "little")


# --- points ---


def read_g1(data, offset):
    if not any(data[offset : offset + 64]):
        return None
    return tuple(_integer(data, offset + 32 * k) * Q_UNDO % Q for k in range(2))


def read_g2(data, offset):
    if not any(data[offset : offset + 128]):
        return None
    x0, x1, y0, y1 = (_integer(data, offset + 32 * k) * Q_UNDO % Q for k in range(4))
    return (x0, x1), (y0, y1)


def write_g1(point):
    if point is None:
        return bytes(64)
    return b"".join(_bytes(value * MONTGOMERY % Q) for value in point)


def write_g2(point):
    if point is None:
        return bytes(128)
    return b"".join(_bytes(value * MONTGOMERY % Q) for pair in point for value in pair)


# --- .zkey ---


def read_zkey(data):
    sections = read_sections(data, b"zkey")
    header = sections[2]
    n_vars, n_public, domain_size = struct.unpack_from("<III", header, 72)
    return Zkey(
        n_vars, n_public, domain_size,
        alpha1=read_g1(header, 84), beta1=read_g1(header, 148), beta2=read_g2(header, 212),
        gamma2=read_g2(header, 340), delta1=read_g1(header, 468), delta2=read_g2(header, 532),
        coefficients=_read_coefficients(sections[4]),
        ic=[read_g1(sections[3], o) for o in range(0, len(sections[3]), 64)],
        a=[read_g1(sections[5], o) for o in range(0, len(sections[5]), 64)],
        b1=[read_g1(sections[6], o) for o in range(0, len(sections[6]), 64)],
        b2=[read_g2(sections[7], o) for o in range(0, len(sections[7]), 128)],
        c=[read_g1(sections[8], o) for o in range(0, len(sections[8]), 64)],
        h=[read_g1(sections[9], o) for o in range(0, len(sections[9]), 64)],
    )


def _read_coefficients(section):
    count = struct.unpack_from("<I", section, 0)[0]
    records = []
    for offset in range(4, 4 + 44 * count, 44):
        matrix, constraint, signal = struct.unpack_from("<III", section, offset)
        records.append((matrix, constraint, signal, _integer(section, offset + 12) * COEFFICIENT_UNDO % R))
    return records


def write_zkey(key):
    """The bytes of `key`, its sections in the order that `snarkjs groth16 setup` writes them."""
    header = struct.pack("<I", 32) + _bytes(Q) + struct.pack("<I", 32) + _bytes(R)
    header += struct.pack("<III", key.n_vars, key.n_public, key.domain_size)
    header += write_g1(key.alpha1) + write_g1(key.beta1) + write_g2(key.beta2)
    header += write_g2(key.gamma2) + write_g1(key.delta1) + write_g2(key.delta2)
    coefficients = struct.pack("<I", len(key.coefficients)) + b"".join(
        struct.pack("<III", matrix, constraint, signal) + _bytes(value * COEFFICIENT_FACTOR % R)
        for matrix, constraint, signal, value in key.coefficients
    )
    g1 = lambda points: b"".join(map(write_g1, points))
    no_contribution = bytes(64) + struct.pack("<I", 0)
    return write_sections(b"zkey", 1, [
        (1, struct.pack("<I", 1)), (2, header), (4, coefficients), (3, g1(key.ic)), (9, g1(key.h)), (8, g1(key.c)),
        (5, g1(key.a)), (6, g1(key.b1)), (7, b"".join(map(write_g2, key.b2))), (10, no_contribution),
    ])


# --- .wtns and .r1cs ---


def read_wtns(data):
    values = read_sections(data, b"wtns")[2]
    return [_integer(values, offset) for offset in range(0, len(values), 32)]


def write_wtns(values):
    header = struct.pack("<I", 32) + _bytes(R) + struct.pack("<I", len(values))
    return write_sections(b"wtns", 2, [(1, header), (2, b"".join(map(_bytes, values)))])


def write_r1cs(circuit):
    header = struct.pack("<I", 32) + _bytes(R)
    header += struct.pack("<IIII", circuit.n_wires, circuit.n_outputs, circuit.n_public_inputs,
                          circuit.n_private_inputs)
    header += struct.pack("<QI", circuit.n_wires, len(circuit.constraints))
    body = b"".join(_write_combination(terms) for constraint in circuit.constraints for terms in constraint)
    labels = b"".join(struct.pack("<Q", wire) for wire in range(circuit.n_wires))
    return write_sections(b"r1cs", 1, [(1, header), (2, body), (3, labels)])


def _write_combination(terms):
    records = (struct.pack("<I", wire) + _bytes(value % R) for wire, value in sorted(terms.items()))
    return struct.pack("<I", len(terms)) + b"".join(records)
