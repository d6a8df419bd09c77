// proofmill whir prove and whir verify: proofs of values of a polynomial, in the strict profile.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands.h"
#include "cli/output_files.h"
#include "cli/whir_files.h"
#include "cli/whir_text.h"
#include "engine/backend/select.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/whir/files.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/prover.h"
#include "engine/whir/statement.h"
#include "engine/whir/verifier.h"
#include "kernels/cpu/large_memory.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::cli {
namespace {

class WhirProveCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "whir prove",
            .summary = "Prove values of a polynomial with WHIR (hash-based, not hiding)",
            .positional = {"STATEMENT.json", "POLYNOMIAL", "PROOF"},
            .description = kWhirProveText,
            .examples =
                "proofmill whir prove statement.json polynomial.bin proof.bin\n"
                "proofmill whir prove points.json polynomial.bin proof.bin --statement_out statement.json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String(
        "statement_out", "FILE", &statement_out_,
        "Also writes the statement with all parameters and values; claims without a value get theirs.");
    flags.Choice("backend", &backend_, {"auto", "cpu", "cuda"}, "Where proofs are made.");
    flags.Uint("threads", &threads_, {.min = 0, .max = 1024}, "Threads; 0 means one per core.");
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    std::vector<std::string> outputs = {positional[2]};
    if (!statement_out_.empty()) outputs.push_back(statement_out_);
    PROOFMILL_RETURN_IF_ERROR(CheckOutputPaths({positional[0], positional[1]}, outputs));
    PROOFMILL_ASSIGN_OR_RETURN(engine::WhirStatement statement, ReadWhirStatementFile(positional[0]));
    PROOFMILL_ASSIGN_OR_RETURN(engine::WhirConfig config, engine::DeriveWhirConfig(statement.parameters));
    PROOFMILL_ASSIGN_OR_RETURN(const auto file, engine::RandomAccessFile::Open(positional[1]));
    PROOFMILL_ASSIGN_OR_RETURN(const auto polynomial,
                               engine::ReadWhirPolynomial(*file, statement.parameters.num_variables));
    kernels::KeepFreedMemory();
    kernels::ThreadArena arena(threads_ == 0 ? kernels::HardwareThreads() : static_cast<size_t>(threads_));
    absl::StatusOr<std::vector<uint8_t>> proof;
    arena.Execute([&] {
      proof = Prove(std::move(config), {polynomial.data(), polynomial.size()}, statement);
    });
    PROOFMILL_RETURN_IF_ERROR(proof.status());
    std::vector<OutputFile> files = {{positional[2], std::string(proof->begin(), proof->end())}};
    if (!statement_out_.empty()) files.push_back({statement_out_, engine::WhirStatementToJson(statement)});
    PROOFMILL_RETURN_IF_ERROR(WriteOutputFiles(files));
    return ExitCode::kOk;
  }

 private:
  // Fills in the values that are left out.
  absl::StatusOr<std::vector<uint8_t>> Prove(engine::WhirConfig config,
                                             absl::Span<const kernels::BabyBear> polynomial,
                                             engine::WhirStatement& statement) const {
    PROOFMILL_ASSIGN_OR_RETURN(const engine::WhirDeviceMaker make_device, engine::ChooseWhirDevice(backend_));
    std::unique_ptr<engine::WhirDevice> device;
    if (make_device) {
      PROOFMILL_ASSIGN_OR_RETURN(device, make_device(config));
    }
    const engine::WhirProver prover(std::move(config), std::move(device));
    const size_t coordinates =
        size_t{statement.parameters.num_variables} * statement.parameters.extension_degree;
    for (engine::WhirClaim& claim : statement.claims) {
      if (!claim.value.empty() || claim.point.size() != coordinates) continue;
      if (statement_out_.empty()) {
        return absl::InvalidArgumentError(
            "claims: a value is missing, and there is no --statement_out to write it to");
      }
      claim.value = prover.Evaluate(polynomial, claim.point);
    }
    return engine::ProveWhirBytes(prover, polynomial, statement.claims, {});
  }

  std::string statement_out_;
  std::string backend_ = "auto";
  uint64_t threads_ = 0;
};

class WhirVerifyCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "whir verify",
            .summary = "Check a WHIR proof against its statement",
            .positional = {"STATEMENT.json", "PROOF"},
            .description =
                "Prints OK and exits 0 if the proof shows the claims of the statement, prints INVALID and "
                "exits 1 if it "
                "does not,\nand exits 2 if the statement is not what it should be or its parameters are "
                "refused. The "
                "parameters are the\nstatement's: check that they are those that you ask for.\n\nWHIR is NOT "
                "hiding: a proof reveals values of the polynomial.",
            .examples = "proofmill whir verify statement.json proof.bin"};
  }

  void DeclareFlags(FlagSet&) override {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_ASSIGN_OR_RETURN(const engine::WhirStatement statement, ReadWhirStatementFile(positional[0]));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::WhirConfig config,
                               engine::DeriveWhirConfig(statement.parameters));
    const std::string claims_error = engine::WhirClaimsError(config, statement.claims);
    if (!claims_error.empty())
      return absl::InvalidArgumentError(absl::StrCat(positional[0], ": ", claims_error));
    PROOFMILL_ASSIGN_OR_RETURN(const auto file, engine::RandomAccessFile::Open(positional[1]));
    bool valid = false;
    if (file->size() <= engine::WhirProofBytesMax(config)) {
      std::vector<uint8_t> bytes(file->size());
      PROOFMILL_RETURN_IF_ERROR(file->ReadAt(0, absl::MakeSpan(bytes)));
      valid = engine::VerifyWhirBytes(config, statement.claims, bytes).valid;
    }
    PROOFMILL_RETURN_IF_ERROR(PrintOut(valid ? "OK\n" : "INVALID\n"));
    return valid ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }
};

}  // namespace

std::unique_ptr<Command> MakeWhirProveCommand() { return std::make_unique<WhirProveCommand>(); }
std::unique_ptr<Command> MakeWhirVerifyCommand() { return std::make_unique<WhirVerifyCommand>(); }

}  // namespace proofmill::cli
