// proofmill bench prove: whole proofs of one witness, with the time of each step.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
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
#include "engine/formats/file.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/proving_key.h"
#include "engine/groth16/synth.h"
#include "kernels/cpu/large_memory.h"

namespace proofmill::cli {
namespace {

// A new folder for the files of one run, removed with them.
class TemporaryFolder {
 public:
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> Make() {
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    std::string name = (error ? std::filesystem::path("/tmp") : parent) / "proofmill-bench-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      return absl::InternalError(absl::StrCat(name, ": cannot create a temporary folder"));
    }
    return std::unique_ptr<TemporaryFolder>(new TemporaryFolder(std::move(name)));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string File(absl::string_view name) const { return absl::StrCat(path_, "/", name); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

// The runs of one benchmark: whole proofs and their steps.
struct ProofRuns {
  RunStats total;
  std::vector<std::pair<std::string, RunStats>> stages;  // in the order in which they were first heard of
};

ProofRuns Summarise(const std::vector<double>& totals, const std::deque<StageTimes>& runs) {
  ProofRuns out{.total = StatsOf(totals), .stages = {}};
  for (const auto& [name, unused] : runs.back().All()) {
    std::vector<double> seconds;
    for (const StageTimes& run : runs) {
      for (const auto& [stage, value] : run.All()) {
        if (stage == name) seconds.push_back(value);
      }
    }
    out.stages.emplace_back(name, StatsOf(seconds));
  }
  return out;
}

// Products in the field that a step makes, for steps where their number follows from the key: one for each
// coefficient and each row in "gather", and in "ntt" one for each butterfly of the six transforms and each
// value that they scale, two for each value of h. 0 for others.
double ProductsOf(const std::string& step, const engine::ProvingKey& key) {
  const double n = key.domain_size();
  if (step == "gather") {
    return static_cast<double>(key.a_matrix().entries() + key.b_matrix().entries()) + n;
  }
  if (step == "ntt") return 3 * n * (key.log2_domain() + 1) + 2 * n;
  return 0;
}

class BenchProveCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "bench prove",
            .summary = "Time whole Groth16 proofs and their steps",
            .positional = {"KEY.zkey", "WITNESS.wtns"},
            .optional_count = 2,
            .description =
                "Proves one witness several times and prints the median, least and greatest time of the "
                "proof and of each "
                "step,\nthe step's share of the proof (steps overlap, so shares add up to more than 100 %), "
                "the products in the\nfield that gather and ntt make a second, and the peak memory.\nWithout "
                "files a synthetic circuit is made first (see `proofmill synth`).",
            .examples =
                "proofmill bench prove --log2_domain 16 --profile dense\n"
                "proofmill bench prove circuit.zkey witness.wtns --runs 9 --json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags_.Declare(flags);
    flags.Choice("backend", &backend_, {"auto", "cpu", "cuda"}, "What computes the proof.");
    flags.Bytes(
        "device_memory_limit", &device_memory_limit_,
        "Device memory that the key and its proofs may take, at least 64MiB; 0 means most of the card.");
    flags.Uint("log2_domain", &log2_domain_,
               {.min = engine::kSynthLog2DomainMin, .max = engine::kSynthLog2DomainMax},
               "Size of the synthetic circuit.");
    flags.Choice("profile", &profile_, {"dense", "bits"}, "Kind of the synthetic circuit.");
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(flags_.cpu_arithmetic));
    kernels::KeepFreedMemory();
    engine::BackendOptions backend_options;
    backend_options.cpu_threads = static_cast<size_t>(flags_.threads);
    backend_options.device_memory_limit = static_cast<size_t>(device_memory_limit_);
    PROOFMILL_ASSIGN_OR_RETURN(const engine::BackendSelection selection,
                               engine::MakeBackends(backend_, backend_options));
    engine::Groth16Backend& backend = *selection.backends.front();

    std::shared_ptr<const engine::ProvingKey> key;
    ProofRuns runs;
    {
      Progress progress("making a synthetic circuit");
      std::unique_ptr<TemporaryFolder> folder;
      std::vector<std::string> files = positional;
      if (files.empty()) {
        PROOFMILL_ASSIGN_OR_RETURN(folder, TemporaryFolder::Make());
        files = {folder->File("key.zkey"), folder->File("witness.wtns")};
        PROOFMILL_RETURN_IF_ERROR(Synthesize(files, progress));
      }
      progress.Set("reading and checking the key");
      engine::KeyOptions options;
      options.allow_unsafe_setup = true;  // nothing made here leaves the process
      options.allow_insecure_test_keys = true;
      PROOFMILL_ASSIGN_OR_RETURN(key, engine::LoadProvingKey(files[0], options));
      PROOFMILL_ASSIGN_OR_RETURN(runs, Measure(backend, key, files[1], progress));
    }
    PROOFMILL_RETURN_IF_ERROR(PrintOut(flags_.json ? Json(*key, backend, runs) : Text(*key, backend, runs)));
    return ExitCode::kOk;
  }

