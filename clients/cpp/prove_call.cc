#include "clients/cpp/prove_call.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/time/clock.h"
#include "clients/cpp/error.h"
#include "clients/cpp/sha256.h"
#include "engine/formats/crc32c.h"

namespace proofmill::client {
namespace {

constexpr uint64_t kPieceBytes =
    128 << 10;  // of an upload by unary calls: within gRPC's retry buffer of servers' proxies
constexpr uint64_t kChunkBytesMax = 1 << 20;  // of a stream: larger chunks gain nothing
constexpr int kRestartsMax = 3;

constexpr const char* kProve = "/proofmill.v1.ProverService/Prove";
constexpr const char* kProveStream = "/proofmill.v1.ProverService/ProveStream";
constexpr const char* kWriteUpload = "/proofmill.v1.UploadService/WriteUpload";
constexpr const char* kCreateJob = "/proofmill.v1.JobService/CreateJob";

absl::Duration FromProto(const google::protobuf::Duration& duration) {
  return absl::Seconds(duration.seconds()) + absl::Nanoseconds(duration.nanos());
}

// Abseil's string_view need not be that of std.
uint32_t ChecksumOf(absl::string_view piece) {
  return engine::Crc32c(std::string_view(piece.data(), piece.size()));
}

}  // namespace

void PrepareContext(const Stubs& stubs, absl::Time deadline, grpc::ClientContext& context) {
  context.set_deadline(absl::ToChronoTime(deadline));
  if (!stubs.authorization.empty()) context.AddMetadata("authorization", std::string(stubs.authorization));
}

ProveCall::ProveCall(const Stubs& stubs, const RetryPolicy& retry, v1::ProofSpec spec, const Input& input,
                     const ProveOptions& options, JobTarget* job)
    : stubs_(stubs),
      spec_(std::move(spec)),
      input_(input),
      bytes_(input.bytes()),
      options_(options),
      job_(job),
      deadline_(absl::Now() + options.timeout),
      retrier_(retry, deadline_) {
  progress_.size_bytes = bytes_.size();
}

absl::StatusOr<v1::ProofResult> ProveCall::Run(Transfer transfer) {
  const absl::Status status = RunAttempts(transfer);
  if (!status.ok()) return status;
  return std::move(result_);
}

absl::Status ProveCall::RunAttempts(Transfer transfer) {
  return retrier_.Run([&] {
    absl::Status attempt = Attempt(transfer);
    while (!attempt.ok() && RestartHelps(attempt)) attempt = Attempt(transfer);
    if (!attempt.ok()) ReportFailure(attempt);
    return attempt;
  });
}

absl::Status ProveCall::Attempt(Transfer transfer) {
  Report(Progress::Phase::kConnecting);
  absl::Status status;
  if (transfer == Transfer::kUnary) {
    status = AttemptUnary();
  } else if (transfer == Transfer::kStream) {
    status = AttemptStream();
  } else {
    status = AttemptUpload();
  }
  if (status.ok() && job_ == nullptr && !input_.IsAnsweredBy(result_)) {
    return absl::InternalError(
        "expected a proof of the input's proof system in the answer of the service, got none");
  }
  return status;
}

bool ProveCall::RestartHelps(const absl::Status& error) {
  const std::string reason = ErrorReason(error);
  if (upload_.empty() || (reason != "UPLOAD_UNKNOWN" && reason != "UPLOAD_CHECKSUM")) return false;
  upload_.clear();
  committed_bytes_ = 0;
  return ++restarts_ <= kRestartsMax;
}

void ProveCall::NoteCommitted(uint64_t committed_bytes) {
  committed_bytes = std::min<uint64_t>(committed_bytes, bytes_.size());
  if (committed_bytes > committed_bytes_) retrier_.NoteProgress();
  committed_bytes_ = committed_bytes;
  progress_.sent_bytes = committed_bytes;
}

void ProveCall::Report(Progress::Phase phase) {
  progress_.phase = phase;
  if (options_.on_progress) options_.on_progress(progress_);
}

void ProveCall::ReportFailure(const absl::Status& error) {
  progress_.retry_delay = RetryDelay(error);
  progress_.retry_reason = ErrorReason(error);
  if (progress_.retry_reason.empty()) progress_.retry_reason = std::string(error.message());
  if (IsRetryable(error)) Report(Progress::Phase::kWaitingToRetry);
}

absl::Status ProveCall::AttemptUnary() {
  v1::ProveRequest request;
  *request.mutable_spec() = spec_;
  input_.FillRest(request);
  Report(Progress::Phase::kRunning);
  return CallProve(request, /*with_bytes=*/true);
}

absl::Status ProveCall::CallCreateJob(v1::ProveRequest& request, bool with_bytes) {
  v1::CreateJobRequest create;
  create.mutable_request()->Swap(&request);
  if (job_->timeout < absl::Hours(24)) {
    const absl::Duration timeout = std::max(job_->timeout, absl::Milliseconds(1));
    create.mutable_timeout()->set_seconds(absl::ToInt64Seconds(timeout));
    create.mutable_timeout()->set_nanos(
        static_cast<int32_t>(absl::ToInt64Nanoseconds(timeout % absl::Seconds(1))));
  }
  grpc::ClientContext context;
  PrepareContext(stubs_, deadline_, context);
  v1::CreateJobResponse response;
  grpc::Status status;
  if (with_bytes) {
    const std::initializer_list<int> path = input_.path();
    status = CallUnary(
        *stubs_.raw, context, kCreateJob,
        stubs_.blocks->Message(
            create, {v1::CreateJobRequest::kRequestFieldNumber, path.begin()[0], path.begin()[1]}, bytes_),
        response);
  } else {
    status = stubs_.jobs->CreateJob(&context, create, &response);
  }
  if (status.ok()) job_->job = std::move(*response.mutable_job());
  return FromGrpc(status, context);
}

absl::Status ProveCall::CallProve(v1::ProveRequest& request, bool with_bytes) {
  if (job_ != nullptr) return CallCreateJob(request, with_bytes);
  grpc::ClientContext context;
  PrepareContext(stubs_, deadline_, context);
  v1::ProveResponse response;
  const grpc::Status status =
      with_bytes ? CallUnary(*stubs_.raw, context, kProve,
                             stubs_.blocks->Message(request, input_.path(), bytes_), response)
                 : stubs_.prover->Prove(&context, request, &response);
  if (status.ok()) result_ = std::move(*response.mutable_result());
  return FromGrpc(status, context);
}

absl::Status ProveCall::AttemptStream() {
  grpc::ClientContext context;
  PrepareContext(stubs_, deadline_, context);
  RawStream stream(*stubs_.raw, context, kProveStream);
  if (OpenStream(stream) && SendChunks(stream)) ReadResult(stream);
  return FromGrpc(stream.Finish(), context);
}

// No SHA-256 of the whole, which would have to be made before anything is sent: each chunk has its checksum.
bool ProveCall::OpenStream(RawStream& stream) {
  v1::ProveStreamRequest request;
  v1::StreamHeader& header = *request.mutable_header();
  *header.mutable_spec() = spec_;
  header.set_size_bytes(bytes_.size());
  input_.FillHeader(header);
  header.set_upload(upload_);
  v1::ProveStreamResponse response;
  if (!stream.Write(request) || !stream.Read(response) || !response.has_admitted()) return false;

  const v1::Admitted& admitted = response.admitted();
  upload_ = admitted.upload();
  chunk_bytes_ = std::clamp<uint64_t>(admitted.chunk_bytes_max(), 1, kChunkBytesMax);
  progress_.estimated_wait = FromProto(admitted.estimated_wait());
  NoteCommitted(admitted.committed_bytes());
  return true;
}

bool ProveCall::SendChunks(RawStream& stream) {
  if (committed_bytes_ == bytes_.size()) return stream.WritesDone();
  v1::ProveStreamRequest request;
  for (uint64_t offset = committed_bytes_; offset < bytes_.size();) {
    const absl::string_view piece = bytes_.substr(offset, chunk_bytes_);
    request.mutable_chunk()->set_offset_bytes(offset);
    request.mutable_chunk()->set_crc32c(ChecksumOf(piece));
    const grpc::ByteBuffer message = stubs_.blocks->Message(
        request, {v1::ProveStreamRequest::kChunkFieldNumber, v1::Chunk::kDataFieldNumber}, piece);
    offset += piece.size();
    if (!(offset == bytes_.size() ? stream.WriteLast(message) : stream.Write(message))) return false;
    progress_.sent_bytes = offset;
    Report(Progress::Phase::kSending);
  }
  return true;
}

void ProveCall::ReadResult(RawStream& stream) {
  v1::ProveStreamResponse response;
  while (stream.Read(response)) {
    if (response.has_result()) {
      result_ = std::move(*response.mutable_result());
    } else if (response.has_progress()) {
      const bool running = response.progress().state() == v1::JobProgress::STATE_RUNNING;
      progress_.stage = response.progress().stage();
      progress_.jobs_ahead = response.progress().jobs_ahead();
      Report(running ? Progress::Phase::kRunning : Progress::Phase::kQueued);
    }
  }
}

absl::Status ProveCall::AttemptUpload() {
  absl::Status status = upload_.empty() ? CreateUpload() : FindCommitted();
  while (status.ok() && committed_bytes_ < bytes_.size()) status = WriteNextPiece();
  if (!status.ok()) return status;

  v1::ProveRequest request;
  *request.mutable_spec() = spec_;
  input_.FillUpload(upload_, request);
  Report(Progress::Phase::kRunning);
  return CallProve(request, /*with_bytes=*/false);
}

absl::Status ProveCall::CreateUpload() {
  grpc::ClientContext context;
  PrepareContext(stubs_, deadline_, context);
  v1::CreateUploadRequest request;
  request.set_circuit(spec_.circuit());
  request.set_size_bytes(bytes_.size());
  request.set_sha256(Sha256(bytes_));
  // When the answer is lost, the next attempt finds the upload again.
  request.set_request_id(spec_.request_id());
  v1::CreateUploadResponse response;
  const grpc::Status status = stubs_.uploads->CreateUpload(&context, request, &response);
  if (status.ok()) TakeUpload(response.upload());
  return FromGrpc(status, context);
}

absl::Status ProveCall::FindCommitted() {
  grpc::ClientContext context;
  PrepareContext(stubs_, deadline_, context);
  v1::GetUploadRequest request;
  request.set_name(upload_);
  v1::GetUploadResponse response;
  const grpc::Status status = stubs_.uploads->GetUpload(&context, request, &response);
  if (status.ok()) TakeUpload(response.upload());
  return FromGrpc(status, context);
}

absl::Status ProveCall::WriteNextPiece() {
  grpc::ClientContext context;
  PrepareContext(stubs_, deadline_, context);
  const absl::string_view piece = bytes_.substr(committed_bytes_, chunk_bytes_);
  v1::WriteUploadRequest request;
  request.set_name(upload_);
  request.set_offset_bytes(committed_bytes_);
  request.set_crc32c(ChecksumOf(piece));
  v1::WriteUploadResponse response;
  const grpc::Status status =
      CallUnary(*stubs_.raw, context, kWriteUpload,
                stubs_.blocks->Message(request, {v1::WriteUploadRequest::kDataFieldNumber}, piece), response);
  if (!status.ok()) return FromGrpc(status, context);
  if (response.upload().committed_bytes() <= committed_bytes_) {
    return absl::InternalError(
        "expected the service to take a piece of the witness, got no more bytes than before");
  }
  TakeUpload(response.upload());
  Report(Progress::Phase::kSending);
  return absl::OkStatus();
}

void ProveCall::TakeUpload(const v1::Upload& upload) {
  upload_ = upload.name();
  chunk_bytes_ = std::clamp<uint64_t>(upload.chunk_bytes_max(), 1, kPieceBytes);
  NoteCommitted(upload.committed_bytes());
}

}  // namespace proofmill::client
