#include "cli/load_judge.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/thread.h"

namespace proofmill::cli {
namespace {

constexpr size_t kCasesMax = 4096;  // about 4 MB of proofs

}  // namespace

LoadJudge::LoadJudge(size_t threads) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

LoadJudge::~LoadJudge() { Finish(); }

void LoadJudge::Judge(const ExpectedProof& expected, v1::ProofResult result) {
  engine::MutexLock lock(mu_);
  while (cases_.size() >= kCasesMax) changed_.Wait(mu_);
  cases_.push_back({&expected, std::move(result)});
  changed_.NotifyAll();
}

LoadJudge::Verdicts LoadJudge::Finish() {
  {
    engine::MutexLock lock(mu_);
    ending_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  engine::MutexLock lock(mu_);
  return verdicts_;
}

void LoadJudge::Loop() {
  engine::SetThreadName("pm-judge");
  while (true) {
    Case one{};
    {
      engine::MutexLock lock(mu_);
      while (cases_.empty() && !ending_) changed_.Wait(mu_);
      if (cases_.empty()) return;
      one = std::move(cases_.front());
      cases_.pop_front();
      changed_.NotifyAll();
    }
    std::string fault = FaultOf(one);
    engine::MutexLock lock(mu_);
    ++(fault.empty() ? verdicts_.good : verdicts_.bad);
    if (verdicts_.first_bad.empty()) verdicts_.first_bad = std::move(fault);
  }
}

std::string LoadJudge::FaultOf(const Case& one) {
  const std::string fault = one.expected->FaultOf(one.result);
  if (fault.empty()) return "";
  return absl::StrCat("proof ", one.result.request_id(), " of ", one.result.circuit(), ": ", fault);
}

}  // namespace proofmill::cli
