// What a proof needs besides the backend's sums: blinding, and the check of the proof, in steps that run
// while the backend still sums.

#ifndef PROOFMILL_ENGINE_GROTH16_PROOF_PARTS_H_
#define PROOFMILL_ENGINE_GROTH16_PROOF_PARTS_H_

#include <functional>
#include <mutex>

#include "absl/types/span.h"
#include "engine/backend/backend.h"
#include "engine/groth16/proof_threads.h"
#include "engine/groth16/proving_key.h"
#include "engine/groth16/types.h"
#include "engine/groth16/verifier.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {

// Makes one proof: Prepare() and TakePublicSignals() at any time, AddAB(), AddWitnessSums(), Finish(),
// Accepts(). Holds secrets, and wipes them at its end. Not copyable.
//
// Beside the thread that calls AddAB() only side threads work, and none of the pool that loops share: its
// threads go on looking for work for a while, at the cost of whatever runs beside them (on a GPU host, of a
// third of a small proof).
class ProofParts {
 public:
  // `key` and `threads` are borrowed; `products` and `pairing` work for nobody else meanwhile. Without
  // threads, null, each call does all of its work itself.
  ProofParts(const ProvingKey& key, const Blinding& blinding, ProofThreads* threads);
  ~ProofParts();
  ProofParts(const ProofParts&) = delete;
  ProofParts& operator=(const ProofParts&) = delete;

  // The multiples of delta, which need no sums. Does its work once, whichever thread comes first; others wait
  // for that one.
  void Prepare();
  // The public signals' side of the check; at the same time as anything but Accepts(). Throws std::bad_alloc.
  void TakePublicSignals(absl::Span<const kernels::Fr> public_signals);
  // A, B and B's share of C; begins A's share of C on a side thread, and on another, where `check`, the side
  // of A and B in the check of a lone proof. Calls Prepare(). REQUIRES: once at most, and not after
  // AddWitnessSums().
  void AddAB(const kernels::G1Xyzz& a_sum, const kernels::G1Xyzz& b1_sum, const kernels::G2Xyzz& b2_sum,
             bool check);
  // All of C but H's share. Calls AddAB() if nobody has. REQUIRES: once.
  void AddWitnessSums(const WitnessSums& sums, bool check);
  bool has_witness_sums() const { return has_witness_sums_; }
  // REQUIRES: AddWitnessSums() has returned.
  Groth16Proof Finish(const kernels::G1Xyzz& h) const;
  // Whether the proof that Finish() gave verifies, checked together with others of the key if it has to wait
  // for them. Throws std::bad_alloc. REQUIRES: AddWitnessSums() with `check` has returned, and nobody is in
  // TakePublicSignals().
  bool Accepts(const Groth16Proof& proof, absl::Span<const kernels::Fr> public_signals);

 private:
  void WaitForSideThreads();
  void MultiplyA();
  void PairAB();

  const ProvingKey& key_;
  ProofThreads* const threads_;
  // What a side thread was given must live until it is done.
  const std::function<void()> multiply_a_ = [this] { MultiplyA(); };
  const std::function<void()> pair_ab_ = [this] { PairAB(); };
  StagedVerification verification_;
  std::once_flag prepared_;
  bool has_public_signals_ = false;
  bool has_ab_ = false;
  bool pairs_ab_ = false;  // on the side thread, or done
  bool has_witness_sums_ = false;

  // All that follows is secret.
  struct Secrets {
    Blinding blinding;
    kernels::G1Xyzz r_delta1;
    kernels::G1Xyzz rs_delta1;
    kernels::G2Xyzz s_delta2;
    kernels::G1Affine a;
    kernels::G2Affine b;
    kernels::G1Xyzz a_without_r;  // alpha1 + SA
    kernels::G1Xyzz s_times_a;    // s times that
    kernels::G1Xyzz r_times_b1;   // r*(beta1 + SB1)
    kernels::G1Xyzz c_without_h;
  } secrets_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_PROOF_PARTS_H_
