#include "cli/load_judge.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/proof_messages.h"
#include "engine/base/thread.h"
#include "engine/groth16/verifier.h"

namespace proofmill::cli {
namespace {

constexpr size_t kCasesMax = 4096;  // about 4 MB of proofs

}  // namespace

LoadJudge::LoadJudge(std::vector<engine::VerificationKey> keys, size_t threads) : keys_(std::move(keys)) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

LoadJudge::~LoadJudge() { Finish(); }

void LoadJudge::Judge(size_t kind, const std::vector<std::string>& signals, v1::ProofResult result) {
  engine::MutexLock lock(mu_);
  while (cases_.size() >= kCasesMax) changed_.Wait(mu_);
  cases_.push_back({kind, &signals, std::move(result)});
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

std::string LoadJudge::FaultOf(const Case& one) const {
  const v1::ProofResult& result = one.result;
  const std::string name = absl::StrCat("proof ", result.request_id(), " of ", result.circuit(), ": ");
  const std::vector<std::string> signals(result.public_signals().begin(), result.public_signals().end());
  if (signals != *one.signals) return absl::StrCat(name, "its public signals are not those of the witness");
  const auto proof = ToProof(result.groth16());
  if (!proof.ok()) return absl::StrCat(name, proof.status().message());
  const auto values = ToSignals(result.public_signals());
  if (!values.ok()) return absl::StrCat(name, values.status().message());
  const auto valid = engine::Verify(keys_[one.kind], *values, *proof);
  if (!valid.ok()) return absl::StrCat(name, valid.status().message());
  return *valid ? "" : absl::StrCat(name, "it does not verify");
}

}  // namespace proofmill::cli
