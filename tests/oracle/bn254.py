"""The BN254 groups in textbook form: the arithmetic of the oracle prover.

Everything here is the plainest formula that is right: integers modulo q, affine points, one inversion for each
addition. Nothing is shared with the C++ code, neither constants nor algorithms, so that an error there cannot hide
behind the same error here. Pure Python 3.11, no other module.

Points are (x, y) with coordinates in the field of the curve, or None for infinity. Elements of Fq are ints, elements
of Fq2 = Fq[u]/(u^2 + 1) are pairs (c0, c1). Every value is plain (not Montgomery) and reduced.
"""

Q = 21888242871839275222246405745257275088696311157297823662689037894645226208583
R = 21888242871839275222246405745257275088548364400416034343698204186575808495617


class Fq:
    """The prime field of G1."""

    ZERO, ONE = 0, 1

    @staticmethod
    def add(a, b):
        return (a + b) % Q

    @staticmethod
    def sub(a, b):
        return (a - b) % Q

    @staticmethod
    def mul(a, b):
        return a * b % Q

    @staticmethod
    def inverse(a):
        return pow(a, -1, Q)


class Fq2:
    """The quadratic extension of G2, u^2 = -1."""

    ZERO, ONE = (0, 0), (1, 0)

    @staticmethod
    def add(a, b):
        return (a[0] + b[0]) % Q, (a[1] + b[1]) % Q

    @staticmethod
    def sub(a, b):
        return (a[0] - b[0]) % Q, (a[1] - b[1]) % Q

    @staticmethod
    def mul(a, b):
        return (a[0] * b[0] - a[1] * b[1]) % Q, (a[0] * b[1] + a[1] * b[0]) % Q

    @staticmethod
    def inverse(a):
        norm = pow(a[0] * a[0] + a[1] * a[1], -1, Q)
        return a[0] * norm % Q, -a[1] * norm % Q


class Curve:
    """y^2 = x^3 + b over `field`, with a generator of the subgroup of order r."""

    def __init__(self, field, b, generator):
        self.field = field
        self.b = b
        self.generator = generator

    def contains(self, point):
        if point is None:
            return True
        f = self.field
        x, y = point
        return f.mul(y, y) == f.add(f.mul(f.mul(x, x), x), self.b)

    def negate(self, point):
        if point is None:
            return None
        return point[0], self.field.sub(self.field.ZERO, point[1])

    def add(self, p, q):
        if p is None:
            return q
        if q is None:
            return p
        f = self.field
        if p[0] == q[0]:
            if p[1] != q[1] or p[1] == f.ZERO:
                return None
            square = f.mul(p[0], p[0])
            slope = f.mul(f.add(f.add(square, square), square), f.inverse(f.add(p[1], p[1])))
        else:
            slope = f.mul(f.sub(q[1], p[1]), f.inverse(f.sub(q[0], p[0])))
        x = f.sub(f.sub(f.mul(slope, slope), p[0]), q[0])
        return x, f.sub(f.mul(slope, f.sub(p[0], x)), p[1])

    def multiply(self, point, scalar):
        """[scalar]point for any non-negative scalar, by doubling and adding. Not reduced modulo r."""
        total = None
        for bit in bin(scalar)[2:]:
            total = self.add(total, total)
            if bit == "1":
                total = self.add(total, point)
        return total

    def in_subgroup(self, point):
        return self.multiply(point, R) is None

    def sum_of_products(self, points, scalars):
        """Sum of [scalars[i]]points[i]: buckets of one byte, from the top byte down."""
        if len(points) != len(scalars):
            raise ValueError(f"{len(points)} points and {len(scalars)} scalars")
        total = None
        for shift in range(248, -8, -8):
            for _ in range(8):
                total = self.add(total, total)
            total = self.add(total, self._byte_sum(points, scalars, shift))
        return total

    def _byte_sum(self, points, scalars, shift):
        buckets = [None] * 256
        for point, scalar in zip(points, scalars):
            digit = (scalar >> shift) & 255
            if digit:
                buckets[digit] = self.add(buckets[digit], point)
        running, total = None, None
        for digit in range(255, 0, -1):
            running = self.add(running, buckets[digit])
            total = self.add(total, running)
        return total


XI = (9, 1)  # the twist: w^6 = 9 + u in Fq12

G1 = Curve(Fq, 3, (1, 2))
G2 = Curve(
    Fq2,
    Fq2.mul((3, 0), Fq2.inverse(XI)),
    (
        (
            10857046999023057135944570762232829481370756359578518086990519993285655852781,
            11559732032986387107991004021392285783925812861821192530917403151452391805634,
        ),
        (
            8495653923123431417604973247489272438418190587263600148770280649306958101930,
            4082367875863433681332203403145435568316851327593401208105741076214120093531,
        ),
    ),
)
