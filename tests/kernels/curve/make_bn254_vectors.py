#!/usr/bin/env python3
"""Writes bn254_vectors.h: known answers for the tower, the pairing and the twist of BN254.

Shares nothing with the C++ code: Fq12 is Fq[w]/(w^12 - 18 w^6 + 82) here, points of the twist are carried to the
curve over Fq12, slopes are divisions, and the final exponentiation is one power. Takes a few seconds.

    python3 tests/kernels/curve/make_bn254_vectors.py > tests/kernels/curve/bn254_vectors.h
"""
import random

Q = 0x30644E72E131A029B85045B68181585D97816A916871CA8D3C208C16D87CFD47
R = 0x30644E72E131A029B85045B68181585D2833E84879B9709143E1F593F0000001
X = 4965661367192848881
COFACTOR = 2 * Q - R
G1 = (1, 2)
G2 = ((0x1800DEEF121F1E76426A00665E5C4479674322D4F75EDADD46DEBD5CD992F6ED,
       0x198E9393920D483A7260BFB731FB5D25F1AA493335A9E71297E485B7AEF312C2),
      (0x12C85EA5DB8C6DEB4AAB71808DCB408FE3D1E7690C43D37B4CE6CC0166FA7DAA,
       0x090689D0585FF075EC9E99AD690C3395BC4B313370B38EF355ACDADCD122975B))


class Fq12:
    """c[0] + c[1] w + ... + c[11] w^11 with w^12 = 18 w^6 - 82."""

    def __init__(self, c):
        self.c = [x % Q for x in c] + [0] * (12 - len(c))

    def __add__(self, o):
        return Fq12([a + b for a, b in zip(self.c, o.c)])

    def __sub__(self, o):
        return Fq12([a - b for a, b in zip(self.c, o.c)])

    def __mul__(self, o):
        t = [0] * 23
        for i, a in enumerate(self.c):
            for j, b in enumerate(o.c):
                t[i + j] += a * b
        for i in range(22, 11, -1):
            t[i - 6] += 18 * t[i]
            t[i - 12] -= 82 * t[i]
        return Fq12(t[:12])

    def __eq__(self, o):
        return self.c == o.c

    def __pow__(self, e):
        out, base = Fq12([1]), self
        while e:
            if e & 1:
                out = out * base
            base = base * base
            e >>= 1
        return out

    def inverse(self):
        """Solves self * y = 1, which is linear in the coefficients of y."""
        columns = [(self * Fq12([0] * j + [1])).c for j in range(12)]
        m = [[columns[j][i] for j in range(12)] + [1 if i == 0 else 0] for i in range(12)]
        for i in range(12):
            p = next(k for k in range(i, 12) if m[k][i])
            m[i], m[p] = m[p], m[i]
            inv = pow(m[i][i], -1, Q)
            m[i] = [x * inv % Q for x in m[i]]
            for k in range(12):
                if k != i and m[k][i]:
                    f = m[k][i]
                    m[k] = [(x - f * y) % Q for x, y in zip(m[k], m[i])]
        return Fq12([row[12] for row in m])

    def tower(self):
        """Coefficients of w^i v^j u^k in the order of the tower: u = w^6 - 9, v = w^2."""
        c = self.c
        fq2 = [((c[i] + 9 * c[i + 6]) % Q, c[i + 6]) for i in range(6)]
        return [x for i in (0, 2, 4, 1, 3, 5) for x in fq2[i]]


def fq2(a, shift=0):
    """(a0 + a1 u) * w^shift."""
    c = [0] * 12
    c[shift] += a[0] - 9 * a[1]
    c[shift + 6] += a[1]
    return Fq12(c)


def add(p, q):
    """Affine addition on y^2 = x^3 + 3 over Fq12; also the slope. None is infinity."""
    if p is None or q is None:
        return (q if p is None else p), None
    if p[0] == q[0]:
        if p[1] != q[1]:
            return None, None
        slope = Fq12([3]) * p[0] * p[0] * (p[1] + p[1]).inverse()
    else:
        slope = (q[1] - p[1]) * (q[0] - p[0]).inverse()
    x = slope * slope - p[0] - q[0]
    return (x, slope * (p[0] - x) - p[1]), slope


