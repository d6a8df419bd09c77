// proofmill serve: the service. Its settings, their checks and its life are in server/.

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "cli/commands.h"
#include "engine/base/status_macros.h"
#include "server/config.h"
#include "server/run_server.h"

namespace proofmill::cli {
namespace {

class ServeCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "serve",
        .summary = "Run the proving service",
        .positional = {},
        .description =
            "Loads and checks the keys of a folder once, and makes proofs for clients over gRPC until "
            "SIGTERM or SIGINT.\n"
            "Every flag can also be set in the configuration file, or in the environment as PROOFMILL_ and "
            "its name in\n"
            "capitals. A flag wins over the environment, the environment over the file. Logs go to stderr.",
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
    if (!check_only_) {
      PROOFMILL_RETURN_IF_ERROR(server::RunServer(config));
      return ExitCode::kOk;
    }
    std::string text;
    for (const server::Setting& setting : server::Settings()) {
      absl::StrAppend(&text, setting.name, ": ", server::ToText(setting, config), "\n");
    }
    PROOFMILL_RETURN_IF_ERROR(PrintOut(text));
    return ExitCode::kOk;
  }

 private:
  server::ConfigSources sources_;
  bool check_only_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeServeCommand() { return std::make_unique<ServeCommand>(); }

}  // namespace proofmill::cli
