// proofmill client status and client health: how a service is.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/circuit_report.h"
#include "cli/client_flags.h"
#include "cli/commands.h"
#include "cli/status_report.h"
#include "engine/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace proofmill::cli {
namespace {

using client::HealthState;

const char* HealthName(HealthState state) {
  switch (state) {
    case HealthState::kServing:
      return "serving";
    case HealthState::kNotServing:
      return "not serving";
    case HealthState::kUnknownService:
      return "unknown";
  }
  return "unknown";
}

class ClientHealthCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "client health",
        .summary = "Ask whether a service is ready, has started, or lives",
        .positional = {},
        .description =
            "Prints `serving` and exits 0, or prints `not serving` and exits 1. A service that cannot be "
            "reached "
            "is exit 3.\nFor probes: --service started, --service live, and nothing for readiness.",
        .examples =
            "proofmill client health\nproofmill client health --service started --target 127.0.0.1:50052"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.String("service", "NAME", &service_, "live, started, or nothing for ready.");
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::StatusOr<HealthState> state = client->Health(service_, flags_.deadline);
    if (!state.ok()) return WithReasonInText(state.status());
    if (*state == HealthState::kUnknownService) {
      return absl::NotFoundError(absl::StrCat("--service: expected live, started or nothing, got '", service_,
                                              "', which the service does not know"));
    }
    PROOFMILL_RETURN_IF_ERROR(PrintOut(absl::StrCat(HealthName(*state), "\n")));
    return *state == HealthState::kServing ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }

 private:
  ClientFlags flags_;
  std::string service_;
};

// The listener for clients has no status service; what it does tell are health and circuits.
bool IsDataListener(const absl::Status& status) { return absl::IsUnimplemented(status); }

class ClientStatusCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "client status",
            .summary = "Show how a service is: health, queue, devices, circuits",
            .positional = {},
            .description =
                "Asks the admin listener (--admin_listen of the service, port 50052 if nothing else is said) "
                "for versions, health,\nqueue, devices and circuits. The listener for clients (--listen, "
                "50051) tells health and circuits only.\nExits 0 if the service is ready, 1 if not.",
            .examples = "proofmill client status\nproofmill client status --target 127.0.0.1:50052 --json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Bool("json", &json_, "Print JSON.");
    flags_.options.target = kAdminTarget;
    flags_.Declare(flags);
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<client::Client> client, flags_.MakeClient());
    const absl::StatusOr<v1::GetStatusResponse> status = client->GetStatus(flags_.deadline);
    if (IsDataListener(status.status())) return RunForClients(*client);
    if (!status.ok()) return WithReasonInText(status.status());
    PROOFMILL_RETURN_IF_ERROR(PrintOut(json_ ? Dump(StatusToJson(*status)) : StatusToText(*status)));
    return status->health().ready() ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }

 private:
  using States = std::vector<std::pair<std::string, HealthState>>;

  absl::StatusOr<ExitCode> RunForClients(client::Client& client) {
    States states;
    for (const char* service : {"", "started", "live"}) {
      PROOFMILL_ASSIGN_OR_RETURN(const HealthState state, client.Health(service, flags_.deadline));
      states.emplace_back(*service == '\0' ? "ready" : service, state);
    }
    const absl::StatusOr<std::vector<v1::Circuit>> circuits = client.ListCircuits(flags_.deadline);
    if (!circuits.ok()) return WithReasonInText(circuits.status());
    PROOFMILL_RETURN_IF_ERROR(PrintOut(json_ ? Json(states, *circuits) : Text(states, *circuits)));
    return states.front().second == HealthState::kServing ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }

  static std::string Text(const States& states, const std::vector<v1::Circuit>& circuits) {
    std::string out;
    for (const auto& [name, state] : states) absl::StrAppend(&out, name, ": ", HealthName(state), "\n");
    return absl::StrCat(
        out, "\n", CircuitsToText(circuits),
        "\nThis is the listener for clients; the admin listener (--admin_listen of the service) "
        "tells queue and devices too.\n");
  }

  static std::string Json(const States& states, const std::vector<v1::Circuit>& circuits) {
    nlohmann::ordered_json out = nlohmann::ordered_json::object();
    for (const auto& [name, state] : states) out[name] = state == HealthState::kServing;
    out["circuits"] = CircuitsToJson(circuits);
    return Dump(out);
  }

  static std::string Dump(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }

  ClientFlags flags_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeClientHealthCommand() { return std::make_unique<ClientHealthCommand>(); }
std::unique_ptr<Command> MakeClientStatusCommand() { return std::make_unique<ClientStatusCommand>(); }

}  // namespace proofmill::cli
