// UploadService over a real channel, and proofs of what was uploaded.

#include <future>
#include <optional>

#include "engine/formats/crc32c.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

class UploadsTest : public ServiceTest {
 protected:
  Outcome Create(const std::string& wtns, v1::Upload& upload, const std::string& circuit = "small",
                 const std::string& request_id = "") {
    v1::CreateUploadRequest request;
    request.set_circuit(circuit);
    request.set_request_id(request_id);
    request.set_size_bytes(wtns.size());
    v1::CreateUploadResponse response;
    const auto context = ContextFor();
    const grpc::Status status = uploads_->CreateUpload(context.get(), request, &response);
    upload = response.upload();
    return OutcomeOf(status, *context);
  }
  Outcome Write(const std::string& name, uint64_t offset, const std::string& data,
                std::optional<uint32_t> crc32c = std::nullopt) {
    v1::WriteUploadRequest request;
    request.set_name(name);
    request.set_offset_bytes(offset);
    request.set_data(data);
    if (crc32c.has_value()) request.set_crc32c(*crc32c);
    v1::WriteUploadResponse response;
    const auto context = ContextFor();
    const grpc::Status status = uploads_->WriteUpload(context.get(), request, &response);
    committed_ = response.upload().committed_bytes();
    return OutcomeOf(status, *context);
  }
  Outcome Delete(const std::string& name) {
    v1::DeleteUploadRequest request;
    request.set_name(name);
    v1::DeleteUploadResponse response;
    const auto context = ContextFor();
    const grpc::Status status = uploads_->DeleteUpload(context.get(), request, &response);
    return OutcomeOf(status, *context);
  }
  // A complete upload.
  std::string Upload(const std::string& wtns) {
    v1::Upload upload;
    EXPECT_TRUE(Create(wtns, upload).status.ok());
    EXPECT_TRUE(Write(upload.name(), 0, wtns, engine::Crc32c(wtns)).status.ok());
    return upload.name();
  }
  v1::ProveRequest RequestOf(const std::string& upload, const std::string& circuit = "small") {
    v1::ProveRequest request;
    request.mutable_spec()->set_circuit(circuit);
    request.mutable_groth16()->set_upload(upload);
    return request;
  }

  uint64_t committed_ = 0;
  const std::string wtns_ = Wtns("small", 9);
};

