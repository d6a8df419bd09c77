// proofmill whir bench: proofs of the cells of whir-p3-metal's benchmark, with the time of each stage.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/bench_runs.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/stage_times.h"
#include "cli/table.h"
#include "cli/whir_cells.h"
#include "cli/whir_text.h"
#include "cli/whir_work.h"
#include "engine/backend/select.h"
#include "engine/backend/whir_gpu_bench.h"
#include "engine/base/status_macros.h"
#include "engine/whir/proof_json.h"
#include "engine/whir/prover.h"
#include "engine/whir/verifier.h"
#include "kernels/cpu/babybear_kernels.h"
#include "kernels/cpu/large_memory.h"
#include "kernels/cpu/parallel.h"
#include "kernels/field/small_rng.h"

namespace proofmill::cli {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Poseidon2 permutations a second, on all threads of the current arena at once.
struct PermutationRates {
  double scalar = 0;
  double vector = 0;
};
PermutationRates MeasurePermutations() {
  constexpr size_t kScalarTimes = 20'000, kVectorTimes = 20'000;
  const auto& constants = kernels::Poseidon2Width16(kernels::Poseidon2Set::kSmallRngSeed1);
  const kernels::BabyBearKernels& lanes = kernels::CurrentBabyBearKernels();
  const size_t threads = kernels::CurrentThreads();
  PermutationRates rates;
  auto begin = Clock::now();
  kernels::ParallelFor(0, threads, 1, [&](size_t, size_t) {
    kernels::BabyBear state[16] = {};
    for (size_t i = 0; i < kScalarTimes; ++i) kernels::Poseidon2Permute(constants, state);
    __asm__ volatile("" : : "r"(state) : "memory");  // the states count as read
  });
  rates.scalar = static_cast<double>(threads * kScalarTimes) / SecondsSince(begin);
  const kernels::Poseidon2Words words = kernels::ToWords(constants);
  begin = Clock::now();
  kernels::ParallelFor(0, threads, 1, [&](size_t, size_t) {
    std::vector<uint32_t> states(16 * lanes.lanes);
    lanes.permute(words, states.data(), kVectorTimes);
  });
  rates.vector = static_cast<double>(threads * kVectorTimes * lanes.lanes) / SecondsSince(begin);
  return rates;
}

// One cell: the run whose total is the median.
struct CellResult {
  WhirCell cell;
  engine::WhirTimes times;
  double expected_nonces = 0;
  double nonce_rate = 0;  // a second; on a CPU that of this run
  WhirWork work;
  engine::GpuWhirFusion fusion;  // on a GPU
  size_t proof_bytes = 0;
  uint64_t without_proof = 0;  // runs that found no nonce in the field

