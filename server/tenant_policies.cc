#include "server/tenant_policies.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "engine/base/status_macros.h"
#include "server/line_file.h"
#include "server/text_values.h"

namespace proofmill::server {
namespace {

constexpr char kEverybodyElse[] = "*";
constexpr double kWeightMin = 0.001, kWeightMax = 1000;
constexpr uint64_t kJobsMax = 1'000'000;

absl::Status ParseWeight(absl::string_view text, double& weight) {
  if (absl::SimpleAtod(text, &weight) && weight >= kWeightMin && weight <= kWeightMax) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("weight: expected ", kWeightMin, " to ", kWeightMax, ", got '", text, "'"));
}

absl::Status ParseJobs(absl::string_view text, size_t& jobs_max) {
  PROOFMILL_ASSIGN_OR_RETURN(const uint64_t jobs, ParseCount(text));
  if (jobs < 1 || jobs > kJobsMax) {
    return absl::InvalidArgumentError(absl::StrCat("jobs_max: expected 1 to ", kJobsMax, ", got ", jobs));
  }
  jobs_max = static_cast<size_t>(jobs);
  return absl::OkStatus();
}

absl::Status ParseWitnessBytes(absl::string_view text, uint64_t& bytes_max) {
  PROOFMILL_ASSIGN_OR_RETURN(bytes_max, ParseBytes(text));
  if (bytes_max != 0) return absl::OkStatus();
  return absl::InvalidArgumentError("witness_bytes_max: expected 1 or more, got 0");
}

absl::Status ParseWord(absl::string_view word, engine::TenantPolicy& policy) {
  if (absl::ConsumePrefix(&word, "weight=")) return ParseWeight(word, policy.weight);
  if (absl::ConsumePrefix(&word, "jobs_max=")) return ParseJobs(word, policy.jobs_max);
  if (absl::ConsumePrefix(&word, "witness_bytes_max=")) {
    return ParseWitnessBytes(word, policy.witness_bytes_max);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected weight=N, jobs_max=N or witness_bytes_max=SIZE, got '", word, "'"));
}

absl::StatusOr<engine::TenantPolicy> ParsePolicy(const std::vector<absl::string_view>& words) {
  PROOFMILL_RETURN_IF_ERROR(CheckTenantName(words[0]));
  if (words.size() == 1) {
    return absl::InvalidArgumentError("expected weight, jobs_max or witness_bytes_max, got a name alone");
  }
  engine::TenantPolicy policy;
  for (size_t i = 1; i < words.size(); ++i) PROOFMILL_RETURN_IF_ERROR(ParseWord(words[i], policy));
  return policy;
}

}  // namespace

absl::StatusOr<TenantPolicies> TenantPolicies::Parse(std::string_view name, std::string_view text) {
  TenantPolicies policies;
  const auto take = [&policies](const std::vector<absl::string_view>& words) -> absl::Status {
    PROOFMILL_ASSIGN_OR_RETURN(const engine::TenantPolicy policy, ParsePolicy(words));
    if (policies.policies_.emplace(std::string(words[0]), policy).second) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the tenant ", words[0], " comes twice"));
  };
  PROOFMILL_RETURN_IF_ERROR(ForEachLine(name, text, take));
  return policies;
}

engine::TenantPolicy TenantPolicies::Of(std::string_view tenant) const {
  auto found = policies_.find(tenant);
  if (found == policies_.end()) found = policies_.find(kEverybodyElse);
  return found == policies_.end() ? engine::TenantPolicy{} : found->second;
}

}  // namespace proofmill::server
