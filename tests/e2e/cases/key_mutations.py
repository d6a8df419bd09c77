"""Damaged and unusual proving keys that the manifest of the cases does not have, made from one good key.

The base is a key that snarkjs made through contributions (case sj-mul3): ten sections in ascending order, 7 wires, 2 of
them public, a domain of 8 and 9 coefficients.
"""

import struct

from containers import Container, Mutation, changed, le32, patched, u32, with_length
from bn254 import G1, G2, Q, R
from iden3_files import Q_UNDO, write_g1, write_g2
from twist_points import point_of_small_cofactor_order, point_outside_the_subgroup

POINT_BYTES = {3: 64, 5: 64, 6: 64, 7: 128, 8: 64, 9: 64}
ALPHA1, BETA1, BETA2, GAMMA2, DELTA1, DELTA2 = 84, 148, 212, 340, 468, 532  # within section 2
N_VARS, N_PUBLIC, DOMAIN = 72, 76, 80
BLS12_381_Q = 0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB
BLS12_381_R = 0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001


def first_point(payload, size):
    """Offset of the first point that is not infinity."""
    return next(offset for offset in range(0, len(payload), size) if any(payload[offset : offset + size]))


def in_first_point(identifier, edit):
    """`edit` gets the bytes of a point that is not infinity and returns others."""

    def change(container):
        payload, size = container[identifier], POINT_BYTES[identifier]
        offset = first_point(payload, size)
        payload[offset : offset + size] = edit(bytes(payload[offset : offset + size]))

    return changed(change)


def coordinate(index, function):
    """Applies `function` to one 32-byte coordinate as an integer."""

    def edit(point):
        value = function(int.from_bytes(point[32 * index : 32 * index + 32], "little"))
        return point[: 32 * index] + le32(value) + point[32 * index + 32 :]

    return edit


def record(index, matrix=None, constraint=None, signal=None, value=None):
    """Changes fields of one coefficient record."""

    def change(container):
        offset = 4 + 44 * index
        for place, field in enumerate((matrix, constraint, signal)):
            if field is not None:
                container.patch(4, offset + 4 * place, u32(field))
        if value is not None:
            container.patch(4, offset + 12, le32(value))

    return changed(change)


def split_and_reversed(container):
    """Each record twice with half the value, in reverse order: the same circuit."""
    payload, half = container[4], pow(2, -1, R)
    records = [bytes(payload[offset : offset + 44]) for offset in range(4, len(payload), 44)]
    halves = [r[:12] + le32(int.from_bytes(r[12:], "little") * half % R) for r in reversed(records) for _ in range(2)]
    container.replace(4, bytearray(u32(len(halves)) + b"".join(halves)))


def replaced_zero(*identifiers):
    return changed(lambda c: [c.replace(i, bytearray(len(c[i]))) for i in identifiers])


def add_to_b2(point):
    """Adds a point of the twist to the first point of section 7, so that it stays on the twist."""

    def edit(old):
        x0, x1, y0, y1 = (int.from_bytes(old[i : i + 32], "little") * Q_UNDO % Q for i in range(0, 128, 32))
        return write_g2(G2.add(((x0, x1), (y0, y1)), point))

    return in_first_point(7, edit)


def small_order_point():
    return G2.add(point_of_small_cofactor_order(), G2.negate(G2.generator))


def header_of_other_field(q, n8q, r, n8r):
    def change(container):
        tail = container[2][72:]
        head = u32(n8q) + q.to_bytes(n8q, "little") + u32(n8r) + r.to_bytes(n8r, "little")
        container.replace(2, bytearray(head + tail))

    return changed(change)


def header_only(field, value):
    """A 700-byte file: protocol and header alone, one count absurd."""
    return changed(lambda c: c.patch(2, field, u32(value)).order([1, 2]))


