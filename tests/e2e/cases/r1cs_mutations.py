"""Damaged circuits for `proofmill setup`, made from a good .r1cs of two constraints (the oracle's all_public).

Section 2 of the base starts with the combination A of the first constraint: u32 1, then one term of 36 bytes.
"""

from containers import Mutation, changed, le32, patched, u32, with_length
from bn254 import R
from key_mutations import BLS12_381_Q, BLS12_381_R

WIRES, OUTPUTS, PUBLIC_INPUTS, PRIVATE_INPUTS, LABELS, CONSTRAINTS = 36, 40, 44, 48, 52, 60
FIRST_COUNT, FIRST_WIRE, FIRST_VALUE = 0, 4, 8


def other_field(prime, n8):
    def change(container):
        tail = container[1][WIRES:]
        container.replace(1, bytearray(u32(n8) + prime.to_bytes(n8, "little") + tail))

    return changed(change)


def structure():
    for percent in (10, 50, 90, 99):
        yield Mutation(f"cut_at_{percent}_percent", "reject", lambda b, p=percent: b[: len(b) * p // 100])
    for size in (0, 4, 11, 12, 24, 90):
        yield Mutation(f"cut_to_{size}_bytes", "reject", lambda b, n=size: b[:n])
    for identifier in (1, 2):
        for length in (0xFFFFFFFFFFFFFFF0, 0xFFFFFFFFFFFFFFFF, 1 << 32, 0):
            yield Mutation(f"section_{identifier}_claims_{length:x}", "reject", with_length(identifier, length))
        yield Mutation(f"section_{identifier}_missing", "reject", changed(lambda c, i=identifier: c.drop(i)))
        yield Mutation(f"section_{identifier}_twice", "reject", changed(lambda c, i=identifier: c.append(i, c[i])))
        yield Mutation(f"section_{identifier}_one_byte_long", "reject",
                       changed(lambda c, i=identifier: c[i].extend(b"\0")))
    yield Mutation("sections_the_other_way_round", "ok", changed(lambda c: c.order([3, 2, 1])))
    yield Mutation("sections_without_end", "reject", lambda b: b[:8] + u32(0xFFFFFFFF) + b[12:])
    for version in (0, 2, 0xFFFFFFFF):
        yield Mutation(f"version_{version}", "reject", lambda b, v=version: b[:4] + u32(v) + b[8:], ("version",))
    yield Mutation("magic_of_a_key", "reject", lambda b: b"zkey" + b[4:])


def contents():
    yield Mutation("bls12_381_scalars", "reject", other_field(BLS12_381_R, 32))
    yield Mutation("bls12_381_base_field", "reject", other_field(BLS12_381_Q, 48))
    for n8 in (0, 64, 0xFFFFFFFF):
        yield Mutation(f"n8_says_{n8}", "reject", patched(1, 0, u32(n8)))
    for name, offset in (("wires", WIRES), ("outputs", OUTPUTS), ("public_inputs", PUBLIC_INPUTS),
                         ("constraints", CONSTRAINTS)):
        for count in (0xFFFFFFFF, 1 << 31, 1 << 28):
            yield Mutation(f"{name}_{count}", "reject", patched(1, offset, u32(count)))
    yield Mutation("no_wires", "reject", patched(1, WIRES, u32(0)))
    yield Mutation("fewer_wires_than_public_ones", "reject", patched(1, WIRES, u32(3)))
    yield Mutation("one_constraint_more", "reject", patched(1, CONSTRAINTS, u32(3)))
    yield Mutation("one_constraint_fewer", "reject", patched(1, CONSTRAINTS, u32(1)))
    for count in (8, 0xFFFFFFFF, 1 << 30, (1 << 32) // 36 + 1):
        yield Mutation(f"combination_of_{count}_terms", "reject", patched(2, FIRST_COUNT, u32(count)))
    for wire in (5, 1 << 31, 0xFFFFFFFF):
        yield Mutation(f"wire_{wire}", "reject", patched(2, FIRST_WIRE, u32(wire)))
    for name, bad in (("r", R), ("all_ones", (1 << 256) - 1)):
        yield Mutation(f"value_{name}", "reject", patched(2, FIRST_VALUE, le32(bad)))


MUTATIONS = [*structure(), *contents()]
