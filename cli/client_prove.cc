// proofmill client prove: a witness file becomes a proof file, made by a service.

#include <algorithm>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/checked_result.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/output_files.h"
#include "cli/progress.h"
#include "cli/snarkjs_files.h"
#include "cli/table.h"
#include "engine/base/status_macros.h"
#include "engine/formats/snarkjs_json.h"
#include "nlohmann/json.hpp"

namespace proofmill::cli {
namespace {

class ClientProveCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "client prove",
            .summary = "Have a service make a proof",
            .positional = {"WITNESS.wtns", "PROOF.json", "PUBLIC.json"},
            .description =
                "Sends the witness to a service, waits for the proof, verifies it here, and writes it with "
                "its public signals "
                "in\nthe JSON form of snarkjs. Refusals that may pass (a full queue, a lost connection) are "
                "retried until the\n"
                "deadline. The proof is verified with --verify_with if given, else with the key that the "
                "service tells.",
            .examples =
                "proofmill client prove --circuit multiplier witness.wtns proof.json public.json\n"
                "proofmill client prove --target prover:50051 --ca ca.pem --circuit rollup --stream "
                "--deadline 5m "
                "w.wtns proof.json public.json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String("circuit", "ID", &spec_circuit_,
                 "The circuit, as `proofmill client circuits` lists it. Required.");
    flags.String("circuit_version", "HEX", &spec_version_, "Refuse any other version of the circuit.");
    flags.Choice("priority", &priority_, {"low", "normal", "high"}, "The place in the queue.");
    flags.String("request_id", "ID", &request_id_,
                 "Your name for this request, for logs; made up if not given.");
    flags.Bool("unary", &unary_, "Send the witness in one message.");
    flags.Bool("stream", &stream_, "Send the witness as a stream.");
    flags.Bool("upload", &upload_, "Send the witness in small calls that a bad connection may interrupt.");
    flags.Bool("job", &job_, "Make a job and wait for it, so that no call is open for long.");
    flags.String("verify_with", "VKEY.json", &verify_with_,
                 "Verify the proof with this key instead of the one that the service tells.");
    flags.Bool("timings", &timings_, "Print the time of each step at the service.");
    flags.Bool("json", &json_, "Print circuit version, device and times as JSON.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (spec_circuit_.empty())
      return absl::InvalidArgumentError("--circuit: expected the id of a circuit, got none");
    if (unary_ + stream_ + upload_ + job_ > 1) {
      return absl::InvalidArgumentError("expected one of --unary, --stream, --upload and --job, got several");
    }
    PROOFMILL_RETURN_IF_ERROR(CheckOutputPaths({positional[0]}, {positional[1], positional[2]}));
    std::optional<KnownKey> key;
    if (!verify_with_.empty()) {
      key.emplace();
      PROOFMILL_ASSIGN_OR_RETURN(key->key, ReadVerificationKeyFile(verify_with_));
    }
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());

    const absl::Time deadline = absl::Now() + flags_.deadline;
    v1::ProofResult result;
    {
      // Asked for while the proof is made: a service that stops gives its last proof, and is gone.
      std::future<absl::StatusOr<KnownKey>> asked;
      if (!key)
        asked = std::async(std::launch::async,
                           [&] { return AskForKey(*client, spec_circuit_, deadline - absl::Now()); });
      Progress progress("connecting");
      PROOFMILL_ASSIGN_OR_RETURN(result, Prove(*client, positional[0], deadline, progress));
      if (asked.valid()) {
        if (absl::StatusOr<KnownKey> answer = asked.get(); answer.ok()) key = *std::move(answer);
      }
    }
    if (!key || (!key->version.empty() && key->version != result.circuit_version())) {
      absl::StatusOr<KnownKey> answer = AskForKey(*client, spec_circuit_, deadline - absl::Now());
      PROOFMILL_ASSIGN_OR_RETURN(key, WithProofInText(std::move(answer), flags_.deadline));
    }
    PROOFMILL_ASSIGN_OR_RETURN(const CheckedResult checked, CheckResult(*key, result));
    PROOFMILL_RETURN_IF_ERROR(WriteOutputFiles({{positional[1], engine::ProofToJson(checked.proof)},
                                                {positional[2], engine::PublicToJson(checked.signals)}}));
    if (timings_ || json_)
      PROOFMILL_RETURN_IF_ERROR(PrintOut(json_ ? ResultJson(result) : ResultText(result)));
    return ExitCode::kOk;
  }

 private:
  absl::StatusOr<v1::ProofResult> Prove(client::Client& client, const std::string& path, absl::Time deadline,
                                        Progress& progress) {
    PROOFMILL_ASSIGN_OR_RETURN(const auto wtns, ReadWitnessFile(path));

    v1::ProofSpec spec;
    spec.set_circuit(spec_circuit_);
    spec.set_circuit_version(spec_version_);
    spec.set_request_id(request_id_);
    spec.set_priority(PriorityOf(priority_));
    client::ProveOptions options;
    options.timeout = deadline - absl::Now();
    options.transfer = unary_    ? client::Transfer::kUnary
                       : stream_ ? client::Transfer::kStream
                       : upload_ ? client::Transfer::kUpload
                                 : client::Transfer::kAuto;
    options.on_progress = [&progress](const client::Progress& now) { progress.Set(DescribeProgress(now)); };
    const absl::string_view bytes(reinterpret_cast<const char*>(wtns.data()), wtns.size());
    absl::StatusOr<v1::ProofResult> result = job_ ? client.ProveAsJob(std::move(spec), bytes, options)
                                                  : client.Prove(std::move(spec), bytes, options);
    if (!result.ok()) return WithDeadlineInText(result.status(), flags_.deadline, progress.what());
    return result;
  }

  static std::string ResultText(const v1::ProofResult& result) {
    Table table({"step", "time"});
    for (const v1::StageTime& stage : result.stages()) {
      table.AddRow({stage.stage(), FormatSeconds(stage.duration_seconds())});
    }
    return absl::StrCat(table.Text(), "device  ", result.device(), "\n");
  }

  static std::string ResultJson(const v1::ProofResult& result) {
    nlohmann::ordered_json stages = nlohmann::ordered_json::object();
    for (const v1::StageTime& stage : result.stages()) stages[stage.stage()] = stage.duration_seconds();
    const double wait =
        static_cast<double>(result.queue_wait().seconds()) + result.queue_wait().nanos() * 1e-9;
    const nlohmann::ordered_json out = {
        {"circuit", result.circuit()},       {"circuit_version", result.circuit_version()},
        {"request_id", result.request_id()}, {"device", result.device()},
        {"queue_wait_seconds", wait},        {"stages_seconds", stages}};
    return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }

  ClientFlags flags_;
  std::string spec_circuit_, spec_version_, request_id_, verify_with_;
  std::string priority_ = "normal";
  bool unary_ = false, stream_ = false, upload_ = false, job_ = false, timings_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeClientProveCommand() { return std::make_unique<ClientProveCommand>(); }

}  // namespace proofmill::cli
