"""The reduced ate pairing on BN254, without a shortcut, and the Groth16 equation on top of it.

e(P, Q) = f_{t-1, Q}(P)^((q^12 - 1)/r), where t - 1 = 6x^2 is the trace less one. This is not the optimal ate pairing
that provers and verifiers use (its loop is twice as long), so its values differ from theirs; products of pairings are
one for the same inputs, and that is all that verification asks.

Fq12 = Fq2[w]/(w^6 - (9 + u)): an element is a list of six elements of Fq2, lowest power of w first.
"""

from bn254 import G1, G2, Q, R, XI, Fq2

CURVE_X = 4965661367192848881
LOOP = 6 * CURVE_X * CURVE_X
FINAL_EXPONENT = (Q**12 - 1) // R
ONE12 = [Fq2.ONE] + [Fq2.ZERO] * 5


def multiply12(a, b):
    real, imaginary = [0] * 11, [0] * 11
    for i, (a0, a1) in enumerate(a):
        for j, (b0, b1) in enumerate(b):
            real[i + j] += a0 * b0 - a1 * b1
            imaginary[i + j] += a0 * b1 + a1 * b0
    folded = [(real[k] % Q, imaginary[k] % Q) for k in range(6)]
    for k in range(6, 11):
        folded[k - 6] = Fq2.add(folded[k - 6], Fq2.mul(XI, (real[k] % Q, imaginary[k] % Q)))
    return folded


def power12(base, exponent):
    result = ONE12
    for bit in bin(exponent)[2:]:
        result = multiply12(result, result)
        if bit == "1":
            result = multiply12(result, base)
    return result


def _line(slope, through, p):
    """The line with `slope` through a point of the twist, at p, after the map (x, y) -> (x w^2, y w^3)."""
    x, y = p
    constant = Fq2.sub(Fq2.mul(slope, through[0]), through[1])
    minus_slope_x = Fq2.mul(slope, (-x % Q, 0))
    return [(y, 0), minus_slope_x, Fq2.ZERO, constant, Fq2.ZERO, Fq2.ZERO]


def miller_loop(p, q):
    """f_{t-1, q}(p). Vertical lines lie in a proper subfield, which the final exponent maps to one: left out."""
    if p is None or q is None:
        return ONE12
    f, t = ONE12, q
    for bit in bin(LOOP)[3:]:
        square = Fq2.mul(t[0], t[0])
        slope = Fq2.mul(Fq2.mul((3, 0), square), Fq2.inverse(Fq2.add(t[1], t[1])))
        f = multiply12(multiply12(f, f), _line(slope, t, p))
        t = G2.add(t, t)
        if bit == "1":
            slope = Fq2.mul(Fq2.sub(t[1], q[1]), Fq2.inverse(Fq2.sub(t[0], q[0])))
            f = multiply12(f, _line(slope, q, p))
            t = G2.add(t, q)
    return f


def product_is_one(pairs):
    """Whether the product of e(p, q) over the (p, q) of `pairs` is one."""
    product = ONE12
    for p, q in pairs:
        product = multiply12(product, miller_loop(p, q))
    return power12(product, FINAL_EXPONENT) == ONE12


def groth16_holds(vk, publics, proof):
    """The verifier's equation, with the checks that every point is on its curve and B in the subgroup.

    `vk` has alpha1, beta2, gamma2, delta2 and ic; `proof` is (a, b, c).
    """
    a, b, c = proof
    if len(publics) != len(vk.ic) - 1 or not all(0 <= value < R for value in publics):
        return False
    if not (G1.contains(a) and G2.contains(b) and G1.contains(c) and G2.in_subgroup(b)):
        return False
    inputs = vk.ic[0]
    for value, point in zip(publics, vk.ic[1:]):
        inputs = G1.add(inputs, G1.multiply(point, value))
    return product_is_one([(G1.negate(a), b), (inputs, vk.gamma2), (c, vk.delta2), (vk.alpha1, vk.beta2)])
