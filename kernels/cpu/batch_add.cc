#include "kernels/cpu/batch_add.h"

#include <algorithm>

#include "kernels/field/arithmetic.h"
#if defined(__x86_64__)
#include "kernels/cpu/batch_add_parts.h"
#endif

namespace proofmill::kernels {
namespace {

// What AddAffine() needs the inverse of: the denominator of the slope, or 1 where there is no slope. Never
// zero, since a curve of odd order has no point with y = 0.
template <typename F>
[[gnu::noinline]] F SlopeDenominator(const Affine<F>& a, const Affine<F>& b) {
  if (a.IsInfinity() || b.IsInfinity()) return F::One();
  const F dx = b.x - a.x;
  if (!dx.IsZero()) return dx;
  return a.y == b.y ? a.y.Double() : F::One();
}

// a + b, given the inverse of SlopeDenominator(a, b).
template <typename F>
[[gnu::noinline]] Affine<F> AddAffine(const Affine<F>& a, const Affine<F>& b, const F& inverse) {
  if (a.IsInfinity()) return b;
  if (b.IsInfinity()) return a;
  F slope;
  if (a.x != b.x) {
    slope = (b.y - a.y) * inverse;
  } else {
    if (a.y != b.y) return Affine<F>::Infinity();
    const F x_squared = a.x.Square();
    slope = (x_squared.Double() + x_squared) * inverse;
  }
  const F x = slope.Square() - a.x - b.x;
  return {x, slope * (a.x - x) - a.y};
}

// How many pairs the scalar loops take side by side: products that wait for each other leave the multiplier
// idle a quarter of the time. Those of Fq2 are three of Fq each.
template <typename F>
constexpr size_t kWaysOf = 2;
template <>
constexpr size_t kWaysOf<Fq2> = 1;

// Montgomery's trick, for kWays sequences of pairs in turn: pair i belongs to sequence i mod kWays, and
// products[i] is the product of the denominators before it in its sequence.
template <typename F, size_t kWays>
class ScalarAdder {
 public:
  ScalarAdder(Affine<F>* points, const PointPair* pairs, F* products)
      : points_(points), pairs_(pairs), products_(products) {
    std::fill_n(running_, kWays, F::One());
  }

  // Pairs i to i + kWays - 1.
  void Multiply(size_t i) {
    for (size_t w = 0; w < kWays; ++w) {
      products_[i + w] = running_[w];
      running_[w] *= DenominatorOf(i + w).value;
    }
  }
  // Turns the products of all denominators into their inverses.
  void Invert() {
    F product = running_[0];
    for (size_t w = 1; w < kWays; ++w) product *= running_[w];
    F inverse = product.Inverse();
    for (size_t w = kWays; w-- > 1;) {
      F before = running_[0];
      for (size_t v = 1; v < w; ++v) before *= running_[v];
      const F inverse_of_this = inverse * before;
      inverse *= running_[w];
      running_[w] = inverse_of_this;
    }
    running_[0] = inverse;
  }
  // The same pairs, in the opposite order.
  void Add(size_t i) {
    F slope[kWays], x[kWays];
    Denominator denominator[kWays];
    bool general = true;
    for (size_t w = 0; w < kWays; ++w) {
      denominator[w] = DenominatorOf(i + w);
      general = general && denominator[w].general;
    }
    for (size_t w = 0; w < kWays; ++w) slope[w] = running_[w] * products_[i + w];
    for (size_t w = 0; w < kWays; ++w) running_[w] *= denominator[w].value;
    if (!general) {
      for (size_t w = 0; w < kWays; ++w) Target(i + w) = AddAffine(Target(i + w), Other(i + w), slope[w]);
      return;
    }
    for (size_t w = 0; w < kWays; ++w) slope[w] *= Other(i + w).y - Target(i + w).y;
    for (size_t w = 0; w < kWays; ++w) x[w] = slope[w].Square() - Target(i + w).x - Other(i + w).x;
    for (size_t w = 0; w < kWays; ++w) {
      Affine<F>& a = Target(i + w);
      a.y = slope[w] * (a.x - x[w]) - a.y;
      a.x = x[w];
    }
  }

