"""Points of the twist that are not in the subgroup of order r: what a checker of keys must refuse.

The twist has r * (2q - r) points, and 2q - r = 10069 * (a large factor): a checker that takes one random combination of
many points misses a bad one of order 10069 * r with probability 1/10069.
"""

from bn254 import G2, Q, R, Fq2

SMALL_FACTOR = 10069


def point_outside_the_subgroup():
    """The first point of the twist with x = k + u. Chance makes its order a multiple of r and of the large factor."""
    for k in range(1, 100):
        x = (k, 1)
        square = Fq2.add(Fq2.mul(Fq2.mul(x, x), x), G2.b)
        y = square_root(square)
        if y is not None:
            return x, y
    raise AssertionError("no point of the twist among the first x")


def point_of_small_cofactor_order():
    """A point of order 10069 * r: the generator plus a point of order 10069."""
    small = G2.multiply(point_outside_the_subgroup(), R * ((2 * Q - R) // SMALL_FACTOR))
    return G2.add(small, G2.generator)


def square_root(value):
    """In Fq2, q = 3 mod 4: through the norm. None where there is none."""
    norm_root = pow(value[0] * value[0] + value[1] * value[1], (Q + 1) // 4, Q)
    for root in (norm_root, Q - norm_root):
        half = (value[0] + root) * pow(2, -1, Q) % Q
        real = pow(half, (Q + 1) // 4, Q)
        if real * real % Q != half or real == 0:
            continue
        candidate = (real, value[1] * pow(2 * real, -1, Q) % Q)
        if Fq2.mul(candidate, candidate) == value:
            return candidate
    return None
