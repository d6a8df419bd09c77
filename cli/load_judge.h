// Verifies the proofs that `proofmill load` gets, on threads of its own, so that senders go on meanwhile.
//
// A proof is good if its public signals are those of the witness that was sent and the circuit's key accepts
// it. The keys come from the service once, before the load, or from the caller.
//
// Thread safety: Judge() may be called from any thread, Finish() once, after the last of these.

#ifndef PROOFMILL_CLI_LOAD_JUDGE_H_
#define PROOFMILL_CLI_LOAD_JUDGE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/groth16/types.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::cli {

class LoadJudge {
 public:
  // `keys` by kind of request; `threads` is positive.
  LoadJudge(std::vector<engine::VerificationKey> keys, size_t threads);
  ~LoadJudge();
  LoadJudge(const LoadJudge&) = delete;
  LoadJudge& operator=(const LoadJudge&) = delete;

  // Takes a proof of `kind` for which `signals` are expected (big-endian, 32 bytes each; must outlive the
  // judge). Waits while too many are before it.
  void Judge(size_t kind, const std::vector<std::string>& signals, v1::ProofResult result);

  struct Verdicts {
    uint64_t good = 0;
    uint64_t bad = 0;
    std::string first_bad = {};  // what was wrong with the first bad one; empty without
  };
  // Waits for all that was taken.
  Verdicts Finish();

 private:
  struct Case {
    size_t kind;
    const std::vector<std::string>* signals;
    v1::ProofResult result;
  };
  void Loop();
  // Empty if it is good.
  std::string FaultOf(const Case& one) const;

  const std::vector<engine::VerificationKey> keys_;
  engine::Mutex mu_;
  engine::CondVar changed_;
  std::deque<Case> cases_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  Verdicts verdicts_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_LOAD_JUDGE_H_
