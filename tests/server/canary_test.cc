// Canaries of an idle service, seen from outside: metrics, status, logs, health and the end of the process.

#include <atomic>
#include <cstdio>
#include <fstream>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "proofmill/v1/status.grpc.pb.h"
#include "server/run_server.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

using ::testing::HasSubstr;

std::string Proved(const std::string& circuit, const char* outcome = "proved") {
  return absl::StrCat(R"(proofmill_canary_proofs_total{circuit=")", circuit, R"(",device="cpu",outcome=")",
                      outcome, R"("})");
}
constexpr char kRunning[] = R"(proofmill_proofs_in_flight{device="cpu"})";
constexpr char kWaits[] = R"(proofmill_queue_wait_seconds_count{priority="normal"})";

// A device that makes bad proofs once it is told to.
class SpoiltRunner final : public engine::JobRunner {
 public:
  SpoiltRunner(std::unique_ptr<engine::JobRunner> device, const std::atomic<bool>& spoilt)
      : device_(std::move(device)), spoilt_(spoilt) {}
  engine::DeviceInfo info() const override { return device_->info(); }
  absl::Status Install(const engine::Circuit& circuit) override { return device_->Install(circuit); }
  void Remove(const engine::Circuit& circuit) override { device_->Remove(circuit); }
  engine::RunOutcome Run(const engine::Circuit& circuit, const engine::ProofInput& witness,
                         const engine::RunContext& context) override {
    return device_->Run(circuit, witness, context);
  }
  bool HasCanary(const engine::Circuit& circuit) const override { return device_->HasCanary(circuit); }
  engine::RunOutcome ProveCanary(const engine::Circuit& circuit, const engine::RunContext& context) override {
    engine::RunOutcome outcome = device_->ProveCanary(circuit, context);
    if (!spoilt_) return outcome;
    outcome.status = absl::InternalError("the proof of the canary witness does not verify");
    outcome.verdict = engine::BlameVerdict::kDevice;
    outcome.fault =
        engine::DeviceFault{.error_class = engine::DeviceErrorClass::kSelfCheck, .status = outcome.status};
    return outcome;
  }
  std::vector<engine::DeviceMemory> Memory() const override { return device_->Memory(); }

 private:
  const std::unique_ptr<engine::JobRunner> device_;
  const std::atomic<bool>& spoilt_;
};

// Both circuits have canaries, and are proved all the time while nobody wants anything.
class CanaryServiceTest : public ServiceTest {
 protected:
  void SetUp() override {
    for (const char* const circuit : {"small", "medium"}) {
      std::ofstream(CanaryPath(circuit), std::ios::binary) << Wtns(circuit);
    }
    StartServer([](Config& config) { config.canary_interval = absl::Milliseconds(5); });
  }
  void TearDown() override {
    ServiceTest::TearDown();
    for (const char* const circuit : {"small", "medium"}) std::remove(CanaryPath(circuit).c_str());
  }
  static std::string CanaryPath(const std::string& circuit) {
    return absl::StrCat(*folder_, "/", circuit, ".canary.wtns");
  }
  // Waits until a metric is at least `value`. Canaries are the rarer the longer they take, so on a busy
  // machine this may be long.
  ::testing::AssertionResult MetricReaches(const std::string& series, double value) const {
    const auto deadline = std::chrono::steady_clock::now() + 5 * kPatience;
    while (Metric(series) < value) {
      if (std::chrono::steady_clock::now() > deadline) {
        return ::testing::AssertionFailure() << series << " is " << Metric(series) << ", expected " << value;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return ::testing::AssertionSuccess();
  }
};

TEST_F(CanaryServiceTest, AnIdleServiceProvesThemAndTellsSo) {
  EXPECT_TRUE(MetricReaches(Proved("small"), 2));  // the first is of loading
  EXPECT_TRUE(MetricReaches(Proved("medium"), 2));
  EXPECT_EQ(Metric(Proved("small", "failed")), 0);
  EXPECT_EQ(Metric(kWaits), 0) << "they are no jobs";
  EXPECT_EQ(Metric(kRunning), 0);
  const double last = Metric(R"(proofmill_device_last_proof_timestamp_seconds{device="cpu"})");
  EXPECT_NEAR(last, static_cast<double>(absl::ToUnixSeconds(absl::Now())), 60);

  const auto admin = grpc::CreateChannel(server_->admin_address(), grpc::InsecureChannelCredentials());
  v1::GetStatusResponse status;
  ASSERT_TRUE(v1::StatusService::NewStub(admin)->GetStatus(ContextFor().get(), {}, &status).ok());
  ASSERT_EQ(status.devices_size(), 1);
  EXPECT_GE(static_cast<double>(status.devices(0).last_proof_time().seconds()) + 1, last);
  EXPECT_EQ(status.devices(0).jobs_running(), 0u);
  server_.reset();
  EXPECT_THAT(log_text_.str(), HasSubstr(R"("event":"canary_proved","device":"cpu","circuit":"medium")"));
}

TEST_F(CanaryServiceTest, ABusyServiceProvesNone) {
  gate_.Close();
  auto first = std::async(std::launch::async, [this] { return ProveSmall(); });
  ASSERT_TRUE(MetricBecomes(kRunning, 1)) << "a canary at the gate made way for the job";
  const double small = Metric(Proved("small")), medium = Metric(Proved("medium"));
  std::this_thread::sleep_for(
      std::chrono::milliseconds(100));  // what is to be shown takes time to not happen
  EXPECT_EQ(Metric(Proved("small")) + Metric(Proved("medium")), small + medium);
  gate_.Open();
  EXPECT_TRUE(first.get().status.ok());
  EXPECT_TRUE(MetricReaches(Proved("small"), small + 1)) << "and then it goes on";
}

TEST_F(CanaryServiceTest, EveryRequestIsAnsweredBetweenThem) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    EXPECT_TRUE(ProveSmall(seed).status.ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(seed % 12));
  }
  EXPECT_EQ(Metric(Proved("small", "failed")), 0) << "a canary that was cancelled has not failed";
  EXPECT_TRUE(server_->engine().health().status().ready);
}

