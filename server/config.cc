#include "server/config.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/backend/select.h"
#include "engine/base/status_macros.h"
#include "server/api_keys.h"
#include "server/config_file.h"
#include "server/line_file.h"
#include "server/listen_address.h"
#include "server/tenant_policies.h"
#include "server/text_values.h"

namespace proofmill::server {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;
// What a message holds besides the witness: the specification and the framing of protobuf.
constexpr uint64_t kMessageOverheadBytes = 64 << 10;

std::vector<Setting> MakeSettings() {  // NOLINT(readability-function-size): a table
  return {
      {"circuits", "DIR",
       "Folder of the circuits: ID/circuit.zkey or ID.zkey, for WHIR (not hiding) ID.whir.json. Required.",
       &Config::circuits},
      {"backend",
       "NAME",
       "What proves: auto takes the GPUs if there are any, else the CPU.",
       &Config::backend,
       0,
       UINT64_MAX,
       {"auto", "cpu", "cuda"}},
      {"threads", "N", "Threads of the CPU backend; 0: one for each core.", &Config::threads, 0, 4096},
      {"cpu_arithmetic",
       "NAME",
       "Instructions of field arithmetic on the CPU; auto takes the best that it has.",
       &Config::cpu_arithmetic,
       0,
       UINT64_MAX,
       {"auto", "portable", "adx", "fma", "ifma"}},
      {"device_memory_limit", "SIZE",
       "Device memory that keys and proofs may take on each GPU, at least 64MiB; 0: most of the card.",
       &Config::device_memory_limit},
      {"cpu_takeover", "",
       "Let the CPU prove when no GPU is left, instead of ending the process; its keys take host memory.",
       &Config::cpu_takeover},
      {"canary_interval", "TIME",
       "A device that has made no good proof for this long proves a circuit's canary while it is idle; 0: "
       "never.",
       &Config::canary_interval},
      {"allow_insecure_keys", "",
       "Serve keys made by `proofmill setup` and `synth`: for tests and trials only.",
       &Config::allow_insecure_keys},
      {"allow_unsafe_setup", "",
       "Serve keys without any phase 2 contribution: anyone can forge their proofs.",
       &Config::allow_unsafe_setup},
      {"state_dir", "DIR", "Folder that the service may keep records in between runs; empty: none are kept.",
       &Config::state_dir},
      {"load_threads", "N",
       "Threads that read and check a key while others are proved; 0: a quarter of the cores, at least one.",
       &Config::load_threads, 0, 4096},
      {"listen", "IP:PORT", "Where clients prove. Port 0: the kernel chooses.", &Config::listen},
      {"admin_listen", "IP:PORT", "Where health is asked for and circuits are administered.",
       &Config::admin_listen},
      {"metrics_listen", "IP:PORT", "Where Prometheus scrapes /metrics.", &Config::metrics_listen},
      {"allow_plaintext", "", "Let listeners without TLS bind other addresses than loopback.",
       &Config::allow_plaintext},
      {"tls_cert", "FILE", "Certificate chain of the data listener, PEM; empty: no TLS.", &Config::tls_cert},
      {"tls_key", "FILE", "Private key of the certificate, PEM.", &Config::tls_key},
      {"tls_client_ca", "FILE", "Authorities of client certificates, PEM; if set, clients must have one.",
       &Config::tls_client_ca},
      {"admin_tls", "", "TLS on the admin listener too, with the files of the data listener.",
       &Config::admin_tls},
      {"advertise_address", "HOST:PORT",
       "Where other machines reach the data listener, told in the names of jobs; empty: the address of "
       "--listen.",
       &Config::advertise_address},
      {"port_file", "FILE", "File to write the chosen addresses to, once the listeners are up.",
       &Config::port_file},
      {"api_key_file", "FILE",
       "Hashed API keys, as `proofmill api-key` makes them; if set, clients need a key or a certificate.",
       &Config::api_key_file},
      {"tenant_file", "FILE", "Weights and quotas of tenants; empty: all have the same.",
       &Config::tenant_file},
      {"audit_log", "FILE", "Where calls of the admin listener are recorded; empty: among the logs.",
       &Config::audit_log},
      {"queue_jobs_max", "N", "Jobs that may wait.", &Config::queue_jobs_max, 1, 1'000'000},
      {"queue_witness_bytes_max", "SIZE", "Bytes of witness that waiting jobs may hold.",
       &Config::queue_witness_bytes_max, kMiB},
      {"message_bytes_max", "SIZE", "Largest message taken; larger witnesses are streamed or uploaded.",
       &Config::message_bytes_max, 1 << 16, kGiB},
      {"chunk_bytes_max", "SIZE", "Largest piece of a streamed or uploaded witness.",
       &Config::chunk_bytes_max, 1 << 10, kGiB},
      {"upload_count_max", "N", "Uploads that may be open, streams included.", &Config::upload_count_max, 1,
       1'000'000},
      {"upload_bytes_max", "SIZE", "Bytes that open uploads may hold together.", &Config::upload_bytes_max,
       kMiB},
      {"upload_idle_timeout", "TIME", "An upload that gets nothing new for this long is wiped.",
       &Config::upload_idle_timeout},
      {"deadline_max", "TIME",
       "Longest time for one call; longer and absent deadlines of clients are cut to it.",
       &Config::deadline_max},
      {"job_count_max", "N", "Jobs of JobService that are kept, on their way and ended.",
       &Config::job_count_max, 1, 1'000'000},
      {"job_result_ttl", "TIME", "How long the result of a job, and of a request with an id, is kept.",
       &Config::job_result_ttl},
      {"batch_items_max", "N", "Items that one call of ProveBatch may have on their way.",
       &Config::batch_items_max, 1, 65'536},
      {"send_timeout", "TIME", "A call whose client does not take what is sent for this long is cut.",
       &Config::send_timeout},
      {"streams_per_connection_max", "N", "Calls that one connection may have open at a time.",
       &Config::streams_per_connection_max, 1, 1'000'000},
      {"grpc_memory_bytes_max", "SIZE",
       "Outer wall for the memory of gRPC itself; at least 4 largest messages.",
       &Config::grpc_memory_bytes_max, kMiB},
      {"verify_threads", "N", "Threads that check proofs for Verify.", &Config::verify_threads, 1, 256},
      {"verify_queue_max", "N", "Calls of Verify that may wait for these threads.", &Config::verify_queue_max,
       1, 1'000'000},
      {"keepalive_time", "TIME", "A connection that is silent for this long is pinged.",
       &Config::keepalive_time},
      {"keepalive_timeout", "TIME", "A connection whose ping is not answered in this time is closed.",
       &Config::keepalive_timeout},
      {"connection_age_max", "TIME",
       "A connection that is older, give or take a tenth, takes no new call; its clients come back on "
       "another.",
       &Config::connection_age_max},
      {"drain_delay", "TIME", "After SIGTERM: serve on for this long while load balancers notice.",
       &Config::drain_delay},
      {"shutdown_grace", "TIME", "Then: let accepted calls end for this long before they are cut.",
       &Config::shutdown_grace},
      {"log_level",
       "LEVEL",
       "The least grave level that is logged.",
       &Config::log_level,
       0,
       UINT64_MAX,
       {"debug", "info", "warn", "error"}},
      {"core_dumps", "", "Allow core dumps and debuggers; a dump holds the witnesses of waiting jobs.",
       &Config::core_dumps},
  };
}

absl::Status CheckBounds(const Setting& setting, uint64_t value, bool bytes) {
  if (value >= setting.min && value <= setting.max) return absl::OkStatus();
  const auto text = [bytes](uint64_t v) { return bytes ? BytesText(v) : absl::StrCat(v); };
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", text(setting.min), " to ", text(setting.max), ", got ", text(value)));
}

// Collects mistakes, so that all of them are told at once.
class Mistakes {
 public:
  void Add(std::string mistake) { mistakes_.push_back(std::move(mistake)); }
  void Add(const absl::Status& status) {
    if (!status.ok()) mistakes_.emplace_back(status.message());
  }
  absl::Status ToStatus() const {
    if (mistakes_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(mistakes_, "; "));
  }

 private:
  std::vector<std::string> mistakes_;
};

const Setting* FindSetting(absl::string_view name) {
  for (const Setting& setting : Settings()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

// Sets `name` from `text`; `where` says where it came from.
void Apply(absl::string_view where, absl::string_view name, absl::string_view text, Config& config,
           Mistakes& mistakes) {
  const Setting* const setting = FindSetting(name);
  if (setting == nullptr) {
    mistakes.Add(absl::StrCat(where, ": there is no setting '", name, "'"));
    return;
  }
  const absl::Status status = SetFromText(*setting, text, config);
  if (!status.ok()) mistakes.Add(absl::StrCat(where, ": ", name, ": ", status.message()));
}

void CheckListener(absl::string_view name, const std::string& address_text, bool tls, const Config& config,
                   Mistakes& mistakes) {
  const auto address = ParseListenAddress(address_text);
  if (!address.ok()) {
    mistakes.Add(absl::StrCat(name, ": ", address.status().message()));
  } else if (!tls && !config.allow_plaintext && !address->IsLoopback()) {
    mistakes.Add(absl::StrCat(name, ": without TLS only loopback addresses are bound, got '", address_text,
                              "'; allow_plaintext accepts the risk"));
  }
}

// Two listeners cannot have one port of one address, nor of all addresses and one of them.
using NamedAddress = std::pair<absl::string_view, const std::string&>;
void CheckDistinct(const NamedAddress& one, const NamedAddress& other, Mistakes& mistakes) {
  const auto a = ParseListenAddress(one.second), b = ParseListenAddress(other.second);
  if (!a.ok() || !b.ok() || a->port == 0 || a->port != b->port) return;
  if (a->host != b->host && !a->IsWildcard() && !b->IsWildcard()) return;
  mistakes.Add(absl::StrCat(one.first, " and ", other.first, ": expected two addresses, got '", one.second,
                            "' and '", other.second, "'"));
}

// What clients are told to connect to, so any name will do; but it must be one, with a port.
void CheckAdvertised(absl::string_view text, Mistakes& mistakes) {
  const size_t colon = text.rfind(':');
  uint32_t port = 0;
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (printable && text.size() <= 253 && colon != absl::string_view::npos && colon > 0 &&
      absl::SimpleAtoi(text.substr(colon + 1), &port) && port >= 1 && port <= 65535) {
    return;
  }
  mistakes.Add(absl::StrCat("advertise_address: expected HOST:PORT, got '", text, "'"));
}

void CheckListeners(const Config& config, Mistakes& mistakes) {
  CheckListener("listen", config.listen, config.tls(), config, mistakes);
  CheckListener("admin_listen", config.admin_listen, config.admin_tls, config, mistakes);
  CheckListener("metrics_listen", config.metrics_listen, false, config, mistakes);
  CheckDistinct({"listen", config.listen}, {"admin_listen", config.admin_listen}, mistakes);
  CheckDistinct({"listen", config.listen}, {"metrics_listen", config.metrics_listen}, mistakes);
  CheckDistinct({"admin_listen", config.admin_listen}, {"metrics_listen", config.metrics_listen}, mistakes);
  if (!config.advertise_address.empty()) CheckAdvertised(config.advertise_address, mistakes);
  if (config.tls_cert.empty() != config.tls_key.empty()) {
    mistakes.Add("tls_cert and tls_key: expected both or none");
  }
  if (!config.tls_client_ca.empty() && config.tls_cert.empty()) {
    mistakes.Add("tls_client_ca: needs tls_cert and tls_key");
  }
  if (config.admin_tls && config.tls_cert.empty()) mistakes.Add("admin_tls: needs tls_cert and tls_key");
}

void CheckFolder(absl::string_view name, const std::string& path, int mode, Mistakes& mistakes) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    mistakes.Add(absl::StrCat(name, ": expected a folder, got '", path, "'"));
  } else if (access(path.c_str(), mode) != 0) {
    mistakes.Add(absl::StrCat(name, ": the folder '", path, "' may not be ",
                              (mode & W_OK) != 0 ? "written" : "read", " by this user"));
  }
}

// That they can be read, and what they hold, with line numbers.
void CheckAccessFiles(const Config& config, Mistakes& mistakes) {
  const auto check = [&mistakes](absl::string_view name, const std::string& path, auto parse) {
    if (path.empty()) return;
    const absl::StatusOr<std::string> text = ReadLineFile(path);
    const absl::Status status = text.ok() ? parse(path, *text).status() : text.status();
    if (!status.ok()) mistakes.Add(absl::StrCat(name, ": ", status.message()));
  };
  check("api_key_file", config.api_key_file, ApiKeys::Parse);
  check("tenant_file", config.tenant_file, TenantPolicies::Parse);
}

void CheckTime(absl::string_view name, absl::Duration value, absl::string_view expected, Mistakes& mistakes) {
  if (value >= absl::Milliseconds(1) && value <= absl::Hours(24)) return;
  mistakes.Add(absl::StrCat(name, ": expected ", expected, ", got ", absl::FormatDuration(value)));
}

void CheckBoundsTogether(const Config& config, Mistakes& mistakes) {
  if (config.chunk_bytes_max.bytes > config.message_bytes_max.bytes - kMessageOverheadBytes / 2) {
    mistakes.Add(absl::StrCat("chunk_bytes_max: expected at most message_bytes_max less 32KiB, got ",
                              BytesText(config.chunk_bytes_max.bytes), " with message_bytes_max ",
                              BytesText(config.message_bytes_max.bytes)));
  }
  if (config.grpc_memory_bytes_max.bytes / 4 < config.message_bytes_max.bytes) {
    mistakes.Add(absl::StrCat("grpc_memory_bytes_max: expected at least 4 times message_bytes_max, got ",
                              BytesText(config.grpc_memory_bytes_max.bytes)));
  }
  mistakes.Add(engine::CheckDeviceMemoryLimit(config.device_memory_limit.bytes));
  if (config.canary_interval != absl::ZeroDuration()) {
    CheckTime("canary_interval", config.canary_interval, "0, or 1ms to 24h", mistakes);
  }
  const std::pair<absl::string_view, absl::Duration> positive[] = {
      {"upload_idle_timeout", config.upload_idle_timeout}, {"deadline_max", config.deadline_max},
      {"job_result_ttl", config.job_result_ttl},           {"send_timeout", config.send_timeout},
      {"keepalive_time", config.keepalive_time},           {"keepalive_timeout", config.keepalive_timeout},
      {"connection_age_max", config.connection_age_max}};
  for (const auto& [name, value] : positive) CheckTime(name, value, "1ms to 24h", mistakes);
}

}  // namespace

absl::Span<const Setting> Settings() {
  static const auto* const settings = new std::vector<Setting>(MakeSettings());
  return *settings;
}

absl::Status SetFromText(const Setting& setting, absl::string_view text, Config& config) {
  if (const auto* member = std::get_if<std::string Config::*>(&setting.member)) {
    if (!setting.choices.empty() &&
        std::find(setting.choices.begin(), setting.choices.end(), text) == setting.choices.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected one of ", absl::StrJoin(setting.choices, ", "), ", got '", text, "'"));
    }
    config.*(*member) = std::string(text);
  } else if (const auto* flag = std::get_if<bool Config::*>(&setting.member)) {
    PROOFMILL_ASSIGN_OR_RETURN(config.*(*flag), ParseBool(text));
  } else if (const auto* count = std::get_if<uint64_t Config::*>(&setting.member)) {
    PROOFMILL_ASSIGN_OR_RETURN(const uint64_t value, ParseCount(text));
    PROOFMILL_RETURN_IF_ERROR(CheckBounds(setting, value, /*bytes=*/false));
    config.*(*count) = value;
  } else if (const auto* size = std::get_if<ByteCount Config::*>(&setting.member)) {
    PROOFMILL_ASSIGN_OR_RETURN(const uint64_t value, ParseBytes(text));
    PROOFMILL_RETURN_IF_ERROR(CheckBounds(setting, value, /*bytes=*/true));
    (config.*(*size)).bytes = value;
  } else {
    PROOFMILL_ASSIGN_OR_RETURN(config.*std::get<absl::Duration Config::*>(setting.member), ParseTime(text));
  }
  return absl::OkStatus();
}

std::string ToText(const Setting& setting, const Config& config) {
  struct Visitor {
    const Config& config;
    std::string operator()(std::string Config::*m) const { return config.*m; }
    std::string operator()(bool Config::*m) const { return config.*m ? "true" : "false"; }
    std::string operator()(uint64_t Config::*m) const { return absl::StrCat(config.*m); }
    std::string operator()(ByteCount Config::*m) const { return BytesText((config.*m).bytes); }
    std::string operator()(absl::Duration Config::*m) const { return absl::FormatDuration(config.*m); }
  };
  return std::visit(Visitor{config}, setting.member);
}

std::string EnvironmentName(const Setting& setting) {
  return absl::StrCat("PROOFMILL_", absl::AsciiStrToUpper(setting.name));
}

absl::StatusOr<Config> LoadConfig(const ConfigSources& sources) {
  Config config;
  Mistakes mistakes;
  std::string file = sources.file;
  if (const char* name = sources.environment("PROOFMILL_CONFIG"); file.empty() && name != nullptr)
    file = name;
  if (!file.empty()) {
    const auto entries = ReadConfigFile(file);
    mistakes.Add(entries.status());
    if (entries.ok()) {
      for (const FileEntry& entry : *entries) {
        Apply(absl::StrCat(file, ":", entry.line), entry.name, entry.text, config, mistakes);
      }
    }
  }
  for (const Setting& setting : Settings()) {
    const std::string name = EnvironmentName(setting);
    const char* const text = sources.environment(name.c_str());
    if (text != nullptr) Apply(name, setting.name, text, config, mistakes);
  }
  for (const auto& [name, text] : sources.flags)
    Apply(absl::StrCat("--", name), name, text, config, mistakes);
  PROOFMILL_RETURN_IF_ERROR(mistakes.ToStatus());
  PROOFMILL_RETURN_IF_ERROR(ValidateConfig(config));
  return config;
}

absl::Status ValidateConfig(const Config& config) {
  Mistakes mistakes;
  if (config.circuits.empty()) {
    mistakes.Add("circuits: expected the folder of the circuits, got nothing");
  } else {
    CheckFolder("circuits", config.circuits, R_OK | X_OK, mistakes);
  }
  if (!config.state_dir.empty()) CheckFolder("state_dir", config.state_dir, R_OK | W_OK | X_OK, mistakes);
  CheckListeners(config, mistakes);
  CheckAccessFiles(config, mistakes);
  CheckBoundsTogether(config, mistakes);
  return mistakes.ToStatus();
}

}  // namespace proofmill::server
