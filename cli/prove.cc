// proofmill prove: a key and a witness file become a proof file, without a service.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "cli/commands.h"
#include "cli/output_files.h"
#include "cli/progress.h"
#include "cli/stage_times.h"
#include "engine/backend/select.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/formats/decimal.h"
#include "engine/formats/file.h"
#include "engine/formats/r1cs.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/formats/wtns.h"
#include "engine/formats/zkey.h"
#include "engine/groth16/blame.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/proving_key.h"
#include "kernels/cpu/large_memory.h"

namespace proofmill::cli {
namespace {

using engine::Blinding;
using engine::Groth16Proof;
using kernels::Fr;

absl::StatusOr<Blinding> ParseBlinding(absl::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  if (parts.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected two decimal numbers R,S, got ", parts.size(), " parts"));
  }
  Fr values[2];
  for (size_t i = 0; i < 2; ++i) {
    const absl::StatusOr<kernels::U256> plain = engine::ParseDecimalBelow(parts[i], Fr::kModulus);
    if (!plain.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(i == 0 ? "R" : "S", ": ", plain.status().message()));
    }
    values[i] = Fr::FromPlain(*plain);
  }
  return Blinding{.r = values[0], .s = values[1]};
}

class ProveCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "prove",
        .summary = "Make a Groth16 proof from a key and a witness",
        .positional = {"KEY.zkey", "WITNESS.wtns", "PROOF.json", "PUBLIC.json"},
        .description =
            "Reads the proving key, checks every point of it, proves the witness, verifies the proof and "
            "writes "
            "it\nwith its public signals in the JSON form of snarkjs. Nothing is written unless the proof "
            "verifies.",
        .examples =
            "proofmill prove circuit.zkey witness.wtns proof.json public.json\n"
            "proofmill prove circuit.zkey witness.wtns proof.json public.json --timings"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Choice("backend", &backend_, {"auto", "cpu", "cuda"},
                 "What computes the proof; auto takes GPUs where there are some.");
    flags.Uint("threads", &threads_, {.min = 0, .max = 1024},
               "Threads of the cpu backend; 0 means one per core.");
    flags.Choice("cpu_arithmetic", &cpu_arithmetic_, {"auto", "portable", "adx", "fma", "ifma"},
                 "Instructions of field arithmetic on the CPU; auto takes the best that it has.");
    flags.Bytes(
        "device_memory_limit", &device_memory_limit_,
        "Device memory that the key and its proofs may take, at least 64MiB; 0 means most of the card.");
    flags.Bool("timings", &timings_, "Print the time of each step.");
    flags.Bool("json", &json_, "With --timings, print JSON instead of a table.");
    flags.Bool("allow_unsafe_setup", &allow_unsafe_setup_,
               "Accept a key that nobody contributed to (gamma equals delta): anyone can forge its proofs.");
    flags.String("state_dir", "DIR", &state_dir_,
                 "Folder for the records of audited keys: a key file on record is not checked point by point "
                 "again. Keep it where only you can write.");
    flags.Custom(
        "blinding", "R,S", "",
        "FOR TESTS ONLY: fixed blinding as two decimal numbers. A proof made so gives the witness away.",
        [this](absl::string_view text) -> absl::Status {
          PROOFMILL_ASSIGN_OR_RETURN(blinding_, ParseBlinding(text));
          return absl::OkStatus();
        });
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    kernels::KeepFreedMemory();
    PROOFMILL_RETURN_IF_ERROR(
        CheckOutputPaths({positional[0], positional[1]}, {positional[2], positional[3]}));
    PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(cpu_arithmetic_));
    engine::ProveOptions options;
    options.fixed_blinding = blinding_;
    options.stages = &times_;
    PROOFMILL_ASSIGN_OR_RETURN(
        const engine::BackendSelection selection,
        engine::MakeBackends(backend_, {.cpu_threads = static_cast<size_t>(threads_),
                                        .device_memory_limit = static_cast<size_t>(device_memory_limit_)}));

    std::vector<OutputFile> files;
    {
      Progress progress("reading the witness");
      PROOFMILL_ASSIGN_OR_RETURN(files,
                                 ProveToFiles(*selection.backends.front(), positional, options, progress));
    }
    PROOFMILL_RETURN_IF_ERROR(WriteOutputFiles(files));
    for (const std::string& warning : warnings_) PrintError("prove", absl::StrCat("warning: ", warning));
    if (timings_) PROOFMILL_RETURN_IF_ERROR(PrintOut(json_ ? times_.ToJson() : times_.ToText()));
    return ExitCode::kOk;
  }

 private:
  // The witness is read first: it is small, and most mistakes are in it.
  absl::StatusOr<std::vector<OutputFile>> ProveToFiles(engine::Groth16Backend& backend,
                                                       const std::vector<std::string>& positional,
                                                       const engine::ProveOptions& options,
                                                       Progress& progress) {
    PROOFMILL_ASSIGN_OR_RETURN(const engine::Witness witness, ReadWitness(positional[0], positional[1]));
    progress.Set("reading and checking the key");
    engine::KeyOptions key_options;
    key_options.allow_unsafe_setup = allow_unsafe_setup_;
    key_options.allow_insecure_test_keys = true;
    key_options.state_dir = state_dir_;
    key_options.compute_hash = false;
    engine::KeyLoadTimes load_times;
    const absl::StatusOr<std::shared_ptr<const engine::ProvingKey>> loaded =
        engine::LoadProvingKey(positional[0], key_options, &load_times);
    if (!loaded.ok()) return WithAdvice(loaded.status());
    const std::shared_ptr<const engine::ProvingKey>& key = *loaded;
    times_.Add("key_read", load_times.read_seconds);
    times_.Add("key_audit", load_times.audit_seconds);
    times_.Add("key_regroup", load_times.regroup_seconds);
    warnings_ = key->warnings();
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<engine::ResidentKey> resident, backend.LoadKey(key));

    progress.Set("proving");
    const auto values = absl::MakeConstSpan(witness.values.data(), witness.values.size());
    absl::StatusOr<Groth16Proof> proof;
    {
      StageTimes::Scope total(times_, "total");
      proof = engine::Prove(backend, *resident, values, options);
    }
    if (!proof.ok()) {
      progress.Set("looking for the cause");
      return Explain(backend, *resident, values, positional[0], proof.status());
    }
    return std::vector<OutputFile>{
        {positional[2], engine::ProofToJson(*proof)},
        {positional[3], engine::PublicToJson(engine::PublicSignals(*key, values))}};
  }

  static absl::StatusOr<engine::Witness> ReadWitness(const std::string& key_path, const std::string& path) {
    PROOFMILL_ASSIGN_OR_RETURN(const auto key_file, engine::RandomAccessFile::Open(key_path));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::ZkeyHeader header, engine::ReadZkeyHeader(*key_file));
    PROOFMILL_ASSIGN_OR_RETURN(const auto witness_file, engine::RandomAccessFile::Open(path));
    return engine::ReadWtns(*witness_file, header.n_vars);
  }

  // A proof that does not verify is the fault of the witness, the key or the device; anything else explains
  // itself. The circuit beside the key (KEY.r1cs), if there is one, tells the first two apart.
  static absl::Status Explain(engine::Groth16Backend& backend, engine::ResidentKey& key,
                              absl::Span<const kernels::U256> witness, const std::string& key_path,
                              const absl::Status& error) {
    if (engine::GetReason(error) != engine::ErrorReason::kSelfCheckFailed) return error;
    engine::Evidence evidence;
    evidence.witness = witness;
    PROOFMILL_ASSIGN_OR_RETURN(engine::Verdict verdict, engine::FindBlame(backend, key, evidence));
    if (verdict.blame == engine::Blame::kDevice) return engine::ToStatus(verdict);

    const std::string r1cs_path = std::filesystem::path(key_path).replace_extension(".r1cs").string();
    const auto file = engine::RandomAccessFile::Open(r1cs_path);
    if (!file.ok()) return engine::ToStatus(verdict);
    const absl::StatusOr<engine::R1cs> r1cs = engine::ReadR1cs(**file);
    if (!r1cs.ok() || r1cs->n_wires != witness.size()) return engine::ToStatus(verdict);
    PROOFMILL_ASSIGN_OR_RETURN(verdict.failing_constraint, engine::FirstFailingConstraint(*r1cs, witness));
    if (verdict.failing_constraint.has_value()) return engine::ToStatus(verdict);
    return absl::InvalidArgumentError(
        absl::StrCat(key_path, ": expected the key of ", r1cs_path,
                     ", got another: the witness satisfies the circuit, but its "
                     "proof does not verify"));
  }

  // What a flag of this command could do about an error of the key.
  static absl::Status WithAdvice(const absl::Status& error) {
    if (engine::GetReason(error) != engine::ErrorReason::kKeyUnsafe) return error;
    return absl::Status(error.code(), absl::StrCat(error.message(), " (--allow_unsafe_setup accepts it)"));
  }

  std::string backend_ = "auto";
  uint64_t threads_ = 0;
  std::string cpu_arithmetic_ = "auto";
  uint64_t device_memory_limit_ = 0;
  bool timings_ = false;
  bool json_ = false;
  bool allow_unsafe_setup_ = false;
  std::string state_dir_;
  std::optional<Blinding> blinding_;
  StageTimes times_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::unique_ptr<Command> MakeProveCommand() { return std::make_unique<ProveCommand>(); }

}  // namespace proofmill::cli
