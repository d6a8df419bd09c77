// Clients that go away while a message of theirs is on its way, on every call that takes a witness in one
// message: they are counted as what they are, and not as clients who sent something wrong.

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "google/protobuf/unknown_field_set.h"
#include "tests/sanitized.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

using ::testing::Contains;
using ::testing::IsSubsetOf;

constexpr int kCalls = 40;
constexpr int kUnknownField = 1000;

class VanishTest : public ServiceTest {
 protected:
  // Makes `message` take a while to send; whoever gets it whole ignores what was added.
  template <typename Message>
  static Message Large(Message message) {
    message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(
        kUnknownField, std::string(size_t{8} << 20, 'x'));
    return message;
  }
  // Makes calls, each of which is cancelled after another time, most of them before the message is whole,
  // which takes longer with a sanitizer.
  static void CancelMany(const std::function<void(grpc::ClientContext&)>& call) {
    constexpr int kSlower = kAddressSanitized ? 10 : 1;
    for (int i = 0; i < kCalls; ++i) {
      const auto context = ContextFor();
      std::thread cancel([&context, i] {
        std::this_thread::sleep_for(std::chrono::microseconds(kSlower * (i * 97 % 4000)));
        context->TryCancel();
      });
      call(*context);
      cancel.join();
    }
  }
  // The codes that calls of `method` ended with. They end after the next call, which takes the same thread.
  std::set<std::string> Codes(const std::string& method) {
    EXPECT_TRUE(ProveSmall().status.ok());
    std::set<std::string> codes;
    for (const absl::string_view line : absl::StrSplit(Metrics(), '\n')) {
      if (!absl::StartsWith(line, "proofmill_requests_total") ||
          !absl::StrContains(line, absl::StrCat("method=\"", method, "\""))) {
        continue;
      }
      const std::vector<std::string> quoted = absl::StrSplit(line, '"');  // circuit, code and method
      codes.insert(quoted[3]);
    }
    return codes;
  }
};

TEST_F(VanishTest, AProofThatNobodyWaitsForIsCancelled) {
  const v1::ProveRequest request = Large(Request(Wtns("small")));
  CancelMany([&](grpc::ClientContext& context) {
    v1::ProveResponse response;
    prover_->Prove(&context, request, &response).ok();
  });
  const std::set<std::string> codes = Codes("ProverService/Prove");
  EXPECT_THAT(codes, Contains("CANCELLED"));
  EXPECT_THAT(codes, IsSubsetOf({"CANCELLED", "OK"}));
}

TEST_F(VanishTest, AnUploadThatBreaksOffIsCancelled) {
  v1::WriteUploadRequest piece;
  piece.set_name("uploads/nobody");
  piece.set_data("x");
  const v1::WriteUploadRequest request = Large(piece);
  CancelMany([&](grpc::ClientContext& context) {
    v1::WriteUploadResponse response;
    uploads_->WriteUpload(&context, request, &response).ok();
  });
  const std::set<std::string> codes = Codes("UploadService/WriteUpload");
  EXPECT_THAT(codes, Contains("CANCELLED"));
  EXPECT_THAT(codes, IsSubsetOf({"CANCELLED", "NOT_FOUND"}));
}

TEST_F(VanishTest, AJobThatWasNeverSentWholeIsCancelled) {
  v1::CreateJobRequest job;
  *job.mutable_request() = Request(Wtns("small"));
  const v1::CreateJobRequest request = Large(job);
  CancelMany([&](grpc::ClientContext& context) {
    v1::CreateJobResponse response;
    jobs_->CreateJob(&context, request, &response).ok();
  });
  const std::set<std::string> codes = Codes("JobService/CreateJob");
  EXPECT_THAT(codes, Contains("CANCELLED"));
  EXPECT_THAT(codes, IsSubsetOf({"CANCELLED", "OK"}));
}

TEST_F(VanishTest, AStreamThatBreaksOffIsCancelled) {
  v1::ProveStreamRequest header, chunk;
  header.mutable_header()->mutable_spec()->set_circuit("small");
  header.mutable_header()->set_size_bytes(Wtns("small").size());
  chunk.mutable_chunk()->set_data("x");
  const v1::ProveStreamRequest request = Large(chunk);
  CancelMany([&](grpc::ClientContext& context) {
    const auto stream = prover_->ProveStream(&context);
    v1::ProveStreamResponse response;
    if (stream->Write(header) && stream->Read(&response)) stream->Write(request);
    stream->Finish().ok();
  });
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
  EXPECT_THAT(Codes("ProverService/ProveStream"), IsSubsetOf({"CANCELLED"}));
}

}  // namespace
}  // namespace proofmill::server
