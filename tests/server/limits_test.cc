// The limits of connections: their age, silence, pings, calls and metadata.

#include <atomic>
#include <chrono>
#include <future>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "nlohmann/json.hpp"
#include "tests/server/http2_peer.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

class LimitsTest : public ServiceTest {
 protected:
  static grpc::StatusCode Check(const std::shared_ptr<grpc::Channel>& channel,
                                std::chrono::milliseconds timeout = kPatience,
                                const std::string& value = "") {
    const auto context = ContextFor(timeout);
    if (!value.empty()) context->AddMetadata("some-value", value);
    grpc::health::v1::HealthCheckResponse response;
    return grpc::health::v1::Health::NewStub(channel)->Check(context.get(), {}, &response).error_code();
  }
  // The peers of all calls that the log tells of.
  std::set<std::string> Peers() const {
    std::set<std::string> peers;
    std::istringstream in(log_text_.str());
    for (std::string line; std::getline(in, line);) {
      const nlohmann::json entry = nlohmann::json::parse(line);
      if (entry["event"] == "rpc") peers.insert(entry["peer"]);
    }
    return peers;
  }
};

TEST_F(LimitsTest, AConnectionThatHasComeOfAgeIsReplacedWithoutAFailedCall) {
  StartServer([](Config& config) { config.connection_age_max = absl::Milliseconds(300); });
  const auto channel = grpc::CreateChannel(server_->data_address(), grpc::InsecureChannelCredentials());
  const auto stub = v1::ProverService::NewStub(channel);
  const v1::ProveRequest request = Request(Wtns("small"));
  int failed = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  while (std::chrono::steady_clock::now() < end) {
    const auto context = ContextFor();
    v1::ProveResponse response;
    failed += stub->Prove(context.get(), request, &response).ok() ? 0 : 1;
  }
  EXPECT_EQ(failed, 0);
  server_.reset();
  EXPECT_GE(Peers().size(), 4u) << "several connections, one after the other";
}

TEST_F(LimitsTest, ACallThatIsOpenWhenItsConnectionComesOfAgeEndsWell) {
  StartServer([](Config& config) { config.connection_age_max = absl::Milliseconds(200); });
  gate_.Close();
  auto proof = std::async(std::launch::async, [&] { return ProveSmall(); });
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  std::this_thread::sleep_for(
      std::chrono::milliseconds(1000));  // what is to be shown takes time to not happen
  gate_.Open();
  EXPECT_TRUE(proof.get().status.ok());
}

TEST_F(LimitsTest, APeerThatAnswersNoPingsIsCutHoweverManyItAnsweredBefore) {
  constexpr int kAnswered = 5;
  StartServer([](Config& config) {
    config.keepalive_time = absl::Milliseconds(100);
    config.keepalive_timeout = absl::Milliseconds(500);
  });
  Http2Peer peer(server_->data_address());
  int pings = 0;
  const auto start = std::chrono::steady_clock::now();
  while (const auto frame = peer.Read()) {
    if ((frame->flags & Http2Peer::kAck) != 0) continue;
    if (frame->type == Http2Peer::kSettings) peer.Send(Http2Peer::kSettings, Http2Peer::kAck, "");
    if (frame->type == Http2Peer::kPing && ++pings <= kAnswered) {
      peer.Send(Http2Peer::kPing, Http2Peer::kAck, frame->payload);
    }
  }
  EXPECT_GT(pings, kAnswered) << "gRPC must go on pinging a connection without data";
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(50)) << "it was not cut";
}

TEST_F(LimitsTest, APeerThatPingsAllTheTimeIsSentAway) {
  Http2Peer peer(server_->data_address());
  for (int i = 0; i < 20; ++i) peer.Send(Http2Peer::kPing, 0, "12345678");
  bool sent_away = false;
  while (const auto frame = peer.Read()) {
    if (frame->type != Http2Peer::kGoaway || frame->payload.size() < 8) continue;
    // ENHANCE_YOUR_CALM (RFC 9113, section 7) in the last byte of the code.
    sent_away = frame->payload[7] == 0xb;
    break;
  }
  EXPECT_TRUE(sent_away);
  EXPECT_TRUE(ProveSmall().status.ok()) << "others are served";
}

TEST_F(LimitsTest, MetadataHasABound) {
  EXPECT_EQ(Check(channel_, kPatience, std::string(4 << 10, 'x')), grpc::StatusCode::OK);
  EXPECT_EQ(Check(channel_, kPatience, std::string(9 << 10, 'x')), grpc::StatusCode::RESOURCE_EXHAUSTED);
  // gRPC may close the connection of the refused call at any time after it.
  EXPECT_EQ(Check(MakeChannel()), grpc::StatusCode::OK) << "others are served";
}

TEST_F(LimitsTest, AConnectionHasSoManyCallsAndNoMore) {
  StartServer([](Config& config) { config.streams_per_connection_max = 2; });
  gate_.Close();
  auto one = std::async(std::launch::async, [&] { return ProveSmall(1); });
  auto two = std::async(std::launch::async, [&] { return ProveSmall(2); });
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  ASSERT_TRUE(MetricBecomes(R"(proofmill_queue_depth{priority="normal"})", 1));
  EXPECT_EQ(Check(channel_, std::chrono::milliseconds(300)), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(Check(MakeChannel()), grpc::StatusCode::OK) << "another connection has calls of its own";
  gate_.Open();
  EXPECT_TRUE(one.get().status.ok());
  EXPECT_TRUE(two.get().status.ok());
  EXPECT_EQ(Check(channel_), grpc::StatusCode::OK);
}

}  // namespace
}  // namespace proofmill::server
