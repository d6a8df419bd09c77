#include "clients/cpp/client.h"

#include <memory>
#include <set>
#include <string>

#include "absl/time/clock.h"
#include "clients/cpp/error.h"
#include "gtest/gtest.h"
#include "tests/clients/fake_service.h"

namespace proofmill::client {
namespace {

using grpc::StatusCode;

std::string SomeWitness(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 + i / 251);
  return bytes;
}

class ClientTest : public testing::Test {
 protected:
  std::unique_ptr<Client> MakeClient() {
    ClientOptions options = options_;
    options.target = service_.target();
    options.retry.backoff_first = absl::Milliseconds(1);
    return Client::Create(options).value();
  }

  static v1::ProofSpec Spec() {
    v1::ProofSpec spec;
    spec.set_circuit("c");
    return spec;
  }

  static ProveOptions Over(Transfer transfer) {
    ProveOptions options;
    options.timeout = absl::Seconds(20);
    options.transfer = transfer;
    return options;
  }

  FakeService service_;
  ClientOptions options_;
};

TEST_F(ClientTest, TheWitnessArrivesWholeOverEveryWay) {
  const std::unique_ptr<Client> client = MakeClient();
  const std::string wtns = SomeWitness(12'345);

  for (const Transfer transfer : {Transfer::kUnary, Transfer::kStream, Transfer::kUpload}) {
    service_.proved.clear();
    const absl::StatusOr<v1::ProofResult> result = client->Prove(Spec(), wtns, Over(transfer));

    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(service_.proved, wtns);
  }
}

TEST_F(ClientTest, AFullQueueIsTriedAgainNoSoonerThanTheServiceSaysAndUnderOneRequestId) {
  service_.on_attempt = [](int attempt, grpc::ServerContext&) {
    return attempt < 3 ? ServiceError(StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", 50) : grpc::Status::OK;
  };
  const std::unique_ptr<Client> client = MakeClient();
  const absl::Time start = absl::Now();

  const absl::StatusOr<v1::ProofResult> result = client->Prove(Spec(), "w", Over(Transfer::kUnary));

  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(150));
  EXPECT_EQ(service_.request_ids.size(), 4u);
  EXPECT_EQ(std::set<std::string>(service_.request_ids.begin(), service_.request_ids.end()).size(), 1u);
  EXPECT_FALSE(service_.request_ids.front().empty());
}

TEST_F(ClientTest, EveryProofHasARequestIdOfItsOwnUnlessTheCallerChoosesOne) {
  const std::unique_ptr<Client> client = MakeClient();
  v1::ProofSpec named = Spec();
  named.set_request_id("mine");

  ASSERT_TRUE(client->Prove(Spec(), "w", Over(Transfer::kUnary)).ok());
  ASSERT_TRUE(client->Prove(Spec(), "w", Over(Transfer::kUnary)).ok());
  ASSERT_TRUE(client->Prove(named, "w", Over(Transfer::kUnary)).ok());

  EXPECT_NE(service_.request_ids[0], service_.request_ids[1]);
  EXPECT_EQ(service_.request_ids[2], "mine");
}

TEST_F(ClientTest, ThePushbackTrailerAloneIsAdviceToo) {
  service_.on_attempt = [](int attempt, grpc::ServerContext& context) {
    if (attempt > 0) return grpc::Status::OK;
    context.AddTrailingMetadata("grpc-retry-pushback-ms", "80");
    return grpc::Status(StatusCode::RESOURCE_EXHAUSTED, "full");
  };
  const std::unique_ptr<Client> client = MakeClient();
  const absl::Time start = absl::Now();

  ASSERT_TRUE(client->Prove(Spec(), "w", Over(Transfer::kUnary)).ok());
  EXPECT_GE(absl::Now() - start, absl::Milliseconds(80));
}

TEST_F(ClientTest, ANegativePushbackForbidsToTryAgain) {
  service_.on_attempt = [](int, grpc::ServerContext& context) {
    context.AddTrailingMetadata("grpc-retry-pushback-ms", "-1");
    return grpc::Status(StatusCode::UNAVAILABLE, "go away");
  };
  const std::unique_ptr<Client> client = MakeClient();

  EXPECT_TRUE(absl::IsUnavailable(client->Prove(Spec(), "w", Over(Transfer::kUnary)).status()));
  EXPECT_EQ(service_.request_ids.size(), 1u);
}

TEST_F(ClientTest, AnErrorThatRetryingCannotHelpComesBackAtOnceWithItsReason) {
  service_.on_attempt = [](int, grpc::ServerContext&) {
    return ServiceError(StatusCode::INVALID_ARGUMENT, "WITNESS_UNSATISFIED");
  };
  const std::unique_ptr<Client> client = MakeClient();

  for (const Transfer transfer : {Transfer::kUnary, Transfer::kStream, Transfer::kUpload}) {
    service_.request_ids.clear();
    const absl::Status status = client->Prove(Spec(), "w", Over(transfer)).status();

    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_EQ(ErrorReason(status), "WITNESS_UNSATISFIED");
    EXPECT_EQ(service_.request_ids.size(), 1u);
  }
}

TEST_F(ClientTest, TheLastRefusalComesBackWhenTheTimeIsUp) {
  service_.on_attempt = [](int, grpc::ServerContext&) {
    return ServiceError(StatusCode::RESOURCE_EXHAUSTED, "QUEUE_FULL", 30'000);
  };
  const std::unique_ptr<Client> client = MakeClient();
  const ProveOptions options = Over(Transfer::kUnary);  // 20 s: the advice leads past it

  const absl::Status status = client->Prove(Spec(), "w", options).status();

  EXPECT_EQ(ErrorReason(status), "QUEUE_FULL") << status;
  EXPECT_EQ(RetryDelay(status), absl::Seconds(30));
}

TEST_F(ClientTest, ABrokenStreamGoesOnWhereItStopped) {
  service_.break_stream = 0;
  service_.break_after_bytes = 5'000;
  const std::unique_ptr<Client> client = MakeClient();
  const std::string wtns = SomeWitness(12'345);

  const absl::StatusOr<v1::ProofResult> result = client->Prove(Spec(), wtns, Over(Transfer::kStream));

  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(service_.first_offsets, (std::vector<uint64_t>{0, 5'000}));
  EXPECT_EQ(service_.uploads_created, 1);
  EXPECT_EQ(service_.proved, wtns);
}

TEST_F(ClientTest, AnUploadWhoseAnswerWasLostGoesOnAfterAskingHowFarItIs) {
  service_.lose_write_answer = 3;
  const std::unique_ptr<Client> client = MakeClient();
  const std::string wtns = SomeWitness(9'999);

  const absl::StatusOr<v1::ProofResult> result = client->Prove(Spec(), wtns, Over(Transfer::kUpload));

  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(service_.writes, 10) << "no piece was sent twice";
  EXPECT_EQ(service_.uploads_created, 1);
  EXPECT_EQ(service_.proved, wtns);
}

TEST_F(ClientTest, AnUploadThatTheServiceHasLostBeginsAnew) {
  service_.break_stream = 0;
  service_.break_after_bytes = 3'000;
  service_.on_attempt = [this](int attempt, grpc::ServerContext&) {
    if (attempt == 1) service_.uploads.clear();
    return grpc::Status::OK;
  };
  const std::unique_ptr<Client> client = MakeClient();
  const std::string wtns = SomeWitness(7'000);

  const absl::StatusOr<v1::ProofResult> result = client->Prove(Spec(), wtns, Over(Transfer::kStream));

  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(service_.uploads_created, 2);
  EXPECT_EQ(service_.proved, wtns);
}

TEST_F(ClientTest, AWitnessAboveTheMessageLimitOfTheServiceIsStreamed) {
  options_.unary_bytes_max = 8 << 20;
  const std::unique_ptr<Client> client = MakeClient();
  const std::string wtns = SomeWitness(2 << 20);

  const absl::StatusOr<v1::ProofResult> result = client->Prove(Spec(), wtns, Over(Transfer::kAuto));

  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(service_.first_offsets.size(), 1u);
  EXPECT_EQ(service_.proved, wtns);
}

TEST_F(ClientTest, ALargeWitnessIsStreamedFromTheStart) {
  options_.unary_bytes_max = 1'000;
  const std::unique_ptr<Client> client = MakeClient();

  ASSERT_TRUE(client->Prove(Spec(), SomeWitness(1'000), Over(Transfer::kAuto)).ok());
  EXPECT_EQ(service_.first_offsets.size(), 0u);
  ASSERT_TRUE(client->Prove(Spec(), SomeWitness(1'001), Over(Transfer::kAuto)).ok());
  EXPECT_EQ(service_.first_offsets.size(), 1u);
}

// W8: as if Protocol Buffers stopped at a kilobyte and not at 2 GiB.
TEST_F(ClientTest, AWitnessBeyondAnyMessageIsStreamedOrRefusedWithTheLimitBeforeItIsSent) {
  options_.message_bytes_max = 1'000;
  const std::unique_ptr<Client> client = MakeClient();
  const std::string fits = SomeWitness(1'000), larger = SomeWitness(1'001);

  ASSERT_TRUE(client->Prove(Spec(), fits, Over(Transfer::kUnary)).ok());
  ASSERT_TRUE(client->Prove(Spec(), fits, Over(Transfer::kAuto)).ok());
  EXPECT_EQ(service_.first_offsets.size(), 0u);
  ASSERT_TRUE(client->Prove(Spec(), larger, Over(Transfer::kAuto)).ok());
  EXPECT_EQ(service_.first_offsets.size(), 1u);
  EXPECT_EQ(service_.proved, larger);

  const size_t calls = service_.request_ids.size();
  const absl::Status refused = client->Prove(Spec(), larger, Over(Transfer::kUnary)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(ErrorReason(refused), "MESSAGE_TOO_LARGE");
  EXPECT_EQ(refused.message(),
            "expected at most 1000 bytes for one message, got a witness of 1001; a stream and an upload take "
            "larger ones");
  EXPECT_EQ(service_.request_ids.size(), calls) << "nothing was sent";
}

TEST_F(ClientTest, ProgressTellsOfSendingAndOfRetries) {
  service_.on_attempt = [](int attempt, grpc::ServerContext&) {
    return attempt == 0 ? ServiceError(StatusCode::UNAVAILABLE, "CIRCUIT_LOADING", 20) : grpc::Status::OK;
  };
  const std::unique_ptr<Client> client = MakeClient();
  uint64_t sent = 0;
  std::string reason;
  ProveOptions options = Over(Transfer::kStream);
  options.on_progress = [&](const Progress& progress) {
    sent = std::max(sent, progress.sent_bytes);
    if (progress.phase == Progress::Phase::kWaitingToRetry) reason = progress.retry_reason;
  };

  ASSERT_TRUE(client->Prove(Spec(), SomeWitness(2'500), options).ok());

  EXPECT_EQ(sent, 2'500u);
  EXPECT_EQ(reason, "CIRCUIT_LOADING");
}

TEST_F(ClientTest, AServiceThatIsNotThereIsUnavailableAfterItsAttempts) {
  ClientOptions options;
  options.target = "127.0.0.1:1";
  options.retry.attempts_max = 3;
  options.retry.backoff_first = absl::Milliseconds(1);
  const std::unique_ptr<Client> client = Client::Create(options).value();

  const absl::Status status = client->Prove(Spec(), "w", Over(Transfer::kUnary)).status();

  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(ErrorReason(status), "");
}

}  // namespace
}  // namespace proofmill::client
