// proofmill serve: the service. Its settings, their checks and its life are in server/.

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cli/commands.h"
#include "engine/backend/select.h"
#include "engine/base/status_macros.h"
#include "server/config.h"
#include "server/environment.h"
#include "server/run_server.h"

namespace proofmill::cli {
namespace {

// Beside the codes that all commands share: a fault that starting again may cure.
constexpr auto kNoDeviceLeft = static_cast<ExitCode>(4);

class ServeCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "serve",
        .summary = "Run the proving service",
        .positional = {},
        .description =
            "Loads and checks the keys of a folder once, and makes proofs for clients over gRPC until "
            "SIGTERM, SIGINT or SIGHUP.\n"
            "Every flag can also be set in the configuration file, or in the environment as PROOFMILL_ and "
            "its name in\n"
            "capitals. A flag wins over the environment, the environment over the file. Logs go to stderr.\n"
            "Exits 4 (no_device_left) when the last device has failed, so that whoever watches starts it "
            "again.",
        .examples =
            "proofmill serve --circuits /var/lib/proofmill/circuits\n"
            "proofmill serve --config proofmill.yaml --check_config\n"
            "proofmill serve --circuits keys --listen 0.0.0.0:50051 --tls_cert server.pem --tls_key "
            "server.key "
            "--tls_client_ca clients.pem"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Custom("config", "FILE", "", "Configuration file (YAML).", [this](absl::string_view text) {
      if (text.empty()) return absl::InvalidArgumentError("expected the name of a file, got nothing");
      sources_.file = std::string(text);
      return absl::OkStatus();
    });
    flags.Bool("check_config", &check_only_, "Check the configuration, print it, and exit.");
    const server::Config defaults;
    for (const server::Setting& setting : server::Settings()) {
      const std::string name(setting.name);
      const std::string default_text = server::ToText(setting, defaults);
      const bool shows_default = !setting.is_boolean() || default_text == "true";
      flags.Custom(setting.name, setting.value_name, shows_default ? default_text : "", setting.help,
                   [this, &setting, name](absl::string_view text) {
                     server::Config scratch;
                     PROOFMILL_RETURN_IF_ERROR(server::SetFromText(setting, text, scratch));
                     sources_.flags[name] = std::string(text);
                     return absl::OkStatus();
                   });
    }
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>&) override {
    sources_.environment = [](const char* name) -> const char* { return std::getenv(name); };
    PROOFMILL_ASSIGN_OR_RETURN(const server::Config config, server::LoadConfig(sources_));
    if (!check_only_) return Serve(config);
    for (const std::string& name : server::UnknownVariables(environ)) {
      PrintError("serve", absl::StrCat("warning: the environment variable ", name,
                                       " is no setting, so it has no effect"));
    }
    PROOFMILL_RETURN_IF_ERROR(CheckMachine(config));
    std::string text;
    for (const server::Setting& setting : server::Settings()) {
      const std::string value = server::ToText(setting, config);
      absl::StrAppend(&text, setting.name, ": ", value.empty() ? "\"\"" : value, "\n");  // as YAML
    }
    PROOFMILL_RETURN_IF_ERROR(PrintOut(text));
    return ExitCode::kOk;
  }

 private:
  static absl::StatusOr<ExitCode> Serve(const server::Config& config) {
    PROOFMILL_ASSIGN_OR_RETURN(const server::ServeEnd end, server::RunServer(config));
    if (end == server::ServeEnd::kStopped) return ExitCode::kOk;
    PrintError("serve",
               "no_device_left: every device has failed, and the CPU may not take over (cpu_takeover)");
    return kNoDeviceLeft;
  }

  // Whether this machine has what the configuration asks for.
  static absl::Status CheckMachine(const server::Config& config) {
    PROOFMILL_RETURN_IF_ERROR(engine::ChooseCpuArithmetic(config.cpu_arithmetic));
    if (config.backend != "cuda") return absl::OkStatus();
    return engine::MakeBackends(
               config.backend, {.device_memory_limit = static_cast<size_t>(config.device_memory_limit.bytes)})
        .status();
  }

  server::ConfigSources sources_;
  bool check_only_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeServeCommand() { return std::make_unique<ServeCommand>(); }

}  // namespace proofmill::cli
