// Witnesses that travel in pieces: over connections that break, and refused before they travel.

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "clients/cpp/error.h"
#include "gtest/gtest.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "tests/e2e/cutting_proxy.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

constexpr uint64_t kCutAfterBytes = 200'000;
constexpr uint64_t kPieceBytes = 32 << 10;  // of the service's chunk_bytes_max below

class UploadsTest : public ::testing::Test {
 protected:
  // 2^14 wires: half a mebibyte of witness, several times the cut.
  UploadsTest() {
    circuits_.Add("big", Synthetic(14, engine::SynthProfile::kBits, 2));
    server_ = std::make_unique<ServerProcess>(circuits_.path(),
                                              std::vector<std::string>{"--chunk_bytes_max=32KiB"});
  }

  void ProveOverABreakingConnection(client::Transfer transfer) {
    CuttingProxy proxy(server_->data());
    client::ClientOptions client_options;
    client_options.target = proxy.address();
    const auto client = client::Client::Create(client_options).value();
    v1::ProofSpec spec;
    spec.set_circuit("big");
    client::ProveOptions options;
    options.timeout = absl::Minutes(5);
    options.transfer = transfer;
    uint64_t resumed_from = 0;
    bool lost = false;
    options.on_progress = [&](const client::Progress& progress) {
      lost = lost || (progress.sent_bytes > 0 && progress.phase == client::Progress::Phase::kWaitingToRetry);
      if (lost && resumed_from == 0 && progress.phase == client::Progress::Phase::kSending) {
        resumed_from = progress.sent_bytes;
      }
      // A connection that breaks takes along what the service has not read yet: give it time to read.
      if (progress.phase == client::Progress::Phase::kSending) absl::SleepFor(absl::Milliseconds(5));
    };
    proxy.CutAfter(kCutAfterBytes);

    const auto result = client->Prove(std::move(spec), circuits_.Wtns("big", 7), options);

    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_TRUE(IsProofOf(*result, circuits_.vkey("big"), circuits_.PublicSignals("big", 7)));
    EXPECT_EQ(proxy.cuts(), 1);
    EXPECT_EQ(proxy.connections(), 2);
    EXPECT_GT(resumed_from, kPieceBytes) << "what had arrived before the cut was sent again";
  }

  CircuitFolder circuits_;
  std::unique_ptr<ServerProcess> server_;
};

TEST_F(UploadsTest, AnUploadGoesOnAfterALostConnection) {
  ProveOverABreakingConnection(client::Transfer::kUpload);

  EXPECT_EQ(server_->Metric("proofmill_requests_total", "method=\"UploadService/CreateUpload\""), 1);
  EXPECT_EQ(server_->Metric("proofmill_uploads"), 0) << "it was used up";
  server_->Stop();
}

TEST_F(UploadsTest, AStreamGoesOnAfterALostConnection) {
  ProveOverABreakingConnection(client::Transfer::kStream);

  EXPECT_EQ(server_->Metric("proofmill_uploads"), 0);
  server_->Stop();
}

TEST_F(UploadsTest, AWitnessOfAnotherLengthIsRefusedByItsSizeBeforeItIsSent) {
  const auto stub =
      v1::ProverService::NewStub(grpc::CreateChannel(server_->data(), grpc::InsecureChannelCredentials()));
  const uint64_t right_size = circuits_.Wtns("big", 1).size();
  for (const uint64_t size : {right_size - 32, uint64_t{64} << 20, uint64_t{0}, UINT64_MAX}) {
    grpc::ClientContext context;
    const auto stream = stub->ProveStream(&context);
    v1::ProveStreamRequest request;
    request.mutable_header()->mutable_spec()->set_circuit("big");
    request.mutable_header()->set_size_bytes(size);
    stream->Write(request);

    v1::ProveStreamResponse response;
    EXPECT_FALSE(stream->Read(&response)) << "nothing is admitted, size " << size;
    const absl::Status status = client::FromGrpc(stream->Finish(), context);

    EXPECT_TRUE(absl::IsInvalidArgument(status)) << size << ": " << status;
    EXPECT_EQ(client::ErrorReason(status), "WITNESS_LENGTH") << size << ": " << status;
  }
  server_->Stop();
}

// One value less, and a section of no meaning that makes up for its bytes: the size alone does not show it.
std::string WithOneValueLess(const std::string& wtns) {
  constexpr size_t kValueBytes = 32, kSectionHeaderBytes = 12, kCountOffset = 60, kLengthOffset = 68;
  std::string out = wtns.substr(0, wtns.size() - kValueBytes);
  uint32_t count = 0;
  uint64_t length = 0;
  std::memcpy(&count, &out[kCountOffset], sizeof(count));
  std::memcpy(&length, &out[kLengthOffset], sizeof(length));
  count -= 1;
  length -= kValueBytes;
  std::memcpy(&out[kCountOffset], &count, sizeof(count));
  std::memcpy(&out[kLengthOffset], &length, sizeof(length));
  out[8] = 3;  // sections
  std::string section(kValueBytes, '\0');
  section[0] = 99;
  section[4] = static_cast<char>(kValueBytes - kSectionHeaderBytes);
  return out + section;
}

TEST_F(UploadsTest, AWitnessOfTheRightSizeAndTheWrongCountIsRefusedByTheCount) {
  const std::string wtns = WithOneValueLess(circuits_.Wtns("big", 1));
  const auto client = server_->MakeClient();
  for (const client::Transfer transfer :
       {client::Transfer::kUnary, client::Transfer::kStream, client::Transfer::kUpload}) {
    v1::ProofSpec spec;
    spec.set_circuit("big");
    client::ProveOptions options;
    options.transfer = transfer;

    const absl::Status status = client->Prove(std::move(spec), wtns, options).status();

    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_EQ(client::ErrorReason(status), "WITNESS_LENGTH") << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "16386")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "16385")) << status;
  }
  EXPECT_EQ(server_->Metric("proofmill_queue_witness_bytes"), 0);
  server_->Stop();
}

}  // namespace
}  // namespace proofmill::e2e
