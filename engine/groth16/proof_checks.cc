#include "engine/groth16/proof_checks.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

bool ProofChecks::Accepts(const KeyTables* tables, absl::FunctionRef<bool()> alone,
                          absl::FunctionRef<std::optional<BatchedProof>()> for_batch) {
  if (TryBegin()) {
    const absl::Cleanup end = [this] { End(); };
    return CheckAlone(alone);
  }
  const std::optional<BatchedProof> proof = for_batch();
  if (!proof.has_value()) return CheckAlone(alone);
  const Verdict verdict = Wait(tables, *proof);
  if (verdict == Verdict::kGood) return true;
  if (verdict == Verdict::kRefused) return CheckAlone(alone);
  const absl::Cleanup end = [this] { End(); };
  return CheckAlone(alone);
}

bool ProofChecks::CheckAlone(absl::FunctionRef<bool()> alone) const {
  const bool accepted = alone();
  Tell(1);
  return accepted;
}

void ProofChecks::Tell(size_t proofs) const {
  if (listener_) listener_(proofs);
}

absl::StatusOr<bool> ProofChecks::Verify(absl::Span<const kernels::Fr> public_signals,
                                         const Groth16Proof& proof) {
  PROOFMILL_RETURN_IF_ERROR(CheckSignalCount(key_, public_signals.size()));
  if (!IsOnCurves(proof)) return false;
  const auto alone = [&] {
    StagedVerification verification(key_, prepared_, nullptr);
    verification.SetAB(proof.a, proof.b);
    verification.SetPublicSignals(public_signals);
    verification.SetC(proof.c);
    return verification.Accepts();
  };
  return Accepts(nullptr, alone, [&] { return BatchedProof{proof, public_signals}; });
}

bool ProofChecks::TryBegin() {
  MutexLock lock(mu_);
  const bool begins = checking_ == 0 && waiting_.empty();
  if (begins) ++checking_;
  in_company_.store(!begins, std::memory_order_relaxed);
  return begins;
}

void ProofChecks::End() {
  MutexLock lock(mu_);
  --checking_;
  changed_.NotifyAll();
}

ProofChecks::Verdict ProofChecks::Wait(const KeyTables* tables, const BatchedProof& proof) {
  Waiter self{proof};
  std::list<Waiter*> own{&self};  // all that needs memory
  mu_.Lock();
  waiting_.splice(waiting_.end(), own);
  while (self.verdict == Verdict::kNone) {
    const bool may_check = checking_ == 0 || waiting_.size() >= kProofBatchMax;
    if (self.taken || !may_check) {
      changed_.Wait(mu_);
      continue;
    }
    ++checking_;
    if (waiting_.size() == 1) {
      waiting_.clear();
      self.verdict = Verdict::kOwnTurn;
      continue;
    }
    const std::list<Waiter*> batch = TakeBatch();
    mu_.Unlock();
    const bool good = Check(tables, batch);
    Tell(batch.size());
    mu_.Lock();
    for (Waiter* waiter : batch) waiter->verdict = good ? Verdict::kGood : Verdict::kRefused;
    ++counts_.batches;
    counts_.together += batch.size();
    --checking_;
    changed_.NotifyAll();
  }
  mu_.Unlock();
  return self.verdict;
}

std::list<ProofChecks::Waiter*> ProofChecks::TakeBatch() {
  std::list<Waiter*> batch;
  const size_t size = std::min(waiting_.size(), kProofBatchMax);
  batch.splice(batch.end(), waiting_, waiting_.begin(),
               std::next(waiting_.begin(), static_cast<std::ptrdiff_t>(size)));
  for (Waiter* waiter : batch) waiter->taken = true;
  return batch;
}

bool ProofChecks::Check(const KeyTables* tables, const std::list<Waiter*>& batch) const {
  try {
    std::vector<BatchedProof> proofs;
    proofs.reserve(batch.size());
    for (const Waiter* waiter : batch) proofs.push_back(waiter->proof);
    const absl::StatusOr<bool> good = VerifyTogether(key_, tables, proofs);
    return good.ok() && *good;
  } catch (const std::exception&) {
    return false;  // each will be checked on its own thread, which may find memory, or says that there is
                   // none
  }
}

ProofChecks::Counts ProofChecks::counts() const {
  MutexLock lock(mu_);
  Counts counts = counts_;
  counts.waiting = waiting_.size();
  return counts;
}

}  // namespace proofmill::engine
