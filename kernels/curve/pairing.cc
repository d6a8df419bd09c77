#include "kernels/curve/pairing.h"

#include <vector>

#include "kernels/field/arithmetic.h"
#if defined(__x86_64__)
#include "kernels/curve/fq12_parts.h"
#endif

namespace proofmill::kernels {
namespace {

// The parameter of the curve: q = 36x^4 + 36x^3 + 24x^2 + 6x + 1, r = q - 6x^2.
constexpr uint64_t kX = 4965661367192848881u;

constexpr NonAdjacentForm kLoop(6 * Uint128{kX} + 2, 2);
// The lines of a Miller loop: one for each digit but the top one, one more where it is not 0, and two.
constexpr size_t kLineCount = [] {
  size_t count = 2;
  for (int i = kLoop.length - 2; i >= 0; --i) count += kLoop.digit[i] == 0 ? 1 : 2;
  return count;
}();
constexpr NonAdjacentForm kXDigits(Uint128{kX}, 2);
// Of 63 digits 14 differ from 0, in place of 24: in Fq12 a product costs two squarings.
constexpr NonAdjacentForm kXWideDigits(Uint128{kX}, 4);

// The q-power Frobenius of the twist, psi(x, y) = (conj(x) * xi^((q-1)/3), conj(y) * xi^((q-1)/2)): the
// Frobenius of the curve over Fq12 seen through the map (x, y) -> (x*w^2, y*w^3). The factors are those of
// w^2 and w^3 under Frobenius (origin and check: tower.cc; a test compares them).
constexpr Fq2 kPsiX{Fq::FromMontgomery(U256{{0xb5773b104563ab30ull, 0x347f91c8a9aa6454ull,
                                             0x7a007127242e0991ull, 0x1956bcd8118214ecull}}),
                    Fq::FromMontgomery(U256{{0x6e849f1ea0aa4757ull, 0xaa1c7b6d89f89141ull,
                                             0xb6e713cdfae0ca3aull, 0x26694fbb4e82ebc3ull}})};
constexpr Fq2 kPsiY{Fq::FromMontgomery(U256{{0xe4bbdd0c2936b629ull, 0xbb30f162e133bacbull,
                                             0x31a9d1b6f9645366ull, 0x253570bea500f8ddull}}),
                    Fq::FromMontgomery(U256{{0xa1d77ce45ffe77c7ull, 0x07affd117826d1dbull,
                                             0x6d16bd27bb7edc6bull, 0x2c87200285defeccull}})};
G2Affine Psi(const G2Affine& p) { return {p.x.Conjugate() * kPsiX, p.y.Conjugate() * kPsiY}; }
G2Xyzz Psi(const G2Xyzz& p) {
  return {p.x.Conjugate() * kPsiX, p.y.Conjugate() * kPsiY, p.zz.Conjugate(), p.zzz.Conjugate()};
}

// x = X/Z, y = Y/Z.
struct Projective {
  Fq2 x;
  Fq2 y;
  Fq2 z;
};

// t = 2t; returns the tangent at the old t. Costello, Lange and Naehrig, 2010, for y^2 = x^3 + b': the line
// y_P - s*x_P*w + (s*x - y)*w^3 with slope s = 3x^2 / 2y, times -2YZ. The point is scaled by 4 to save
// halvings.
MillerLine DoubleStep(Projective& t) {
  const Fq2 xy = t.x * t.y;
  const Fq2 b = t.y.Square();
  const Fq2 c = t.z.Square();
  const Fq2 e = CurveB<Fq2>::kValue * (c.Double() + c);
  const Fq2 f = e.Double() + e;
  const Fq2 h = (t.y + t.z).Square() - b - c;
  const Fq2 x_squared = t.x.Square();
  const Fq2 e_squared = e.Square().Double().Double();
  t.x = (xy * (b - f)).Double();
  t.y = (b + f).Square() - e_squared.Double() - e_squared;
  t.z = (b * h).Double().Double();
  return {-h, x_squared.Double() + x_squared, e - b};
}

// t = t + q; returns the line through both, with slope s = theta / lambda, times lambda. REQUIRES: t is
// neither q nor -q.
MillerLine AddStep(Projective& t, const G2Affine& q) {
  const Fq2 theta = t.y - q.y * t.z;
  const Fq2 lambda = t.x - q.x * t.z;
  const Fq2 lambda_squared = lambda.Square();
  const Fq2 e = lambda * lambda_squared;
  const Fq2 f = t.z * theta.Square();
  const Fq2 g = t.x * lambda_squared;
  const Fq2 h = e + f - g.Double();
  t.x = lambda * h;
  t.y = theta * (g - h) - e * t.y;
  t.z *= e;
  return {lambda, -theta, theta * q.x - lambda * q.y};
}

MillerLine At(const G1Affine& p, const MillerLine& line) { return {line.a * p.y, line.b * p.x, line.c}; }

// Takes t, which is q, through a Miller loop, and gives the lines to `take` in the order in which they are
// multiplied in.
template <typename Take>
void WalkLines(const G2Affine& q, Projective& t, Take take) {
  for (int i = kLoop.length - 2; i >= 0; --i) {
    take(DoubleStep(t));
    if (kLoop.digit[i] == 1) take(AddStep(t, q));
    if (kLoop.digit[i] == -1) take(AddStep(t, -q));
  }
  const G2Affine q1 = Psi(q);
  take(AddStep(t, q1));
  take(AddStep(t, -Psi(q1)));
}

// Whether one element of Fq12 goes side by side through the lanes of AVX-512 IFMA.
bool HasLanes() {
#if defined(__x86_64__)
  return CurrentArithmetic() == Arithmetic::kIfma;
#else
  return false;
#endif
}
// What a Miller loop makes of its kLineCount lines at a point of G1, up to a factor in Fq. REQUIRES:
// HasLanes().
Fq12 LineProductInLanes(const MillerLine* lines) {
  Fq12 out;
#if defined(__x86_64__)
  ifma::LineProduct(lines, kLoop, &out);
#endif
  return out;
}

// One pair on its way through the Miller loop.
struct LoopTerm {
  G1Affine p;
  G2Affine q;
  Projective t;

