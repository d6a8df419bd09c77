// proofmill bench msm and bench ntt: the two kernels that a proof spends its time in, on random input.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/bench_runs.h"
#include "cli/commands.h"
#include "cli/kernel_inputs.h"
#include "cli/progress.h"
#include "cli/stage_times.h"
#include "cli/table.h"
#include "engine/backend/gpu_bench.h"
#include "engine/backend/select.h"
#include "engine/base/status_macros.h"
#include "kernels/cpu/msm.h"
#include "kernels/cpu/ntt.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::cli {
namespace {

using kernels::Fr;
using kernels::U256;

constexpr uint64_t kSeed = 1;  // same input on every machine and in every run
constexpr uint64_t kLog2SizeMax = 26;

// One line of the result.
struct KernelResult {
  std::string input;  // "g1 dense"; empty for the transform
  uint64_t log2_size = 0;
  RunStats stats;
  std::optional<double> floor_seconds;  // of an H200, where the time is a GPU's
  std::optional<double> ratio_to_dense;
};

struct KernelReport {
  std::string benchmark;
  std::string device;
  std::vector<std::string> notes;  // lines above the table
  std::vector<KernelResult> results;
};

double ElementsPerSecond(const KernelResult& result) {
  return static_cast<double>(uint64_t{1} << result.log2_size) / result.stats.median;
}

std::string ReportJson(const KernelReport& report, const BenchFlags& flags) {
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  for (const KernelResult& result : report.results) {
    nlohmann::ordered_json line = {{"log2_size", result.log2_size}};
    if (!result.input.empty()) line["input"] = result.input;
    line.update(ToJson(result.stats));
    line["elements_per_second"] = ElementsPerSecond(result);
    if (result.floor_seconds.has_value()) {
      line["floor_seconds"] = *result.floor_seconds;
      line["ratio_to_floor"] = result.stats.median / *result.floor_seconds;
    }
    if (result.ratio_to_dense.has_value()) line["ratio_to_dense"] = *result.ratio_to_dense;
    results.push_back(std::move(line));
  }
  const nlohmann::ordered_json out = {
      {"benchmark", report.benchmark},         {"device", report.device}, {"threads", flags.ThreadCount()},
      {"cpu_arithmetic", CpuArithmetic()},     {"runs", flags.runs},      {"results", std::move(results)},
      {"peak_memory_bytes", PeakMemoryBytes()}};
  return out.dump(2) + "\n";
}

std::string ReportText(const KernelReport& report, const BenchFlags& flags) {
  Table table(
      {"benchmark", "size", "median", "min", "max", "elements/s", "H200 floor", "x floor", "x dense"});
  const auto ratio = [](std::optional<double> value) {
    return value.has_value() ? absl::StrFormat("%.2f", *value) : "-";
  };
  for (const KernelResult& result : report.results) {
    std::optional<double> to_floor;
    if (result.floor_seconds.has_value()) to_floor = result.stats.median / *result.floor_seconds;
    table.AddRow({absl::StrCat(report.benchmark, result.input.empty() ? "" : " ", result.input),
                  absl::StrCat("2^", result.log2_size), FormatSeconds(result.stats.median),
                  FormatSeconds(result.stats.min), FormatSeconds(result.stats.max),
                  absl::StrFormat("%.3g", ElementsPerSecond(result)),
                  result.floor_seconds.has_value() ? FormatSeconds(*result.floor_seconds) : "-",
                  ratio(to_floor), ratio(result.ratio_to_dense)});
  }
  std::string out = absl::StrCat("device ", report.device, ", ", flags.ThreadCount(), " threads, ",
                                 CpuArithmetic(), " arithmetic, ", flags.runs, " runs\n");
  for (const std::string& note : report.notes) absl::StrAppend(&out, note, "\n");
  return absl::StrCat(out, "\n", table.Text(), "peak memory  ", FormatBytes(PeakMemoryBytes()), "\n");
}

// "16,18" as numbers from `least` to `greatest`.
absl::Status ParseNumbers(absl::string_view text, uint64_t least, uint64_t greatest,
                          std::vector<uint64_t>& numbers) {
  numbers.clear();
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    uint64_t number = 0;
    const bool digits = !part.empty() && part.find_first_not_of("0123456789") == absl::string_view::npos;
    if (!digits || !absl::SimpleAtoi(part, &number) || number < least || number > greatest) {
      return absl::InvalidArgumentError(absl::StrCat("expected numbers from ", least, " to ", greatest,
                                                     " separated by commas, got '", text.substr(0, 80), "'"));
    }
    numbers.push_back(number);
  }
  return absl::OkStatus();
}

// What both benchmarks ask: where, and which sizes.
class KernelFlags {
 public:
  void Declare(FlagSet& flags, std::vector<uint64_t> default_sizes) {
    log2_sizes = std::move(default_sizes);
    flags.Choice("backend", &backend_, {"auto", "cpu", "cuda"},
                 "Where it is computed; auto takes the first GPU where there is one.");
    flags.Custom("log2_size", "N,...", absl::StrCat(log2_sizes[0]),
                 "The sizes are 2 to these powers, at most 26.",
                 [this](absl::string_view text) { return ParseNumbers(text, 0, kLog2SizeMax, log2_sizes); });
    runs.Declare(flags);
  }