def pairing(p, q):
    """Optimal ate: f_{6x+2,Q}(P) times two lines, by the book; then the exponent of snarkjs."""
    px, py = Fq12([p[0]]), Fq12([p[1]])
    q = (fq2(q[0], 2), fq2(q[1], 3))
    f, t = Fq12([1]), q
    for bit in bin(6 * X + 2)[3:]:
        nxt, slope = add(t, t)
        f, t = f * f * (py - t[1] - slope * (px - t[0])), nxt
        if bit == "1":
            nxt, slope = add(t, q)
            f, t = f * (py - t[1] - slope * (px - t[0])), nxt
    q1 = (q[0] ** Q, q[1] ** Q)
    q2 = (q1[0] ** Q, Fq12([0]) - q1[1] ** Q)
    for other in (q1, q2):
        nxt, slope = add(t, other)
        f, t = f * (py - t[1] - slope * (px - t[0])), nxt
    return f ** (2 * X * (6 * X * X + 3 * X + 1) * ((Q ** 12 - 1) // R))


def mul2(a, b):
    return ((a[0] * b[0] - a[1] * b[1]) % Q, (a[0] * b[1] + a[1] * b[0]) % Q)


def inverse2(a):
    n = pow(a[0] * a[0] + a[1] * a[1], -1, Q)
    return (a[0] * n % Q, -a[1] * n % Q)


def sqrt_fq(a):
    s = pow(a, (Q + 1) // 4, Q)
    return s if s * s % Q == a % Q else None


def sqrt2(a):
    """By the norm: a = (s + t u)^2 with s^2 = (a0 +- |a|) / 2."""
    norm = sqrt_fq(a[0] * a[0] + a[1] * a[1])
    for sign in (1, -1):
        if norm is None:
            return None
        s = sqrt_fq((a[0] + sign * norm) * pow(2, -1, Q))
        if s:
            root = (s, a[1] * pow(2 * s, -1, Q) % Q)
            if mul2(root, root) == (a[0] % Q, a[1] % Q):
                return root
    return None


def twist_add(p, q):
    if p is None or q is None:
        return q if p is None else p
    if p[0] == q[0]:
        if p[1] != q[1]:
            return None
        slope = mul2(mul2((3, 0), mul2(p[0], p[0])), inverse2((2 * p[1][0], 2 * p[1][1])))
    else:
        slope = mul2((q[1][0] - p[1][0], q[1][1] - p[1][1]),
                     inverse2((q[0][0] - p[0][0], q[0][1] - p[0][1])))
    s2 = mul2(slope, slope)
    x = tuple((s2[i] - p[0][i] - q[0][i]) % Q for i in (0, 1))
    t = mul2(slope, (p[0][0] - x[0], p[0][1] - x[1]))
    return (x, tuple((t[i] - p[1][i]) % Q for i in (0, 1)))


def twist_mul(k, p):
    out = None
    while k:
        if k & 1:
            out = twist_add(out, p)
        p = twist_add(p, p)
        k >>= 1
    return out


def twist_point():
    """A point of the twist that is (almost surely) outside of every subgroup."""
    b = mul2((3, 0), inverse2((9, 1)))
    x0 = 1
    while True:
        x = (x0, 0)
        x3 = mul2(x, mul2(x, x))
        y = sqrt2((x3[0] + b[0], x3[1] + b[1]))
        if y is not None:
            return (x, y)
        x0 += 1


def show(name, note, values):
    print(f"\n// {note}")
    print(f"inline constexpr const char* {name}[] = {{")
    for v in values:
        print(f'    "{v:064x}",')
    print("};")


def flat(p):
    return [p[0][0], p[0][1], p[1][0], p[1][1]]


def main():
    rng = random.Random(254)
    a = Fq12([rng.randrange(Q) for _ in range(12)])
    b = Fq12([rng.randrange(Q) for _ in range(12)])
    print("// Generated by make_bn254_vectors.py beside this file; do not edit. Plain integers in hexadecimal. An\n"
          "// element of Fq12 is the 12 coefficients of w^i v^j u^k for (i, j, k) = (0,0,0), (0,0,1), (0,1,0) ...;\n"
          "// a point of the twist is x.c0, x.c1, y.c0, y.c1.\n")
    print("#ifndef PROOFMILL_TESTS_KERNELS_CURVE_BN254_VECTORS_H_")
    print("#define PROOFMILL_TESTS_KERNELS_CURVE_BN254_VECTORS_H_\n")
    print("namespace proofmill::kernels::vectors {")
    show("kFq12A", "a, random.", a.tower())
    show("kFq12B", "b, random.", b.tower())
    show("kFq12Product", "a * b.", (a * b).tower())
    show("kFq12Inverse", "1 / a.", a.inverse().tower())
    show("kFq12Frobenius1", "a^q.", (a ** Q).tower())
    show("kFq12Frobenius2", "a^(q^2).", (a ** (Q * Q)).tower())
    show("kFq12Frobenius3", "a^(q^3).", (a ** (Q ** 3)).tower())
    power = 2 * X * (6 * X * X + 3 * X + 1) * ((Q ** 12 - 1) // R)
    show("kFq12FinalExponentiation", "a^(2x(6x^2+3x+1) * (q^12-1)/r).", (a ** power).tower())
    show("kGeneratorPairing", "e(G1 generator, G2 generator) to the exponent above.", pairing(G1, G2).tower())
    p = twist_point()
    assert twist_mul(R * COFACTOR, p) is None
    small = twist_mul(R * (COFACTOR // 10069), p)
    mixed = twist_mul(COFACTOR // 10069, p)
    assert small is not None and twist_mul(10069, small) is None
    assert twist_mul(R, mixed) is not None and twist_mul(10069, mixed) is not None
    show("kTwistPoint", "A point of the twist of full order.", flat(p))
    show("kTwistPointOfOrder10069", "A point of order 10069, a factor of the cofactor 2q - r.", flat(small))
    show("kTwistPointOfOrder10069R", "A point of order 10069 * r.", flat(mixed))
    print("\n}  // namespace proofmill::kernels::vectors\n")
    print("#endif  // PROOFMILL_TESTS_KERNELS_CURVE_BN254_VECTORS_H_")


main()
