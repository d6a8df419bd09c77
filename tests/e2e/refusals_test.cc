// What the service refuses, and how: bad witnesses, a full queue, deadlines that cannot be met.

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "clients/cpp/error.h"
#include "gtest/gtest.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

constexpr int kFlood = 12;

// One call as it is, without the client's retries.
class RawProver {
 public:
  explicit RawProver(const std::string& target)
      : stub_(v1::ProverService::NewStub(grpc::CreateChannel(target, grpc::InsecureChannelCredentials()))) {}

  absl::Status Prove(const v1::ProofSpec& spec, const std::string& wtns, absl::Duration timeout,
                     v1::ProveResponse* response = nullptr) {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
    v1::ProveRequest request;
    *request.mutable_spec() = spec;
    request.mutable_groth16()->set_wtns(wtns);
    v1::ProveResponse unused;
    const grpc::Status status = stub_->Prove(&context, request, response != nullptr ? response : &unused);
    return client::FromGrpc(status, context);
  }

 private:
  const std::unique_ptr<v1::ProverService::Stub> stub_;
};

v1::ProofSpec SpecOf(const std::string& circuit) {
  v1::ProofSpec spec;
  spec.set_circuit(circuit);
  return spec;
}

class RefusalsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    circuits_ = new CircuitFolder;
    circuits_->Add("small", Synthetic(6, engine::SynthProfile::kDense, 1));
    circuits_->Add("slow", Synthetic(12, engine::SynthProfile::kDense, 1));
  }
  static void TearDownTestSuite() {
    delete circuits_;
    circuits_ = nullptr;
  }

  static CircuitFolder* circuits_;
};
CircuitFolder* RefusalsTest::circuits_ = nullptr;

TEST_F(RefusalsTest, AWitnessThatDoesNotSatisfyItsCircuitIsBlamedAndHarmsNobodyElse) {
  ServerProcess server(circuits_->path());
  RawProver prover(server.data());
  std::string wtns = circuits_->Wtns("small", 1);
  wtns[wtns.size() - 32] = static_cast<char>(wtns[wtns.size() - 32] ^ 1);

  const absl::Status status = prover.Prove(SpecOf("small"), wtns, absl::Minutes(1));

  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_EQ(client::ErrorReason(status), "WITNESS_UNSATISFIED") << status;
  EXPECT_FALSE(client::IsRetryable(status));
  EXPECT_TRUE(prover.Prove(SpecOf("small"), circuits_->Wtns("small", 1), absl::Minutes(1)).ok());
  EXPECT_EQ(server.Metric("proofmill_device_up"), 1) << "the device is not to blame";
  server.Stop();
}

TEST_F(RefusalsTest, RequestsThatCannotBeProvedAreToldApartByTheirReasons) {
  ServerProcess server(circuits_->path());
  RawProver prover(server.data());
  const std::string wtns = circuits_->Wtns("small", 1);
  v1::ProofSpec wrong_version = SpecOf("small");
  wrong_version.set_circuit_version(std::string(128, 'a'));
  std::string not_canonical = wtns;
  std::fill(not_canonical.end() - 32, not_canonical.end(), '\xff');
  struct Case {
    v1::ProofSpec spec;
    std::string wtns;
    absl::StatusCode code;
    std::string reason;
  };
  const Case cases[] = {
      {SpecOf("nobody"), wtns, absl::StatusCode::kNotFound, "CIRCUIT_UNKNOWN"},
      {SpecOf("../small"), wtns, absl::StatusCode::kInvalidArgument, "REQUEST_INVALID"},
      {wrong_version, wtns, absl::StatusCode::kFailedPrecondition, "VERSION_MISMATCH"},
      {SpecOf("small"), circuits_->Wtns("slow", 1), absl::StatusCode::kInvalidArgument, "WITNESS_LENGTH"},
      {SpecOf("small"), not_canonical, absl::StatusCode::kInvalidArgument, "WITNESS_NOT_CANONICAL"},
      {SpecOf("small"), "not a witness", absl::StatusCode::kInvalidArgument, "WITNESS_MALFORMED"},
  };

  for (const Case& one : cases) {
    const absl::Status status = prover.Prove(one.spec, one.wtns, absl::Minutes(1));

    EXPECT_EQ(status.code(), one.code) << one.reason << ": " << status;
    EXPECT_EQ(client::ErrorReason(status), one.reason) << status;
  }
  server.Stop();
}

