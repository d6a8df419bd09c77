// The eight-lane arithmetic of montgomery_ifma.h as plain functions, for tests that are not compiled for it.

#ifndef PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_H_
#define PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// Every function takes and gives eight integers below p, as MontgomeryField stores them, and computes what is
// written on their elements.
struct LaneOps {
  void (*multiply)(const U256* a, const U256* b, U256* out);
  void (*square)(const U256* a, U256* out);
  void (*add)(const U256* a, const U256* b, U256* out);
  void (*subtract)(const U256* a, const U256* b, U256* out);
  void (*negate)(const U256* a, U256* out);
  // a * b with both factors as large as the bounds allow: a + (bound - 1)*p and b + (84 / bound - 1)*p.
  void (*multiply_at_bounds)(const U256* a, const U256* b, uint32_t bound, U256* out);
  void (*square_at_bound)(const U256* a, U256* out);  // of a + 8p
  // a*b + a*a and a*b - a*a with one reduction each.
  void (*sum_of_products)(const U256* a, const U256* b, U256* out);
  void (*difference_of_products)(const U256* a, const U256* b, U256* out);
  // Canonical(a + multiple * p), multiple < 84, with limbs that are out of their range on the way.
  void (*reduce)(const U256* a, uint32_t multiple, U256* out);
  uint32_t (*equal)(const U256* a, const U256* b);  // bit i for lane i
  uint32_t (*is_zero)(const U256* a);
  void (*select)(uint32_t mask, const U256* yes, const U256* no, U256* out);
  // Lane i from a[i * stride], to out[i * stride].
  void (*copy)(const U256* a, size_t stride, U256* out);
};

// REQUIRES: the functions run only where Supported(Arithmetic::kIfma).
template <typename Params>
const LaneOps& IfmaLaneOps();

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_KERNELS_FIELD_LANE_OPS_H_
