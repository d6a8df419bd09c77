// proofmill bench msm and bench ntt: the two kernels that a proof spends its time in, on random input.

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/bench_runs.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/stage_times.h"
#include "cli/table.h"
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

U256 RandomBelowR(std::mt19937_64& random) {
  U256 value;
  do {
    for (uint64_t& limb : value.limb) limb = random();
    value.limb[3] >>= 2;  // 254 bits: most values are below r
  } while (!Fr::IsCanonical(value));
  return value;
}

// dense: uniform. bits: 45 % zeros, 45 % ones, the rest uniform, as in real circuits.
std::vector<U256> RandomScalars(size_t n, bool bits) {
  std::mt19937_64 random(kSeed);
  std::vector<U256> scalars(n);
  for (U256& scalar : scalars) {
    const uint64_t kind = bits ? random() % 100 : 100;
    scalar = kind < 45 ? U256{} : kind < 90 ? U256{{1, 0, 0, 0}} : RandomBelowR(random);
  }
  return scalars;
}

struct KernelReport {
  std::string benchmark;
  std::string kind;  // of the input: "g1 dense"; empty for the transform
  uint64_t log2_size;
  RunStats stats;
};

std::string Report(const KernelReport& report, const BenchFlags& flags) {
  const double per_second = static_cast<double>(uint64_t{1} << report.log2_size) / report.stats.median;
  if (flags.json) {
    nlohmann::ordered_json out = {{"benchmark", report.benchmark}};
    if (!report.kind.empty()) out["input"] = report.kind;
    out["log2_size"] = report.log2_size;
    out["threads"] = flags.ThreadCount();
    out["cpu_arithmetic"] = CpuArithmetic();
    out["runs"] = flags.runs;
    out.update(ToJson(report.stats));
    out["elements_per_second"] = per_second;
    out["peak_memory_bytes"] = PeakMemoryBytes();
    return out.dump(2) + "\n";
  }
  Table table({"benchmark", "size", "threads", "arithmetic", "runs", "median", "min", "max", "elements/s"});
  table.AddRow({absl::StrCat(report.benchmark, report.kind.empty() ? "" : " ", report.kind),
                absl::StrCat("2^", report.log2_size), absl::StrCat(flags.ThreadCount()), CpuArithmetic(),
                absl::StrCat(flags.runs), FormatSeconds(report.stats.median), FormatSeconds(report.stats.min),
                FormatSeconds(report.stats.max), absl::StrFormat("%.3g", per_second)});
  return absl::StrCat(table.Text(), "peak memory  ", FormatBytes(PeakMemoryBytes()), "\n");
}

class BenchMsmCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "bench msm",
            .summary = "Time multi-scalar multiplication on the CPU",
            .positional = {},
            .description = "Times one multi-scalar multiplication over random points of G1 or G2.",
            .examples =
                "proofmill bench msm --log2_size 16\n"
                "proofmill bench msm --log2_size 14 --group g2 --profile bits --json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Uint("log2_size", &log2_size_, {.min = 0, .max = kLog2SizeMax},
               "The number of points is 2 to this power.");
    flags.Choice("group", &group_, {"g1", "g2"}, "The group of the points.");
    flags.Choice("profile", &profile_, {"dense", "bits"}, "The kind of the scalars; see `proofmill synth`.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(flags_.cpu_arithmetic));
    kernels::ThreadArena arena(flags_.ThreadCount());
    absl::StatusOr<RunStats> stats;
    {
      Progress progress("multiplying");
      arena.Execute(
          [&] { stats = group_ == "g1" ? Measure(kernels::kG1Generator) : Measure(kernels::kG2Generator); });
    }
    if (!stats.ok()) return stats.status();
    const KernelReport report{"msm", absl::StrCat(group_, " ", profile_), log2_size_, *stats};
    PROOFMILL_RETURN_IF_ERROR(PrintOut(Report(report, flags_)));
    return ExitCode::kOk;
  }

 private:
  template <typename F>
  absl::StatusOr<RunStats> Measure(const kernels::Affine<F>& generator) const {
    const size_t n = size_t{1} << log2_size_;
    std::vector<kernels::Affine<F>> bases(n);
    std::mt19937_64 random(kSeed + 1);
    std::vector<Fr> exponents(n);
    for (Fr& exponent : exponents) exponent = Fr::FromPlain(RandomBelowR(random));
    kernels::FixedBaseTable<F>(generator).Multiply(exponents.data(), bases.data(), n);

    const std::vector<U256> scalars = RandomScalars(n, profile_ == "bits");
    PROOFMILL_ASSIGN_OR_RETURN(std::vector<double> seconds, flags_.Measure([&] {
      kernels::Msm(bases.data(), scalars.data(), nullptr, n);
      return absl::OkStatus();
    }));
    return StatsOf(std::move(seconds));
  }

  BenchFlags flags_;
  uint64_t log2_size_ = 16;
  std::string group_ = "g1";
  std::string profile_ = "dense";
};

class BenchNttCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "bench ntt",
            .summary = "Time the number-theoretic transform on the CPU",
            .positional = {},
            .description = "Times one forward transform of random values, natural order in and out.",
            .examples =
                "proofmill bench ntt --log2_size 20\nproofmill bench ntt --log2_size 18 --threads 1 --json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Uint("log2_size", &log2_size_, {.min = 0, .max = kLog2SizeMax},
               "The number of values is 2 to this power.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(flags_.cpu_arithmetic));
    kernels::ThreadArena arena(flags_.ThreadCount());
    absl::StatusOr<std::vector<double>> seconds;
    {
      Progress progress("transforming");
      arena.Execute([&] { seconds = Measure(); });
    }
    if (!seconds.ok()) return seconds.status();
    const KernelReport report{"ntt", "", log2_size_, StatsOf(*std::move(seconds))};
    PROOFMILL_RETURN_IF_ERROR(PrintOut(Report(report, flags_)));
    return ExitCode::kOk;
  }

 private:
  absl::StatusOr<std::vector<double>> Measure() const {
    const kernels::NttDomain domain(static_cast<uint32_t>(log2_size_));
    std::mt19937_64 random(kSeed);
    std::vector<Fr> values(domain.size());
    for (Fr& value : values) value = Fr::FromPlain(RandomBelowR(random));
    return flags_.Measure([&] {
      domain.Forward(values.data());
      return absl::OkStatus();
    });
  }

  BenchFlags flags_;
  uint64_t log2_size_ = 18;
};

}  // namespace

std::unique_ptr<Command> MakeBenchMsmCommand() { return std::make_unique<BenchMsmCommand>(); }
std::unique_ptr<Command> MakeBenchNttCommand() { return std::make_unique<BenchNttCommand>(); }

}  // namespace proofmill::cli
