// ProveStream over a real channel, message by message.

#include <openssl/sha.h>

#include <optional>
#include <thread>
#include <vector>

#include "engine/formats/crc32c.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

std::string Sha256(const std::string& data) {
  std::string hash(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(),
         reinterpret_cast<unsigned char*>(hash.data()));
  return hash;
}

class ProveStreamTest : public ServiceTest {
 protected:
  // One stream, in one-word calls.
  class Stream {
   public:
    Stream(ProveStreamTest& test, std::chrono::milliseconds timeout = kPatience)
        : context_(ContextFor(timeout)), stream_(test.prover_->ProveStream(context_.get())) {}

    bool SendHeader(
        const std::string& wtns, const std::function<void(v1::StreamHeader&)>& change = [](auto&) {}) {
      v1::ProveStreamRequest request;
      v1::StreamHeader& header = *request.mutable_header();
      header.mutable_spec()->set_circuit("small");
      header.set_size_bytes(wtns.size());
      header.set_sha256(Sha256(wtns));
      change(header);
      return stream_->Write(request);
    }
    bool SendChunk(uint64_t offset, const std::string& data, std::optional<uint32_t> crc32c = std::nullopt) {
      v1::ProveStreamRequest request;
      request.mutable_chunk()->set_offset_bytes(offset);
      request.mutable_chunk()->set_data(data);
      if (crc32c.has_value()) request.mutable_chunk()->set_crc32c(*crc32c);
      return stream_->Write(request);
    }
    void HalfClose() { stream_->WritesDone(); }
    void Cancel() { context_->TryCancel(); }
    // The next message, or nothing at the end.
    std::optional<v1::ProveStreamResponse> Read() {
      v1::ProveStreamResponse response;
      if (!stream_->Read(&response)) return std::nullopt;
      return response;
    }
    v1::Admitted ReadAdmitted() {
      const auto response = Read();
      EXPECT_TRUE(response.has_value() && response->has_admitted());
      return response.has_value() ? response->admitted() : v1::Admitted();
    }
    // Reads past progress to the result.
    std::optional<v1::ProofResult> ReadResult() {
      while (const auto response = Read()) {
        if (response->has_result()) return response->result();
        progress.push_back(response->progress());
      }
      return std::nullopt;
    }
    Outcome Finish() {
      while (Read().has_value()) {
      }
      const grpc::Status status = stream_->Finish();
      return OutcomeOf(status, *context_);
    }

    std::vector<v1::JobProgress> progress;

   private:
    std::unique_ptr<grpc::ClientContext> context_;
    std::unique_ptr<grpc::ClientReaderWriter<v1::ProveStreamRequest, v1::ProveStreamResponse>> stream_;
  };

  const std::string wtns_ = Wtns("small", 4);
};

