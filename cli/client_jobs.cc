// proofmill client submit, watch, job, jobs, cancel and delete: proofs that are made in the background.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
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

// "succeeded" and so on.
std::string StateName(const v1::Job& job) {
  std::string name = v1::Job::State_Name(job.state());
  return absl::AsciiStrToLower(absl::StripPrefix(name, "STATE_"));
}

std::string Text(const google::protobuf::Timestamp& time) {
  if (time.seconds() == 0) return "";
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::FromUnixSeconds(time.seconds()), absl::UTCTimeZone());
}

nlohmann::ordered_json ToJson(const v1::Job& job) {
  nlohmann::ordered_json out = {{"name", job.name()},
                                {"state", StateName(job)},
                                {"circuit", job.circuit()},
                                {"circuit_version", job.circuit_version()},
                                {"request_id", job.request_id()},
                                {"jobs_ahead", job.jobs_ahead()},
                                {"stage", job.stage()},
                                {"create_time", Text(job.create_time())},
                                {"deadline", Text(job.deadline())},
                                {"end_time", Text(job.end_time())},
                                {"expire_time", Text(job.expire_time())}};
  if (job.has_error()) {
    out["error"] = {{"reason", job.error().reason()}, {"message", job.error().message()}};
  }
  if (job.has_result()) out["device"] = job.result().device();
  return out;
}

std::string Dump(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string Line(const v1::Job& job) {
  std::string line = absl::StrCat(job.name(), " ", StateName(job));
  if (job.state() == v1::Job::STATE_QUEUED) absl::StrAppend(&line, ", ", job.jobs_ahead(), " ahead");
  if (!job.stage().empty()) absl::StrAppend(&line, ", after ", job.stage());
  if (job.has_error()) absl::StrAppend(&line, ": ", job.error().reason(), ": ", job.error().message());
  return line + "\n";
}

// 0 for a proof or a job that is still on its way, 1 for one that ended without.
ExitCode CodeOf(const v1::Job& job) { return job.has_error() ? ExitCode::kAnswerIsNo : ExitCode::kOk; }

class ClientSubmitCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "client submit",
            .summary = "Have a service make a proof in the background",
            .positional = {"WITNESS.wtns"},
            .description =
                "Sends the witness, prints the name of the job, and does not wait for the proof. A repeated "
                "call with the same\n--request_id and witness gives the same job.",
            .examples =
                "proofmill client submit --circuit multiplier witness.wtns\n"
                "proofmill client submit --circuit rollup --request_id block-7 --job_timeout 10m w.wtns"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String("circuit", "ID", &circuit_,
                 "The circuit, as `proofmill client circuits` lists it. Required.");
    flags.String("circuit_version", "HEX", &version_, "Refuse any other version of the circuit.");
    flags.Choice("priority", &priority_, {"low", "normal", "high"}, "The place in the queue.");
    flags.String("request_id", "ID", &request_id_, "Your name for this request; made up if not given.");
    flags.Duration("job_timeout", &job_timeout_,
                   "How long the job may wait and run; the service cuts it to its limit.");
    flags.Bool("json", &json_, "Print the job as JSON.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (circuit_.empty())
      return absl::InvalidArgumentError("--circuit: expected the id of a circuit, got none");
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    PROOFMILL_ASSIGN_OR_RETURN(const auto wtns, ReadWitnessFile(positional[0]));
    v1::ProofSpec spec;
    spec.set_circuit(circuit_);
    spec.set_circuit_version(version_);
    spec.set_request_id(request_id_);
    spec.set_priority(PriorityOf(priority_));
    client::JobOptions options;
    options.timeout = flags_.deadline;
    options.job_timeout = job_timeout_;
    const absl::string_view bytes(reinterpret_cast<const char*>(wtns.data()), wtns.size());
    const absl::StatusOr<v1::Job> job = client->CreateJob(std::move(spec), bytes, options);
    if (!job.ok()) return WithReasonInText(job.status());
    PROOFMILL_RETURN_IF_ERROR(PrintOut(json_ ? Dump(ToJson(*job)) : absl::StrCat(job->name(), "\n")));
    return ExitCode::kOk;
  }

 private:
  ClientFlags flags_;
  std::string circuit_, version_, request_id_;
  std::string priority_ = "normal";
  absl::Duration job_timeout_ = absl::Minutes(10);
  bool json_ = false;
};

class ClientWatchCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "client watch",
            .summary = "Wait for a job, and take its proof",
            .positional = {"JOB"},
            .description =
                "Waits until the job has ended. Exits 0 with its proof, which is verified here and written "
                "to --proof "
                "and --public,\nand 1 if it ended without one.",
            .examples =
                "proofmill client watch jobs/0123456789abcdef/0123456789abcdef0123456789abcdef --proof "
                "proof.json --public public.json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String("proof", "FILE", &proof_,
                 "Where the proof goes, in the JSON form of snarkjs; with --public.");
    flags.String("public", "FILE", &public_, "Where the public signals go; with --proof.");
    flags.String("verify_with", "VKEY.json", &verify_with_,
                 "Verify the proof with this key instead of the one that the service tells.");
    flags.Bool("json", &json_, "Print the job as JSON.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    if (proof_.empty() != public_.empty()) {
      return absl::InvalidArgumentError("--proof and --public: expected both or none");
    }
    KnownKey key;
    if (!verify_with_.empty()) {
      PROOFMILL_ASSIGN_OR_RETURN(key.key, ReadVerificationKeyFile(verify_with_));
    }
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::Time deadline = absl::Now() + flags_.deadline;
    absl::StatusOr<v1::Job> job;
    {
      Progress progress("connecting");
      job = client->WatchJob(positional[0], flags_.deadline, [&](const v1::Job& now) {
        std::string text = Line(now);
        progress.Set(std::string(absl::StripAsciiWhitespace(text)));
      });
    }
    if (!job.ok()) return WithReasonInText(job.status());
    if (job->has_result()) {
      if (verify_with_.empty()) {
        absl::StatusOr<KnownKey> asked =
            WithProofInText(AskForKey(*client, job->circuit(), deadline - absl::Now()), flags_.deadline);
        if (absl::IsNotFound(asked.status())) {
          return absl::NotFoundError(
              absl::StrCat(asked.status().message(), "; --verify_with takes the proof's own key"));
        }
        PROOFMILL_ASSIGN_OR_RETURN(key, std::move(asked));
      }
      PROOFMILL_ASSIGN_OR_RETURN(const CheckedResult checked, CheckResult(key, job->result()));
      if (!proof_.empty()) {
        PROOFMILL_RETURN_IF_ERROR(WriteOutputFiles({{proof_, engine::ProofToJson(checked.proof)},
                                                    {public_, engine::PublicToJson(checked.signals)}}));
      }
    }
    PROOFMILL_RETURN_IF_ERROR(PrintOut(json_ ? Dump(ToJson(*job)) : Line(*job)));
    return CodeOf(*job);
  }

 private:
  ClientFlags flags_;
  std::string proof_, public_, verify_with_;
  bool json_ = false;
};

// The commands that say something about one job and print it.
class ClientOneJobCommand final : public Command {
 public:
  enum class Action { kGet, kCancel, kDelete };
  explicit ClientOneJobCommand(Action action) : action_(action) {}

  CommandInfo Info() const override {
    switch (action_) {
      case Action::kGet:
        return {
            .name = "client job",
            .summary = "Show a job",
            .positional = {"JOB"},
            .description = "Prints what state the job is in. Exits 1 if it ended without a proof.",
            .examples = "proofmill client job jobs/0123456789abcdef/0123456789abcdef0123456789abcdef --json"};
      case Action::kCancel:
        return {.name = "client cancel",
                .summary = "Give a job up",
                .positional = {"JOB"},
                .description =
                    "A queued job leaves the queue, a running one stops at its next step. One that has ended "
                    "stays as it is.",
                .examples = "proofmill client cancel jobs/0123456789abcdef/0123456789abcdef0123456789abcdef"};
      case Action::kDelete:
        break;
    }
    return {.name = "client delete",
            .summary = "Have a service forget a job and its proof",
            .positional = {"JOB"},
            .description = "Forgets the job at once. Does not cancel it.",
            .examples = "proofmill client delete jobs/0123456789abcdef/0123456789abcdef0123456789abcdef"};
  }

  void DeclareFlags(FlagSet& flags) override {
    if (action_ == Action::kGet) flags.Bool("json", &json_, "Print the job as JSON.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    if (action_ == Action::kDelete) {
      const absl::Status status = client->DeleteJob(positional[0], flags_.deadline);
      if (!status.ok()) return WithReasonInText(status);
      return ExitCode::kOk;
    }
    const absl::StatusOr<v1::Job> job = action_ == Action::kGet
                                            ? client->GetJob(positional[0], flags_.deadline)
                                            : client->CancelJob(positional[0], flags_.deadline);
    if (!job.ok()) return WithReasonInText(job.status());
    if (action_ == Action::kCancel) return ExitCode::kOk;
    PROOFMILL_RETURN_IF_ERROR(PrintOut(json_ ? Dump(ToJson(*job)) : Line(*job)));
    return CodeOf(*job);
  }

 private:
  const Action action_;
  ClientFlags flags_;
  bool json_ = false;
};

class ClientJobsCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "client jobs",
            .summary = "List your jobs at a service",
            .positional = {},
            .description = "Prints the jobs of the process that answers, the oldest first.",
            .examples = "proofmill client jobs\nproofmill client jobs --json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Bool("json", &json_, "Print JSON.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::StatusOr<std::vector<v1::Job>> jobs = client->ListJobs(flags_.deadline);
    if (!jobs.ok()) return WithReasonInText(jobs.status());
    if (json_) {
      nlohmann::ordered_json out = nlohmann::ordered_json::array();
      for (const v1::Job& job : *jobs) out.push_back(ToJson(job));
      PROOFMILL_RETURN_IF_ERROR(PrintOut(Dump(out)));
      return ExitCode::kOk;
    }
    Table table({"job", "state", "circuit", "request id", "made"});
    for (const v1::Job& job : *jobs) {
      table.AddRow({job.name(), StateName(job), job.circuit(), job.request_id(), Text(job.create_time())});
    }
    PROOFMILL_RETURN_IF_ERROR(PrintOut(table.Text()));
    return ExitCode::kOk;
  }

 private:
  ClientFlags flags_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeClientSubmitCommand() { return std::make_unique<ClientSubmitCommand>(); }
std::unique_ptr<Command> MakeClientWatchCommand() { return std::make_unique<ClientWatchCommand>(); }
std::unique_ptr<Command> MakeClientJobsCommand() { return std::make_unique<ClientJobsCommand>(); }
std::unique_ptr<Command> MakeClientJobCommand() {
  return std::make_unique<ClientOneJobCommand>(ClientOneJobCommand::Action::kGet);
}
std::unique_ptr<Command> MakeClientCancelCommand() {
  return std::make_unique<ClientOneJobCommand>(ClientOneJobCommand::Action::kCancel);
}
std::unique_ptr<Command> MakeClientDeleteCommand() {
  return std::make_unique<ClientOneJobCommand>(ClientOneJobCommand::Action::kDelete);
}

}  // namespace proofmill::cli
