// What operators do from the command line while the real service runs: circuits, status, log.

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/cpp/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

using ::testing::HasSubstr;

v1::ProofSpec SpecOf(const std::string& circuit) {
  v1::ProofSpec spec;
  spec.set_circuit(circuit);
  return spec;
}

class OperatorsTest : public ::testing::Test {
 protected:
  void Add(const std::string& id, uint32_t log2_domain) {
    circuits_.Add(id, Synthetic(log2_domain, engine::SynthProfile::kDense, 2));
  }
  ::testing::AssertionResult Proves(const ServerProcess& server, const std::string& id, uint64_t seed = 5) {
    const auto result = server.MakeClient()->Prove(SpecOf(id), circuits_.Wtns(id, seed));
    if (!result.ok()) return ::testing::AssertionFailure() << result.status();
    return IsProofOf(*result, circuits_.vkey(id), circuits_.PublicSignals(id, seed));
  }

  CircuitFolder circuits_;
};

TEST_F(OperatorsTest, OperatorsLoadRotateAndLookFromTheCommandLine) {
  Add("v1", 6);
  circuits_.AddSetup("v2", "v1", 79);
  const TemporaryFolder state;
  auto server = std::make_unique<ServerProcess>(circuits_.path(),
                                                std::vector<std::string>{"--state_dir=" + state.path()});
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "client");
    words.push_back("--target=" + server->admin());
    return Proofmill(words);
  };

  EXPECT_EQ(run({"circuits", "unload", "v2"}).out, "v2 unloaded\n");
  EXPECT_EQ(run({"circuits", "alias", "current", "--circuit=v1"}).out, "");
  const Outcome loaded = run({"circuits", "load", "v2"});
  EXPECT_EQ(loaded.ending.exit_code, 0) << loaded.err;
  EXPECT_THAT(loaded.out, ::testing::MatchesRegex("v2 ready [0-9a-f]{128}\n"));
  EXPECT_EQ(run({"circuits", "alias", "current", "--circuit=v2"}).out, "v1\n");
  const Outcome aliased = run({"circuits", "unload", "v2"});
  EXPECT_EQ(aliased.ending.exit_code, 2);
  EXPECT_THAT(aliased.err, HasSubstr("ALIAS_CONFLICT: "));
  const Outcome unknown = run({"circuits", "load", "../v1"});
  EXPECT_EQ(unknown.ending.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("REQUEST_INVALID: "));
  std::ofstream(circuits_.path() + "/bad.zkey") << "no key";
  const Outcome bad = run({"circuits", "load", "bad"});
  EXPECT_EQ(bad.ending.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad failed: bad.zkey: "));
  const auto list = nlohmann::json::parse(run({"circuits", "--json"}).out, nullptr, false);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[2]["id"], "v2");
  EXPECT_EQ(list[2]["aliases"], nlohmann::json::array({"current"}));
  const auto by_alias = server->MakeClient()->Prove(SpecOf("current"), circuits_.Wtns("v1", 4));
  ASSERT_TRUE(by_alias.ok()) << by_alias.status();
  EXPECT_EQ(by_alias->circuit(), "v2");

  server->Stop();
  server = std::make_unique<ServerProcess>(circuits_.path(),
                                           std::vector<std::string>{"--state_dir=" + state.path()});
  EXPECT_EQ(server->MakeClient()->GetCircuit("current")->id(), "v2") << "an alias outlives the process";
  EXPECT_EQ(run({"circuits", "alias", "current", "--remove"}).out, "v2\n");
  EXPECT_EQ(client::ErrorReason(server->MakeClient()->GetCircuit("current").status()), "CIRCUIT_UNKNOWN");
  server->Stop();
}

TEST_F(OperatorsTest, TheStatusIsATableAndJson) {
  Add("c", 6);
  ServerProcess server(circuits_.path());
  ASSERT_TRUE(Proves(server, "c"));
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "client");
    words.push_back("--target=" + server.admin());
    return Proofmill(words);
  };

  const Outcome table = run({"status"});
  EXPECT_EQ(table.ending.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("\nready\n"));
  EXPECT_THAT(table.out, HasSubstr("\nqueue: 0 high, 0 normal, 0 low, 0 running; places 0 of 256"));
  EXPECT_THAT(table.out, HasSubstr("\ndevice"));
  EXPECT_THAT(table.out, HasSubstr("\ncircuit"));
  const auto json = nlohmann::json::parse(run({"status", "--json"}).out, nullptr, false);
  EXPECT_EQ(json["ready"], true);
  EXPECT_EQ(json["draining"], false);
  EXPECT_EQ(json["listeners"]["data"], server.data());
  EXPECT_EQ(json["listeners"]["admin"], server.admin());
  EXPECT_EQ(json["listeners"]["metrics"], server.metrics());
  EXPECT_EQ(json["log_level"], "info");
  ASSERT_GE(json["devices"].size(), 1u);
  EXPECT_EQ(json["devices"][0]["up"], true);
  EXPECT_GT(json["devices"][0]["memory_bytes"]["keys"], 0);
  EXPECT_GT(json["uptime_seconds"], 0);
  ASSERT_EQ(json["circuits"].size(), 1u);
  EXPECT_EQ(json["circuits"][0]["state"], "ready");
  server.Stop();
}

TEST_F(OperatorsTest, TheLevelOfTheLogChangesWhileTheServiceRuns) {
  Add("c", 6);
  ServerProcess server(circuits_.path());
  const auto lines_of = [&](const std::string& event) {
    int lines = 0;
    for (const absl::string_view line : absl::StrSplit(server.process().Err(), '\n')) {
      lines += absl::StrContains(line, absl::StrCat("\"event\":\"", event, "\""));
    }
    return lines;
  };
  const auto set = [&](const std::string& level) {
    return Proofmill({"client", "log-level", level, "--target=" + server.admin()});
  };
  ASSERT_TRUE(Proves(server, "c", 1));
  EXPECT_EQ(lines_of("job_finished"), 0) << "told at debug only";

  EXPECT_EQ(set("debug").out, "info\n");
  ASSERT_TRUE(Proves(server, "c", 2));
  EXPECT_EQ(lines_of("job_finished"), 1);
  EXPECT_EQ(set("error").out, "debug\n");
  const int calls = lines_of("rpc");
  ASSERT_TRUE(Proves(server, "c", 3));
  EXPECT_EQ(lines_of("rpc"), calls);
  EXPECT_EQ(set("loud").ending.exit_code, 2);
  EXPECT_EQ(set("info").out, "error\n");
  EXPECT_EQ(lines_of("audit"), 3) << "each change is on record, whatever the level";
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
