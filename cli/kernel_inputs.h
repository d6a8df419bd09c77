// Inputs of `proofmill bench msm`, and what a GPU could do with them at best.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_CLI_KERNEL_INPUTS_H_
#define PROOFMILL_CLI_KERNEL_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "kernels/field/limbs.h"

namespace proofmill::cli {

// Uniform below r.
kernels::U256 RandomBelowR(std::mt19937_64& random);

// How the scalars of an MSM are spread, by name:
//   dense        uniform
//   bits         45 % zeros, 45 % ones, 10 % uniform, as in real circuits
//   bits99       zeros and ones alike, 1 % uniform
//   one_nonzero  all zero but one
//   ones         all 1
//   minus_ones   all r - 1
//   same         all the same uniform value
//   one_hot      powers of two at random
//   power_253    all 2^253
//   small64      uniform below 2^64
const std::vector<std::string>& ScalarProfiles();
// The same scalars for the same arguments on every machine. REQUIRES: one of the names above.
std::vector<kernels::U256> MakeScalars(absl::string_view profile, size_t n);

// Seconds that one H200 needs at least for a dense MSM of n points whose multiples are all resident, by the
// formula and the measured rates of its arithmetic units in ../shared/performance.md, "Floors": batched
// affine additions, two full additions a bucket, a radix sort; the best window for the size. And for one
// transform.
double MsmFloorSeconds(bool g2, uint64_t n);
double NttFloorSeconds(uint32_t log2_n);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_KERNEL_INPUTS_H_
