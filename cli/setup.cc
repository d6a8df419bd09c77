// proofmill setup: a proving key with a known trapdoor, for tests and benchmarks.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands.h"
#include "cli/output_files.h"
#include "cli/progress.h"
#include "engine/backend/select.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/formats/r1cs.h"
#include "engine/groth16/setup.h"

namespace proofmill::cli {
namespace {

class SetupCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "setup",
        .summary = "Make a test key for a circuit (INSECURE: known trapdoor)",
        .positional = {"CIRCUIT.r1cs", "KEY.zkey"},
        .description =
            "Makes a valid proving key whose secret is known to anyone who knows the seed: such keys are for "
            "tests and\n"
            "benchmarks only. The key says so in its contribution record, and `serve` refuses it without\n"
            "--allow_insecure_keys. Needs --insecure_test_setup, so that nobody makes one by mistake.",
        .examples =
            "proofmill setup circuit.r1cs test.zkey --insecure_test_setup\n"
            "proofmill setup circuit.r1cs test.zkey --insecure_test_setup --seed 7 --backend cuda"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Bool("insecure_test_setup", &accepted_, "Yes, the key is for tests only. Required.");
    flags.Uint("seed", &seed_, {.min = 0, .max = UINT64_MAX}, "The trapdoor: same seed, same key.");
    flags.Choice(
        "backend", &backend_, {"auto", "cpu", "cuda"},
        "What computes the points, which are the same; auto takes a GPU for large keys where there is one.");
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (!accepted_) {
      return absl::InvalidArgumentError(
          "expected --insecure_test_setup, since anyone can forge proofs for a key made here, got no such "
          "flag");
    }
    PROOFMILL_RETURN_IF_ERROR(CheckOutputPaths({positional[0]}, {positional[1]}));
    PROOFMILL_RETURN_IF_ERROR(MakeKey(positional[0], positional[1]));
    PrintError("setup",
               absl::StrCat("warning: ", positional[1], " has a known trapdoor, use it for tests only"));
    return ExitCode::kOk;
  }

 private:
  absl::Status MakeKey(const std::string& r1cs_path, const std::string& key_path) const {
    Progress progress("reading the circuit");
    PROOFMILL_ASSIGN_OR_RETURN(const auto file, engine::RandomAccessFile::Open(r1cs_path));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::R1cs r1cs, engine::ReadR1cs(*file));
    PROOFMILL_ASSIGN_OR_RETURN(const auto multiplier,
                               engine::ChooseFixedBaseMultiplier(
                                   backend_, engine::SetupDomainLog2(r1cs.n_constraints, r1cs.n_public())));
    engine::SetupOptions options;
    options.seed = seed_;
    options.multiplier = multiplier.get();
    options.progress = [&progress](std::string_view step, double done) {
      progress.Set(absl::StrFormat("%s: %.0f %%", std::string(step), done * 100));
    };
    return engine::Setup(r1cs, options, key_path);
  }

  bool accepted_ = false;
  std::string backend_ = "auto";
  uint64_t seed_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeSetupCommand() { return std::make_unique<SetupCommand>(); }

}  // namespace proofmill::cli