 private:
  absl::Status Synthesize(const std::vector<std::string>& files, Progress& progress) const {
    engine::SynthOptions options;
    options.log2_domain = static_cast<uint32_t>(log2_domain_);
    PROOFMILL_ASSIGN_OR_RETURN(options.profile, engine::ParseSynthProfile(profile_));
    options.progress = [&progress](std::string_view step, double done) {
      progress.Set(absl::StrFormat("making a synthetic circuit: %s: %.0f %%", std::string(step), done * 100));
    };
    return engine::Synthesize(options, files[0], files[1]);
  }

  absl::StatusOr<ProofRuns> Measure(engine::Groth16Backend& backend,
                                    const std::shared_ptr<const engine::ProvingKey>& key,
                                    const std::string& witness_path, Progress& progress) const {
    PROOFMILL_ASSIGN_OR_RETURN(const auto file, engine::RandomAccessFile::Open(witness_path));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::Witness witness, engine::ReadWtns(*file, key->n_vars()));
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<engine::ResidentKey> resident, backend.LoadKey(key));
    key->MakeTables();  // as a server does
    const auto values = absl::MakeConstSpan(witness.values.data(), witness.values.size());

    PROOFMILL_RETURN_IF_ERROR(engine::CheckWitness(*key, values));  // as a server does before it queues

    std::deque<StageTimes> stages(flags_.warmup + flags_.runs);
    size_t next = 0;
    progress.Set("proving");
    PROOFMILL_ASSIGN_OR_RETURN(const std::vector<double> totals, flags_.Measure([&]() -> absl::Status {
      engine::ProveOptions options;
      options.stages = &stages[next++];
      options.witness_is_canonical = true;
      return engine::Prove(backend, *resident, values, options).status();
    }));
    for (uint64_t i = 0; i < flags_.warmup; ++i) stages.pop_front();
    return Summarise(totals, stages);
  }

  std::string Text(const engine::ProvingKey& key, const engine::Groth16Backend& backend,
                   const ProofRuns& runs) const {
    Table table({"step", "median", "min", "max", "share", "muls/s"});
    const auto add = [&](const std::string& name, const RunStats& stats) {
      const double products = ProductsOf(name, key);
      table.AddRow({name, FormatSeconds(stats.median), FormatSeconds(stats.min), FormatSeconds(stats.max),
                    absl::StrFormat("%.1f %%", 100 * stats.median / runs.total.median),
                    products == 0 ? "" : absl::StrFormat("%.0f M", products / stats.median / 1e6)});
    };
    add("proof", runs.total);
    for (const auto& [name, stats] : runs.stages) add(name, stats);
    return absl::StrFormat(
        "domain 2^%d, %d wires, backend %s, %d threads, %s arithmetic, %d runs\n\n%s\npeak memory  %s\n",
        key.log2_domain(), key.n_vars(), backend.name(), flags_.ThreadCount(), CpuArithmetic(), flags_.runs,
        table.Text(), FormatBytes(PeakMemoryBytes()));
  }

  std::string Json(const engine::ProvingKey& key, const engine::Groth16Backend& backend,
                   const ProofRuns& runs) const {
    nlohmann::ordered_json stages = nlohmann::ordered_json::object();
    for (const auto& [name, stats] : runs.stages) {
      stages[name] = ToJson(stats);
      stages[name]["share"] = stats.median / runs.total.median;
      const double products = ProductsOf(name, key);
      if (products != 0) stages[name]["muls_per_second"] = products / stats.median;
    }
    const nlohmann::ordered_json out = {{"benchmark", "prove"},
                                        {"log2_domain", key.log2_domain()},
                                        {"wires", key.n_vars()},
                                        {"backend", backend.name()},
                                        {"threads", flags_.ThreadCount()},
                                        {"cpu_arithmetic", CpuArithmetic()},
                                        {"runs", flags_.runs},
                                        {"proof", ToJson(runs.total)},
                                        {"stages", stages},
                                        {"peak_memory_bytes", PeakMemoryBytes()}};
    return out.dump(2) + "\n";
  }

  BenchFlags flags_;
  std::string backend_ = "auto";
  uint64_t device_memory_limit_ = 0;
  uint64_t log2_domain_ = 14;
  std::string profile_ = "dense";
};

}  // namespace

std::unique_ptr<Command> MakeBenchProveCommand() { return std::make_unique<BenchProveCommand>(); }

}  // namespace proofmill::cli