TEST_F(RefusalsTest, AFullQueueRefusesAtOnceAndSaysWhenToComeBack) {
  ServerProcess server(circuits_->path(), {"--queue_jobs_max=1"});
  const std::string wtns = circuits_->Wtns("slow", 1);
  std::atomic<int> proved{0}, refused{0};
  std::vector<std::string> surprises(kFlood);
  std::vector<std::thread> threads;
  for (int i = 0; i < kFlood; ++i) {
    threads.emplace_back([&, i] {
      const absl::Status status = RawProver(server.data()).Prove(SpecOf("slow"), wtns, absl::Minutes(5));
      if (status.ok()) {
        ++proved;
      } else if (client::ErrorReason(status) == "QUEUE_FULL" && absl::IsResourceExhausted(status) &&
                 client::RetryDelay(status) > absl::ZeroDuration()) {
        ++refused;
      } else {
        surprises[static_cast<size_t>(i)] = status.ToString();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (const std::string& surprise : surprises) EXPECT_EQ(surprise, "");
  EXPECT_GE(proved, 1);
  EXPECT_GE(refused, 1) << "twelve came at once, one may run and one may wait";
  EXPECT_EQ(proved + refused, kFlood);
  EXPECT_EQ(server.Metric("proofmill_jobs_dropped_total", "reason=\"queue_full\""), refused);
  server.Stop();
}

TEST_F(RefusalsTest, ClientsThatComeBackWhenToldAreAllServedByAFullQueue) {
  ServerProcess server(circuits_->path(), {"--queue_jobs_max=1"});
  std::vector<std::string> failures(kFlood);
  std::vector<std::thread> threads;
  for (int i = 0; i < kFlood; ++i) {
    threads.emplace_back([&, i] {
      const uint64_t witness_seed = static_cast<uint64_t>(i) + 1;
      client::ProveOptions options;
      options.timeout = absl::Minutes(10);
      const auto result =
          server.MakeClient()->Prove(SpecOf("slow"), circuits_->Wtns("slow", witness_seed), options);
      if (!result.ok()) {
        failures[static_cast<size_t>(i)] = result.status().ToString();
        return;
      }
      const auto verdict =
          IsProofOf(*result, circuits_->vkey("slow"), circuits_->PublicSignals("slow", witness_seed));
      if (!verdict) failures[static_cast<size_t>(i)] = verdict.message();
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
  server.Stop();
}

TEST_F(RefusalsTest, ADeadlineThatTheQueueCannotMeetIsRefusedAtOnce) {
  ServerProcess server(circuits_->path());
  const std::string wtns = circuits_->Wtns("slow", 1);
  const auto client = server.MakeClient();
  RawProver prover(server.data());
  EXPECT_TRUE(prover.Prove(SpecOf("slow"), wtns, absl::Minutes(5)).ok()) << "teaches how long a proof takes";
  std::vector<std::thread> threads;
  std::atomic<int> proved{0};
  for (int i = 0; i < kFlood; ++i) {
    threads.emplace_back(
        [&] { proved += RawProver(server.data()).Prove(SpecOf("slow"), wtns, absl::Minutes(5)).ok(); });
  }
  while (server.Metric("proofmill_queue_depth") < kFlood / 2) absl::SleepFor(absl::Milliseconds(2));

  const auto circuit = client->GetCircuit("slow");
  const absl::Duration wait = circuit.ok() ? absl::Seconds(circuit->estimated_wait().seconds()) +
                                                 absl::Nanoseconds(circuit->estimated_wait().nanos())
                                           : absl::ZeroDuration();
  const absl::Status status = prover.Prove(SpecOf("slow"), wtns, wait / 2);
  for (std::thread& thread : threads) thread.join();

  EXPECT_GT(wait, absl::Milliseconds(20));
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_EQ(client::ErrorReason(status), "DEADLINE_UNREACHABLE")
      << status << ", half of the wait: " << wait / 2;
  EXPECT_EQ(proved, kFlood);
  server.Stop();
}

TEST_F(RefusalsTest, TinyDeadlinesUnderLoadEndTheirCallsAndNothingElse) {
  ServerProcess server(circuits_->path());
  const std::string wtns = circuits_->Wtns("small", 1);
  std::vector<std::thread> threads;
  std::atomic<int> surprises{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      RawProver prover(server.data());
      for (int j = 0; j < 100; ++j) {
        const absl::Status status = prover.Prove(SpecOf("small"), wtns, absl::Milliseconds(1 + (i + j) % 4));
        if (!status.ok() && !absl::IsDeadlineExceeded(status)) ++surprises;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(surprises, 0);
  EXPECT_TRUE(RawProver(server.data()).Prove(SpecOf("small"), wtns, absl::Minutes(1)).ok());
  EXPECT_EQ(server.Metric("proofmill_queue_depth"), 0);
  EXPECT_EQ(server.Metric("proofmill_queue_witness_bytes"), 0);
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
