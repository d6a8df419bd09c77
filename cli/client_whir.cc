// proofmill client whir-prove and whir-verify: proofs of values of a polynomial, made or checked by a
// service.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/output_files.h"
#include "cli/progress.h"
#include "cli/whir_files.h"
#include "cli/whir_messages.h"
#include "cli/whir_text.h"
#include "engine/base/host_buffer.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/whir/files.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/statement.h"

namespace proofmill::cli {
namespace {

// Whether the service's circuit has the parameters of the statement, told before anything is sent.
absl::Status CheckSameParameters(client::Client& client, const std::string& circuit,
                                 const engine::WhirParameters& parameters, absl::Duration timeout) {
  const absl::StatusOr<v1::Circuit> answer = client.GetCircuit(circuit, timeout);
  if (!answer.ok()) return WithReasonInText(answer.status());
  if (!answer->has_whir_parameters()) {
    return absl::FailedPreconditionError(
        absl::StrCat("circuit ", circuit, ": expected one of WHIR that is ready, got another"));
  }
  PROOFMILL_ASSIGN_OR_RETURN(const engine::WhirConfig config, ToWhirConfig(answer->whir_parameters()));
  const std::string mine = engine::WhirParametersToJson(parameters),
                    theirs = engine::WhirParametersToJson(config.parameters);
  if (mine == theirs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("parameters: expected those of the statement, ", mine,
                                                 ", got those of the circuit, ", theirs));
}

class ClientWhirProveCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "client whir-prove",
            .summary = "Have a service make a WHIR proof (hash-based, not hiding)",
            .positional = {"STATEMENT.json", "POLYNOMIAL", "PROOF"},
            .description = kClientWhirProveText,
            .examples =
                "proofmill client whir-prove --circuit poly20 statement.json polynomial.bin proof.bin\n"
                "proofmill client whir-prove --target prover:50051 --ca ca.pem --circuit poly20 --transfer "
                "stream "
                "points.json polynomial.bin proof.bin --statement_out statement.json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String("circuit", "ID", &circuit_,
                 "The circuit, as `proofmill client circuits` lists it. Required.");
    flags.String("circuit_version", "HEX", &version_, "Refuse any other version of the circuit.");
    flags.String(
        "statement_out", "FILE", &statement_out_,
        "Also writes the statement with all parameters and values; claims without a value get theirs.");
    flags.Choice("priority", &priority_, {"low", "normal", "high"}, "The place in the queue.");
    flags.String("request_id", "ID", &request_id_,
                 "Your name for this request, for logs; made up if not given.");
    flags.Choice("transfer", &transfer_, {"auto", "unary", "stream", "upload", "job"},
                 "How the polynomial travels; job: in the background, so that no call is open for long.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (circuit_.empty())
      return absl::InvalidArgumentError("--circuit: expected the id of a circuit, got none");
    std::vector<std::string> outputs = {positional[2]};
    if (!statement_out_.empty()) outputs.push_back(statement_out_);
    PROOFMILL_RETURN_IF_ERROR(CheckOutputPaths({positional[0], positional[1]}, outputs));
    PROOFMILL_ASSIGN_OR_RETURN(engine::WhirStatement statement, ReadWhirStatementFile(positional[0]));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::WhirConfig config,
                               engine::DeriveWhirConfig(statement.parameters));
    PROOFMILL_RETURN_IF_ERROR(CheckClaims(config, statement.claims));
    PROOFMILL_ASSIGN_OR_RETURN(const auto polynomial, ReadWitnessFile(positional[1]));
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::Time deadline = absl::Now() + flags_.deadline;
    PROOFMILL_RETURN_IF_ERROR(CheckSameParameters(*client, circuit_, statement.parameters, flags_.deadline));
    PROOFMILL_ASSIGN_OR_RETURN(const v1::ProofResult result, Prove(*client, statement, polynomial, deadline));
    PROOFMILL_ASSIGN_OR_RETURN(CheckedWhir checked, CheckWhirResult(config, statement.claims, result.whir()));
    statement.claims = std::move(checked.claims);
    std::vector<OutputFile> files = {{positional[2], std::move(checked.proof)}};
    if (!statement_out_.empty()) files.push_back({statement_out_, engine::WhirStatementToJson(statement)});
    PROOFMILL_RETURN_IF_ERROR(WriteOutputFiles(files));
    return ExitCode::kOk;
  }

 private:
  absl::Status CheckClaims(const engine::WhirConfig& config,
                           const std::vector<engine::WhirClaim>& claims) const {
    const std::string error = engine::WhirClaimsError(config, claims, /*values_required=*/false);
    if (!error.empty()) return absl::InvalidArgumentError(error);
    for (const engine::WhirClaim& claim : claims) {
      if (claim.value.empty() && statement_out_.empty()) {
        return absl::InvalidArgumentError(
            "claims: a value is missing, and there is no --statement_out to write it to");
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<v1::ProofResult> Prove(client::Client& client, const engine::WhirStatement& statement,
                                        const engine::SecretBuffer<uint8_t>& polynomial,
                                        absl::Time deadline) const {
    v1::ProofSpec spec;
    spec.set_circuit(circuit_);
    spec.set_circuit_version(version_);
    spec.set_request_id(request_id_);
    spec.set_priority(PriorityOf(priority_));
    std::vector<v1::WhirClaim> claims;
    for (const engine::WhirClaim& claim : statement.claims) claims.push_back(ToMessage(claim));
    const client::Input input = client::Input::Whir(
        {reinterpret_cast<const char*>(polynomial.data()), polynomial.size()}, std::move(claims));
    Progress progress("connecting");
    client::ProveOptions options;
    options.timeout = deadline - absl::Now();
    options.transfer = transfer_ == "unary"    ? client::Transfer::kUnary
                       : transfer_ == "stream" ? client::Transfer::kStream
                       : transfer_ == "upload" ? client::Transfer::kUpload
                                               : client::Transfer::kAuto;
    options.on_progress = [&progress](const client::Progress& now) { progress.Set(DescribeProgress(now)); };
    absl::StatusOr<v1::ProofResult> result = transfer_ == "job"
                                                 ? client.ProveAsJob(std::move(spec), input, options)
                                                 : client.Prove(std::move(spec), input, options);
    if (!result.ok()) return WithDeadlineInText(result.status(), flags_.deadline, progress.what());
    return result;
  }

  ClientFlags flags_;
  std::string circuit_, version_, request_id_, statement_out_;
  std::string priority_ = "normal", transfer_ = "auto";
};

class ClientWhirVerifyCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "client whir-verify",
            .summary = "Have a service check a WHIR proof",
            .positional = {"STATEMENT.json", "PROOF"},
            .description =
                "Prints OK and exits 0 if the service finds that the proof shows the claims of the statement "
                "for its "
                "circuit,\nprints INVALID and exits 1 if not. Use `proofmill whir verify` to check a proof "
                "without "
                "trusting a service.\n\nWHIR is NOT hiding: a proof reveals values of the polynomial.",
            .examples = "proofmill client whir-verify --circuit poly20 statement.json proof.bin"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String("circuit", "ID", &circuit_, "The circuit. Required.");
    flags.String("circuit_version", "HEX", &version_, "Refuse any other version of the circuit.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (circuit_.empty())
      return absl::InvalidArgumentError("--circuit: expected the id of a circuit, got none");
    PROOFMILL_ASSIGN_OR_RETURN(const engine::WhirStatement statement, ReadWhirStatementFile(positional[0]));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::WhirConfig config,
                               engine::DeriveWhirConfig(statement.parameters));
    const std::string claims_error = engine::WhirClaimsError(config, statement.claims);
    if (!claims_error.empty())
      return absl::InvalidArgumentError(absl::StrCat(positional[0], ": ", claims_error));
    PROOFMILL_ASSIGN_OR_RETURN(const auto file, engine::RandomAccessFile::Open(positional[1]));
    v1::VerifyRequest request;
    request.set_circuit(circuit_);
    request.set_circuit_version(version_);
    for (const engine::WhirClaim& claim : statement.claims)
      *request.mutable_whir()->add_claims() = ToMessage(claim);
    // What is longer than any proof is none, and one byte tells that as well.
    const uint64_t bytes = std::min<uint64_t>(file->size(), engine::WhirProofBytesMax(config) + 1);
    std::string& proof = *request.mutable_whir()->mutable_proof();
    proof.resize(bytes);
    PROOFMILL_RETURN_IF_ERROR(
        file->ReadAt(0, absl::MakeSpan(reinterpret_cast<uint8_t*>(proof.data()), bytes)));
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::Time deadline = absl::Now() + flags_.deadline;
    PROOFMILL_RETURN_IF_ERROR(CheckSameParameters(*client, circuit_, statement.parameters, flags_.deadline));
    const absl::StatusOr<v1::VerifyResponse> response = client->Verify(request, deadline - absl::Now());
    if (!response.ok()) return WithReasonInText(response.status());
    PROOFMILL_RETURN_IF_ERROR(PrintOut(response->valid() ? "OK\n" : "INVALID\n"));
    return response->valid() ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }

 private:
  ClientFlags flags_;
  std::string circuit_, version_;
};

}  // namespace

std::unique_ptr<Command> MakeClientWhirProveCommand() { return std::make_unique<ClientWhirProveCommand>(); }
std::unique_ptr<Command> MakeClientWhirVerifyCommand() { return std::make_unique<ClientWhirVerifyCommand>(); }

}  // namespace proofmill::cli