  // Whether to compute on a GPU, `made` being what came of the attempt.
  absl::StatusOr<bool> UseGpu(const absl::Status& made) const {
    if (made.ok()) return true;
    if (backend_ == "auto" && absl::IsFailedPrecondition(made)) return false;
    return made;
  }
  bool cpu_only() const { return backend_ == "cpu"; }

  BenchFlags runs;
  std::vector<uint64_t> log2_sizes;

 private:
  std::string backend_ = "auto";
};

absl::Status Differs(absl::string_view what) {
  return absl::InternalError(
      absl::StrCat(what, ": expected the result of the CPU, got another from the GPU"));
}

class BenchMsmCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "bench msm",
            .summary = "Time multi-scalar multiplication",
            .positional = {},
            .description =
                "Times multi-scalar multiplications over random points of G1 or G2. On a GPU points, their "
                "multiples and\nscalars are there before the clock (of CUDA events) starts, and each result "
                "is compared with the CPU's.\nThe floor is what the arithmetic units of an H200 allow.",
            .examples =
                "proofmill bench msm --log2_size 16\n"
                "proofmill bench msm --log2_size 16,18,20 --profile all --runs 21 --warmup 3\n"
                "proofmill bench msm --log2_size 14 --group g2 --profile bits --json\n"
                "proofmill bench msm --log2_size 20 --backend cuda --window_bits 16,17,18,19"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags_.Declare(flags, {16});
    flags.Choice("group", &group_, {"g1", "g2"}, "The group of the points.");
    std::vector<std::string> profiles = ScalarProfiles();
    profiles.emplace_back("all");
    flags.Choice("profile", &profile_, std::move(profiles), "How the scalars are spread.");
    flags.Custom(
        "window_bits", "N,...", "", "On a GPU: the windows to time instead of the one that a key gets.",
        [this](absl::string_view text) {
          return ParseNumbers(text, engine::kGpuWindowBitsMin, engine::kGpuWindowBitsMax, window_bits_);
        });
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(flags_.runs.cpu_arithmetic));
    kernels::ThreadArena arena(flags_.runs.ThreadCount());
    KernelReport report{.benchmark = "msm", .device = "cpu", .notes = {}, .results = {}};
    for (const uint64_t log2_size : flags_.log2_sizes) {
      absl::Status measured;
      Progress progress(absl::StrCat("multiplying, 2^", log2_size));
      arena.Execute([&] {
        measured = group_ == "g1" ? Measure(kernels::kG1Generator, log2_size, report)
                                  : Measure(kernels::kG2Generator, log2_size, report);
      });
      PROOFMILL_RETURN_IF_ERROR(measured);
    }
    PROOFMILL_RETURN_IF_ERROR(
        PrintOut(flags_.runs.json ? ReportJson(report, flags_.runs) : ReportText(report, flags_.runs)));
    return ExitCode::kOk;
  }

 private:
  template <typename F>
  absl::Status Measure(const kernels::Affine<F>& generator, uint64_t log2_size, KernelReport& report) const {
    const size_t n = size_t{1} << log2_size;
    std::vector<kernels::Affine<F>> bases(n);
    std::mt19937_64 random(kSeed + 1);
    std::vector<Fr> exponents(n);
    for (Fr& exponent : exponents) exponent = Fr::FromPlain(RandomBelowR(random));
    kernels::FixedBaseTable<F>(generator).Multiply(exponents.data(), bases.data(), n);

    for (const uint64_t window_bits : window_bits_) {
      PROOFMILL_RETURN_IF_ERROR(
          MeasureProfiles(bases, static_cast<uint32_t>(window_bits), log2_size, report));
    }
    return absl::OkStatus();
  }

  template <typename F>
  absl::Status MeasureProfiles(const std::vector<kernels::Affine<F>>& bases, uint32_t window_bits,
                               uint64_t log2_size, KernelReport& report) const {
    std::unique_ptr<engine::GpuMsmBench<F>> gpu;
    if (!flags_.cpu_only()) {
      auto made = engine::MakeGpuMsmBench(absl::MakeConstSpan(bases), window_bits);
      PROOFMILL_ASSIGN_OR_RETURN(const bool on_gpu, flags_.UseGpu(made.status()));
      if (on_gpu) {
        gpu = *std::move(made);
        report.device = "cuda:0";
        report.notes.push_back(absl::StrCat("2^", log2_size, ": ", gpu->plan()));
      }
    }
    std::optional<double> dense;
    for (const std::string& profile :
         profile_ == "all" ? ScalarProfiles() : std::vector<std::string>{profile_}) {
      const std::vector<U256> scalars = MakeScalars(profile, bases.size());
      KernelResult result;
      result.input = absl::StrCat(group_, " ", profile);
      if (window_bits != 0) absl::StrAppend(&result.input, " ", window_bits, "-bit");
      result.log2_size = log2_size;
      PROOFMILL_ASSIGN_OR_RETURN(result.stats, Time(gpu.get(), bases, scalars));
      if (profile == "dense") {
        dense = result.stats.median;
        if (gpu != nullptr) result.floor_seconds = MsmFloorSeconds(group_ == "g2", bases.size());
      }
      if (dense.has_value()) result.ratio_to_dense = result.stats.median / *dense;
      report.results.push_back(std::move(result));
    }
    return absl::OkStatus();
  }

  template <typename F>
  absl::StatusOr<RunStats> Time(engine::GpuMsmBench<F>* gpu, const std::vector<kernels::Affine<F>>& bases,
                                const std::vector<U256>& scalars) const {
    const auto on_cpu = [&] { return kernels::Msm(bases.data(), scalars.data(), nullptr, bases.size()); };
    if (gpu == nullptr) {
      PROOFMILL_ASSIGN_OR_RETURN(std::vector<double> seconds, flags_.runs.Measure([&] {
        on_cpu();
        return absl::OkStatus();
      }));
      return StatsOf(std::move(seconds));
    }
    PROOFMILL_ASSIGN_OR_RETURN(const auto result,
                               gpu->Time(scalars, {.warmup = flags_.runs.warmup, .runs = flags_.runs.runs}));
    if (!(result.sum == on_cpu())) return Differs("msm");
    return StatsOf(result.seconds);
  }

  KernelFlags flags_;
  std::vector<uint64_t> window_bits_ = {0};
  std::string group_ = "g1";
  std::string profile_ = "dense";
};

class BenchNttCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "bench ntt",
            .summary = "Time the number-theoretic transform",
            .positional = {},
            .description =
                "Times one forward transform of random values, from coefficients in bit-reversed order to "
                "values in natural\norder. On a GPU the values stay there, the clock is that of CUDA events, "
                "and the result is compared with the CPU's.",
            .examples =
                "proofmill bench ntt --log2_size 20\n"
                "proofmill bench ntt --log2_size 16,18,20,22 --backend cuda --runs 21 --warmup 3\n"
                "proofmill bench ntt --log2_size 18 --threads 1 --json"};
  }

  void DeclareFlags(FlagSet& flags) override { flags_.Declare(flags, {18}); }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(flags_.runs.cpu_arithmetic));
    kernels::ThreadArena arena(flags_.runs.ThreadCount());
    KernelReport report{.benchmark = "ntt", .device = "cpu", .notes = {}, .results = {}};
    for (const uint64_t log2_size : flags_.log2_sizes) {
      absl::Status measured;
      Progress progress(absl::StrCat("transforming, 2^", log2_size));
      arena.Execute([&] { measured = Measure(log2_size, report); });
      PROOFMILL_RETURN_IF_ERROR(measured);
    }
    PROOFMILL_RETURN_IF_ERROR(
        PrintOut(flags_.runs.json ? ReportJson(report, flags_.runs) : ReportText(report, flags_.runs)));
    return ExitCode::kOk;
  }

 private:
  absl::Status Measure(uint64_t log2_size, KernelReport& report) const {
    const kernels::NttDomain domain(static_cast<uint32_t>(log2_size));
    std::mt19937_64 random(kSeed);
    std::vector<Fr> values(domain.size());
    for (Fr& value : values) value = Fr::FromPlain(RandomBelowR(random));

    KernelResult result;
    result.log2_size = log2_size;
    bool on_gpu = false;
    if (!flags_.cpu_only()) {
      const auto timed =
          engine::TimeNttOnGpu(values, {.warmup = flags_.runs.warmup, .runs = flags_.runs.runs});
      PROOFMILL_ASSIGN_OR_RETURN(on_gpu, flags_.UseGpu(timed.status()));
      if (on_gpu) {
        report.device = "cuda:0";
        result.stats = StatsOf(timed->seconds);
        result.floor_seconds = NttFloorSeconds(static_cast<uint32_t>(log2_size));
        domain.ForwardFromBitReversed(values.data());
        if (timed->values != values) return Differs("ntt");
      }
    }
    if (!on_gpu) {
      PROOFMILL_ASSIGN_OR_RETURN(std::vector<double> seconds, flags_.runs.Measure([&] {
        domain.ForwardFromBitReversed(values.data());
        return absl::OkStatus();
      }));
      result.stats = StatsOf(std::move(seconds));
    }
    report.results.push_back(std::move(result));
    return absl::OkStatus();
  }

  KernelFlags flags_;
};

}  // namespace

std::unique_ptr<Command> MakeBenchMsmCommand() { return std::make_unique<BenchMsmCommand>(); }
std::unique_ptr<Command> MakeBenchNttCommand() { return std::make_unique<BenchNttCommand>(); }

}  // namespace proofmill::cli
