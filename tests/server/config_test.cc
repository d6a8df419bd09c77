#include "server/config.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/config_file.h"
#include "server/environment.h"

namespace proofmill::server {
namespace {

using ::testing::HasSubstr;

// A file with a name of its own, gone at the end.
class TextFile {
 public:
  explicit TextFile(const std::string& text) {
    const int fd = mkstemp(path_.data());
    close(fd);
    std::ofstream(path_) << text;
  }
  ~TextFile() { std::remove(path_.c_str()); }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_ = ::testing::TempDir() + "config_test_XXXXXX";
};

struct Sources {
  std::string file;
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> flags;
};

absl::StatusOr<Config> Load(const Sources& sources) {
  return LoadConfig(
      {.file = sources.file, .flags = sources.flags, .environment = [&](const char* name) -> const char* {
         const auto found = sources.environment.find(name);
         return found == sources.environment.end() ? nullptr : found->second.c_str();
       }});
}

TEST(ConfigTest, AFlagWinsOverTheEnvironmentAndThatOverTheFileAndThatOverTheDefault) {
  const TextFile file("circuits: /\nqueue_jobs_max: 11\nupload_count_max: 12\nverify_queue_max: 13\n");
  const auto config =
      Load({.file = file.path(),
            .environment = {{"PROOFMILL_QUEUE_JOBS_MAX", "21"}, {"PROOFMILL_UPLOAD_COUNT_MAX", "22"}},
            .flags = {{"queue_jobs_max", "31"}}});

  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->queue_jobs_max, 31u);
  EXPECT_EQ(config->upload_count_max, 22u);
  EXPECT_EQ(config->verify_queue_max, 13u);
  EXPECT_EQ(config->streams_per_connection_max, Config().streams_per_connection_max);
}

TEST(ConfigTest, TheEnvironmentCanNameTheFile) {
  const TextFile file("circuits: /\nthreads: 3\n");
  const auto config = Load({.file = "", .environment = {{"PROOFMILL_CONFIG", file.path()}}, .flags = {}});

  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->threads, 3u);
}