TEST_F(UploadsTest, AnUploadInPiecesIsProvedOnce) {
  v1::Upload upload;
  ASSERT_TRUE(Create(wtns_, upload).status.ok());
  EXPECT_EQ(upload.size_bytes(), wtns_.size());
  EXPECT_EQ(upload.circuit(), "small");
  EXPECT_GT(upload.expire_time().seconds(), 1'700'000'000);
  ASSERT_TRUE(
      Write(upload.name(), 0, wtns_.substr(0, 300), engine::Crc32c(wtns_.substr(0, 300))).status.ok());
  EXPECT_EQ(committed_, 300u);
  ASSERT_TRUE(Write(upload.name(), 200, wtns_.substr(200, 300)).status.ok()) << "pieces may overlap";
  EXPECT_EQ(committed_, 500u);
  EXPECT_EQ(Prove(RequestOf(upload.name())).reason, "UPLOAD_INCOMPLETE");
  ASSERT_TRUE(Write(upload.name(), 500, wtns_.substr(500)).status.ok());

  v1::ProveResponse response;
  const Outcome outcome = Prove(RequestOf(upload.name()), &response);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error_message();
  EXPECT_EQ(response.result().public_signals_size(), 1);
  EXPECT_EQ(Prove(RequestOf(upload.name())).reason, "UPLOAD_UNKNOWN");
  EXPECT_EQ(Metric("proofmill_uploads"), 0);
}

TEST_F(UploadsTest, AWrongChecksumTakesNothing) {
  v1::Upload upload;
  ASSERT_TRUE(Create(wtns_, upload).status.ok());
  const Outcome outcome = Write(upload.name(), 0, wtns_, engine::Crc32c(wtns_) ^ 1);
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(outcome.reason, "UPLOAD_CHECKSUM");
  EXPECT_TRUE(Write(upload.name(), 0, wtns_, engine::Crc32c(wtns_)).status.ok())
      << "the piece can be sent again";
}

TEST_F(UploadsTest, RefusalsTellTheirReason) {
  v1::Upload upload;
  EXPECT_EQ(Create(Wtns("medium"), upload, "nobody").reason, "CIRCUIT_UNKNOWN");
  EXPECT_EQ(Create(std::string(64 << 20, 'x'), upload).reason, "WITNESS_LENGTH");
  EXPECT_EQ(Create("", upload).reason, "WITNESS_LENGTH");
  EXPECT_EQ(Create(wtns_, upload, "").reason, "REQUEST_INVALID");
  const Outcome guess = Write("uploads/guess", 0, "x");
  EXPECT_EQ(guess.reason, "UPLOAD_UNKNOWN");
  EXPECT_NE(guess.status.error_message().find(", got \"uploads/guess\""), std::string::npos)
      << guess.status.error_message();
  ASSERT_TRUE(Create(wtns_, upload).status.ok());
  EXPECT_EQ(Write(upload.name(), 1, "x").reason, "UPLOAD_OFFSET");
  EXPECT_EQ(Write(upload.name(), 0, "").reason, "REQUEST_INVALID");
  EXPECT_EQ(Write(upload.name(), 0, std::string((1 << 20) + 1, 'x')).reason, "REQUEST_INVALID");
}

TEST_F(UploadsTest, AnUploadIsForItsCircuitOnly) {
  EXPECT_EQ(Prove(RequestOf(Upload(wtns_), "medium")).reason, "REQUEST_INVALID");
}

TEST_F(UploadsTest, ADeletedUploadIsGone) {
  const std::string name = Upload(wtns_);
  EXPECT_EQ(Metric("proofmill_uploads"), 1);
  EXPECT_TRUE(Delete(name).status.ok());
  EXPECT_EQ(Delete(name).reason, "UPLOAD_UNKNOWN");
  EXPECT_EQ(Prove(RequestOf(name)).reason, "UPLOAD_UNKNOWN");
  EXPECT_EQ(Metric("proofmill_queue_witness_bytes"), 0);
}

TEST_F(UploadsTest, AnIdleUploadIsWiped) {
  StartServer([](Config& config) { config.upload_idle_timeout = absl::Milliseconds(100); });
  const std::string name = Upload(wtns_);
  EXPECT_TRUE(MetricBecomes("proofmill_uploads", 0));
  EXPECT_EQ(Prove(RequestOf(name)).reason, "UPLOAD_UNKNOWN");
}

TEST_F(UploadsTest, OpenUploadsAreBounded) {
  StartServer([](Config& config) { config.upload_count_max = 2; });
  v1::Upload upload;
  EXPECT_TRUE(Create(wtns_, upload).status.ok());
  EXPECT_TRUE(Create(wtns_, upload).status.ok());
  const Outcome outcome = Create(wtns_, upload);
  EXPECT_EQ(outcome.reason, "QUEUE_FULL");
  EXPECT_TRUE(outcome.has_retry_info);
  EXPECT_FALSE(outcome.pushback.empty());
}

TEST_F(UploadsTest, ARepeatedRequestWithAnIdBeginsNoSecondUpload) {
  StartServer([](Config& config) { config.upload_count_max = 1; });
  v1::Upload first, again;
  ASSERT_TRUE(Create(wtns_, first, "small", "mine").status.ok());
  ASSERT_TRUE(Write(first.name(), 0, wtns_.substr(0, 300)).status.ok());
  ASSERT_TRUE(Create(wtns_, again, "small", "mine").status.ok()) << "it needs no room";
  EXPECT_EQ(again.name(), first.name());
  EXPECT_EQ(again.committed_bytes(), 300u);
  EXPECT_EQ(Metric("proofmill_uploads"), 1);
  const Outcome conflict = Create(Wtns("medium"), again, "medium", "mine");
  EXPECT_EQ(conflict.status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(conflict.reason, "REQUEST_ID_CONFLICT");
  EXPECT_EQ(Create(wtns_, again, "small", "not a name").reason, "REQUEST_INVALID");

  ASSERT_TRUE(Write(first.name(), 300, wtns_.substr(300)).status.ok());
  EXPECT_TRUE(Prove(RequestOf(first.name())).status.ok());
  ASSERT_TRUE(Create(wtns_, again, "small", "mine").status.ok()) << "the first one is used up";
  EXPECT_NE(again.name(), first.name());
}

TEST_F(UploadsTest, AFullQueueLeavesTheUploadForAnotherTry) {
  StartServer([](Config& config) { config.queue_jobs_max = 1; });
  gate_.Close();
  const std::string name = Upload(wtns_);
  auto running = std::async(std::launch::async, [&] { return ProveSmall(0); });
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  auto waiting = std::async(std::launch::async, [&] { return ProveSmall(1); });
  ASSERT_TRUE(MetricBecomes(R"(proofmill_queue_depth{priority="normal"})", 1));
  EXPECT_EQ(Prove(RequestOf(name)).reason, "QUEUE_FULL");
  gate_.Open();
  EXPECT_TRUE(running.get().status.ok());
  EXPECT_TRUE(waiting.get().status.ok());

  EXPECT_TRUE(Prove(RequestOf(name)).status.ok());
}

}  // namespace
}  // namespace proofmill::server
