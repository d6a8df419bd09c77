// proofmill client verify: has a service check a proof against the key of one of its circuits.

#include <memory>
#include <string>
#include <vector>

#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/proof_messages.h"
#include "cli/snarkjs_files.h"
#include "engine/base/status_macros.h"

namespace proofmill::cli {
namespace {

class ClientVerifyCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "client verify",
        .summary = "Have a service check a proof",
        .positional = {"PUBLIC.json", "PROOF.json"},
        .description =
            "Prints OK and exits 0 if the service finds the proof valid for its circuit, prints INVALID and "
            "exits 1 if not.\nUse `proofmill verify` to check a proof without trusting a service.",
        .examples = "proofmill client verify --circuit multiplier public.json proof.json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String("circuit", "ID", &circuit_, "The circuit. Required.");
    flags.String("circuit_version", "HEX", &version_, "Refuse any other version of the circuit.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (circuit_.empty())
      return absl::InvalidArgumentError("--circuit: expected the id of a circuit, got none");
    PROOFMILL_ASSIGN_OR_RETURN(const std::vector<kernels::Fr> signals, ReadPublicFile(positional[0]));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::Groth16Proof proof, ReadProofFile(positional[1]));
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    v1::VerifyRequest request;
    request.set_circuit(circuit_);
    request.set_circuit_version(version_);
    *request.mutable_groth16()->mutable_proof() = ToMessage(proof);
    for (const kernels::Fr& signal : signals) request.mutable_groth16()->add_public_signals(ToBytes(signal));

    const absl::StatusOr<v1::VerifyResponse> response = client->Verify(request, flags_.deadline);
    if (!response.ok()) return WithReasonInText(response.status());
    PROOFMILL_RETURN_IF_ERROR(PrintOut(response->valid() ? "OK\n" : "INVALID\n"));
    return response->valid() ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }

 private:
  ClientFlags flags_;
  std::string circuit_, version_;
};

}  // namespace

std::unique_ptr<Command> MakeClientVerifyCommand() { return std::make_unique<ClientVerifyCommand>(); }

}  // namespace proofmill::cli