 private:
  // Of a slope, and whether both points are surely finite and no multiples of each other by 1 or -1.
  struct Denominator {
    F value;
    bool general;
  };
  Denominator DenominatorOf(size_t i) const {
    const Affine<F>& a = Target(i);
    const Affine<F>& b = Other(i);
    const F dx = b.x - a.x;
    // Infinity has x = 0, and so may another point: that is for the rare path to see.
    if (!dx.IsZero() && !a.x.IsZero() && !b.x.IsZero()) return {dx, true};
    return {SlopeDenominator(a, b), false};
  }
  Affine<F>& Target(size_t i) const { return points_[pairs_[i].target]; }
  const Affine<F>& Other(size_t i) const { return points_[pairs_[i].other]; }

  Affine<F>* const points_;
  const PointPair* const pairs_;
  F* const products_;
  F running_[kWays];
};

template <typename F, size_t kWays>
void AddWhole(Affine<F>* points, const PointPair* pairs, size_t n, F* products) {
  ScalarAdder<F, kWays> adder(points, pairs, products);
  for (size_t i = 0; i < n; i += kWays) adder.Multiply(i);
  adder.Invert();
  for (size_t i = n; i > 0; i -= kWays) adder.Add(i - kWays);
}

// `scratch` is for n elements.
template <typename F>
void AddPairs(Affine<F>* points, const PointPair* pairs, size_t n, void* scratch) {
  F* const products = static_cast<F*>(scratch);
  const size_t rest = n % kWaysOf<F>;
  if (n > rest) AddWhole<F, kWaysOf<F>>(points, pairs, n - rest, products);
  if (rest > 0) AddWhole<F, 1>(points, pairs + n - rest, rest, products);
}

// Lines for n elements, whichever function uses them: a lane takes 5 words for 4 of F.
template <typename F>
constexpr size_t ProductLines(size_t n) {
  constexpr size_t kLanes = 8;
  return (n + kLanes - 1) / kLanes * (5 * sizeof(F) / sizeof(U256));
}

template <typename F>
auto ChooseAddFunction() {
#if defined(__x86_64__)
  if (CurrentArithmetic() == Arithmetic::kIfma) return &ifma::AddPairs<F>;
  if (CurrentArithmetic() == Arithmetic::kFma) return &fma::AddPairs<F>;
#endif
  return &AddPairs<F>;
}

}  // namespace

template <typename F>
PairAdder<F>::PairAdder(size_t pairs_max)
    : add_(ChooseAddFunction<F>()), products_(ProductLines<F>(pairs_max), kUninitialised) {}

template <typename F>
void PairAdder<F>::Add(Affine<F>* points, const PointPair* pairs, size_t n) {
  if (n != 0) add_(points, pairs, n, products_.data());
}

template class PairAdder<Fq>;
template class PairAdder<Fq2>;

#if defined(__x86_64__)

template <size_t kLanes, typename F>
void InvertLanes(F* lanes) {
  F before[kLanes];
  F product = F::One();
  for (size_t i = 0; i < kLanes; ++i) {
    before[i] = product;
    product *= lanes[i];
  }
  F inverse = product.Inverse();
  for (size_t i = kLanes; i-- > 0;) {
    F out = inverse * before[i];
    inverse *= lanes[i];
    for (uint32_t k = 0; k < kInverseLog2Factor; ++k) out = out.Double();
    lanes[i] = out;
  }
}

template <typename F>
void SlopeDenominatorOf(const Affine<F>& a, const Affine<F>& b, F& out) {
  out = SlopeDenominator(a, b);
}

template <typename F>
void AddOf(const Affine<F>& a, const Affine<F>& b, const F& scaled_inverse, Affine<F>& out) {
  static constexpr Fq kUnscale = Fq::FromUint64(uint64_t{1} << kInverseLog2Factor).Inverse();
  out = AddAffine(a, b, scaled_inverse * kUnscale);
}

template void InvertLanes<4>(Fq*);
template void InvertLanes<4>(Fq2*);
template void InvertLanes<8>(Fq*);
template void InvertLanes<8>(Fq2*);
template void SlopeDenominatorOf(const Affine<Fq>&, const Affine<Fq>&, Fq&);
template void SlopeDenominatorOf(const Affine<Fq2>&, const Affine<Fq2>&, Fq2&);
template void AddOf(const Affine<Fq>&, const Affine<Fq>&, const Fq&, Affine<Fq>&);
template void AddOf(const Affine<Fq2>&, const Affine<Fq2>&, const Fq2&, Affine<Fq2>&);

#endif

}  // namespace proofmill::kernels
