#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/montgomery_ifma.h"
#include "tests/kernels/field/lane_ops.h"

namespace proofmill::kernels {
namespace ifma {
namespace {

// a + multiple * p, its carries not propagated.
template <typename Params, uint32_t kBound>
Loose<Params, kBound> AddMultiple(const Tight<Params, 1>& a, uint32_t multiple) {
  Loose<Params, kBound> out;
  for (int j = 0; j < kLimbs; ++j) {
    constexpr Digits p = ToDigits(Params::kModulus);
    out.limb[j] = _mm512_add_epi64(a.limb[j], Broadcast(p.limb[j] * multiple));
  }
  return out;
}

// The same number with 1000 * 2^52 moved from each limb to the one below.
template <typename Params, uint32_t kBound>
Loose<Params, kBound> Disarrange(Loose<Params, kBound> x) {
  constexpr uint64_t kMoved = 1000;
  for (int j = 0; j + 1 < kLimbs; ++j) {
    x.limb[j] = _mm512_add_epi64(x.limb[j], Broadcast(kMoved << kLimbBits));
    x.limb[j + 1] = _mm512_sub_epi64(x.limb[j + 1], Broadcast(kMoved));
  }
  return x;
}

template <typename P>
struct Ops {
  // x * 2^260 / 2^256, from what a product of two elements of MontgomeryField gives to the right form.
  static Tight<P, 1> Finish(const Loose<P, 2>& x) { return Canonical(Tighten(x) * PowerOfTwo<P, 264>()); }

  static void Multiply(const U256* a, const U256* b, U256* out) {
    Store(out, Finish(Load<P>(a) * Load<P>(b)));
  }
  static void Squared(const U256* a, U256* out) { Store(out, Finish(Square(Load<P>(a)))); }
  static void Sum(const U256* a, const U256* b, U256* out) { Store(out, Canonical(Load<P>(a) + Load<P>(b))); }
  static void Difference(const U256* a, const U256* b, U256* out) {
    Store(out, Canonical(Load<P>(a) - Load<P>(b)));
  }
  static void Negative(const U256* a, U256* out) { Store(out, Canonical(Negate(Load<P>(a)))); }

  template <uint32_t kBound>
  static void MultiplyAt(const U256* a, const U256* b, U256* out) {
    constexpr uint32_t kOther = kBoundMax / kBound;
    Store(out, Finish(Tighten(AddMultiple<P, kBound>(Load<P>(a), kBound - 1)) *
                      Tighten(AddMultiple<P, kOther>(Load<P>(b), kOther - 1))));
  }
  static void MultiplyAtBounds(const U256* a, const U256* b, uint32_t bound, U256* out) {
    if (bound == 1) return MultiplyAt<1>(a, b, out);
    if (bound == 9) return MultiplyAt<9>(a, b, out);
    return MultiplyAt<kBoundMax>(a, b, out);
  }
  static void SquareAtBound(const U256* a, U256* out) {
    Store(out, Finish(Square(Tighten(AddMultiple<P, 9>(Load<P>(a), 8)))));
  }
  static void SumOfProducts(const U256* a, const U256* b, U256* out) {
    Store(out, Finish(Reduce(MulWide(Load<P>(a), Load<P>(b)) + SquareWide(Load<P>(a)))));
  }
  static void DifferenceOfProducts(const U256* a, const U256* b, U256* out) {
    Store(out, Finish(Reduce(MulWide(Load<P>(a), Load<P>(b)) - SquareWide(Load<P>(a)))));
  }
  static void Reduced(const U256* a, uint32_t multiple, U256* out) {
    Store(out, Canonical(Disarrange(AddMultiple<P, kBoundMax>(Load<P>(a), multiple))));
  }
  static uint32_t Equals(const U256* a, const U256* b) { return Equal(Load<P>(a), Load<P>(b)); }
  static uint32_t Zeros(const U256* a) { return IsZero(Load<P>(a)); }
  static void Selected(uint32_t mask, const U256* yes, const U256* no, U256* out) {
    Store(out, Select(static_cast<Mask>(mask), Load<P>(yes), Load<P>(no)));
  }
  static void Copy(const U256* a, size_t stride, U256* out) { Store(out, Load<P>(a, stride), stride); }

  static constexpr LaneOps kTable = {.multiply = Multiply,
                                     .square = Squared,
                                     .add = Sum,
                                     .subtract = Difference,
                                     .negate = Negative,
                                     .multiply_at_bounds = MultiplyAtBounds,
                                     .square_at_bound = SquareAtBound,
                                     .sum_of_products = SumOfProducts,
                                     .difference_of_products = DifferenceOfProducts,
                                     .reduce = Reduced,
                                     .equal = Equals,
                                     .is_zero = Zeros,
                                     .select = Selected,
                                     .copy = Copy};
};

}  // namespace
}  // namespace ifma

template <>
const LaneOps& IfmaLaneOps<FqParams>() {
  return ifma::Ops<FqParams>::kTable;
}
template <>
const LaneOps& IfmaLaneOps<FrParams>() {
  return ifma::Ops<FrParams>::kTable;
}

}  // namespace proofmill::kernels