TEST(ConfigTest, AllMistakesAreToldAtOnceWithTheirPlace) {
  const TextFile file("# a comment\ncircuits: /\nqueue_jobs: 4\nchunk_bytes_max: lots\n");
  const auto config = Load({.file = file.path(),
                            .environment = {{"PROOFMILL_LOG_LEVEL", "loud"}},
                            .flags = {{"drain_delay", "-3s"}}});

  ASSERT_TRUE(absl::IsInvalidArgument(config.status()));
  const std::string message(config.status().message());
  EXPECT_THAT(message, HasSubstr(file.path() + ":3: there is no setting 'queue_jobs'"));
  EXPECT_THAT(message, HasSubstr(file.path() + ":4: chunk_bytes_max: expected a size"));
  EXPECT_THAT(message, HasSubstr("PROOFMILL_LOG_LEVEL: log_level: expected one of debug, info, warn, error"));
  EXPECT_THAT(message, HasSubstr("--drain_delay: drain_delay: expected a time"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(ConfigTest, ABrokenFileIsRefusedWithItsLine) {
  const std::map<std::string, std::string> cases = {
      {"circuits: /\ncircuits: /tmp\n", ":2: circuits comes twice"},
      {"- a\n- b\n", ":1: expected `name: value` lines"},
      {"circuits: [1, 2]\n", ":1: expected one plain value for circuits"},
      {"circuits: \"unclosed\nlisten: x", "not YAML"},
      {"a: 1\n---\nb: 2\n", "expected one document"},
      {"? [a]\n: 1\n", "expected the name of a setting"}};
  for (const auto& [text, expected] : cases) {
    const TextFile file(text);
    const auto entries = ReadConfigFile(file.path());
    ASSERT_FALSE(entries.ok()) << text;
    EXPECT_THAT(std::string(entries.status().message()), HasSubstr(expected));
  }
  EXPECT_TRUE(absl::IsNotFound(ReadConfigFile("/nonexistent/proofmill.yaml").status()));
  const TextFile empty("# nothing\n");
  EXPECT_TRUE(ReadConfigFile(empty.path())->empty());
}

TEST(ConfigTest, CountsAndSizesHaveBounds) {
  for (const auto& [name, text] : std::map<std::string, std::string>{{"queue_jobs_max", "0"},
                                                                     {"queue_jobs_max", "1000001"},
                                                                     {"verify_threads", "0"},
                                                                     {"message_bytes_max", "2GiB"},
                                                                     {"chunk_bytes_max", "1"}}) {
    const auto config = Load({.file = "", .environment = {}, .flags = {{"circuits", "/"}, {name, text}}});
    ASSERT_FALSE(config.ok()) << name << "=" << text;
    EXPECT_THAT(std::string(config.status().message()), HasSubstr("expected"));
  }
}

// What ValidateConfig() says about a good configuration with one change.
std::string Verdict(const std::function<void(Config&)>& change) {
  Config config;
  config.circuits = "/";
  change(config);
  return std::string(ValidateConfig(config).message());
}

TEST(ConfigTest, WithoutTlsOnlyLoopbackIsBound) {
  EXPECT_EQ(Verdict([](Config&) {}), "");
  EXPECT_THAT(Verdict([](Config& c) { c.listen = "0.0.0.0:1"; }), HasSubstr("listen: without TLS"));
  EXPECT_THAT(Verdict([](Config& c) { c.admin_listen = "[::]:1"; }), HasSubstr("admin_listen: without TLS"));
  EXPECT_THAT(Verdict([](Config& c) { c.metrics_listen = "10.0.0.1:1"; }),
              HasSubstr("metrics_listen: without TLS"));
  EXPECT_EQ(Verdict([](Config& c) {
              c.listen = "0.0.0.0:1";
              c.tls_cert = "cert.pem";
              c.tls_key = "key.pem";
            }),
            "");
  EXPECT_EQ(Verdict([](Config& c) {
              c.listen = "0.0.0.0:1";
              c.admin_listen = "0.0.0.0:2";
              c.metrics_listen = "0.0.0.0:3";
              c.allow_plaintext = true;
            }),
            "");
}

TEST(ConfigTest, SettingsThatContradictEachOtherAreRefused) {
  EXPECT_THAT(Verdict([](Config& c) { c.circuits = ""; }), HasSubstr("circuits: expected the folder"));
  EXPECT_THAT(Verdict([](Config& c) { c.circuits = "/etc/passwd"; }),
              HasSubstr("circuits: expected a folder"));
  EXPECT_THAT(Verdict([](Config& c) { c.state_dir = "/nonexistent"; }),
              HasSubstr("state_dir: expected a folder"));
  EXPECT_THAT(Verdict([](Config& c) { c.tls_cert = "x"; }), HasSubstr("tls_cert and tls_key: expected both"));
  EXPECT_THAT(Verdict([](Config& c) { c.tls_client_ca = "x"; }), HasSubstr("tls_client_ca: needs"));
  EXPECT_THAT(Verdict([](Config& c) { c.chunk_bytes_max = c.message_bytes_max; }),
              HasSubstr("chunk_bytes_max"));
  EXPECT_THAT(Verdict([](Config& c) { c.grpc_memory_bytes_max.bytes = 1 << 20; }),
              HasSubstr("grpc_memory_bytes_max"));
  EXPECT_THAT(Verdict([](Config& c) { c.deadline_max = absl::ZeroDuration(); }), HasSubstr("deadline_max"));
  EXPECT_EQ(Verdict([](Config& c) { c.canary_interval = absl::ZeroDuration(); }), "");
  EXPECT_THAT(Verdict([](Config& c) { c.canary_interval = absl::Hours(25); }),
              HasSubstr("canary_interval: expected 0, or 1ms to 24h, got 25h"));
  EXPECT_THAT(Verdict([](Config& c) { c.canary_interval = absl::Microseconds(10); }),
              HasSubstr("canary_interval: expected 0, or 1ms"));
  EXPECT_THAT(Verdict([](Config& c) { c.device_memory_limit.bytes = 4; }),
              HasSubstr("device_memory_limit: expected 0 or at least 67108864 bytes, got 4"));
  EXPECT_THAT(Verdict([](Config& c) { c.listen = "nowhere"; }),
              HasSubstr("listen: a listening address must be"));
}

TEST(ConfigTest, TheFilesOfKeysAndTenantsAreCheckedWithLineNumbers) {
  const TextFile keys("# keys\n0123456789ab rollup sha256:0\nnobody\n"), tenants("a weight=2\nb weight=0\n");
  const auto config =
      Load({.file = "",
            .environment = {},
            .flags = {{"circuits", "/"}, {"api_key_file", keys.path()}, {"tenant_file", tenants.path()}}});
  const std::string message(config.status().message());
  EXPECT_THAT(message, HasSubstr("api_key_file: " + keys.path() + ":2: expected sha256:"));
  EXPECT_THAT(message, HasSubstr(keys.path() + ":3: expected KEY_ID TENANT"));
  EXPECT_THAT(message, HasSubstr("tenant_file: " + tenants.path() + ":2: weight: expected 0.001 to 1000"));
  EXPECT_THAT(Verdict([](Config& c) { c.api_key_file = "/nonexistent"; }), HasSubstr("api_key_file: "));
  EXPECT_THAT(Verdict([](Config& c) { c.tenant_file = "/"; }), HasSubstr("tenant_file: "));
  EXPECT_THAT(Verdict([](Config& c) { c.admin_tls = true; }), HasSubstr("admin_tls: needs tls_cert"));
  EXPECT_THAT(Verdict([](Config& c) { c.connection_age_max = absl::ZeroDuration(); }),
              HasSubstr("connection_age_max"));
}

TEST(ConfigTest, EverySettingSurvivesItsOwnText) {
  Config config;
  for (const Setting& setting : Settings()) {
    const std::string text = ToText(setting, config);
    ASSERT_TRUE(SetFromText(setting, text, config).ok()) << std::string(setting.name) << ": " << text;
    EXPECT_EQ(ToText(setting, config), text);
  }
}

TEST(ConfigTest, TheExampleFileShowsEverySettingWithItsDefault) {
  const auto entries = ReadConfigFile("deploy/proofmill.example.yaml");
  ASSERT_TRUE(entries.ok()) << entries.status();
  std::map<std::string, std::string> shown;
  for (const FileEntry& entry : *entries) shown[entry.name] = entry.text;

  const Config defaults;
  for (const Setting& setting : Settings()) {
    const std::string name(setting.name);
    ASSERT_EQ(shown.count(name), 1u) << name << " is missing in the example";
    Config config;
    ASSERT_TRUE(SetFromText(setting, shown[name], config).ok()) << name;
    EXPECT_EQ(ToText(setting, config), ToText(setting, defaults)) << name;
    shown.erase(name);
  }
  EXPECT_TRUE(shown.empty()) << "the example has a setting that there is not: " << shown.begin()->first;
}

TEST(ConfigTest, NamesAreDistinctAndExplained) {
  std::set<std::string> names;
  for (const Setting& setting : Settings()) {
    EXPECT_TRUE(names.insert(std::string(setting.name)).second) << std::string(setting.name);
    EXPECT_FALSE(setting.help.empty());
    EXPECT_EQ(setting.value_name.empty(), setting.is_boolean());
  }
}

TEST(ConfigTest, TwoListenersDoNotShareAnAddress) {
  for (const auto& [one, other] : {std::pair("127.0.0.1:7", "127.0.0.1:7"), std::pair("[::1]:7", "[::1]:7"),
                                   std::pair("127.0.0.1:7", "0.0.0.0:7")}) {
    const auto config = Load(
        {.file = "",
         .environment = {},
         .flags = {
             {"circuits", "/"}, {"allow_plaintext", "true"}, {"listen", one}, {"metrics_listen", other}}});
    EXPECT_THAT(config.status().message(), HasSubstr("listen and metrics_listen: expected two addresses"));
  }
  EXPECT_TRUE(Load({.file = "",
                    .environment = {},
                    .flags = {{"circuits", "/"}, {"listen", "127.0.0.1:0"}, {"admin_listen", "127.0.0.1:0"}}})
                  .ok())
      << "the kernel chooses two ports";
  EXPECT_TRUE(Load({.file = "",
                    .environment = {},
                    .flags = {{"circuits", "/"}, {"listen", "127.0.0.2:7"}, {"admin_listen", "127.0.0.1:7"}}})
                  .ok());
}

TEST(ConfigTest, TheAddressThatIsToldHasAPort) {
  for (const char* good : {"prover-0.prover:50051", "10.0.0.1:1", "[2001:db8::1]:65535"}) {
    EXPECT_TRUE(
        Load({.file = "", .environment = {}, .flags = {{"circuits", "/"}, {"advertise_address", good}}}).ok())
        << good;
  }
  for (const char* bad : {"prover", ":1", "prover:0", "prover:65536", "prover:x", "pro ver:1"}) {
    const auto config =
        Load({.file = "", .environment = {}, .flags = {{"circuits", "/"}, {"advertise_address", bad}}});
    EXPECT_THAT(config.status().message(), HasSubstr("advertise_address: expected HOST:PORT")) << bad;
  }
}

TEST(ConfigTest, VariablesThatAreNoSettingsAreTold) {
  const char* const environment[] = {"PATH=/bin",
                                     "PROOFMILL_LISTEN=x",
                                     "PROOFMILL_CONFIG=f",
                                     "PROOFMILL_LISTNE=x",
                                     "PROOFMILL_",
                                     "PROOFMILLS=1",
                                     nullptr};

  EXPECT_EQ(UnknownVariables(environment), (std::vector<std::string>{"PROOFMILL_LISTNE", "PROOFMILL_"}));
}

}  // namespace
}  // namespace proofmill::server
