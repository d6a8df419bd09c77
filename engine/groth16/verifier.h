// The Groth16 verifier.
//
// Infinity in a proof is allowed, as in snarkjs and in the EVM's precompiles: the equation and its soundness
// proof are over whole groups, and an honest prover with fixed blinding can meet it (no private wire, r = s =
// 0). Points outside the subgroup of G2 are not, although snarkjs lets them through.
//
// Proofs are malleable: from (A, B, C) anybody can make others of the same statement, for instance (-A, -B,
// C). So the bytes of a proof must not serve as its identity; public signals may.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_GROTH16_VERIFIER_H_
#define PROOFMILL_ENGINE_GROTH16_VERIFIER_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/groth16/types.h"
#include "kernels/cpu/scalar_mul.h"
#include "kernels/curve/pairing.h"
#include "kernels/curve/tower.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// Whether e(A, B) = e(alpha1, beta2) * e(IC[0] + sum public[i] * IC[i + 1], gamma2) * e(C, delta2), with A, B
// and C on their curves and B in the subgroup. REQUIRES: `key` passed CheckVerificationKey() or the key
// audit; coordinates are below q.
//   INVALID_ARGUMENT  the number of public signals is not n_public (reason kPublicSignalsMalformed).
absl::StatusOr<bool> Verify(const VerificationKey& key, absl::Span<const kernels::Fr> public_signals,
                            const Groth16Proof& proof);

// Verify()'s error, if a proof for `key` cannot have so many public signals.
absl::Status CheckSignalCount(const VerificationKey& key, size_t n);

// What every verification with a key needs and no proof changes: about 35 KB.
struct PreparedPairings {
  // REQUIRES: `key` as for Verify(); else the values are meaningless.
  explicit PreparedPairings(const VerificationKey& key);

  kernels::Fq12 alpha_beta;  // Miller value of (alpha1, beta2)
  kernels::PreparedG2 gamma2;
  kernels::PreparedG2 delta2;
};

// A proof that is checked together with others.
struct BatchedProof {
  Groth16Proof proof;
  absl::Span<const kernels::Fr> public_signals;
};
inline constexpr size_t kProofBatchMax = 16;

// Multiples of the points of a key that every one of its proofs multiplies: 53 KB for each point of G1, 106
// KB for delta2; made in about 2 ms.
struct KeyTables {
  // REQUIRES: `key` as for Verify().
  KeyTables(const VerificationKey& key, const kernels::G1Affine& delta1);

  kernels::WindowTable<kernels::Fq> alpha1;
  kernels::WindowTable<kernels::Fq> delta1;
  kernels::WindowTable<kernels::Fq2> delta2;
  std::vector<kernels::WindowTable<kernels::Fq>> ic;  // empty where there are many
};

// Whether A, B and C are on their curves.
bool IsOnCurves(const Groth16Proof& proof);

// Whether Verify() accepts all of `proofs`, by one equation: each proof's own to the power of a random number
// (one of 2^128), all multiplied. A wrong proof passes with probability 2^-128 at most, whatever the others
// are. Throws std::bad_alloc. REQUIRES: at most kProofBatchMax, each with IsOnCurves() and n_public signals.
//   INTERNAL  the kernel gave no randomness.
absl::StatusOr<bool> VerifyTogether(const VerificationKey& key, const KeyTables* tables,
                                    absl::Span<const BatchedProof> proofs);

// Verify() in steps, for a prover that has the parts of its proof one after the other: what can be checked of
// a part is checked while the next is made. SetPublicSignals(), SetAB() and SetC() once each, in any order
// and at the same time; then Accepts().
class StagedVerification {
 public:
  // All are borrowed; `tables` may be null.
  StagedVerification(const VerificationKey& key, const PreparedPairings& prepared, const KeyTables* tables)
      : key_(key), prepared_(prepared), tables_(tables) {}

  // REQUIRES: n_public signals.
  void SetPublicSignals(absl::Span<const kernels::Fr> public_signals);
  void SetAB(const kernels::G1Affine& a, const kernels::G2Affine& b);
  void SetC(const kernels::G1Affine& c);
  // Whether Verify() accepts the proof.
  bool Accepts() const;

 private:
  const VerificationKey& key_;
  const PreparedPairings& prepared_;
  const KeyTables* const tables_;
  kernels::Fq12 of_signals_;
  kernels::Fq12 of_ab_;
  kernels::Fq12 of_c_;
  bool ab_in_groups_ = false;
  bool c_on_curve_ = false;
};

// For keys from outside: points canonical, on their curves and in the subgroup; alpha1, beta2, gamma2 and
// delta2 not infinity; at least one IC point.
//   INVALID_ARGUMENT  something of this does not hold; the message names the point.
absl::Status CheckVerificationKey(const VerificationKey& key);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_VERIFIER_H_
