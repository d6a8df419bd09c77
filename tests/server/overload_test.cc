// What happens when there is too much, too little time, or nobody to answer to any more.

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/formats/file.h"
#include "engine/formats/wtns.h"
#include "server/run_server.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

constexpr char kDepth[] = R"(proofmill_queue_depth{priority="normal"})";

class OverloadTest : public ServiceTest {
 protected:
  std::future<Outcome> ProveAsync(uint64_t seed) {
    return std::async(std::launch::async, [this, seed] { return ProveSmall(seed); });
  }
};

TEST_F(OverloadTest, AFullQueueRefusesAtOnceAndEverythingTakenIsAnswered) {
  StartServer([](Config& config) { config.queue_jobs_max = 2; });
  gate_.Close();
  auto running = ProveAsync(0);
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  auto second = ProveAsync(1), third = ProveAsync(2);
  ASSERT_TRUE(MetricBecomes(kDepth, 2));

  for (int i = 0; i < 20; ++i) {
    const Outcome refused = ProveSmall(3);
    EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(refused.reason, "QUEUE_FULL");
    EXPECT_TRUE(refused.has_retry_info);
    EXPECT_GT(std::atoi(refused.pushback.c_str()), 0) << refused.pushback;
  }
  EXPECT_GE(Metric(R"(proofmill_jobs_dropped_total{reason="queue_full"})"), 20);
  gate_.Open();
  EXPECT_TRUE(running.get().status.ok());
  EXPECT_TRUE(second.get().status.ok());
  EXPECT_TRUE(third.get().status.ok());
  EXPECT_TRUE(MetricBecomes(kDepth, 0));
}

TEST_F(OverloadTest, EveryWayInLeadsThroughTheSameGate) {
  StartServer([](Config& config) { config.queue_jobs_max = 1; });
  const std::string wtns = Wtns("small");
  v1::CreateUploadRequest create;
  create.set_circuit("small");
  create.set_size_bytes(wtns.size());
  v1::CreateUploadResponse upload;
  ASSERT_TRUE(uploads_->CreateUpload(ContextFor().get(), create, &upload).ok());
  v1::WriteUploadRequest write;
  write.set_name(upload.upload().name());
  write.set_data(wtns);
  v1::WriteUploadResponse written;
  ASSERT_TRUE(uploads_->WriteUpload(ContextFor().get(), write, &written).ok());
  gate_.Close();
  auto running = ProveAsync(0);
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  auto queued = ProveAsync(1);
  ASSERT_TRUE(MetricBecomes(kDepth, 1));

  EXPECT_EQ(Prove(Request(wtns)).reason, "QUEUE_FULL");
  v1::ProveRequest by_upload = Request("");
  by_upload.mutable_groth16()->set_upload(upload.upload().name());
  EXPECT_EQ(Prove(by_upload).reason, "QUEUE_FULL");

  v1::CreateJobRequest job;
  *job.mutable_request() = Request(wtns);
  v1::CreateJobResponse no_job;
  const auto of_job = ContextFor();
  EXPECT_EQ(OutcomeOf(jobs_->CreateJob(of_job.get(), job, &no_job), *of_job).reason, "QUEUE_FULL");

  const auto of_stream = ContextFor();
  const auto stream = prover_->ProveStream(of_stream.get());
  v1::ProveStreamRequest header;
  header.mutable_header()->mutable_spec()->set_circuit("small");
  header.mutable_header()->set_size_bytes(wtns.size());
  stream->Write(header);
  v1::ProveStreamResponse admitted;
  EXPECT_FALSE(stream->Read(&admitted));
  EXPECT_EQ(OutcomeOf(stream->Finish(), *of_stream).reason, "QUEUE_FULL");

  const auto of_batch = ContextFor();
  const auto batch = prover_->ProveBatch(of_batch.get());
  v1::ProveBatchRequest item;
  item.set_item_id("item");
  *item.mutable_request() = Request(wtns);
  ASSERT_TRUE(batch->Write(item));
  v1::ProveBatchResponse answer;
  ASSERT_TRUE(batch->Read(&answer));
  EXPECT_EQ(answer.error().reason(), "QUEUE_FULL");
  batch->WritesDone();
  EXPECT_TRUE(batch->Finish().ok());

  gate_.Open();
  EXPECT_TRUE(running.get().status.ok());
  EXPECT_TRUE(queued.get().status.ok());
}