  void MultiplyIn(const MillerLine& line, Fq12& f) const {
    const auto [a, b, c] = At(p, line);
    f = f.MulByLine(a, b, c);
  }
  void Double(Fq12& f) { MultiplyIn(DoubleStep(t), f); }
  void Add(const G2Affine& point, Fq12& f) { MultiplyIn(AddStep(t, point), f); }
  // After the loop: whether q is in G2. t is then [6x+2]q + psi(q) - psi^2(q), if no step met a case that its
  // formula does not cover, and otherwise has z = 0, from which no step leads away. On G2, where psi is
  // multiplication by the number q, it is -psi^3(q), since r divides 6x+2 + q - q^2 + q^3; and no step meets
  // such a case. A point that satisfies t = -psi^3(q) is killed by the norm of 6x+2 + psi - psi^2 + psi^3
  // (with psi^2 - t*psi + q = 0, as for IsInG2Subgroup()), whose greatest common divisor with the order r(2q
  // - r) of the twist is r: so it is in G2.
  bool EndsInG2() const {
    const G2Affine end = -Psi(Psi(Psi(q)));
    return !t.z.IsZero() && t.x == end.x * t.z && t.y == end.y * t.z;
  }
};

// f^((q^6 - 1)(q^2 + 1)), which is in the cyclotomic subgroup.
Fq12 EasyPart(const Fq12& f) {
  const Fq12 g = f.Conjugate() * f.Inverse();  // f^(q^6 - 1)
  return g.Frobenius(2) * g;
}

// f^x for f in the cyclotomic subgroup, where the conjugate is the inverse.
Fq12 PowX(const Fq12& f) {
#if defined(__x86_64__)
  if (HasLanes()) {
    Fq12 out;
    ifma::CyclotomicPower(&f, kXWideDigits, &out);
    return out;
  }
#endif
  const Fq12 square = f.CyclotomicSquare();
  Fq12 odd_power[4] = {f};  // f, f^3, f^5, f^7
  for (int i = 1; i < 4; ++i) odd_power[i] = odd_power[i - 1] * square;
  Fq12 out = f;  // the top digit is 1
  for (int i = kXWideDigits.length - 2; i >= 0; --i) {
    out = out.CyclotomicSquare();
    const int8_t digit = kXWideDigits.digit[i];
    if (digit > 0) out *= odd_power[digit / 2];
    if (digit < 0) out *= odd_power[-digit / 2].Conjugate();
  }
  return out;
}

// m^(2x(6x^2+3x+1) * (q^4-q^2+1)/r), which is m^(a + b*q + (6x + 12x^2 + 12x^3)*q^2 + (b-1)*q^3) with
// b = 4x + 6x^2 + 12x^3 and a = 1 + 6x + 12x^2 + 12x^3 (Fuentes-Castaneda et al., section 4). REQUIRES: m is
// in the cyclotomic subgroup.
Fq12 HardPart(const Fq12& m) {
  const Fq12 m_2x = PowX(m).CyclotomicSquare();
  const Fq12 m_6x = m_2x.CyclotomicSquare() * m_2x;
  const Fq12 m_6x2 = PowX(m_6x);
  const Fq12 m_12x3 = PowX(m_6x2.CyclotomicSquare());
  const Fq12 c = m_12x3 * m_6x2 * m_6x;  // 6x + 6x^2 + 12x^3
  const Fq12 b = c * m_2x.Conjugate();   // 4x + 6x^2 + 12x^3
  const Fq12 a_less_one = c * m_6x2;     // 6x + 12x^2 + 12x^3
  return a_less_one * m * b.Frobenius(1) * c.Frobenius(2) * (b * m.Conjugate()).Frobenius(3);
}

G2Xyzz MulByX(const G2Affine& p) {
  G2Xyzz out = G2Xyzz::FromAffine(p);
  for (int i = kXDigits.length - 2; i >= 0; --i) {
    out = out.Double();
    if (kXDigits.digit[i] == 1) out += p;
    if (kXDigits.digit[i] == -1) out += -p;
  }
  return out;
}

}  // namespace

namespace {

Fq12 MillerLoopOf(LoopTerm* terms, size_t n) {
  Fq12 f = Fq12::One();
  for (int i = kLoop.length - 2; i >= 0; --i) {  // the top digit is 1
    f = f.Square();
    for (LoopTerm* term = terms; term != terms + n; ++term) {
      term->Double(f);
      if (kLoop.digit[i] == 1) term->Add(term->q, f);
      if (kLoop.digit[i] == -1) term->Add(-term->q, f);
    }
  }
  for (LoopTerm* term = terms; term != terms + n; ++term) {
    const G2Affine q1 = Psi(term->q);
    term->Add(q1, f);
    term->Add(-Psi(q1), f);
  }
  return f;
}

// The same for one pair, in lanes where there are some.
Fq12 LoneMillerLoop(LoopTerm& term) {
  if (!HasLanes()) return MillerLoopOf(&term, 1);
  MillerLine lines[kLineCount];
  MillerLine* next = lines;
  WalkLines(term.q, term.t, [&](const MillerLine& line) { *next++ = At(term.p, line); });
  return LineProductInLanes(lines);
}

// The pairs whose pairing is not one.
std::vector<LoopTerm> LiveTerms(const PairingTerm* terms, size_t n) {
  std::vector<LoopTerm> live;
  live.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    const PairingTerm& term = terms[i];
    if (term.g1.IsInfinity() || term.g2.IsInfinity()) continue;
    live.push_back({term.g1, term.g2, {term.g2.x, term.g2.y, Fq2::One()}});
  }
  return live;
}

}  // namespace