def structure():
    """Truncations, lengths, counts and order of the container."""
    for percent in (1, 25, 50, 75, 99):
        yield Mutation(f"cut_at_{percent}_percent", "reject", lambda b, p=percent: b[: len(b) * p // 100], ("section",))
    for size in (0, 1, 4, 8, 11, 12, 13, 24):
        yield Mutation(f"cut_to_{size}_bytes", "reject", lambda b, n=size: b[:n])
    yield Mutation("cut_before_the_last_byte", "reject", lambda b: b[:-1], ("section 10",))
    yield Mutation("twelve_bytes_and_sections_without_end", "reject", lambda b: b[:8] + u32(0xFFFFFFFF))
    for identifier in range(1, 11):
        for length in (0xFFFFFFFFFFFFFFF0, 0xFFFFFFFFFFFFFFFF, 1 << 63, 1 << 32, 0):
            yield Mutation(f"section_{identifier}_claims_{length:x}", "reject", with_length(identifier, length))
        yield Mutation(f"section_{identifier}_one_byte_long", "reject",
                       changed(lambda c, i=identifier: c[i].extend(b"\0")))
        yield Mutation(f"section_{identifier}_one_byte_short", "reject", changed(lambda c, i=identifier: c[i].pop()))
    for identifier in range(1, 10):
        yield Mutation(f"section_{identifier}_missing", "reject", changed(lambda c, i=identifier: c.drop(i)),
                       (f"section {identifier}",))
        yield Mutation(f"section_{identifier}_twice", "reject",
                       changed(lambda c, i=identifier: c.append(i, c[i])), (f"section {identifier}",))
    for name, order in (("of_setup", [1, 2, 4, 3, 9, 8, 5, 6, 7, 10]), ("backwards", list(range(10, 0, -1)))):
        yield Mutation("sections_in_the_order_" + name, "ok", changed(lambda c, o=order: c.order(o)))
    yield Mutation("an_unknown_section_twice", "ok", changed(lambda c: c.append(99, b"xy").append(99, b"")))
    yield Mutation("no_section_10", "ok", changed(lambda c: c.drop(10)))
    yield Mutation("no_contributions", "ok", changed(lambda c: c.replace(10, bytearray(68))))
    yield Mutation("contributions_without_end", "reject", patched(10, 64, u32(0xFFFFFFFF)))
    yield Mutation("one_contribution_too_many", "reject", changed(
        lambda c: c.patch(10, 64, u32(struct.unpack_from("<I", c[10], 64)[0] + 1))))
    for version in (0, 2, 3, 0xFFFFFFFF):
        yield Mutation(f"version_{version}", "reject", lambda b, v=version: b[:4] + u32(v) + b[8:], ("version",))
    yield Mutation("magic_of_a_witness", "reject", lambda b: b"wtns" + b[4:])


def header():
    """Protocol, fields, counts and the points of the header."""
    for protocol, word in ((0, "0"), (2, "PLONK"), (10, "FFLONK"), (0xFFFFFFFF, "4294967295")):
        yield Mutation(f"protocol_{protocol}", "reject", patched(1, 0, u32(protocol)), (word,))
    yield Mutation("bls12_381", "reject", header_of_other_field(BLS12_381_Q, 48, BLS12_381_R, 32), ("BN254",))
    yield Mutation("n8r_48", "reject", header_of_other_field(Q, 32, R, 48))
    yield Mutation("q_wrong_and_r_right", "reject", header_of_other_field(BLS12_381_R, 32, R, 32), ("BN254",))
    yield Mutation("r_wrong_and_q_right", "reject", header_of_other_field(Q, 32, BLS12_381_R, 32), ("BN254",))
    for n8 in (0, 0xFFFFFFFF):
        yield Mutation(f"n8q_says_{n8}", "reject", patched(2, 0, u32(n8)))
        yield Mutation(f"n8r_says_{n8}", "reject", patched(2, 36, u32(n8)))
    for value in (1 << 31, 1 << 28, 1 << 29, 0xFFFFFFFF, 1, 0):
        yield Mutation(f"header_only_domain_{value}", "reject", header_only(DOMAIN, value))
        yield Mutation(f"domain_{value}", "reject", patched(2, DOMAIN, u32(value)))
    for value in (0xFFFFFFFF, 1 << 31, 1 << 26, 1 << 25, 1, 0):
        yield Mutation(f"header_only_wires_{value}", "reject", header_only(N_VARS, value))
        yield Mutation(f"wires_{value}", "reject", patched(2, N_VARS, u32(value)))
    for value in (0xFFFFFFFF, 7, 6, 1 << 31, 1, 0):  # of 7 wires, 2 public: 6 would make every wire public
        yield Mutation(f"public_{value}", "reject", patched(2, N_PUBLIC, u32(value)))
    for name, offset, size in (("alpha1", ALPHA1, 64), ("beta1", BETA1, 64), ("beta2", BETA2, 128),
                               ("gamma2", GAMMA2, 128), ("delta1", DELTA1, 64), ("delta2", DELTA2, 128)):
        yield Mutation(name + "_at_infinity", "reject", patched(2, offset, bytes(size)), (name,))
        yield Mutation(name + "_x_is_all_ones", "reject", patched(2, offset, b"\xff" * 32))
        yield Mutation(name + "_off_its_curve", "reject", patched(2, offset, le32(5)))
        curve, write = (G1, write_g1) if size == 64 else (G2, write_g2)
        expect = "no-valid-proof" if name in ("alpha1", "gamma2") else "reject"
        yield Mutation(name + "_of_another_setup", expect,
                       patched(2, offset, write(curve.multiply(curve.generator, 12345))))
        if size == 128:
            yield Mutation(name + "_outside_the_subgroup", "reject",
                           patched(2, offset, write_g2(point_outside_the_subgroup())))
            yield Mutation(name + "_of_order_10069_r", "reject",
                           patched(2, offset, write_g2(point_of_small_cofactor_order())))


def points():
    """The sections of points."""
    for identifier in POINT_BYTES:
        yield Mutation(f"section_{identifier}_point_off_its_curve", "no-valid-proof",
                       in_first_point(identifier, coordinate(1, lambda y: y ^ 1)))
        yield Mutation(f"section_{identifier}_bit_flipped", "no-valid-proof",
                       in_first_point(identifier, coordinate(0, lambda x: x ^ (1 << 100))))
        for index in range(POINT_BYTES[identifier] // 32):
            yield Mutation(f"section_{identifier}_coordinate_{index}_plus_q", "reject",
                           in_first_point(identifier, coordinate(index, lambda x: x + Q)))
        yield Mutation(f"section_{identifier}_all_zero", "no-valid-proof", replaced_zero(identifier))
        yield Mutation(f"section_{identifier}_x_zero_y_not", "reject",
                       in_first_point(identifier, coordinate(0, lambda x: 0)))
    yield Mutation("sections_6_and_7_all_zero", "no-valid-proof", replaced_zero(6, 7))
    yield Mutation("section_7_point_outside_the_subgroup", "reject", add_to_b2(point_outside_the_subgroup()))
    yield Mutation("section_7_point_of_order_10069_r", "reject", add_to_b2(small_order_point()))
    yield Mutation("section_7_point_moved_in_the_subgroup", "reject", add_to_b2(G2.generator))
    generator = lambda point: write_g1(G1.generator)
    yield Mutation("section_6_point_of_another_setup", "reject", in_first_point(6, generator))
    for identifier in (3, 5, 8, 9):
        yield Mutation(f"section_{identifier}_point_of_another_setup", "no-valid-proof",
                       in_first_point(identifier, generator))


def coefficients():
    """Section 4."""
    for matrix in (2, 255, 256, 0xFFFFFFFF):
        yield Mutation(f"matrix_{matrix}", "reject", record(0, matrix=matrix))
    for constraint in (8, 9, 1 << 31, 0xFFFFFFFF):
        yield Mutation(f"constraint_{constraint}", "reject", record(3, constraint=constraint))
    for signal in (7, 8, 1 << 31, 0xFFFFFFFF):
        yield Mutation(f"signal_{signal}", "reject", record(8, signal=signal))
    for value in (R, R + 1, (1 << 256) - 1):
        yield Mutation(f"coefficient_{value:x}", "reject", record(1, value=value))
    for count in (0, 8, 10, 0xFFFFFFFF, 1 << 30, (1 << 32) // 44 + 9):
        yield Mutation(f"coefficient_count_{count}", "reject", patched(4, 0, u32(count)))
    yield Mutation("coefficients_split_and_reversed", "ok", changed(split_and_reversed))
    yield Mutation("no_coefficients", "no-valid-proof", changed(lambda c: c.replace(4, bytearray(4))))
    yield Mutation("coefficient_in_another_row", "no-valid-proof", record(0, constraint=2))


MUTATIONS = [*structure(), *header(), *points(), *coefficients()]