TEST_F(ProveStreamTest, AWitnessInPiecesIsProved) {
  Stream stream(*this);
  ASSERT_TRUE(stream.SendHeader(wtns_));
  const v1::Admitted admitted = stream.ReadAdmitted();
  EXPECT_EQ(admitted.committed_bytes(), 0u);
  EXPECT_EQ(admitted.chunk_bytes_max(), 1u << 20);
  EXPECT_EQ(admitted.upload().rfind("uploads/", 0), 0u);
  for (size_t offset = 0; offset < wtns_.size(); offset += 100) {
    ASSERT_TRUE(stream.SendChunk(offset, wtns_.substr(offset, 100)));
  }
  const auto result = stream.ReadResult();

  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->public_signals_size(), 1);
  EXPECT_TRUE(stream.Finish().status.ok());
  EXPECT_TRUE(MetricBecomes("proofmill_uploads", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(ProveStreamTest, PiecesOfAnySizeMakeTheSameWitness) {
  // The wrong order of any bytes would be found: the hash of the whole is announced.
  for (const size_t size :
       {size_t{1}, size_t{31}, size_t{75}, size_t{76}, size_t{77}, size_t{500}, wtns_.size()}) {
    Stream stream(*this);
    ASSERT_TRUE(stream.SendHeader(wtns_));
    stream.ReadAdmitted();
    for (size_t offset = 0; offset < wtns_.size(); offset += size) {
      const std::string piece = wtns_.substr(offset, size);
      ASSERT_TRUE(stream.SendChunk(offset, piece, engine::Crc32c(piece)));
    }
    EXPECT_TRUE(stream.ReadResult().has_value()) << size;
    EXPECT_TRUE(stream.Finish().status.ok()) << size;
  }
}

TEST_F(ProveStreamTest, APieceWithAnotherChecksumIsNotTaken) {
  Stream stream(*this);
  stream.SendHeader(wtns_, [](v1::StreamHeader& header) { header.clear_sha256(); });
  const v1::Admitted admitted = stream.ReadAdmitted();
  ASSERT_TRUE(stream.SendChunk(0, wtns_.substr(0, 100), engine::Crc32c(wtns_.substr(0, 100))));
  stream.SendChunk(100, wtns_.substr(100), engine::Crc32c(wtns_.substr(100)) ^ 1);
  const Outcome outcome = stream.Finish();
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(outcome.reason, "UPLOAD_CHECKSUM");

  // What came before is there still.
  Stream again(*this);
  again.SendHeader(wtns_, [&](v1::StreamHeader& header) {
    header.clear_sha256();
    header.set_upload(admitted.upload());
  });
  EXPECT_EQ(again.ReadAdmitted().committed_bytes(), 100u);
  again.SendChunk(100, wtns_.substr(100), engine::Crc32c(wtns_.substr(100)));
  EXPECT_TRUE(again.ReadResult().has_value());
}

TEST_F(ProveStreamTest, AClientThatWaitsHearsWhereItsJobIs) {
  gate_.Close();
  std::thread first([&] { EXPECT_TRUE(ProveSmall().status.ok()); });
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  Stream stream(*this);
  stream.SendHeader(wtns_);
  stream.ReadAdmitted();
  stream.SendChunk(0, wtns_);
  const auto queued = stream.Read();
  ASSERT_TRUE(queued.has_value() && queued->has_progress());
  EXPECT_EQ(queued->progress().state(), v1::JobProgress::STATE_QUEUED);
  gate_.Open();
  EXPECT_TRUE(stream.ReadResult().has_value());
  first.join();
}

TEST_F(ProveStreamTest, ARefusalCostsOnlyTheHeader) {
  const struct {
    const char* what;
    std::function<void(v1::StreamHeader&)> change;
    grpc::StatusCode code;
    const char* reason;
  } cases[] = {
      {"64 MiB for a small circuit", [](auto& h) { h.set_size_bytes(64 << 20); },
       grpc::StatusCode::INVALID_ARGUMENT, "WITNESS_LENGTH"},
      {"one value too few", [](auto& h) { h.set_size_bytes(h.size_bytes() - 32); },
       grpc::StatusCode::INVALID_ARGUMENT, "WITNESS_LENGTH"},
      {"nothing", [](auto& h) { h.set_size_bytes(0); }, grpc::StatusCode::INVALID_ARGUMENT, "WITNESS_LENGTH"},
      {"all that 64 bits hold", [](auto& h) { h.set_size_bytes(UINT64_MAX); },
       grpc::StatusCode::INVALID_ARGUMENT, "WITNESS_LENGTH"},
      {"half a hash", [](auto& h) { h.set_sha256("0123456789abcdef"); }, grpc::StatusCode::INVALID_ARGUMENT,
       "REQUEST_INVALID"},
      {"an unknown upload", [](auto& h) { h.set_upload("uploads/0"); }, grpc::StatusCode::NOT_FOUND,
       "UPLOAD_UNKNOWN"},
      {"an unknown circuit", [](auto& h) { h.mutable_spec()->set_circuit("nobody"); },
       grpc::StatusCode::NOT_FOUND, "CIRCUIT_UNKNOWN"}};
  for (const auto& c : cases) {
    Stream stream(*this);
    stream.SendHeader(wtns_, c.change);
    EXPECT_FALSE(stream.Read().has_value()) << c.what;
    const Outcome outcome = stream.Finish();
    EXPECT_EQ(outcome.status.error_code(), c.code) << c.what;
    EXPECT_EQ(outcome.reason, c.reason) << c.what << ": " << outcome.status.error_message();
  }
  EXPECT_EQ(Metric("proofmill_uploads"), 0);
  EXPECT_EQ(Metric("proofmill_queue_witness_bytes"), 0);
}

TEST_F(ProveStreamTest, MessagesOutOfOrderEndTheStream) {
  Stream chunk_first(*this);
  chunk_first.SendChunk(0, "x");
  EXPECT_EQ(chunk_first.Finish().reason, "REQUEST_INVALID");

  Stream two_headers(*this);
  two_headers.SendHeader(wtns_);
  two_headers.ReadAdmitted();
  two_headers.SendHeader(wtns_);
  EXPECT_EQ(two_headers.Finish().reason, "REQUEST_INVALID");

  Stream gap(*this);
  gap.SendHeader(wtns_);
  gap.ReadAdmitted();
  gap.SendChunk(1, "x");
  EXPECT_EQ(gap.Finish().reason, "UPLOAD_OFFSET");

  Stream empty(*this);
  empty.SendHeader(wtns_);
  empty.ReadAdmitted();
  empty.SendChunk(0, "");
  EXPECT_EQ(empty.Finish().reason, "REQUEST_INVALID");
}

TEST_F(ProveStreamTest, AnEarlyEndIsToldAsSuch) {
  Stream nothing(*this);
  nothing.HalfClose();
  EXPECT_EQ(nothing.Finish().reason, "UPLOAD_INCOMPLETE");

  Stream half(*this);
  half.SendHeader(wtns_);
  half.ReadAdmitted();
  half.SendChunk(0, wtns_.substr(0, 100));
  half.HalfClose();
  const Outcome outcome = half.Finish();
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(outcome.reason, "UPLOAD_INCOMPLETE");
  EXPECT_EQ(server_->engine().stats().reserved.jobs, 0U) << "what was sent may stay, but not in the queue";
}

TEST_F(ProveStreamTest, AWrongHashIsRefused) {
  Stream stream(*this);
  stream.SendHeader(wtns_, [](auto& header) { header.set_sha256(std::string(32, 'x')); });
  stream.ReadAdmitted();
  stream.SendChunk(0, wtns_);
  EXPECT_EQ(stream.Finish().reason, "UPLOAD_CHECKSUM");
  EXPECT_TRUE(MetricBecomes("proofmill_uploads", 0));
}

TEST_F(ProveStreamTest, AWitnessWhoseCountLiesIsRefusedAfterItCame) {
  const std::string medium = Wtns("medium");
  Stream stream(*this);
  stream.SendHeader(medium);
  stream.ReadAdmitted();
  stream.SendChunk(0, medium);
  EXPECT_EQ(stream.Finish().reason, "WITNESS_LENGTH");
}

TEST_F(ProveStreamTest, AnotherStreamGoesOnWhereABrokenOneStopped) {
  std::string upload;
  {
    Stream broken(*this);
    broken.SendHeader(wtns_);
    upload = broken.ReadAdmitted().upload();
    broken.SendChunk(0, wtns_.substr(0, 500));
    // The bytes count once the service has them, which only another call can tell.
    v1::GetUploadRequest request;
    request.set_name(upload);
    v1::GetUploadResponse response;
    do {
      const auto context = ContextFor();
      ASSERT_TRUE(uploads_->GetUpload(context.get(), request, &response).ok());
    } while (response.upload().committed_bytes() < 500);
    broken.Cancel();
    EXPECT_EQ(broken.Finish().status.error_code(), grpc::StatusCode::CANCELLED);
  }
  Stream again(*this);
  again.SendHeader(wtns_, [&](auto& header) { header.set_upload(upload); });
  const v1::Admitted admitted = again.ReadAdmitted();
  EXPECT_EQ(admitted.upload(), upload);
  ASSERT_EQ(admitted.committed_bytes(), 500u);
  again.SendChunk(500, wtns_.substr(500));
  EXPECT_TRUE(again.ReadResult().has_value());
  EXPECT_TRUE(again.Finish().status.ok());
}

TEST_F(ProveStreamTest, AnUploadOfAnotherSizeOrCircuitIsNotGoneOnWith) {
  Stream first(*this);
  first.SendHeader(wtns_);
  const std::string upload = first.ReadAdmitted().upload();
  Stream other_circuit(*this);
  other_circuit.SendHeader(Wtns("medium"), [&](auto& header) {
    header.mutable_spec()->set_circuit("medium");
    header.set_upload(upload);
  });
  EXPECT_EQ(other_circuit.Finish().reason, "REQUEST_INVALID");
}

TEST_F(ProveStreamTest, AnUploadOfAnotherHashIsNotGoneOnWith) {
  const std::string right = Sha256(wtns_), wrong(32, '\0');
  for (const std::string& announced : {right, std::string()}) {
    std::string upload;
    {
      Stream broken(*this);
      broken.SendHeader(wtns_, [&](auto& header) { header.set_sha256(announced); });
      upload = broken.ReadAdmitted().upload();
      broken.SendChunk(0, wtns_.substr(0, 100));
      broken.HalfClose();
      EXPECT_EQ(broken.Finish().reason, "UPLOAD_INCOMPLETE");
    }
    const auto go_on = [&](const std::string& sha256, Stream& stream) {
      stream.SendHeader(wtns_, [&](auto& header) {
        header.set_upload(upload);
        header.set_sha256(sha256);
      });
    };
    Stream other(*this);
    go_on(announced.empty() ? right : wrong, other);
    EXPECT_FALSE(other.Read().has_value());
    const Outcome outcome = other.Finish();
    EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(outcome.reason, "REQUEST_INVALID");
    EXPECT_LT(outcome.status.error_message().find("header.sha256: expected"), std::string::npos);

    // The upload is as it was, and goes on with its own hash, said again or not.
    Stream same(*this);
    go_on(announced, same);
    EXPECT_EQ(same.ReadAdmitted().committed_bytes(), 100u);
    same.SendChunk(100, wtns_.substr(100, 100));
    same.HalfClose();
    EXPECT_EQ(same.Finish().reason, "UPLOAD_INCOMPLETE");
    Stream without(*this);
    go_on("", without);
    EXPECT_EQ(without.ReadAdmitted().committed_bytes(), 200u);
    without.SendChunk(200, wtns_.substr(200));
    EXPECT_TRUE(without.ReadResult().has_value());
  }
}

TEST_F(ProveStreamTest, AStreamThatOwesAMessageForTooLongIsEndedAndItsMemoryGivenBack) {
  StartServer([](Config& config) { config.upload_idle_timeout = absl::Milliseconds(150); });
  Stream silent(*this);
  Stream half(*this);
  half.SendHeader(wtns_);
  half.ReadAdmitted();
  half.SendChunk(0, wtns_.substr(0, 100));
  EXPECT_GT(Metric("proofmill_queue_witness_bytes"), 0);

  for (Stream* stream : {&silent, &half}) {
    const Outcome outcome = stream->Finish();
    EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
    EXPECT_EQ(outcome.reason, "DEADLINE_EXPIRED") << outcome.status.error_message();
  }
  EXPECT_TRUE(MetricBecomes("proofmill_uploads", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_upload_bytes", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
}

TEST_F(ProveStreamTest, AStreamThatSendsTheSameByteAgainAndAgainIsIdle) {
  StartServer([](Config& config) { config.upload_idle_timeout = absl::Milliseconds(150); });
  Stream stream(*this);
  stream.SendHeader(wtns_);
  stream.ReadAdmitted();
  // Until the service has ended it; the test's own time limit is that of a service which does not.
  while (stream.SendChunk(0, wtns_.substr(0, 1))) std::this_thread::sleep_for(std::chrono::milliseconds(10));

  const Outcome outcome = stream.Finish();
  // Whether the stream is found idle first, or its upload, differs.
  if (outcome.reason == "UPLOAD_UNKNOWN") {
    EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::NOT_FOUND);
  } else {
    EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
    EXPECT_EQ(outcome.reason, "DEADLINE_EXPIRED") << outcome.status.error_message();
    EXPECT_LT(outcome.status.error_message().find("nothing new"), std::string::npos);
  }
  EXPECT_TRUE(MetricBecomes("proofmill_uploads", 0));
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(ProveStreamTest, AFullQueueRefusesTheHeader) {
  StartServer([](Config& config) { config.queue_jobs_max = 1; });
  gate_.Close();
  Stream admitted(*this);
  admitted.SendHeader(wtns_);
  admitted.ReadAdmitted();  // has the one place in the queue, from now on
  Stream refused(*this);
  refused.SendHeader(wtns_);
  const Outcome outcome = refused.Finish();
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(outcome.reason, "QUEUE_FULL");
  EXPECT_TRUE(outcome.has_retry_info);
  EXPECT_FALSE(outcome.pushback.empty());
  gate_.Open();
  admitted.SendChunk(0, wtns_);
  EXPECT_TRUE(admitted.ReadResult().has_value()) << "what was admitted is proved";
}

TEST_F(ProveStreamTest, ACancelledStreamGivesItsPlaceBack) {
  StartServer([](Config& config) { config.queue_jobs_max = 1; });
  Stream stream(*this);
  stream.SendHeader(wtns_);
  stream.ReadAdmitted();
  stream.Cancel();
  EXPECT_EQ(stream.Finish().status.error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
  EXPECT_TRUE(ProveSmall().status.ok());
}

}  // namespace
}  // namespace proofmill::server
