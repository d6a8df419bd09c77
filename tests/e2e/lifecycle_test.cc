// Starting, losing clients, being looked at, and stopping under load.

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "clients/cpp/error.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proofmill/v1/prover.grpc.pb.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

engine::SynthOptions Circuit(uint32_t log2_domain) {
  engine::SynthOptions options;
  options.log2_domain = log2_domain;
  options.seed = log2_domain;
  return options;
}

v1::ProofSpec SpecOf(const std::string& circuit) {
  v1::ProofSpec spec;
  spec.set_circuit(circuit);
  return spec;
}

// Polls until `condition` holds; false if it does not within a minute.
template <typename Condition>
bool Eventually(Condition&& condition) {
  const absl::Time deadline = absl::Now() + absl::Minutes(1);
  while (!condition()) {
    if (absl::Now() > deadline) return false;
    absl::SleepFor(absl::Milliseconds(5));
  }
  return true;
}

TEST(LifecycleTest, AClientThatDisappearsTakesItsJobsAlong) {
  CircuitFolder circuits;
  circuits.Add("slow", Circuit(15));
  circuits.Add("small", Circuit(6));
  ServerProcess server(circuits.path());
  const TemporaryFolder folder;
  std::ofstream(folder.File("w.wtns"), std::ios::binary) << circuits.Wtns("slow", 1);
  std::vector<std::unique_ptr<Process>> clients;
  for (int i = 0; i < 4; ++i) {
    clients.push_back(std::make_unique<Process>(
        ProofmillPath(), std::vector<std::string>{
                             "client", "prove", "--target", server.data(), "--circuit", "slow",
                             "--deadline=5m", i % 2 == 0 ? "--unary" : "--stream", folder.File("w.wtns"),
                             folder.File(absl::StrCat("proof", i)), folder.File(absl::StrCat("public", i))}));
  }
  ASSERT_TRUE(Eventually([&] {
    return server.Metric("proofmill_queue_depth") == 3 && server.Metric("proofmill_proofs_in_flight") == 1;
  }));

  for (const auto& client : clients) client->Signal(SIGKILL);

  EXPECT_TRUE(Eventually([&] {
    return server.Metric("proofmill_queue_depth") == 0 && server.Metric("proofmill_proofs_in_flight") == 0;
  }));
  EXPECT_EQ(server.Metric("proofmill_jobs_dropped_total", "reason=\"cancelled\""), 4);
  EXPECT_EQ(server.Metric("proofmill_queue_witness_bytes"), 0);
  const auto result = server.MakeClient()->Prove(SpecOf("small"), circuits.Wtns("small", 1));
  EXPECT_TRUE(result.ok()) << result.status();
  server.Stop();
}

// Calls in a loop, without retries, until the service ends; counts what came.
class LoadClient {
 public:
  LoadClient(const std::string& target, const std::string& wtns)
      : stub_(v1::ProverService::NewStub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()))),
        wtns_(wtns) {
    thread_ = std::thread([this] { Run(); });
  }
  ~LoadClient() { thread_.join(); }
  void Join() {
    thread_.join();
    thread_ = std::thread([] {});
  }

  std::atomic<int> proofs{0};
  absl::Status last;  // read after Join()

 private:
  void Run() {
    while (true) {
      grpc::ClientContext context;
      context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Minutes(5)));
      v1::ProveRequest request;
      *request.mutable_spec() = SpecOf("small");
      request.mutable_groth16()->set_wtns(wtns_);
      v1::ProveResponse response;
      last = client::FromGrpc(stub_->Prove(&context, request, &response), context);
      if (!last.ok()) return;
      ++proofs;
    }
  }

  const std::unique_ptr<v1::ProverService::Stub> stub_;
  const std::string wtns_;
  std::thread thread_;
};

// Lines of the log that say that a Prove call ended with `code`.
int CallsInLog(const std::string& log, const std::string& code) {
  int calls = 0;
  for (const absl::string_view line : absl::StrSplit(log, '\n', absl::SkipEmpty())) {
    const auto entry = nlohmann::json::parse(std::string(line), nullptr, false);
    if (entry.is_discarded()) {
      ADD_FAILURE() << "not a JSON line: " << line;
      continue;
    }
    calls += entry.value("event", "") == "rpc" && entry.value("method", "") == "ProverService/Prove" &&
             entry.value("code", "") == code;
  }
  return calls;
}

