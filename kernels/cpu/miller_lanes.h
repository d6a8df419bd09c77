// Miller loops, a pair in each lane: the formulas of pairing.cc, on numbers that are reduced lazily. Those
// that are kept are below 2q.

#ifndef PROOFMILL_KERNELS_CPU_MILLER_LANES_H_
#define PROOFMILL_KERNELS_CPU_MILLER_LANES_H_

#include "kernels/cpu/coordinates_lanes.h"
#include "kernels/cpu/miller_parts.h"
#include "kernels/cpu/tower_lanes.h"

namespace proofmill::kernels::PROOFMILL_LANES52 {
namespace {  // NOLINT(google-build-namespaces): of one unit for each instruction set

static_assert(kMillerLanes == kLanes);

// A line through points of the twist, at a point of G1.
struct LineLanes {
  Fq2Lanes a, b, c;
};

// Pairs on their way through the loop. Memory holds x * 2^256, and lanes x * 2^260.
class PairLanes {
 public:
  PairLanes() = default;  // uninitialised
  explicit PairLanes(const MillerPair* pairs) : pairs_(pairs) {
    const auto g1 = [&](Fq G1Affine::*member) {
      return Tighten(Coordinates<Fq>::LoadFrom([&](size_t i) { return &(pairs[i].p.*member); }) *
                     PowerOfTwo<FqParams, 264>());
    };
    x_ = g1(&G1Affine::x);
    y_ = g1(&G1Affine::y);
    minus_x_ = Tighten(Negate(x_));
    minus_y_ = Tighten(Negate(y_));
    q_ = Load(&MillerPair::q);
    minus_q_ = {q_.x, {Tighten(Negate(q_.y.c0)), Tighten(Negate(q_.y.c1))}};
    t_ = {q_.x, q_.y, OneLanes()};
  }

  // t = 2t, and the tangent.
  LineLanes Double(const TightFq2<2>& curve_b) {
    const Fq2Lanes xy = Times(t_.x, t_.y);
    const Fq2Lanes b = Squared(t_.y);
    const Fq2Lanes c = Squared(t_.z);
    const Fq2Lanes e = Times(curve_b, Tighten(Triple(c)));
    const auto f = Triple(e);
    const Fq2Lanes h = Reduced(Squared(Tighten(t_.y + t_.z)) - b - c);
    const Fq2Lanes x_squared = Squared(t_.x);
    const Fq2Lanes four_e_squared = Squared(Tighten(PROOFMILL_LANES52::Double(e)));
    t_.x = Times(Tighten(PROOFMILL_LANES52::Double(xy)), Tighten(b - f));
    t_.y = Reduced(Squared(Reduced(b + f)) - Triple(four_e_squared));
    t_.z = Times(Tighten(PROOFMILL_LANES52::Double(PROOFMILL_LANES52::Double(b))), h);
    return {TimesFq(h, minus_y_), TimesFq(Tighten(Triple(x_squared)), x_), Reduced(e - b)};
  }

  // t = t + q or t - q, and the line through both.
  LineLanes AddQ(bool negative) { return Add(negative ? minus_q_ : q_); }
  LineLanes AddFirst() { return Add(Load(&MillerPair::first)); }
  LineLanes AddSecond() { return Add(Load(&MillerPair::second)); }

  // After all of these: the lanes whose q is in G2.
  Mask EndsInG2() const {
    const Point end = Load(&MillerPair::end);
    const Mask at_infinity = IsZero(Canonical(t_.z));
    const Mask same_x = IsZero(Canonical(t_.x - Times(end.x, t_.z)));
    const Mask same_y = IsZero(Canonical(t_.y - Times(end.y, t_.z)));
    return static_cast<Mask>(same_x & same_y & ~at_infinity);
  }

 private:
  struct Point {
    Fq2Lanes x, y;
  };
  struct Projective {
    Fq2Lanes x, y, z;
  };

  Point Load(G2Affine MillerPair::*point) const {
    const auto load = [&](Fq2 G2Affine::*member) {
      return TimesFq(Coordinates<Fq2>::LoadFrom([&](size_t i) { return &(pairs_[i].*point.*member); }),
                     PowerOfTwo<FqParams, 264>());
    };
    return {load(&G2Affine::x), load(&G2Affine::y)};
  }

  LineLanes Add(const Point& q) {
    const TightFq2<4> theta = Tighten(t_.y - Times(q.y, t_.z));
    const TightFq2<4> lambda = Tighten(t_.x - Times(q.x, t_.z));
    const Fq2Lanes lambda_squared = Squared(lambda);
    const Fq2Lanes e = Times(lambda, lambda_squared);
    const Fq2Lanes f = Times(t_.z, Squared(theta));
    const Fq2Lanes g = Times(t_.x, lambda_squared);
    const Fq2Lanes h = Reduced(e + f - PROOFMILL_LANES52::Double(g));
    t_.x = Times(lambda, h);
    t_.y = Reduced(Times(theta, Tighten(g - h)) - Times(e, t_.y));
    t_.z = Times(t_.z, e);
    return {TimesFq(lambda, y_), TimesFq(theta, minus_x_), Reduced(Times(theta, q.x) - Times(lambda, q.y))};
  }

  const MillerPair* pairs_;
  Tight<FqParams, 2> x_, y_, minus_x_, minus_y_;
  Point q_, minus_q_;
  Projective t_;
};

class MillerLanes {
 public:
  // REQUIRES: as for MillerProducts().
  MillerLanes(const MillerPair* pairs, size_t n, const Fq2& b)
      : groups_(n / kLanes),
        curve_b_(
            TimesFq(Coordinates<Fq2>::LoadFrom([&](size_t) { return &b; }), PowerOfTwo<FqParams, 264>())) {
    for (size_t g = 0; g < groups_; ++g) group_[g] = PairLanes(pairs + g * kLanes);
  }

  bool Run(const NonAdjacentForm& loop, Fq12* products) {
    Fq12Lanes f = OneFq12Lanes();
    for (int i = loop.length - 2; i >= 0; --i) {  // the top digit is 1
      f = Squared(f);
      for (size_t g = 0; g < groups_; ++g) MultiplyIn(group_[g].Double(curve_b_), f);
      if (loop.digit[i] == 0) continue;
      for (size_t g = 0; g < groups_; ++g) MultiplyIn(group_[g].AddQ(loop.digit[i] < 0), f);
    }
    bool in_g2 = true;
    for (size_t g = 0; g < groups_; ++g) {
      MultiplyIn(group_[g].AddFirst(), f);
      MultiplyIn(group_[g].AddSecond(), f);
      in_g2 = in_g2 && group_[g].EndsInG2() == kAllLanes;
    }
    Store(f, products);
    return in_g2;
  }

 private:
  static void MultiplyIn(const LineLanes& line, Fq12Lanes& f) { f = TimesLine(f, line.a, line.b, line.c); }

  const size_t groups_;
  const Fq2Lanes curve_b_;
  PairLanes group_[kMillerPairsMax / kLanes];
};

}  // namespace
}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_KERNELS_CPU_MILLER_LANES_H_