Fq12 MillerLoopProduct(const PairingTerm* terms, size_t n) {
  std::vector<LoopTerm> live = LiveTerms(terms, n);
  return MillerLoopOf(live.data(), live.size());
}

CheckedMiller CheckedMillerLoopProduct(const PairingTerm* terms, size_t n) {
  std::vector<LoopTerm> live = LiveTerms(terms, n);
  CheckedMiller out;
  out.value = MillerLoopOf(live.data(), live.size());
  for (const LoopTerm& term : live) out.in_g2 = out.in_g2 && term.EndsInG2();
  for (size_t i = 0; i < n; ++i) {
    if (terms[i].g1.IsInfinity()) out.in_g2 = out.in_g2 && IsInG2Subgroup(terms[i].g2);
  }
  return out;
}

// Without an allocation, for threads that may not throw.
Fq12 MillerLoop(const G1Affine& p, const G2Affine& q) {
  if (p.IsInfinity() || q.IsInfinity()) return Fq12::One();
  LoopTerm term{p, q, {q.x, q.y, Fq2::One()}};
  return LoneMillerLoop(term);
}

CheckedMiller CheckedMillerLoop(const G1Affine& p, const G2Affine& q) {
  if (p.IsInfinity() || q.IsInfinity()) return {Fq12::One(), IsInG2Subgroup(q)};
  LoopTerm term{p, q, {q.x, q.y, Fq2::One()}};
  const Fq12 value = LoneMillerLoop(term);
  return {value, term.EndsInG2()};
}

