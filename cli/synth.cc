// proofmill synth: a synthetic circuit with key and witness, for tests, benchmarks and load.

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
#include "engine/formats/r1cs.h"
#include "engine/groth16/synth.h"

namespace proofmill::cli {
namespace {

class SynthCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "synth",
        .summary = "Make a synthetic circuit with key and witness (INSECURE: known trapdoor)",
        .positional = {"KEY.zkey", "WITNESS.wtns"},
        .optional_count = 1,
        .description =
            "Makes a circuit of a given size with a key and a witness that satisfies it. The key has a known "
            "trapdoor, as "
            "with\n`setup`: for tests and benchmarks only. The circuit depends on --log2_domain, --profile, "
            "--public and "
            "--seed;\nthe witness also on --witness_seed. With --witness_only no key is made and only "
            "WITNESS.wtns is "
            "given: more\nwitnesses, with other public signals, for a key made before.\n"
            "Profiles: dense has uniform values; bits has 45 % zeros, 45 % ones and a third of B at "
            "infinity.",
        .examples =
            "proofmill synth --log2_domain 16 --profile dense key.zkey witness.wtns\n"
            "proofmill synth --log2_domain 16 --profile dense --witness_only --witness_seed 5 other.wtns"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Uint("log2_domain", &log2_domain_,
               {.min = engine::kSynthLog2DomainMin, .max = engine::kSynthLog2DomainMax},
               "The domain has 2 to this power points, and the circuit so many constraints less public "
               "signals and one.");
    flags.Choice("profile", &profile_, {"dense", "bits"}, "The kind of witness values.");
    flags.Uint("public", &n_public_, {.min = 0, .max = UINT32_MAX - 2}, "Public signals.");
    flags.Uint("seed", &seed_, {.min = 0, .max = UINT64_MAX}, "Of the circuit and the trapdoor.");
    flags.Uint("witness_seed", &witness_seed_, {.min = 0, .max = UINT64_MAX}, "Of the witness.");
    flags.Bool("witness_only", &witness_only_, "Make no key, only a witness.");
    flags.Choice(
        "backend", &backend_, {"auto", "cpu", "cuda"},
        "What computes the points of the key, which are the same; auto takes a GPU for large keys where "
        "there is one.");
    flags.String("r1cs", "FILE", &r1cs_path_,
                 "Write the circuit to this .r1cs file too (needs 400 bytes a constraint).");
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (witness_only_ != (positional.size() == 1)) {
      return absl::InvalidArgumentError(
          witness_only_
              ? "expected only WITNESS.wtns with --witness_only, got a key file too"
              : "expected KEY.zkey and WITNESS.wtns, or --witness_only with WITNESS.wtns, got one file");
    }
    std::vector<std::string> outputs = positional;
    if (!r1cs_path_.empty()) outputs.push_back(r1cs_path_);
    PROOFMILL_RETURN_IF_ERROR(CheckOutputPaths({}, outputs));
    PROOFMILL_RETURN_IF_ERROR(MakeFiles(positional));
    if (!witness_only_) {
      PrintError("synth",
                 absl::StrCat("warning: ", positional[0], " has a known trapdoor, use it for tests only"));
    }
    return ExitCode::kOk;
  }

 private:
  absl::Status MakeFiles(const std::vector<std::string>& positional) const {
    Progress progress("starting");
    PROOFMILL_ASSIGN_OR_RETURN(engine::SynthOptions options, Options(progress));
    std::unique_ptr<engine::FixedBaseMultiplier> multiplier;
    if (!witness_only_) {
      PROOFMILL_ASSIGN_OR_RETURN(multiplier,
                                 engine::ChooseFixedBaseMultiplier(backend_, options.log2_domain));
      options.multiplier = multiplier.get();
    }
    if (!r1cs_path_.empty()) {
      progress.Set("writing the circuit");
      PROOFMILL_ASSIGN_OR_RETURN(const engine::R1cs r1cs, engine::SynthR1cs(options));
      PROOFMILL_RETURN_IF_ERROR(engine::WriteR1cs(r1cs_path_, r1cs));
    }
    if (!witness_only_) PROOFMILL_RETURN_IF_ERROR(engine::Synthesize(options, positional[0], positional[1]));
    if (!witness_only_ && witness_seed_ == 0) return absl::OkStatus();
    progress.Set("making the witness");
    return engine::WriteSynthWitness(options, witness_seed_, positional.back());
  }

  absl::StatusOr<engine::SynthOptions> Options(Progress& progress) const {
    engine::SynthOptions options;
    options.log2_domain = static_cast<uint32_t>(log2_domain_);
    PROOFMILL_ASSIGN_OR_RETURN(options.profile, engine::ParseSynthProfile(profile_));
    options.seed = seed_;
    options.n_public = static_cast<uint32_t>(n_public_);
    options.progress = [&progress](std::string_view step, double done) {
      progress.Set(absl::StrFormat("%s: %.0f %%", std::string(step), done * 100));
    };
    return options;
  }

  uint64_t log2_domain_ = 10;
  std::string profile_ = "dense";
  uint64_t n_public_ = 1;
  uint64_t seed_ = 0;
  uint64_t witness_seed_ = 0;
  bool witness_only_ = false;
  std::string backend_ = "auto";
  std::string r1cs_path_;
};

}  // namespace

std::unique_ptr<Command> MakeSynthCommand() { return std::make_unique<SynthCommand>(); }

}  // namespace proofmill::cli
