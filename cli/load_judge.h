// Verifies the proofs that `proofmill load` gets, on threads of its own, so that senders go on meanwhile.
//
// What makes a proof good is for what was sent to say (load_input.h).
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

#include "cli/load_input.h"
#include "engine/base/mutex.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::cli {

class LoadJudge {
 public:
  // `threads` is positive.
  explicit LoadJudge(size_t threads);
  ~LoadJudge();
  LoadJudge(const LoadJudge&) = delete;
  LoadJudge& operator=(const LoadJudge&) = delete;

  // Takes a proof, which must be what `expected` says; that outlives the judge. Waits while too many are
  // before it.
  void Judge(const ExpectedProof& expected, v1::ProofResult result);

  struct Verdicts {
    uint64_t good = 0;
    uint64_t bad = 0;
    std::string first_bad = {};  // what was wrong with the first bad one; empty without
  };
  // Waits for all that was taken.
  Verdicts Finish();

 private:
  struct Case {
    const ExpectedProof* expected;
    v1::ProofResult result;
  };
  void Loop();
  // Empty if it is good.
  static std::string FaultOf(const Case& one);

  engine::Mutex mu_;
  engine::CondVar changed_;
  std::deque<Case> cases_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  Verdicts verdicts_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_LOAD_JUDGE_H_