TEST_F(OverloadTest, TheBytesOfWaitingWitnessesAreBoundedToo) {
  StartServer([](Config& config) { config.queue_witness_bytes_max.bytes = 2 * 32908 + 1000; });
  gate_.Close();
  const std::string wtns = Wtns("medium");
  auto first = std::async(std::launch::async, [&] { return Prove(Request(wtns, "medium")); });
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  auto second = std::async(std::launch::async, [&] { return Prove(Request(wtns, "medium")); });
  ASSERT_TRUE(MetricBecomes(kDepth, 1));
  EXPECT_EQ(Prove(Request(wtns, "medium")).reason, "QUEUE_FULL");
  gate_.Open();
  EXPECT_TRUE(first.get().status.ok());
  EXPECT_TRUE(second.get().status.ok());
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(OverloadTest, AShortDeadlineEndsTheCallAndFreesTheDevice) {
  gate_.Close();
  const Outcome outcome = Prove(Request(Wtns("small")), nullptr, std::chrono::milliseconds(100));
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(gate_.AwaitWaiting(0)) << "the job has left the device, though the gate is closed";
  EXPECT_TRUE(MetricBecomes(R"(proofmill_proofs_in_flight{device="cpu"})", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(OverloadTest, TheServiceEndsACallThatHasNoDeadlineOfItsOwn) {
  StartServer([](Config& config) { config.deadline_max = absl::Milliseconds(100); });
  gate_.Close();
  const Outcome outcome = ProveSmall();
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(outcome.reason, "DEADLINE_EXPIRED");
}

TEST_F(OverloadTest, AClientThatDisappearsTakesItsJobAlong) {
  gate_.Close();
  auto running = ProveAsync(0);
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  grpc::ClientContext context;
  auto queued = std::async(std::launch::async, [&] {
    v1::ProveResponse response;
    return prover_->Prove(&context, Request(Wtns("small", 1)), &response).error_code();
  });
  ASSERT_TRUE(MetricBecomes(kDepth, 1));
  context.TryCancel();
  EXPECT_EQ(queued.get(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(MetricBecomes(kDepth, 0));
  EXPECT_TRUE(MetricBecomes(R"(proofmill_jobs_dropped_total{reason="cancelled"})", 1));
  gate_.Open();
  EXPECT_TRUE(running.get().status.ok());
}

TEST_F(OverloadTest, AClosedConnectionIsNoticedWhileTheJobRuns) {
  gate_.Close();
  {
    auto channel = MakeChannel();
    const auto stub = v1::ProverService::NewStub(channel);
    grpc::ClientContext context;
    auto call = std::async(std::launch::async, [&] {
      v1::ProveResponse response;
      return stub->Prove(&context, Request(Wtns("small")), &response).ok();
    });
    ASSERT_TRUE(gate_.AwaitWaiting(1));
    context.TryCancel();
    EXPECT_FALSE(call.get());
  }
  EXPECT_TRUE(gate_.AwaitWaiting(0));
  gate_.Open();
  EXPECT_TRUE(ProveSmall().status.ok()) << "the device is free again";
}

// Many calls whose deadline passes anywhere on their way: what ends first, the job or the call, differs each
// time.
TEST_F(OverloadTest, TinyDeadlinesUnderLoadEndTheirCallsAndNothingElse) {
  const std::string wtns = Wtns("small");
  std::atomic<int> answered{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 8; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const std::chrono::milliseconds timeout(1 + (i + t) % 4);
        const auto context = ContextFor(timeout);
        if (i % 2 == 0) {
          v1::ProveResponse response;
          prover_->Prove(context.get(), Request(wtns), &response).ok();
        } else {
          auto stream = prover_->ProveStream(context.get());
          v1::ProveStreamRequest request;
          request.mutable_header()->mutable_spec()->set_circuit("small");
          request.mutable_header()->set_size_bytes(wtns.size());
          v1::ProveStreamResponse response;
          if (stream->Write(request) && stream->Read(&response)) {
            request.mutable_chunk()->set_data(wtns);
            stream->Write(request);
            while (stream->Read(&response)) {
            }
          }
          stream->Finish().ok();
        }
        ++answered;
      }
    });
  }
  for (auto& client : clients) client.join();

  EXPECT_EQ(answered, 8 * 60);
  EXPECT_TRUE(MetricBecomes(kDepth, 0));
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
  EXPECT_TRUE(MetricBecomes(R"(proofmill_proofs_in_flight{device="cpu"})", 0));
  EXPECT_TRUE(ProveSmall().status.ok());
}

TEST_F(OverloadTest, VerifyIsBoundedAndNeverInTheWayOfHealth) {
  StartServer([](Config& config) { config.verify_queue_max = 1; });
  v1::ProveResponse proof;
  ASSERT_TRUE(Prove(Request(Wtns("small")), &proof).status.ok());
  std::atomic<int> valid{0}, refused{0}, other{0};
  std::vector<std::thread> clients;
  for (int t = 0; t < 8; ++t) {
    clients.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        v1::VerifyRequest request;
        request.set_circuit("small");
        *request.mutable_groth16()->mutable_proof() = proof.result().groth16();
        *request.mutable_groth16()->mutable_public_signals() = proof.result().public_signals();
        v1::VerifyResponse response;
        const auto context = ContextFor();
        const Outcome outcome = OutcomeOf(prover_->Verify(context.get(), request, &response), *context);
        if (response.valid()) {
          ++valid;
        } else if (outcome.reason == "QUEUE_FULL" && outcome.has_retry_info) {
          ++refused;
        } else {
          ++other;
        }
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_GT(valid, 0);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(valid + refused, 160);
  EXPECT_EQ(Metric("proofmill_verify_queue_depth"), 0);
}

TEST_F(OverloadTest, DrainAnswersWhatWasTakenAndRefusesTheRest) {
  gate_.Close();
  auto running = ProveAsync(0);
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  auto queued = ProveAsync(1);
  ASSERT_TRUE(MetricBecomes(kDepth, 1));
  std::future<Outcome> during_the_delay;
  Outcome late;
  int waits = 0;
  server_->Drain([&](absl::Duration) {
    if (++waits == 1) {
      during_the_delay = ProveAsync(2);
      EXPECT_TRUE(MetricBecomes(kDepth, 2)) << "not ready any more, but still serving";
    } else {
      late = ProveSmall(3);
      gate_.Open();
    }
  });
  EXPECT_EQ(waits, 2);
  EXPECT_EQ(late.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(late.reason, "DRAINING");
  EXPECT_TRUE(running.get().status.ok());
  EXPECT_TRUE(queued.get().status.ok());
  EXPECT_TRUE(during_the_delay.get().status.ok());
}

TEST_F(OverloadTest, DrainEndsStreamsThatCanComeToNothingAndDoesNotWaitForThem) {
  StartServer([](Config& config) { config.shutdown_grace = absl::Minutes(10); });
  const auto context = ContextFor();
  auto stream = prover_->ProveStream(context.get());
  v1::ProveStreamRequest request;
  request.mutable_header()->mutable_spec()->set_circuit("small");
  request.mutable_header()->set_size_bytes(Wtns("small").size());
  stream->Write(request);
  v1::ProveStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));

  const auto start = std::chrono::steady_clock::now();
  Drain();
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPatience);
  EXPECT_FALSE(stream->Read(&response));
  const Outcome outcome = OutcomeOf(stream->Finish(), *context);
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(outcome.reason, "DRAINING");
}

// A device that is lost with its first job.
class LostRunner final : public engine::JobRunner {
 public:
  explicit LostRunner(std::unique_ptr<engine::JobRunner> device) : device_(std::move(device)) {}
  engine::DeviceInfo info() const override { return device_->info(); }
  absl::Status Install(const engine::Circuit& circuit) override { return device_->Install(circuit); }
  void Remove(const engine::Circuit& circuit) override { device_->Remove(circuit); }
  engine::RunOutcome Run(const engine::Circuit&, const engine::ProofInput&,
                         const engine::RunContext&) override {
    engine::RunOutcome outcome;
    outcome.status =
        engine::WithReason(absl::InternalError("the device is gone"), engine::ErrorReason::kDeviceFault);
    outcome.fault = engine::DeviceFault{
        .error_class = engine::DeviceErrorClass::kSticky, .status = outcome.status, .lost = true};
    return outcome;
  }
  bool HasCanary(const engine::Circuit&) const override { return false; }
  engine::RunOutcome ProveCanary(const engine::Circuit& circuit, const engine::RunContext& context) override {
    return device_->ProveCanary(circuit, context);
  }
  std::vector<engine::DeviceMemory> Memory() const override { return {}; }

 private:
  const std::unique_ptr<engine::JobRunner> device_;
};

TEST_F(OverloadTest, WithoutADeviceTheServiceEndsByItself) {
  Server::Runners lost;
  for (auto& runner : MakeRunners()) lost.push_back(std::make_unique<LostRunner>(std::move(runner)));
  server_.reset();
  Config config;
  config.circuits = *folder_;
  config.allow_insecure_keys = true;
  config.listen = config.admin_listen = config.metrics_listen = "127.0.0.1:0";
  StopRequest stop;
  auto server = Server::Start(config, std::move(lost), *log_);
  ASSERT_TRUE(server.ok()) << server.status();
  server_ = *std::move(server);
  ServeEnd end = ServeEnd::kStopped;
  std::thread main([&] { end = ServeUntilStopped(*server_, stop); });
  ASSERT_TRUE(MetricBecomes(R"(proofmill_circuit_loaded{circuit="small",system="groth16"})", 1));
  prover_ = v1::ProverService::NewStub(MakeChannel());

  const Outcome last = ProveSmall();
  main.join();
  const Outcome refused = ProveSmall();

  EXPECT_EQ(last.reason, "DEVICE_FAULT");
  EXPECT_EQ(end, ServeEnd::kNoDeviceLeft);
  EXPECT_EQ(refused.reason, "NO_DEVICE");
  EXPECT_EQ(Metric(R"(proofmill_device_up{backend="cpu",device="cpu",gpu_uuid=""})"), 0);
  server_.reset();
}

TEST_F(OverloadTest, AGreedyTenantThatSendsOnlyBadWitnessesDoesNotHoldUpAModestOne) {
  StartServer([](Config& config) { config.queue_jobs_max = 20; });
  // The names of tenants come from certificates, which this channel has not; so by the engine's own door.
  std::string bad = Wtns("small");
  bad[bad.size() - 32] = static_cast<char>(bad[bad.size() - 32] ^ 1);
  const auto submit = [&](const std::string& tenant, const std::string& wtns, engine::ProveCallback done) {
    engine::ProveRequest request;
    request.circuit = "small";
    const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(wtns.data()), wtns.size());
    request.witness = *engine::ReadWtns(engine::MemorySource("witness", bytes), kSmallWires);
    request.tenant = tenant;
    return server_->engine().Submit(std::move(request), std::move(done)).status();
  };
  gate_.Close();
  std::atomic<int> blamed{0}, refused{0};
  for (int i = 0; i < 40; ++i) {
    const absl::Status status = submit("greedy", bad, [&](const absl::StatusOr<engine::ProveResult>& result) {
      if (engine::GetReason(result.status()) == engine::ErrorReason::kWitnessUnsatisfied) ++blamed;
    });
    if (engine::GetReason(status) == engine::ErrorReason::kQuotaExceeded) {
      EXPECT_TRUE(engine::GetRetryDelay(status).has_value());
      ++refused;
    }
  }
  EXPECT_GT(refused, 0) << "some places are left for others";
  std::atomic<int> blamed_before{-1};
  std::promise<absl::Status> modest;
  ASSERT_TRUE(submit("modest", Wtns("small"), [&](const absl::StatusOr<engine::ProveResult>& result) {
                blamed_before = blamed.load();
                modest.set_value(result.status());
              }).ok());
  gate_.Open();

  EXPECT_TRUE(modest.get_future().get().ok());
  EXPECT_LE(blamed_before, 3) << "it is next, not behind all of them";
  EXPECT_TRUE(server_->engine().WaitUntilIdle(std::chrono::steady_clock::now() + kPatience));
}

TEST_F(OverloadTest, ATraceIsFoundInTheLogAndInTheTrailers) {
  const auto context = ContextFor();
  context->AddMetadata("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  v1::ProveResponse response;
  ASSERT_TRUE(prover_->Prove(context.get(), Request(Wtns("small")), &response).ok());

  const auto trailer = context->GetServerTrailingMetadata().find("trace-id");
  ASSERT_NE(trailer, context->GetServerTrailingMetadata().end());
  EXPECT_EQ(std::string(trailer->second.data(), trailer->second.size()), "4bf92f3577b34da6a3ce929d0e0e4736");
  server_.reset();
  EXPECT_NE(log_text_.str().find(R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736")"), std::string::npos);
}

TEST_F(OverloadTest, WhatDoesNotEndWithinTheGraceIsCut) {
  StartServer([](Config& config) { config.shutdown_grace = absl::Milliseconds(100); });
  gate_.Close();
  auto stuck = ProveAsync(0);
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  Drain();
  const Outcome cut = stuck.get();
  EXPECT_EQ(cut.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(cut.reason, "DRAINING") << "it was not the client who gave up";
}

}  // namespace
}  // namespace proofmill::server
