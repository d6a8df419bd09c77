// proofmill calldata: a proof as the arguments of the Solidity verifier that snarkjs exports.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/snarkjs_files.h"
#include "engine/base/status_macros.h"
#include "engine/formats/calldata.h"

namespace proofmill::cli {
namespace {

class CalldataCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "calldata",
            .summary = "Print a proof as arguments for the EVM verifier",
            .positional = {"PUBLIC.json", "PROOF.json"},
            .description = "Prints the line that `snarkjs zkey export soliditycalldata` prints.",
            .examples = "proofmill calldata public.json proof.json"};
  }

  void DeclareFlags(FlagSet&) override {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_ASSIGN_OR_RETURN(const std::vector<kernels::Fr> signals, ReadPublicFile(positional[0]));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::Groth16Proof proof, ReadProofFile(positional[1]));
    PROOFMILL_ASSIGN_OR_RETURN(const std::string line, engine::ToCalldata(proof, signals));
    PROOFMILL_RETURN_IF_ERROR(PrintOut(absl::StrCat(line, "\n")));
    return ExitCode::kOk;
  }
};

}  // namespace

std::unique_ptr<Command> MakeCalldataCommand() { return std::make_unique<CalldataCommand>(); }

}  // namespace proofmill::cli
