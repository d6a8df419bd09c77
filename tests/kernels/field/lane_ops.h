// The arithmetic on lanes of montgomery_ifma.h and montgomery_fma.h as plain functions, for tests that are
// not compiled for them.

#ifndef PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_H_
#define PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// Every function takes and gives `lanes` integers below p, as MontgomeryField stores them, and computes what
// is written on their elements.
struct LaneOps {
  size_t lanes;
  uint32_t product_bound_max;
  void (*multiply)(const U256* a, const U256* b, U256* out);
  void (*square)(const U256* a, U256* out);
  void (*add)(const U256* a, const U256* b, U256* out);
  void (*subtract)(const U256* a, const U256* b, U256* out);
  void (*negate)(const U256* a, U256* out);
  // a * b with both factors as large as the bounds allow: a + (bound - 1)*p and b + (product_bound_max /
  // bound - 1)*p.
  void (*multiply_at_bounds)(const U256* a, const U256* b, uint32_t bound, U256* out);
  void (*square_at_bound)(const U256* a, U256* out);  // of a + 7p or more
  // a*b + a*a and a*b - a*a with one reduction each.
  void (*sum_of_products)(const U256* a, const U256* b, U256* out);
  void (*difference_of_products)(const U256* a, const U256* b, U256* out);
  // Canonical(a + multiple * p), multiple < 84, with limbs that are out of their range on the way.
  void (*reduce)(const U256* a, uint32_t multiple, U256* out);
  uint32_t (*equal)(const U256* a, const U256* b);  // bit i for lane i
  uint32_t (*is_zero)(const U256* a);
  // Lane i from a[i * stride], to out[i * stride].
  void (*copy)(const U256* a, size_t stride, U256* out);
};

// REQUIRES: the functions run only where Supported() of Arithmetic::kIfma or kFma, and the latter under
// rounding toward zero.
template <typename Params>
const LaneOps& IfmaLaneOps();
template <typename Params>
const LaneOps& FmaLaneOps();

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_H_
