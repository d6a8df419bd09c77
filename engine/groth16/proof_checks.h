// The last step of the checks of proofs of one key. A proof that comes when no other is being checked is
// checked at once, alone. Those that come meanwhile wait for the end of that check, at most, and are then
// checked together, which costs half as much a proof for four of them. When such a batch is refused, each of
// its proofs is checked alone, so that the verdict on one never depends on others.
//
// Thread safety: any thread, any time.

#ifndef PROOFMILL_ENGINE_GROTH16_PROOF_CHECKS_H_
#define PROOFMILL_ENGINE_GROTH16_PROOF_CHECKS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/mutex.h"
#include "engine/groth16/types.h"
#include "engine/groth16/verifier.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

class ProofChecks {
 public:
  // Both are borrowed. REQUIRES: `key` as for engine::Verify().
  ProofChecks(const VerificationKey& key, const PreparedPairings& prepared)
      : key_(key), prepared_(prepared) {}
  ProofChecks(const ProofChecks&) = delete;
  ProofChecks& operator=(const ProofChecks&) = delete;

  // Told after each check of how many proofs it was, on the thread that made it and with no lock held. Must
  // be quick and must not throw. REQUIRES: no proof has come yet.
  using Listener = std::function<void(size_t proofs)>;
  void SetListener(Listener listener) { listener_ = std::move(listener); }

  // Whether the key accepts a proof. `alone` finds out on the calling thread; `for_batch` gives the proof for
  // VerifyTogether(), or nothing if it is to be checked alone. Each is called once at most. `tables` may be
  // null. Throws what they throw, and std::bad_alloc.
  bool Accepts(const KeyTables* tables, absl::FunctionRef<bool()> alone,
               absl::FunctionRef<std::optional<BatchedProof>()> for_batch);

  // engine::Verify(), for a proof that comes whole.
  absl::StatusOr<bool> Verify(absl::Span<const kernels::Fr> public_signals, const Groth16Proof& proof);

  // Whether the last proof that came had to wait: what only a lone proof needs may be put off.
  bool in_company() const { return in_company_.load(std::memory_order_relaxed); }

  struct Counts {
    uint64_t batches = 0;   // of two proofs or more
    uint64_t together = 0;  // proofs in them
    size_t waiting = 0;     // now
  };
  Counts counts() const;

 private:
  // kRefused: a batch that it was in. kOwnTurn: it has to be checked alone, and End() called then.
  enum class Verdict { kNone, kGood, kRefused, kOwnTurn };
  struct Waiter {
    BatchedProof proof;
    bool taken = false;  // into a batch
    Verdict verdict = Verdict::kNone;
  };

  // What `alone` says, with news of it.
  bool CheckAlone(absl::FunctionRef<bool()> alone) const;
  void Tell(size_t proofs) const;
  // Whether the caller may check now; then it calls End().
  bool TryBegin();
  void End();
  // Waits with others until one of them, or the caller itself, has checked them all. Never kNone.
  Verdict Wait(const KeyTables* tables, const BatchedProof& proof);
  // Of those that wait.
  std::list<Waiter*> TakeBatch() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // False also if memory or randomness ran out.
  bool Check(const KeyTables* tables, const std::list<Waiter*>& batch) const;

  const VerificationKey& key_;
  const PreparedPairings& prepared_;
  Listener listener_;                    // may be empty
  std::atomic<bool> in_company_{false};  // a hint

  mutable Mutex mu_;
  CondVar changed_;
  size_t checking_ ABSL_GUARDED_BY(mu_) = 0;
  std::list<Waiter*> waiting_ ABSL_GUARDED_BY(mu_);
  Counts counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_PROOF_CHECKS_H_