TEST(LifecycleTest, SigtermUnderLoadAnswersEverythingThatWasAcceptedAndExitsWithZero) {
  CircuitFolder circuits;
  circuits.Add("small", Circuit(8));
  ServerProcess server(circuits.path(), {"--drain_delay=200ms"});
  std::vector<std::unique_ptr<LoadClient>> clients;
  for (uint64_t i = 0; i < 6; ++i) {
    clients.push_back(std::make_unique<LoadClient>(server.data(), circuits.Wtns("small", i + 1)));
  }
  ASSERT_TRUE(Eventually([&] {
    int proofs = 0;
    for (const auto& client : clients) proofs += client->proofs;
    return proofs >= 20;
  }));

  server.Stop();

  int proofs = 0;
  for (const auto& client : clients) {
    client->Join();
    proofs += client->proofs;
    // The service refused the call, or its transport did, before a handler saw it.
    const bool refused =
        client::ErrorReason(client->last) == "DRAINING" || client::ErrorReason(client->last).empty();
    EXPECT_TRUE(refused && client::IsRetryable(client->last)) << client->last;
  }
  const std::string log = server.process().Err();
  EXPECT_EQ(CallsInLog(log, "OK"), proofs) << "a proof was made and lost";
  EXPECT_EQ(CallsInLog(log, "CANCELLED") + CallsInLog(log, "INTERNAL"), 0) << log;
}

TEST(LifecycleTest, ClientsThatRetryNoticeNothingOfARestart) {
  CircuitFolder circuits;
  circuits.Add("small", Circuit(7));
  auto server = std::make_unique<ServerProcess>(circuits.path());
  const std::string address = server->data();
  std::atomic<bool> enough{false};
  std::atomic<int> proofs{0};
  std::vector<std::string> failures(4);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < failures.size(); ++i) {
    threads.emplace_back([&, i] {
      client::ClientOptions options;
      options.retry.attempts_max = 1000;
      const auto client = server->MakeClient(options);
      const std::string wtns = circuits.Wtns("small", i + 1);
      while (!enough && failures[i].empty()) {
        const auto result = client->Prove(SpecOf("small"), wtns);
        if (result.ok())
          ++proofs;
        else
          failures[i] = result.status().ToString();
      }
    });
  }
  EXPECT_TRUE(Eventually([&] { return proofs > 20; }));

  server->Stop();
  const int before = proofs;
  ServerProcess successor(circuits.path(), {"--listen=" + address});
  EXPECT_TRUE(Eventually([&] { return proofs > before + 20; }));
  enough = true;
  for (std::thread& thread : threads) thread.join();

  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  successor.Stop();
}

TEST(LifecycleTest, ASecondSignalEndsTheServiceAtOnce) {
  CircuitFolder circuits;
  circuits.Add("small", Circuit(6));
  ServerProcess server(circuits.path(), {"--drain_delay=10m"});

  server.process().Signal(SIGTERM);
  EXPECT_TRUE(Eventually([&] { return absl::StrContains(server.process().Err(), "\"event\":\"drain\""); }));
  server.process().Signal(SIGTERM);

  const auto ending = server.process().Wait(std::chrono::seconds(30));
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->exit_code, 128 + SIGTERM);
}

TEST(LifecycleTest, ATerminalThatClosesEndsTheServiceInOrder) {
  CircuitFolder circuits;
  circuits.Add("small", Circuit(6));
  ServerProcess server(circuits.path(), {"--drain_delay=0s"});

  server.process().Signal(SIGHUP);

  const auto ending = server.process().Wait(std::chrono::seconds(60));
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->exit_code, 0);
}

TEST(LifecycleTest, WhileItDrainsItStillServesButIsNotReady) {
  CircuitFolder circuits;
  circuits.Add("small", Circuit(6));
  ServerProcess server(circuits.path(), {"--drain_delay=3s"});
  const auto client = server.MakeClient();
  EXPECT_EQ(client->Health("").value(), client::HealthState::kServing);

  server.process().Signal(SIGTERM);

  EXPECT_TRUE(Eventually([&] {
    const auto health = client->Health("");
    return health.ok() && *health == client::HealthState::kNotServing;
  }));
  EXPECT_EQ(client->Health("live").value(), client::HealthState::kServing);
  EXPECT_TRUE(client->Prove(SpecOf("small"), circuits.Wtns("small", 1)).ok()) << "the drain delay serves on";
  server.ExpectCleanEnd();
}

