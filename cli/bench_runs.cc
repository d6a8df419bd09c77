#include "cli/bench_runs.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "engine/base/status_macros.h"
#include "kernels/cpu/parallel.h"
#include "kernels/field/arithmetic.h"

namespace proofmill::cli {

RunStats StatsOf(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const size_t middle = seconds.size() / 2;
  const double median =
      seconds.size() % 2 == 1 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return {.median = median, .min = seconds.front(), .max = seconds.back()};
}

nlohmann::ordered_json ToJson(const RunStats& stats) {
  return {{"median_seconds", stats.median}, {"min_seconds", stats.min}, {"max_seconds", stats.max}};
}

std::string CpuArithmetic() { return kernels::ArithmeticName(kernels::CurrentArithmetic()); }

void BenchFlags::Declare(FlagSet& flags) {
  flags.Uint("runs", &runs, {.min = 1, .max = 10'000}, "Measured runs.");
  flags.Uint("warmup", &warmup, {.min = 0, .max = 10'000}, "Runs before that, not measured.");
  flags.Uint("threads", &threads, {.min = 0, .max = 1024}, "Threads; 0 means one per core.");
  flags.Choice("cpu_arithmetic", &cpu_arithmetic, {"auto", "portable", "adx", "fma", "ifma"},
               "Instructions of field arithmetic on the CPU; auto takes the best that it has.");
  flags.Bool("json", &json, "Print JSON.");
}

size_t BenchFlags::ThreadCount() const {
  return threads == 0 ? kernels::HardwareThreads() : static_cast<size_t>(threads);
}

absl::StatusOr<std::vector<double>> BenchFlags::Measure(const std::function<absl::Status()>& run) const {
  std::vector<double> seconds;
  for (uint64_t i = 0; i < warmup + runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    PROOFMILL_RETURN_IF_ERROR(run());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (i >= warmup) seconds.push_back(taken.count());
  }
  return seconds;
}

}  // namespace proofmill::cli
