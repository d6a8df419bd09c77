// proofmill load: how a service bears a load.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/load_input.h"
#include "cli/load_judge.h"
#include "cli/load_report.h"
#include "cli/load_run.h"
#include "cli/progress.h"
#include "clients/cpp/error.h"
#include "engine/base/status_macros.h"

namespace proofmill::cli {
namespace {

constexpr uint64_t kUnderWayMax = 4096;  // a thread each
constexpr uint64_t kConnectionsMax = 256;

double Seconds(const google::protobuf::Duration& duration) {
  return static_cast<double>(duration.seconds()) + duration.nanos() * 1e-9;
}

// One --circuit with what belongs to it.
struct LoadCircuit {
  std::string id;
  double weight = 1;
  std::vector<std::string> files;
  std::vector<LoadInput> inputs;
};

absl::StatusOr<double> ParsePositive(absl::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !std::isfinite(number) || number <= 0) {
    return absl::InvalidArgumentError(absl::StrCat("expected a positive number, got '", text, "'"));
  }
  return number;
}

// "1,2,4" as numbers.
absl::Status ParseList(absl::string_view text, double max, std::vector<double>& out) {
  out.clear();
  for (const absl::string_view word : absl::StrSplit(text, ',')) {
    PROOFMILL_ASSIGN_OR_RETURN(const double number, ParsePositive(word));
    if (number > max)
      return absl::InvalidArgumentError(absl::StrCat("expected at most ", max, ", got ", word));
    out.push_back(number);
  }
  return absl::OkStatus();
}

class LoadCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "load",
        .summary = "Put a service under load and measure it",
        .positional = {},
        .description =
            "Sends witnesses to a service in a closed loop (--concurrency: so many at once, the next one "
            "when "
            "one is\nanswered) or an open loop (--rate: so many a second at random intervals, whatever "
            "becomes of them), verifies\nevery proof, and prints throughput, percentiles of the latency, and "
            "where the time went at the service.\nSeveral values, as in --rate 10,20,40, make a ramp: one "
            "step and one line each. In an open loop the latency\ncounts from when a request should have "
            "been "
            "sent, so that what waits behind a slow one shows.\n\n"
            "--circuit begins a circuit of the mix; --witness and --weight after it belong to it. For a "
            "circuit of WHIR "
            "(not\nhiding) the witness is the polynomial, which is opened at random points. Requests are not "
            "repeated "
            "when they are\nrefused, unless --retry says so.\n\n"
            "Exits 0 if every step made proofs, all verified, and met the objectives (--slo_...); 1 if not.",
        .examples =
            "proofmill load --circuit multiplier --witness w.wtns --concurrency 1,2,4,8 --duration 10s\n"
            "proofmill load --circuit rollup --witness a.wtns --witness b.wtns --requests 10000 "
            "--concurrency "
            "16 --json\n"
            "proofmill load --circuit a --witness a.wtns --weight 9 --circuit b --witness b.wtns --rate "
            "50,100 --slo_p99 200ms"};
  }

  void DeclareFlags(FlagSet& flags) override {
    DeclareMix(flags);
    DeclareShape(flags);
    DeclareObjectives(flags);
    flags.Bool("json", &json_, "Print JSON instead of tables. Times are null where nothing was proved.");
    flags_.Declare(flags, "The longest time for one request, retries included.");
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_RETURN_IF_ERROR(CheckFlags());
    if (!retry_) {
      flags_.options.retry.attempts_max = 1;
      flags_.options.retry.follow_advice = false;
    }
    PROOFMILL_ASSIGN_OR_RETURN(LoadReport report, MeasureAll());
    PROOFMILL_RETURN_IF_ERROR(
        PrintOut(json_ ? LoadJson(report, objectives_) : LoadText(report, objectives_)));
    const bool met = std::all_of(report.steps.begin(), report.steps.end(), [&](const LoadStepReport& step) {
      return Missed(step, objectives_).empty();
    });
    return met ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }

 private:
  void DeclareMix(FlagSet& flags) {
    flags.Custom("circuit", "ID", "", "A circuit to prove. Required; several make a mix.",
                 [this](absl::string_view id) {
                   circuits_.push_back({});
                   circuits_.back().id = std::string(id);
                   return absl::OkStatus();
                 });
    flags.Custom("witness", "FILE", "",
                 "A witness of the last --circuit, or the values of a polynomial; several are taken in turn.",
                 [this](absl::string_view file) -> absl::Status {
                   if (circuits_.empty()) return absl::InvalidArgumentError("expected a --circuit before it");
                   circuits_.back().files.emplace_back(file);
                   return absl::OkStatus();
                 });
    flags.Custom("weight", "N", "1", "How often the last --circuit comes, relative to the others.",
                 [this](absl::string_view text) -> absl::Status {
                   if (circuits_.empty()) return absl::InvalidArgumentError("expected a --circuit before it");
                   PROOFMILL_ASSIGN_OR_RETURN(circuits_.back().weight, ParsePositive(text));
                   return absl::OkStatus();
                 });
    flags.Choice("priority", &priority_, {"low", "normal", "high"}, "The place in the queue.");
    flags.Choice("transfer", &transfer_, {"auto", "unary", "stream", "upload"}, "How witnesses travel.");
    flags.Bool("retry", &retry_, "Repeat what is refused, as other clients do, until --deadline.");
  }

  void DeclareShape(FlagSet& flags) {
    flags.Custom("concurrency", "N[,N...]", "1", "Closed loop: requests at a time, for each step.",
                 [this](absl::string_view text) {
                   return ParseList(text, static_cast<double>(kUnderWayMax), concurrency_);
                 });
    flags.Custom("rate", "R[,R...]", "", "Open loop: requests a second, for each step.",
                 [this](absl::string_view text) { return ParseList(text, 1e6, rates_); });
    flags.Choice("arrivals", &arrivals_, {"poisson", "even"}, "Open loop: the intervals between requests.");
    flags.Uint("in_flight_max", &in_flight_max_, {.min = 1, .max = kUnderWayMax},
               "Open loop: the most requests at a time; others wait, and their latency with them.");
    flags.Duration("duration", &duration_, "How long each step sends, warm-up included.");
    flags.Uint("requests", &requests_, {.min = 0, .max = 1'000'000'000},
               "How many requests each step sends; 0: as many as --duration gives.");
    flags.Custom("warmup", "TIME", "0s", "What each step sends in this time at its beginning is not counted.",
                 [this](absl::string_view text) -> absl::Status {
                   if (!absl::ParseDuration(text, &warmup_) || warmup_ < absl::ZeroDuration()) {
                     return absl::InvalidArgumentError("expected a time with a unit, such as 500ms or 5s");
                   }
                   return absl::OkStatus();
                 });
    flags.Uint("connections", &connections_, {.min = 0, .max = kConnectionsMax},
               "Connections to the service; 0: one for each request at a time, at most 8.");
    flags.Custom(
        "abandon_share", "SHARE", "0",
        "Share of requests, from 0 to 1, that are given up after a random time.",
        [this](absl::string_view text) -> absl::Status {
          if (!absl::SimpleAtod(text, &abandon_share_) || !(abandon_share_ >= 0) || abandon_share_ > 1) {
            return absl::InvalidArgumentError("expected a number from 0 to 1");
          }
          return absl::OkStatus();
        });
    flags.Duration("abandon_within", &abandon_within_, "The longest such time.");
    flags.Bool("verify", &verify_, "Verify every proof here.");
    flags.Uint("verify_threads", &verify_threads_, {.min = 0, .max = 256},
               "Threads that verify; 0: a quarter of the cores.");
    flags.Uint("seed", &seed_, {.min = 0, .max = UINT64_MAX}, "Of everything random.");
  }

  void DeclareObjectives(FlagSet& flags) {
    const auto duration = [](std::optional<absl::Duration>& target) {
      return [&target](absl::string_view text) -> absl::Status {
        absl::Duration value;
        if (!absl::ParseDuration(text, &value) || value <= absl::ZeroDuration()) {
          return absl::InvalidArgumentError("expected a positive time with a unit, such as 500ms");
        }
        target = value;
        return absl::OkStatus();
      };
    };
    flags.Custom("slo_p50", "TIME", "", "Objective: the median latency, at most.", duration(objectives_.p50));
    flags.Custom("slo_p99", "TIME", "", "Objective: the 99th percentile, at most.",
                 duration(objectives_.p99));
    flags.Custom("slo_failed", "SHARE", "",
                 "Objective: the share of requests that fail, at most, from 0 to 1.",
                 [this](absl::string_view text) -> absl::Status {
                   double share = 0;
                   if (!absl::SimpleAtod(text, &share) || !(share >= 0) || share > 1) {
                     return absl::InvalidArgumentError("expected a number from 0 to 1");
                   }
                   objectives_.failed_share = share;
                   return absl::OkStatus();
                 });
    flags.Custom("slo_rate", "R", "", "Objective: proofs a second, at least.",
                 [this](absl::string_view text) -> absl::Status {
                   PROOFMILL_ASSIGN_OR_RETURN(objectives_.rate, ParsePositive(text));
                   return absl::OkStatus();
                 });
  }

  absl::Status CheckFlags() const {
    if (circuits_.empty())
      return absl::InvalidArgumentError("--circuit: expected the id of a circuit, got none");
    for (const LoadCircuit& circuit : circuits_) {
      if (circuit.files.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--witness: expected at least one for the circuit ", circuit.id, ", got none"));
      }
    }
    if (!rates_.empty() && !concurrency_.empty()) {
      return absl::InvalidArgumentError("expected one of --concurrency and --rate, got both");
    }
    return absl::OkStatus();
  }

  std::vector<LoadStep> Steps() const {
    std::vector<LoadStep> steps;
    const auto add = [&](double rate, uint64_t under_way) {
      steps.push_back({.rate = rate,
                       .even = arrivals_ == "even",
                       .under_way = under_way,
                       .duration = requests_ == 0 ? duration_ : absl::InfiniteDuration(),
                       .requests = requests_ == 0 ? UINT64_MAX : requests_,
                       .warmup = warmup_});
    };
    for (const double rate : rates_) add(rate, in_flight_max_);
    for (const double at_once : concurrency_) add(0, static_cast<uint64_t>(std::ceil(at_once)));
    if (steps.empty()) add(0, 1);
    return steps;
  }

  // Keys and witnesses, before anything is measured.
  absl::Status Prepare(client::Client& client) {
    for (LoadCircuit& circuit : circuits_) {
      const absl::StatusOr<v1::Circuit> found = client.GetCircuit(circuit.id);
      if (!found.ok()) return WithReasonInText(found.status());
      if (found->state() != v1::Circuit::STATE_READY) {
        return absl::FailedPreconditionError(absl::StrCat("circuit ", circuit.id,
                                                          ": expected it to be ready, got ",
                                                          v1::Circuit::State_Name(found->state())));
      }
      PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<LoadInputReader> reader,
                                 MakeLoadInputReader(*found, seed_));
      for (const std::string& file : circuit.files) {
        PROOFMILL_ASSIGN_OR_RETURN(LoadInput input, reader->Read(file));
        circuit.inputs.push_back(std::move(input));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<LoadReport> MeasureAll() {
    const std::vector<LoadStep> steps = Steps();
    uint64_t most = 1;
    for (const LoadStep& step : steps) most = std::max(most, step.under_way);
    const uint64_t connections = connections_ != 0 ? connections_ : std::min<uint64_t>(most, 8);
    std::vector<std::unique_ptr<client::Client>> clients;
    for (uint64_t i = 0; i < connections; ++i) {
      PROOFMILL_ASSIGN_OR_RETURN(auto client, flags_.MakeClient());
      clients.push_back(std::move(client));
    }
    Progress progress("reading keys and witnesses");
    PROOFMILL_RETURN_IF_ERROR(Prepare(*clients.front()));
    LoadReport report{.target = flags_.options.target, .circuits = {}, .steps = {}};
    for (const LoadCircuit& circuit : circuits_) report.circuits.push_back(circuit.id);
    for (const LoadStep& step : steps) {
      const std::string name =
          step.rate > 0 ? absl::StrFormat("%g/s", step.rate) : absl::StrCat(step.under_way, " at once");
      progress.Set(absl::StrCat("step ", report.steps.size() + 1, " of ", steps.size(), ": ", name));
      report.steps.push_back(Measure(step, clients));
    }
    return report;
  }

  LoadStepReport Measure(const LoadStep& step, const std::vector<std::unique_ptr<client::Client>>& clients) {
    std::unique_ptr<LoadJudge> judge;
    if (verify_) {
      const size_t quarter = std::max(1u, std::thread::hardware_concurrency() / 4);
      judge = std::make_unique<LoadJudge>(verify_threads_ != 0 ? verify_threads_ : quarter);
    }
    LoadPlan plan{.weights = {}, .seed = seed_};
    for (const LoadCircuit& circuit : circuits_) plan.weights.push_back(circuit.weight);
    std::atomic<uint64_t> proved{0};
    const LoadSend send = [&](size_t kind, uint64_t number) {
      return Send(*clients[number % clients.size()], kind, number, judge.get());
    };
    LoadStepReport report{.step = step, .result = RunLoad(plan, step, send, proved), .verdicts = {}};
    if (judge != nullptr) report.verdicts = judge->Finish();
    return report;
  }

  LoadReply Send(client::Client& client, size_t kind, uint64_t number, LoadJudge* judge) const {
    const LoadCircuit& circuit = circuits_[kind];
    const LoadInput& input = circuit.inputs[number % circuit.inputs.size()];
    v1::ProofSpec spec;
    spec.set_circuit(circuit.id);
    spec.set_priority(PriorityOf(priority_));
    client::ProveOptions options;
    options.transfer = transfer_ == "unary"    ? client::Transfer::kUnary
                       : transfer_ == "stream" ? client::Transfer::kStream
                       : transfer_ == "upload" ? client::Transfer::kUpload
                                               : client::Transfer::kAuto;
    // From the number alone, so that the same seed gives the same requests whatever the threads do.
    std::mt19937_64 random(seed_ ^ (number * 0x9E3779B97F4A7C15u + 1));
    const bool abandon = std::uniform_real_distribution<double>(0, 1)(random) < abandon_share_;
    options.timeout = abandon ? absl::Milliseconds(1) +
                                    abandon_within_ * std::uniform_real_distribution<double>(0, 1)(random)
                              : flags_.deadline;

    absl::StatusOr<v1::ProofResult> result = client.Prove(std::move(spec), input.input, options);
    LoadReply reply;
    reply.answered = std::chrono::steady_clock::now();
    if (!result.ok()) {
      const absl::Status& status = result.status();
      const bool given_up = abandon && absl::IsDeadlineExceeded(status);
      reply.kind = given_up ? LoadReply::Kind::kAbandoned : LoadReply::Kind::kFailed;
      reply.reason = client::ErrorReason(status);
      if (reply.reason.empty()) reply.reason = absl::StatusCodeToString(status.code());
      reply.has_retry_delay = client::RetryDelay(status).has_value();
      return reply;
    }
    reply.kind = LoadReply::Kind::kProved;
    reply.queue_wait_seconds = Seconds(result->queue_wait());
    if (result->has_run_time()) reply.run_seconds = Seconds(result->run_time());
    for (const v1::StageTime& stage : result->stages()) {
      reply.stages.emplace_back(stage.stage(), stage.duration_seconds());
    }
    if (judge != nullptr) judge->Judge(*input.expected, *std::move(result));
    return reply;
  }

  ClientFlags flags_;
  std::vector<LoadCircuit> circuits_;
  std::string priority_ = "normal", transfer_ = "auto", arrivals_ = "poisson";
  std::vector<double> concurrency_, rates_;
  uint64_t in_flight_max_ = 256, requests_ = 0, connections_ = 0, verify_threads_ = 0, seed_ = 1;
  absl::Duration duration_ = absl::Seconds(10), warmup_ = absl::ZeroDuration();
  absl::Duration abandon_within_ = absl::Milliseconds(100);
  double abandon_share_ = 0;
  bool verify_ = true, retry_ = false, json_ = false;
  LoadObjectives objectives_;
};

}  // namespace

std::unique_ptr<Command> MakeLoadCommand() { return std::make_unique<LoadCommand>(); }

}  // namespace proofmill::cli