TEST(LifecycleTest, OneBadKeyIsListedAsFailedAndTheOthersServe) {
  CircuitFolder circuits;
  circuits.Add("good", Circuit(6));
  circuits.Add("cut", Circuit(6));
  std::filesystem::resize_file(circuits.KeyPath("cut"),
                               std::filesystem::file_size(circuits.KeyPath("cut")) - 1);
  ServerProcess server(circuits.path());
  const auto client = server.MakeClient();

  const auto list = client->ListCircuits();

  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->size(), 2u);
  EXPECT_EQ(list->at(0).state(), v1::Circuit::STATE_FAILED);
  EXPECT_NE(list->at(0).failure(), "");
  EXPECT_EQ(list->at(1).state(), v1::Circuit::STATE_READY);
  EXPECT_TRUE(client->Prove(SpecOf("good"), circuits.Wtns("good", 1)).ok());
  const absl::Status status = client->Prove(SpecOf("cut"), circuits.Wtns("cut", 1)).status();
  EXPECT_EQ(client::ErrorReason(status), "CIRCUIT_FAILED") << status;
  server.Stop();
}

TEST(LifecycleTest, EveryMetricIsThereByName) {
  CircuitFolder circuits;
  circuits.Add("small", Circuit(6));
  ServerProcess server(circuits.path());
  ASSERT_TRUE(server.MakeClient()->Prove(SpecOf("small"), circuits.Wtns("small", 1)).ok());

  const std::string text = server.Scrape();

  // Name, type, and the labels that one of its samples must have.
  const std::vector<std::vector<std::string>> metrics = {
      {"proofmill_requests_total", "counter", "method=", "circuit=", "code="},
      {"proofmill_request_duration_seconds", "histogram", "method=", "circuit="},
      {"proofmill_queue_depth", "gauge", "priority="},
      {"proofmill_queue_witness_bytes", "gauge"},
      {"proofmill_queue_wait_seconds", "histogram", "priority="},
      {"proofmill_proof_stage_duration_seconds", "histogram", "system=", "stage="},
      {"proofmill_proofs_in_flight", "gauge", "device="},
      {"proofmill_jobs_dropped_total", "counter", "reason=\"queue_full\""},
      {"proofmill_jobs_dropped_total", "counter", "reason=\"expired\""},
      {"proofmill_jobs_dropped_total", "counter", "reason=\"cancelled\""},
      {"proofmill_jobs_dropped_total", "counter", "reason=\"draining\""},
      {"proofmill_device_up", "gauge", "device=", "gpu_uuid=", "backend="},
      {"proofmill_device_errors_total", "counter", "class=\"oom\""},
      {"proofmill_device_errors_total", "counter", "class=\"launch\""},
      {"proofmill_device_errors_total", "counter", "class=\"sticky\""},
      {"proofmill_device_errors_total", "counter", "class=\"timeout\""},
      {"proofmill_device_memory_bytes", "gauge", "device=", "kind=\"keys\""},
      {"proofmill_circuit_loaded", "gauge", "circuit=\"small\"", "system="},
      {"proofmill_build_info", "gauge", "version=", "revision=", "cuda="},
  };
  for (const std::vector<std::string>& metric : metrics) {
    EXPECT_TRUE(absl::StrContains(text, absl::StrCat("# TYPE ", metric[0], " ", metric[1], "\n")))
        << metric[0];
    EXPECT_TRUE(absl::StrContains(text, absl::StrCat("# HELP ", metric[0], " "))) << metric[0];
    bool found = false;
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      bool fits = absl::StartsWith(line, metric[0]);
      for (size_t i = 2; i < metric.size(); ++i) fits = fits && absl::StrContains(line, metric[i]);
      found = found || fits;
    }
    EXPECT_TRUE(found) << "no sample of " << metric[0] << " with " << (metric.size() > 2 ? metric[2] : "");
  }
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
