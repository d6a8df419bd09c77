// The vectors of a sumcheck over the boolean hypercube: evaluations of a multilinear polynomial f and of a
// weight w in an extension of BabyBear, and the sums, folds and evaluations that a prover takes of them.
//
// Variable 0 is the most significant bit of an index. Words are Montgomery forms; vectors of extension
// elements are planes (babybear_kernels.h). Every function uses all threads of the current arena.
//
// Thread safety: pure functions of their arguments.

#ifndef PROOFMILL_KERNELS_CPU_SUMCHECK_H_
#define PROOFMILL_KERNELS_CPU_SUMCHECK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/babybear_kernels.h"
#include "kernels/field/babybear.h"
#include "kernels/field/babybear_ext.h"

namespace proofmill::kernels {

// coefficient * eq(point, b): eq is the product over variables of p b + (1 - p)(1 - b).
template <int kDegree>
struct EqTerm {
  std::vector<BabyBearExt<kDegree>> point;
  BabyBearExt<kDegree> coefficient;
};
// coefficient * x^b.
template <int kDegree>
struct PowerTerm {
  BabyBear x;
  BabyBearExt<kDegree> coefficient;
};

// Adds all terms, as functions of the index b < 2^log2_size, to w, or sets w to their sum.
// REQUIRES: every point has log2_size coordinates.
template <int kDegree>
void AddWeights(const std::vector<EqTerm<kDegree>>& eqs, const std::vector<PowerTerm<kDegree>>& powers,
                uint32_t log2_size, bool overwrite, Planes w);

// The value of f at `point`. f: 2^point.size() base elements, or an extension vector.
template <int kDegree>
BabyBearExt<kDegree> EvaluateBase(const uint32_t* f, const std::vector<BabyBearExt<kDegree>>& point);
template <int kDegree>
BabyBearExt<kDegree> EvaluateExt(Planes f, const std::vector<BabyBearExt<kDegree>>& point);

// h(0) and h(2) of h(X) = sum over b of f(X, b) w(X, b), for vectors of 2 * half elements.
template <int kDegree>
struct RoundValues {
  BabyBearExt<kDegree> h0, h2;
};
template <int kDegree>
RoundValues<kDegree> SumRoundBase(const uint32_t* f, Planes w, size_t half);
template <int kDegree>
RoundValues<kDegree> SumRoundExt(Planes f, Planes w, size_t half);

// out[i] = in[i] + r * (in[i + half] - in[i]): variable 0 set to r. `out` may be `in`.
template <int kDegree>
void FoldBaseVector(const uint32_t* in, size_t half, const BabyBearExt<kDegree>& r, Planes out);
template <int kDegree>
void FoldExtVector(Planes in, size_t half, const BabyBearExt<kDegree>& r, Planes out);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_SUMCHECK_H_
