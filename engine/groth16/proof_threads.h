// The threads that help with one proof on the host, lent for as long as it is made. There are as many sets of
// them as half the cores: the proofs of a busy service fill the cores by themselves, and do without.
//
// Thread safety: ProofThreads::Borrow() may be called from any thread.

#ifndef PROOFMILL_ENGINE_GROTH16_PROOF_THREADS_H_
#define PROOFMILL_ENGINE_GROTH16_PROOF_THREADS_H_

#include <memory>

#include "engine/base/side_thread.h"

namespace proofmill::engine {

struct ProofThreads {
  SideThread preparing;  // the caller's: Prepare() and TakePublicSignals()
  SideThread products;
  SideThread pairing;

  struct GiveBack {
    void operator()(ProofThreads* threads) const;
  };
  using Lease = std::unique_ptr<ProofThreads, GiveBack>;
  // Null when all are lent, or there is no memory for more. REQUIRES: nothing is under way on them when the
  // lease ends.
  static Lease Borrow();
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_PROOF_THREADS_H_
