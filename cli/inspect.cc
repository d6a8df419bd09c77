// proofmill inspect: facts about any file that proofmill reads.

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/progress.h"
#include "engine/base/status_macros.h"
#include "engine/formats/inspect.h"

namespace proofmill::cli {
namespace {

class InspectCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "inspect",
            .summary = "Show what a key, witness, circuit or proof file holds",
            .positional = {"FILE"},
            .description =
                "Knows .zkey, .wtns and .r1cs files and the JSON of proofs, public signals and verification "
                "keys: "
                "sizes,\nhashes, warnings. Values of a witness are never shown.",
            .examples = "proofmill inspect circuit.zkey\nproofmill inspect witness.wtns --json"};
  }

  void DeclareFlags(FlagSet& flags) override { flags.Bool("json", &json_, "Print JSON."); }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    absl::StatusOr<engine::FileReport> report;
    {
      Progress progress("reading " + positional[0]);
      report = engine::InspectFile(positional[0]);
    }
    if (!report.ok()) return report.status();
    PROOFMILL_RETURN_IF_ERROR(PrintOut(WithLineEnd(json_ ? report->ToJson() : report->ToText())));
    return ExitCode::kOk;
  }

 private:
  static std::string WithLineEnd(std::string text) {
    if (text.empty() || text.back() != '\n') text += '\n';
    return text;
  }

  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeInspectCommand() { return std::make_unique<InspectCommand>(); }

}  // namespace proofmill::cli
