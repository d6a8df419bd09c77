// The configuration of the service.
//
// Every setting has one name, in snake_case, which is its flag (--queue_jobs_max), its key in the
// configuration file (queue_jobs_max: 64) and, in capitals behind PROOFMILL_, its environment variable
// (PROOFMILL_QUEUE_JOBS_MAX). A flag wins over the environment, the environment over the file, the file over
// the default. The configuration is checked as a whole, once, before anything starts; all mistakes are
// reported together.
//
// deploy/proofmill.example.yaml shows every setting with its default; a test compares it with this table.
//
// Thread safety: plain values and pure functions.

#ifndef PROOFMILL_SERVER_CONFIG_H_
#define PROOFMILL_SERVER_CONFIG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace proofmill::server {

// A size in bytes, apart from a plain count.
struct ByteCount {
  uint64_t bytes;
};

struct Config {
  // What is served.
  std::string circuits;
  std::string backend = "auto";
  uint64_t threads = 0;
  std::string cpu_arithmetic = "auto";
  ByteCount device_memory_limit{0};
  bool cpu_takeover = false;
  absl::Duration canary_interval = absl::Minutes(1);
  bool allow_insecure_keys = false;
  bool allow_unsafe_setup = false;
  std::string state_dir;
  uint64_t load_threads = 0;

  // Where it listens.
  std::string listen = "127.0.0.1:50051";
  std::string admin_listen = "127.0.0.1:50052";
  std::string metrics_listen = "127.0.0.1:9464";
  bool allow_plaintext = false;
  std::string tls_cert;
  std::string tls_key;
  std::string tls_client_ca;
  bool admin_tls = false;
  std::string advertise_address;
  std::string port_file;

  // Who may call.
  std::string api_key_file;
  std::string tenant_file;
  std::string audit_log;

  // Bounds.
  uint64_t queue_jobs_max = 256;
  ByteCount queue_witness_bytes_max{uint64_t{2} << 30};
  ByteCount message_bytes_max{uint64_t{16} << 20};
  ByteCount chunk_bytes_max{uint64_t{1} << 20};
  uint64_t upload_count_max = 256;
  ByteCount upload_bytes_max{uint64_t{1} << 30};
  absl::Duration upload_idle_timeout = absl::Seconds(60);
  absl::Duration deadline_max = absl::Minutes(10);
  uint64_t job_count_max = 10'000;
  absl::Duration job_result_ttl = absl::Minutes(10);
  uint64_t batch_items_max = 64;
  absl::Duration send_timeout = absl::Seconds(60);
  uint64_t streams_per_connection_max = 256;
  ByteCount grpc_memory_bytes_max{uint64_t{4} << 30};
  uint64_t verify_threads = 1;
  uint64_t verify_queue_max = 256;

  // Connections.
  absl::Duration keepalive_time = absl::Seconds(60);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  absl::Duration connection_age_max = absl::Minutes(30);

  // The end.
  absl::Duration drain_delay = absl::Seconds(2);
  absl::Duration shutdown_grace = absl::Seconds(60);

  // What is told, and what is not.
  std::string log_level = "info";
  bool core_dumps = false;

  bool tls() const { return !tls_cert.empty(); }
};

// One setting: how it is named, explained and kept.
struct Setting {
  using Member = std::variant<std::string Config::*, bool Config::*, uint64_t Config::*, ByteCount Config::*,
                              absl::Duration Config::*>;
  absl::string_view name;
  absl::string_view value_name;  // for help texts; empty for a boolean
  absl::string_view help;
  Member member;
  // Bounds of counts and sizes, both inclusive.
  uint64_t min = 0;
  uint64_t max = UINT64_MAX;
  std::vector<absl::string_view> choices = {};  // of a string; empty: any

  bool is_boolean() const { return std::holds_alternative<bool Config::*>(member); }
};

// All settings, in the order in which help texts and the example file have them.
absl::Span<const Setting> Settings();

// Sets one setting from its text.
//   INVALID_ARGUMENT  not such a value, or outside its bounds; the message does not name the setting.
absl::Status SetFromText(const Setting& setting, absl::string_view text, Config& config);
// Its text, such that SetFromText() gives the same value.
std::string ToText(const Setting& setting, const Config& config);

// The environment variable of a setting.
std::string EnvironmentName(const Setting& setting);

struct ConfigSources {
  // The configuration file; empty: the one that the environment variable PROOFMILL_CONFIG names, if any.
  std::string file;
  // The flags that were given: name of the setting, text.
  std::map<std::string, std::string> flags;
  // Looks up the environment: getenv(3), or a fake in tests.
  std::function<const char*(const char*)> environment;
};

// Reads all sources and checks the whole.
//   INVALID_ARGUMENT  one or more mistakes, separated by "; ". Those in the file come with line numbers.
absl::StatusOr<Config> LoadConfig(const ConfigSources& sources);

// Checks what settings mean together: addresses, TLS files, plaintext, and bounds that depend on each other.
// Looks at the folder of circuits, the state folder, and the files of API keys and tenants.
//   INVALID_ARGUMENT  as above.
absl::Status ValidateConfig(const Config& config);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_CONFIG_H_