TEST_F(CanaryServiceTest, AnUnloadedCircuitHasNone) {
  ASSERT_TRUE(server_->engine().circuits().Unload("small").ok());
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (server_->engine().circuits().Find("small") != nullptr) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double small = Metric(Proved("small"));
  EXPECT_TRUE(MetricReaches(Proved("medium"), Metric(Proved("medium")) + 2));
  EXPECT_EQ(Metric(Proved("small")), small);
}

TEST_F(CanaryServiceTest, ADrainDoesNotWaitForTheOneThatRuns) {
  gate_.Close();
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  Drain();  // or the test hangs
  EXPECT_TRUE(gate_.AwaitWaiting(0));
}

TEST_F(CanaryServiceTest, WithoutThemNoneIsProved) {
  StartServer([](Config& config) { config.canary_interval = absl::ZeroDuration(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(Metric(Proved("small")), 1) << "that of loading";
}

TEST_F(CanaryServiceTest, ADeviceThatWentBadEndsTheServiceWithoutARequest) {
  std::atomic<bool> spoilt{false};
  Server::Runners runners;
  for (auto& runner : MakeRunners()) {
    runners.push_back(std::make_unique<SpoiltRunner>(std::move(runner), spoilt));
  }
  server_.reset();
  Config config;
  config.circuits = *folder_;
  config.allow_insecure_keys = true;
  config.listen = config.admin_listen = config.metrics_listen = "127.0.0.1:0";
  config.canary_interval = absl::Milliseconds(5);
  StopRequest stop;
  auto server = Server::Start(config, std::move(runners), *log_);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  ServeEnd end = ServeEnd::kStopped;
  std::thread main([&] { end = ServeUntilStopped(*server_, stop); });
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!server_->engine().health().status().ready && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(server_->engine().health().status().ready);

  spoilt = true;
  main.join();

  EXPECT_EQ(end, ServeEnd::kNoDeviceLeft);
  EXPECT_FALSE(server_->engine().health().status().ready);
  EXPECT_EQ(Metric(R"(proofmill_device_up{backend="cpu",device="cpu",gpu_uuid=""})"), 0);
  EXPECT_EQ(Metric(R"(proofmill_device_errors_total{class="self_check",device="cpu"})"), 3);
  EXPECT_EQ(Metric(R"(proofmill_self_check_failures_total{verdict="device"})"), 3);
  server_.reset();
}

}  // namespace
}  // namespace proofmill::server
