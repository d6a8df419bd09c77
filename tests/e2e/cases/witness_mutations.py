"""Damaged and unusual witnesses that the manifest of the cases does not have, made from one good witness (7 values)."""

from containers import Mutation, changed, le32, patched, u32, with_length
from bn254 import R
from key_mutations import BLS12_381_Q, BLS12_381_R

COUNT = 36  # offset of the number of values in section 1


def values(edit):
    """`edit` gets the list of the values' bytes and returns another; the count in the header follows it."""

    def change(container):
        data = container[2]
        edited = edit([bytes(data[offset : offset + 32]) for offset in range(0, len(data), 32)])
        container.patch(1, COUNT, u32(len(edited))).replace(2, bytearray(b"".join(edited)))

    return changed(change)


def value(index, function):
    def edit(old):
        old[index] = le32(function(int.from_bytes(old[index], "little")))
        return old

    return values(edit)


def structure():
    for percent in (25, 50, 99):
        yield Mutation(f"cut_at_{percent}_percent", "reject", lambda b, p=percent: b[: len(b) * p // 100])
    for size in (0, 4, 11, 12, 24, 75, 76):
        yield Mutation(f"cut_to_{size}_bytes", "reject", lambda b, n=size: b[:n])
    yield Mutation("bytes_after_the_end", "reject", lambda b: b + b"\0")
    for identifier in (1, 2):
        for length in (0xFFFFFFFFFFFFFFF0, 0xFFFFFFFFFFFFFFFF, 1 << 32, 0):
            yield Mutation(f"section_{identifier}_claims_{length:x}", "reject", with_length(identifier, length))
        yield Mutation(f"section_{identifier}_twice", "reject", changed(lambda c, i=identifier: c.append(i, c[i])),
                       (f"section {identifier}",))
        yield Mutation(f"section_{identifier}_one_byte_long", "reject",
                       changed(lambda c, i=identifier: c[i].extend(b"\0")))
    for version in (0, 3, 0xFFFFFFFF):
        yield Mutation(f"version_{version}", "reject", lambda b, v=version: b[:4] + u32(v) + b[8:], ("version",))
    yield Mutation("sections_without_end", "reject", lambda b: b[:8] + u32(0xFFFFFFFF) + b[12:])
    yield Mutation("magic_of_a_key", "reject", lambda b: b"zkey" + b[4:])


def other_field(prime, n8):
    def change(container):
        count = container[1][COUNT:]
        container.replace(1, bytearray(u32(n8) + prime.to_bytes(n8, "little") + count))

    return changed(change)


def contents():
    yield Mutation("one_value_fewer", "reject", values(lambda old: old[:-1]), ("6", "7"))
    yield Mutation("one_value_more", "reject", values(lambda old: old + old[-1:]), ("7", "8"))
    yield Mutation("no_value", "reject", values(lambda old: []), ("0", "7"))
    yield Mutation("a_hundred_values_announced", "reject", patched(1, COUNT, u32(100)), ("100",))
    yield Mutation("count_zero_with_values", "reject", patched(1, COUNT, u32(0)))
    yield Mutation("bls12_381_scalars", "reject", other_field(BLS12_381_R, 32))
    yield Mutation("bls12_381_base_field", "reject", other_field(BLS12_381_Q, 48))
    for n8 in (0, 31, 33, 0xFFFFFFFF):
        yield Mutation(f"n8_says_{n8}", "reject", patched(1, 0, u32(n8)))
    for index in (0, 1, 3, 6):
        for name, bad in (("r", R), ("r_plus_1", R + 1), ("all_ones", (1 << 256) - 1)):
            yield Mutation(f"value_{index}_is_{name}", "reject", value(index, lambda _, b=bad: b))
    yield Mutation("value_0_is_zero", "no-valid-proof", value(0, lambda _: 0))
    yield Mutation("value_0_is_r_minus_1", "no-valid-proof", value(0, lambda _: R - 1))
    for index in range(1, 7):
        yield Mutation(f"value_{index}_flipped", "no-valid-proof", value(index, lambda old: old ^ 1))
    yield Mutation("everything_two_but_the_first", "no-valid-proof", values(lambda old: old[:1] + [le32(2)] * 6))


MUTATIONS = [*structure(), *contents()]
