// The data of a WHIR statement and of its proof, as it is sent.
//
// Elements of the extension are their coefficients, one after the other, that of X^0 first; a list of
// elements is flat.
//
// Thread safety: plain data.

#ifndef PROOFMILL_ENGINE_WHIR_PROOF_H_
#define PROOFMILL_ENGINE_WHIR_PROOF_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/cpu/poseidon2_hash.h"
#include "kernels/field/babybear.h"
#include "kernels/field/babybear_ext.h"

namespace proofmill::engine {

using WhirElements = std::vector<kernels::BabyBear>;

// "The polynomial's value at `point` is `value`."
struct WhirClaim {
  WhirElements point;  // num_variables elements, in the order of the variables
  WhirElements value;  // one element
  bool operator==(const WhirClaim&) const = default;
};

struct WhirOpening {
  bool extension = false;             // what the row is made of
  WhirElements row;                   // base elements, or elements
  std::vector<kernels::Digest> path;  // siblings, bottom up
  bool operator==(const WhirOpening&) const = default;
};

struct WhirSumcheck {
  WhirElements evaluations;  // h(0) and h(2) of each round
  WhirElements nonces;       // one base element a round, or none at all
  bool operator==(const WhirSumcheck&) const = default;
};

struct WhirRoundProof {
  kernels::Digest commitment{};
  WhirElements ood_answers;
  kernels::BabyBear pow_witness;  // zero where there is no proof of work
  std::vector<WhirOpening> openings;
  WhirSumcheck sumcheck;
  bool operator==(const WhirRoundProof&) const = default;
};

struct WhirProof {
  kernels::Digest commitment{};
  WhirElements ood_answers;
  WhirSumcheck sumcheck;
  std::vector<WhirRoundProof> rounds;
  WhirElements final_polynomial;
  kernels::BabyBear final_pow_witness;
  std::vector<WhirOpening> final_openings;
  std::optional<WhirSumcheck> final_sumcheck;  // absent without final variables
  bool operator==(const WhirProof&) const = default;
};

// Element `i` of a flat list.
template <int kDegree>
kernels::BabyBearExt<kDegree> WhirElementAt(const WhirElements& list, size_t i) {
  kernels::BabyBearExt<kDegree> out{};
  for (size_t k = 0; k < kDegree; ++k) out.c[k] = list[i * kDegree + k];
  return out;
}
template <int kDegree>
std::vector<kernels::BabyBearExt<kDegree>> WhirElementsOf(const WhirElements& list) {
  std::vector<kernels::BabyBearExt<kDegree>> out(list.size() / kDegree);
  for (size_t i = 0; i < out.size(); ++i) out[i] = WhirElementAt<kDegree>(list, i);
  return out;
}
template <int kDegree>
void AppendElement(const kernels::BabyBearExt<kDegree>& x, WhirElements& list) {
  list.insert(list.end(), x.c, x.c + kDegree);
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_PROOF_H_
