#include "kernels/cpu/batch_add.h"

#include "kernels/field/arithmetic.h"
#include "kernels/field/inverse.h"
#if defined(__x86_64__)
#include "kernels/cpu/batch_add_ifma.h"
#endif

namespace proofmill::kernels {
namespace {

// What AddAffine() needs the inverse of: the denominator of the slope, or 1 where there is no slope. Never
// zero, since a curve of odd order has no point with y = 0.
template <typename F>
F SlopeDenominator(const Affine<F>& a, const Affine<F>& b) {
  if (a.IsInfinity() || b.IsInfinity()) return F::One();
  const F dx = b.x - a.x;
  if (!dx.IsZero()) return dx;
  return a.y == b.y ? a.y.Double() : F::One();
}

// a + b, given the inverse of SlopeDenominator(a, b).
template <typename F>
Affine<F> AddAffine(const Affine<F>& a, const Affine<F>& b, const F& inverse) {
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

// Montgomery's trick: products[i] is the product of the denominators before i. `products` is scratch for n
// elements.
template <typename F>
void AddPairs(Affine<F>* points, const PointPair* pairs, size_t n, void* scratch) {
  F* const products = static_cast<F*>(scratch);
  F product = F::One();
  for (size_t i = 0; i < n; ++i) {
    products[i] = product;
    product *= SlopeDenominator(points[pairs[i].target], points[pairs[i].other]);
  }
  F inverse = InverseVartime(product);  // of the product of all denominators up to i
  for (size_t i = n; i-- > 0;) {
    Affine<F>& a = points[pairs[i].target];
    const Affine<F>& b = points[pairs[i].other];
    const F inverse_of_denominator = inverse * products[i];
    inverse *= SlopeDenominator(a, b);
    a = AddAffine(a, b, inverse_of_denominator);
  }
}

// Lines for n elements, whichever function uses them: a lane of AVX-512 IFMA takes 5 words for 4 of F.
template <typename F>
constexpr size_t ProductLines(size_t n) {
  constexpr size_t kLanes = 8;
  return (n + kLanes - 1) / kLanes * (5 * sizeof(F) / sizeof(U256));
}

template <typename F>
auto ChooseAddFunction() {
#if defined(__x86_64__)
  if (CurrentArithmetic() == Arithmetic::kIfma) return &ifma::AddPairs<F>;
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

namespace ifma {

template <typename F>
void InvertLanes(F* lanes) {
  F before[kAddLanes];
  F product = F::One();
  for (size_t i = 0; i < kAddLanes; ++i) {
    before[i] = product;
    product *= lanes[i];
  }
  F inverse = InverseVartime(product);
  for (size_t i = kAddLanes; i-- > 0;) {
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

template void InvertLanes(Fq*);
template void InvertLanes(Fq2*);
template void SlopeDenominatorOf(const Affine<Fq>&, const Affine<Fq>&, Fq&);
template void SlopeDenominatorOf(const Affine<Fq2>&, const Affine<Fq2>&, Fq2&);
template void AddOf(const Affine<Fq>&, const Affine<Fq>&, const Fq&, Affine<Fq>&);
template void AddOf(const Affine<Fq2>&, const Affine<Fq2>&, const Fq2&, Affine<Fq2>&);

}  // namespace ifma

#endif

}  // namespace proofmill::kernels
