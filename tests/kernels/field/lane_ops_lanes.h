// Makes the LaneOps of the instruction set that the including translation unit is compiled for.

#ifndef PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_LANES_H_
#define PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_LANES_H_

#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/lanes52.h"
#include "tests/kernels/field/lane_ops.h"

namespace proofmill::kernels::PROOFMILL_LANES52 {
namespace {  // NOLINT(google-build-namespaces): of one unit for each instruction set

// a + multiple * p, its carries not propagated.
template <typename Params, uint32_t kBound>
Loose<Params, kBound> AddMultiple(const Tight<Params, 1>& a, uint32_t multiple) {
  Loose<Params, kBound> out;
  for (int j = 0; j < kLimbs; ++j) {
    constexpr Digits p = ToDigits(Params::kModulus);
    out.limb[j] = a.limb[j] + Broadcast(p.limb[j] * multiple);
  }
  return out;
}

// The same number with 1000 * 2^52 moved from each limb to the one below.
template <typename Params, uint32_t kBound>
Loose<Params, kBound> Disarrange(Loose<Params, kBound> x) {
  constexpr uint64_t kMoved = 1000;
  for (int j = 0; j + 1 < kLimbs; ++j) {
    x.limb[j] = x.limb[j] + Broadcast(kMoved << kLimbBits);
    x.limb[j + 1] = x.limb[j + 1] - Broadcast(kMoved);
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
    constexpr uint32_t kOther = kProductBoundMax / kBound;
    Store(out, Finish(Tighten(AddMultiple<P, kBound>(Load<P>(a), kBound - 1)) *
                      Tighten(AddMultiple<P, kOther>(Load<P>(b), kOther - 1))));
  }
  static void MultiplyAtBounds(const U256* a, const U256* b, uint32_t bound, U256* out) {
    if (bound == 1) return MultiplyAt<1>(a, b, out);
    if (bound == 9) return MultiplyAt<9>(a, b, out);
    return MultiplyAt<kProductBoundMax>(a, b, out);
  }
  static void SquareAtBound(const U256* a, U256* out) {
    constexpr uint32_t kBound = kProductBoundMax < 81 ? 8 : 9;
    Store(out, Finish(Square(Tighten(AddMultiple<P, kBound>(Load<P>(a), kBound - 1)))));
  }
  static void SumOfTwo(const U256* a, const U256* b, U256* out) {
    Store(out, Finish(SumOfProducts(Load<P>(a), Load<P>(b), Load<P>(a), Load<P>(a))));
  }
  static void DifferenceOfTwo(const U256* a, const U256* b, U256* out) {
    Store(out, Finish(DifferenceOfProducts(Load<P>(a), Load<P>(b), Load<P>(a), Load<P>(a))));
  }
  static void Reduced(const U256* a, uint32_t multiple, U256* out) {
    Store(out, Canonical(Disarrange(AddMultiple<P, kBoundMax>(Load<P>(a), multiple))));
  }
  static uint32_t Equals(const U256* a, const U256* b) { return Equal(Load<P>(a), Load<P>(b)); }
  static uint32_t Zeros(const U256* a) { return IsZero(Load<P>(a)); }
  static void Copy(const U256* a, size_t stride, U256* out) { Store(out, Load<P>(a, stride), stride); }

  static constexpr LaneOps kTable = {.lanes = kLanes,
                                     .product_bound_max = kProductBoundMax,
                                     .multiply = Multiply,
                                     .square = Squared,
                                     .add = Sum,
                                     .subtract = Difference,
                                     .negate = Negative,
                                     .multiply_at_bounds = MultiplyAtBounds,
                                     .square_at_bound = SquareAtBound,
                                     .sum_of_products = SumOfTwo,
                                     .difference_of_products = DifferenceOfTwo,
                                     .reduce = Reduced,
                                     .equal = Equals,
                                     .is_zero = Zeros,
                                     .copy = Copy};
};

}  // namespace
}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_LANES_H_
