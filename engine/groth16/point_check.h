// Checks of many points at once: canonical coordinates and membership of the curve.
//
// Thread safety: pure functions; each call uses all threads of the current arena.

#ifndef PROOFMILL_ENGINE_GROTH16_POINT_CHECK_H_
#define PROOFMILL_ENGINE_GROTH16_POINT_CHECK_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "kernels/curve/bn254.h"
#include "kernels/curve/weierstrass.h"

namespace proofmill::engine {

enum class InfinityRule { kAllowed, kRefused };

// What is wrong with a point as read from a file, in words, or nothing. Coordinates are in Montgomery form
// and may be any 256-bit integers. Says nothing of the subgroup of G2.
template <typename F>
std::optional<absl::string_view> PointFault(const kernels::Affine<F>& p, InfinityRule rule);

// The lowest index of a faulty point, or nothing.
template <typename F>
std::optional<size_t> FirstFaultyPoint(const kernels::Affine<F>* points, size_t n, InfinityRule rule);

// "x = 0x..." as a plain integer, for error messages about public points; raw when not canonical. The second
// coordinate would only make lines longer.
template <typename F>
std::string PointText(const kernels::Affine<F>& p);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_POINT_CHECK_H_
