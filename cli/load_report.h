// What is said of a load: percentiles, a table for people, JSON for programs, and whether objectives were
// met.
//
// Thread safety: plain values and pure functions.

#ifndef PROOFMILL_CLI_LOAD_REPORT_H_
#define PROOFMILL_CLI_LOAD_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cli/load_judge.h"
#include "cli/load_run.h"

namespace proofmill::cli {

struct Percentiles {
  double mean = 0;  // seconds, as the others
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};
// By nearest rank: each is a value that was measured. All zero without values.
Percentiles PercentilesOf(std::vector<double> values);

// What the caller wants of each step. Unset: nothing.
struct LoadObjectives {
  std::optional<absl::Duration> p50 = {};   // of the latency, at most
  std::optional<absl::Duration> p99 = {};   // likewise
  std::optional<double> failed_share = {};  // of the requests that were not abandoned, at most
  std::optional<double> rate = {};          // proofs a second, at least
};

struct LoadStepReport {
  LoadStep step;
  LoadResult result;
  std::optional<LoadJudge::Verdicts> verdicts;  // nothing: the proofs were not verified
};

struct LoadReport {
  std::string target;
  std::vector<std::string> circuits;  // by kind
  std::vector<LoadStepReport> steps;
};

// What a step misses, one sentence each; empty if it is good. Whatever the objectives are, at least one proof
// must have been made, and none may be bad.
std::vector<std::string> Missed(const LoadStepReport& step, const LoadObjectives& objectives);

std::string LoadText(const LoadReport& report, const LoadObjectives& objectives);
// Times of what never happened, such as the latency where nothing was proved, are null.
std::string LoadJson(const LoadReport& report, const LoadObjectives& objectives);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_LOAD_REPORT_H_