namespace {

// Divides each line by its a, which is not zero, with one inversion for all.
void Normalise(std::vector<MillerLine>& lines) {
  std::vector<Fq2> before(lines.size());
  Fq2 product = Fq2::One();
  for (size_t i = 0; i < lines.size(); ++i) {
    before[i] = product;
    product *= lines[i].a;
  }
  Fq2 inverse = product.Inverse();
  for (size_t i = lines.size(); i-- > 0;) {
    const Fq2 scale = inverse * before[i];
    inverse *= lines[i].a;
    lines[i] = {Fq2::One(), lines[i].b * scale, lines[i].c * scale};
  }
}

// f * (1 + b*w + c*w^3).
Fq12 TimesMonicLine(const Fq12& f, const Fq2& b, const Fq2& c) {
  const Fq6 p1 = f.c1.MulBy01(b, c);
  return {f.c0 + p1.MulByV(), (f.c0 + f.c1).MulBy01(Fq2::One() + b, c) - f.c0 - p1};
}

}  // namespace

PreparedG2::PreparedG2(const G2Affine& q) {
  if (q.IsInfinity()) return;
  Projective t{q.x, q.y, Fq2::One()};
  lines_.reserve(kLineCount);
  WalkLines(q, t, [&](const MillerLine& line) { lines_.push_back(line); });
  Normalise(lines_);
}

Fq12 MillerLoop(const G1Affine& p, const PreparedG2& prepared) {
  Fq12 f = Fq12::One();
  if (p.IsInfinity() || prepared.lines().empty()) return f;
  const MillerLine* line = prepared.lines().data();
  const Fq y_inverse = p.y.Inverse();
  const Fq x_over_y = p.x * y_inverse;
  const auto over_y = [&](const MillerLine& monic) {
    return MillerLine{Fq2::One(), monic.b * x_over_y, monic.c * y_inverse};
  };
  if (HasLanes()) {
    MillerLine lines[kLineCount];
    for (size_t i = 0; i < kLineCount; ++i) lines[i] = over_y(line[i]);
    return LineProductInLanes(lines);
  }
  const auto multiply_in = [&] {
    const MillerLine at_p = over_y(*line++);
    f = TimesMonicLine(f, at_p.b, at_p.c);
  };
  for (int i = kLoop.length - 2; i >= 0; --i) {
    f = f.Square();
    multiply_in();
    if (kLoop.digit[i] != 0) multiply_in();
  }
  multiply_in();
  multiply_in();
  return f;
}

const NonAdjacentForm& MillerLoopDigits() { return kLoop; }

G2Affine FrobeniusOfTwist(const G2Affine& p) { return Psi(p); }

Fq12 FinalExponentiation(const Fq12& f) { return HardPart(EasyPart(f)); }

Fq12 Pairing(const G1Affine& p, const G2Affine& q) { return FinalExponentiation(MillerLoop(p, q)); }

bool PairingProductIsOne(const PairingTerm* terms, size_t n) {
  return FinalExponentiation(MillerLoopProduct(terms, n)) == Fq12::One();
}

// [x+1]P + psi([x]P) + psi^2([x]P) = psi^3([2x]P): Dai, Lin, Zhao and Zhou, "Fast subgroup membership
// testings for G1, G2 and GT on pairing-friendly curves", 2022. It holds on G2, where psi is multiplication
// by q. Elsewhere it fails: with psi^2 - t*psi + q = 0, a point that satisfies it is killed by the norm of
// (x+1) + x*psi + x*psi^2 - 2x*psi^3, whose greatest common divisor with the order r(2q - r) of the twist is
// r (computed with Python's integers; a test tries points of order 10069 and 10069*r).
bool IsInG2Subgroup(const G2Affine& p) {
  if (p.IsInfinity()) return true;
  const G2Xyzz xp = MulByX(p);
  const G2Xyzz left = xp + p + Psi(xp) + Psi(Psi(xp));
  return left == Psi(Psi(Psi(xp.Double())));
}

}  // namespace proofmill::kernels
