// proofmill verify: does a proof hold for its public signals?

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/snarkjs_files.h"
#include "engine/base/status_macros.h"
#include "engine/groth16/verifier.h"

namespace proofmill::cli {
namespace {

class VerifyCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "verify",
            .summary = "Check a proof against a verification key",
            .positional = {"VKEY.json", "PUBLIC.json", "PROOF.json"},
            .description =
                "Prints OK and exits 0 if the proof is valid, prints INVALID and exits 1 if it is not, and "
                "exits 2 if one of "
                "the files is not what it should be. Reads the JSON of snarkjs and of rapidsnark.",
            .examples = "proofmill verify verification_key.json public.json proof.json"};
  }

  void DeclareFlags(FlagSet&) override {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_ASSIGN_OR_RETURN(const engine::VerificationKey key, ReadVerificationKeyFile(positional[0]));
    PROOFMILL_ASSIGN_OR_RETURN(const std::vector<kernels::Fr> signals,
                               ReadPublicFile(positional[1], key.n_public()));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::Groth16Proof proof, ReadProofFile(positional[2]));
    PROOFMILL_ASSIGN_OR_RETURN(const bool valid, engine::Verify(key, signals, proof));
    PROOFMILL_RETURN_IF_ERROR(PrintOut(valid ? "OK\n" : "INVALID\n"));
    return valid ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }
};

}  // namespace

std::unique_ptr<Command> MakeVerifyCommand() { return std::make_unique<VerifyCommand>(); }

}  // namespace proofmill::cli