  double without_pow() const { return times.total - times.pow; }
  // As if as many nonces had been tried as there are on average. Only the difference is at the rate of a long
  // search: on a GPU short ones are latency, whatever they find.
  double expected_total() const {
    const double more = expected_nonces - static_cast<double>(times.nonces);
    return nonce_rate == 0 ? times.total : times.total + more / nonce_rate;
  }
};

std::vector<std::pair<std::string, double>> StagesOf(const engine::WhirTimes& times) {
  return {{"upload", times.upload},     {"encode", times.encode},   {"hash", times.hash},
          {"evaluate", times.evaluate}, {"weights", times.weights}, {"sumcheck", times.sumcheck},
          {"pow", times.pow},           {"open", times.open}};
}

class WhirBenchCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "whir bench",
        .summary = "Time WHIR proofs in the configuration of whir-p3-metal",
        .positional = {},
        .description =
            "Proves one claim about a random polynomial: 100 bits under the capacity bound with 16 bits of "
            "proof of "
            "work, as\nthe article on whir-p3-metal did, and prints the time, its stages, and the ratio to "
            "the "
            "article's M1. Tables of\nthe transform are made before. A search for nonces takes as long as "
            "luck has "
            "it: \"at E\" is the time with the\nexpected number of nonces instead: what they are more or "
            "less is added or taken off at the rate of a long search.\nEvery proof is verified. On a GPU a "
            "table of floors follows: the permutations at the rate that its kernel reaches, then\nthe bytes "
            "at the 4.29 TB/s of an H200's memory; and the time of fused kernels beside that of plain "
            "ones.\n\n"
            "WHIR is NOT hiding. The capacity bound is CONJECTURAL, and refuted in its general form (eprint "
            "2025/2046).",
        .examples =
            "proofmill whir bench --cells 20,4,1\n"
            "proofmill whir bench --grid article --runs 3 --json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    runs_.runs = 3;
    flags.Custom("cells", "N,F,R;...", "20,4,1", "Variables, fold and log2 of the inverse rate of each cell.",
                 [this](absl::string_view text) { return ParseCells(text); });
    flags.Choice("grid", &grid_, {"none", "article"}, "All cells of the article instead.");
    flags.Choice("backend", &backend_, {"auto", "cpu", "cuda"}, "Where proofs are made.");
    runs_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    if (grid_ == "article") cells_.assign(std::begin(kArticleCells), std::end(kArticleCells));
    PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(runs_.cpu_arithmetic));
    PROOFMILL_ASSIGN_OR_RETURN(device_, engine::ChooseWhirDevice(backend_));
    kernels::KeepFreedMemory();
    kernels::ThreadArena arena(runs_.ThreadCount());
    arena.Execute([&] { rates_ = MeasurePermutations(); });
    if (device_) {
      PROOFMILL_ASSIGN_OR_RETURN(gpu_rates_, engine::MeasureWhirRatesOnGpu());
    }
    std::vector<CellResult> results;
    for (const WhirCell& cell : cells_) {
      Progress progress(absl::StrFormat("proving n=%d f=%d r=%d", cell.num_variables, cell.fold, cell.rate));
      absl::StatusOr<CellResult> result;
      arena.Execute([&] { result = Measure(cell); });
      PROOFMILL_RETURN_IF_ERROR(result.status());
      results.push_back(*std::move(result));
    }
    PROOFMILL_RETURN_IF_ERROR(PrintOut(runs_.json ? ReportJson(results) : ReportText(results)));
    return ExitCode::kOk;
  }

 private:
  absl::Status ParseCells(absl::string_view text) {
    cells_.clear();
    for (const absl::string_view part : absl::StrSplit(text, ';')) {
      const std::vector<absl::string_view> numbers = absl::StrSplit(part, ',');
      uint32_t n = 0, fold = 0, rate = 0;
      if (numbers.size() != 3 || !absl::SimpleAtoi(numbers[0], &n) || !absl::SimpleAtoi(numbers[1], &fold) ||
          !absl::SimpleAtoi(numbers[2], &rate) || n > 26) {
        return absl::InvalidArgumentError(absl::StrCat(
            "expected N,F,R with N up to 26, separated by semicolons, got '", part.substr(0, 80), "'"));
      }
      const WhirCell cell = FindArticleCell(n, fold, rate);
      PROOFMILL_RETURN_IF_ERROR(engine::DeriveWhirConfig(ArticleParameters(cell)).status());
      cells_.push_back(cell);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CellResult> Measure(const WhirCell& cell) const {
    PROOFMILL_ASSIGN_OR_RETURN(engine::WhirConfig config, engine::DeriveWhirConfig(ArticleParameters(cell)));
    CellResult result{.cell = cell,
                      .times = {},
                      .expected_nonces = config.ExpectedNonces(),
                      .work = CountWhirWork(config),
                      .fusion = {}};
    std::unique_ptr<engine::WhirDevice> device;
    if (device_) {
      PROOFMILL_ASSIGN_OR_RETURN(
          result.fusion, engine::TimeWhirFusionOnGpu(config, {.warmup = runs_.warmup, .runs = runs_.runs}));
      PROOFMILL_ASSIGN_OR_RETURN(device, device_(config));
    }
    const engine::WhirProver prover(std::move(config), std::move(device));
    std::vector<engine::WhirTimes> runs;
    uint64_t seed = 0;  // of the polynomial: the next one after a run without a nonce
    for (uint64_t i = 0; i < runs_.warmup + runs_.runs; ++i) {
      engine::WhirTimes times;
      PROOFMILL_ASSIGN_OR_RETURN(const size_t bytes, ProveOnce(prover, seed, !device_, times));
      if (bytes == 0) {
        ++seed;
        ++result.without_proof;
      } else {
        result.proof_bytes = bytes;
      }
      if (i >= runs_.warmup) runs.push_back(times);
    }
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.total < b.total; });
    result.times = runs[runs.size() / 2];
    if (device_) {  // its stages are those of a run apart, as their clocks take time
      engine::WhirTimes stages;
      PROOFMILL_RETURN_IF_ERROR(ProveOnce(prover, seed, true, stages).status());
      stages.total = result.times.total;
      stages.nonces = result.times.nonces;
      result.times = stages;
    }
    const bool searched = result.times.pow > 0;
    const double rate_of_run = searched ? static_cast<double>(result.times.nonces) / result.times.pow : 0;
    result.nonce_rate = device_ ? gpu_rates_.nonces : rate_of_run;
    return result;
  }

  // The length of the proof in bincode; 0 where the field has no nonce.
  static absl::StatusOr<size_t> ProveOnce(const engine::WhirProver& prover, uint64_t seed, bool stage_times,
                                          engine::WhirTimes& times) {
    const engine::WhirParameters& p = prover.config().parameters;
    kernels::SmallRng rng(seed);
    engine::WhirElements polynomial(size_t{1} << p.num_variables),
        point(size_t{p.num_variables} * p.extension_degree);
    for (kernels::BabyBear& x : polynomial) x = rng.NextBabyBear();
    for (kernels::BabyBear& x : point) x = rng.NextBabyBear();
    const std::vector<engine::WhirClaim> claims = {{point, prover.Evaluate(polynomial, point)}};
    const auto proof = prover.Prove(polynomial, claims, {.times = &times, .stage_times = stage_times});
    if (absl::IsAborted(proof.status())) return size_t{0};
    PROOFMILL_RETURN_IF_ERROR(proof.status());
    const engine::WhirVerdict verdict = engine::VerifyWhir(prover.config(), claims, *proof);
    if (!verdict.valid) {
      return absl::InternalError(
          absl::StrCat("expected a valid proof, got one rejected at ", verdict.rejected_at));
    }
    return engine::WhirBincodeBytes(*proof);
  }

  std::string ReportText(const std::vector<CellResult>& results) const {
    Table table(
        {"n f r", "ms", "without pow", "pow", "nonces", "E", "ms at E", "bytes", "x M1 CPU", "x M1 GPU"});
    Table stages(
        {"n f r", "upload", "encode", "hash", "evaluate", "weights", "sumcheck", "pow", "open", "other"});
    for (const CellResult& result : results) {
      const WhirCell& cell = result.cell;
      const std::string name = absl::StrFormat("%d %d %d", cell.num_variables, cell.fold, cell.rate);
      const auto ratio = [&](double article_ms) {
        return article_ms == 0 ? std::string("-")
                               : absl::StrFormat("%.2f", article_ms / (1e3 * result.expected_total()));
      };
      table.AddRow({name, absl::StrFormat("%.2f", 1e3 * result.times.total),
                    absl::StrFormat("%.2f", 1e3 * result.without_pow()),
                    absl::StrFormat("%.2f", 1e3 * result.times.pow), absl::StrCat(result.times.nonces),
                    absl::StrFormat("%.0f", result.expected_nonces),
                    absl::StrFormat("%.2f", 1e3 * result.expected_total()),
                    result.proof_bytes == 0 ? "no nonce in the field" : absl::StrCat(result.proof_bytes),
                    ratio(cell.article_cpu_ms), ratio(cell.article_gpu_ms)});
      std::vector<std::string> row = {name};
      double other = result.times.total;
      for (const auto& [stage, seconds] : StagesOf(result.times)) {
        row.push_back(absl::StrFormat("%.1f %%", 100 * seconds / result.times.total));
        other -= seconds;
      }
      row.push_back(absl::StrFormat("%.1f %%", 100 * other / result.times.total));
      stages.AddRow(std::move(row));
    }
    return absl::StrCat(
        "device ", DeviceName(), ", ", runs_.ThreadCount(), " threads, ", CpuArithmetic(), " arithmetic (",
        kernels::CurrentBabyBearKernels().name, ", ", kernels::CurrentBabyBearKernels().lanes,
        " lanes), median of ", runs_.runs, " runs\n",
        absl::StrFormat("Poseidon2 permutations per second, all threads: %.3g scalar, %.3g in vectors\n",
                        rates_.scalar, rates_.vector),
        device_ ? GpuRatesText() : "", kWhirConjectural, "\n", kWhirNotHiding, "\n\n", table.Text(), "\n",
        stages.Text(), device_ ? absl::StrCat("\n", FloorsText(results)) : "", "peak memory  ",
        FormatBytes(PeakMemoryBytes()), "\n");
  }

  std::string GpuRatesText() const {
    return absl::StrFormat(
        "on the GPU: %.3g permutations per second one a thread, %.3g in four lanes; %.3g nonces; a "
        "permutation alone %.1f us, in four lanes %.1f us, in sixteen %.1f us\n",
        gpu_rates_.permutations, gpu_rates_.quad_permutations, gpu_rates_.nonces,
        1e6 * gpu_rates_.alone_seconds, 1e6 * gpu_rates_.quad_alone_seconds,
        1e6 * gpu_rates_.spread_alone_seconds);
  }
  double Floor(const CellResult& result) const { return FloorSeconds(result.work, gpu_rates_.permutations); }
  std::string FloorsText(const std::vector<CellResult>& results) const {
    Table table({"n f r", "permutations", "MB", "floor ms", "at E / floor", "trees ms", "a launch a layer",
                 "fold and sum us", "in two"});
    for (const CellResult& result : results) {
      const engine::GpuWhirFusion& fusion = result.fusion;
      table.AddRow(
          {absl::StrFormat("%d %d %d", result.cell.num_variables, result.cell.fold, result.cell.rate),
           absl::StrFormat("%.0f", result.work.permutations),
           absl::StrFormat("%.1f", result.work.bytes / 1e6), absl::StrFormat("%.2f", 1e3 * Floor(result)),
           absl::StrFormat("%.2f", result.expected_total() / Floor(result)),
           absl::StrFormat("%.3f", 1e3 * fusion.trees.fused),
           absl::StrFormat("%.3f", 1e3 * fusion.trees.unfused),
           absl::StrFormat("%.1f", 1e6 * fusion.sumcheck.fused),
           absl::StrFormat("%.1f", 1e6 * fusion.sumcheck.unfused)});
    }
    return table.Text();
  }

  std::string ReportJson(const std::vector<CellResult>& results) const {
    nlohmann::ordered_json cells = nlohmann::ordered_json::array();
    for (const CellResult& result : results) {
      nlohmann::ordered_json stages;
      for (const auto& [stage, seconds] : StagesOf(result.times))
        stages[absl::StrCat(stage, "_seconds")] = seconds;
      cells.push_back({{"num_variables", result.cell.num_variables},
                       {"fold", result.cell.fold},
                       {"rate", result.cell.rate},
                       {"median_seconds", result.times.total},
                       {"without_pow_seconds", result.without_pow()},
                       {"nonces", result.times.nonces},
                       {"expected_nonces", result.expected_nonces},
                       {"expected_seconds", result.expected_total()},
                       {"proof_bytes", result.proof_bytes},
                       {"runs_without_a_nonce", result.without_proof},
                       {"article_cpu_ms", result.cell.article_cpu_ms},
                       {"article_gpu_ms", result.cell.article_gpu_ms},
                       {"permutations", result.work.permutations},
                       {"memory_bytes", result.work.bytes},
                       {"stages", std::move(stages)}});
      if (device_) {
        const engine::GpuWhirFusion& fusion = result.fusion;
        cells.back().update({{"floor_seconds", Floor(result)},
                             {"trees_seconds", fusion.trees.fused},
                             {"trees_unfused_seconds", fusion.trees.unfused},
                             {"fold_and_sum_seconds", fusion.sumcheck.fused},
                             {"fold_and_sum_unfused_seconds", fusion.sumcheck.unfused}});
      }
    }
    nlohmann::ordered_json out = {{"benchmark", "whir"},
                                  {"device", DeviceName()},
                                  {"threads", runs_.ThreadCount()},
                                  {"cpu_arithmetic", CpuArithmetic()},
                                  {"runs", runs_.runs},
                                  {"scalar_permutations_per_second", rates_.scalar},
                                  {"vector_permutations_per_second", rates_.vector},
                                  {"assumption", kWhirConjectural},
                                  {"privacy", kWhirNotHiding},
                                  {"cells", std::move(cells)},
                                  {"peak_memory_bytes", PeakMemoryBytes()}};
    if (device_) {
      out.update({{"gpu_permutations_per_second", gpu_rates_.permutations},
                  {"gpu_quad_permutations_per_second", gpu_rates_.quad_permutations},
                  {"gpu_nonces_per_second", gpu_rates_.nonces},
                  {"gpu_permutation_seconds", gpu_rates_.alone_seconds},
                  {"gpu_quad_permutation_seconds", gpu_rates_.quad_alone_seconds},
                  {"gpu_spread_permutation_seconds", gpu_rates_.spread_alone_seconds}});
    }
    return out.dump(2) + "\n";
  }

  std::string DeviceName() const { return device_ ? "cuda:0" : "cpu"; }

  BenchFlags runs_;
  std::vector<WhirCell> cells_ = {FindArticleCell(20, 4, 1)};
  std::string grid_ = "none";
  std::string backend_ = "auto";
  engine::WhirDeviceMaker device_;
  PermutationRates rates_;
  engine::GpuWhirRates gpu_rates_;
};

}  // namespace

std::unique_ptr<Command> MakeWhirBenchCommand() { return std::make_unique<WhirBenchCommand>(); }

}  // namespace proofmill::cli
