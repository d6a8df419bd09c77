// Repeated timing for `proofmill bench`: warm-up runs, then measured runs, and what is said of them.
//
// Thread safety: plain values and functions of their arguments.

#ifndef PROOFMILL_CLI_BENCH_RUNS_H_
#define PROOFMILL_CLI_BENCH_RUNS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/flags.h"
#include "nlohmann/json.hpp"

namespace proofmill::cli {

struct RunStats {
  double median = 0;  // seconds, as the others
  double min = 0;
  double max = 0;
};

// REQUIRES: at least one value.
RunStats StatsOf(std::vector<double> seconds);

// {"median_seconds": ..., "min_seconds": ..., "max_seconds": ...}
nlohmann::ordered_json ToJson(const RunStats& stats);

// What arithmetic on the CPU uses: "portable", "adx", "fma" or "ifma".
std::string CpuArithmetic();

// The flags that all benchmarks share.
struct BenchFlags {
  uint64_t runs = 5;
  uint64_t warmup = 1;
  uint64_t threads = 0;
  std::string cpu_arithmetic = "auto";
  bool json = false;

  void Declare(FlagSet& flags);
  // `threads`, or one for each core.
  size_t ThreadCount() const;

  // Calls `run` warmup + runs times and returns the wall time of the measured calls. Ends at the first error.
  absl::StatusOr<std::vector<double>> Measure(const std::function<absl::Status()>& run) const;
};

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_BENCH_RUNS_H_
