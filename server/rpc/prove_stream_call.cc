#include "server/rpc/prove_stream_call.h"

#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "engine/formats/crc32c.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/submit.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;

absl::Status Expired(std::string_view what) {
  return engine::WithReason(absl::DeadlineExceededError(absl::string_view(what.data(), what.size())),
                            ErrorReason::kDeadlineExpired);
}

v1::JobProgress ToProto(const engine::Progress& progress) {
  v1::JobProgress out;
  const bool queued = progress.state == engine::JobState::kQueued;
  out.set_state(queued ? v1::JobProgress::STATE_QUEUED : v1::JobProgress::STATE_RUNNING);
  out.set_stage(progress.stage);
  if (queued) out.set_jobs_ahead(static_cast<uint32_t>(progress.jobs_ahead));
  return out;
}

}  // namespace

ProveStreamCall* ProveStreamCall::Start(ServiceContext& services, grpc::CallbackServerContext& context) {
  const auto call = std::make_shared<ProveStreamCall>(services, context);
  call->self_ = call;
  services.metrics.AddStreams(1);
  services.reaper.Add(call);
  if (const absl::Status access = call->record_.access(); !access.ok()) {
    call->End(access);
  } else {
    call->StartRead(&call->request_bytes_);
  }
  return call.get();
}

ProveStreamCall::ProveStreamCall(ServiceContext& services, grpc::CallbackServerContext& context)
    : services_(services),
      context_(context),
      deadline_(CallDeadline(services, context.deadline())),
      record_(services, Method::kProveStream, context),
      idle_since_(services.engine.clock().Now()) {}

void ProveStreamCall::OnReadDone(bool ok) {
  bool decided;
  {
    engine::MutexLock lock(mu_);
    handling_ = true;
    decided = outcome_.has_value();
  }
  absl::Status status;
  try {
    // Once the outcome is decided another thread may be sending it, and owns what a message would change.
    if (decided && ok) {
      WipeMessage(request_bytes_);
    } else {
      status = ok ? HandleMessage() : HalfClosed();
    }
  } catch (const std::exception& e) {
    status = engine::WithReason(absl::ResourceExhaustedError(absl::StrCat("no memory: ", e.what())),
                                ErrorReason::kOutOfMemory);
  }
  engine::WipeThreadTraces();
  std::string given_up;
  {
    engine::MutexLock lock(mu_);
    if (!status.ok() && !outcome_.has_value()) outcome_ = status;
    if (phase_ == Phase::kChunks && outcome_.has_value()) given_up = upload_;
  }
  // As in OnCancel(): the upload stays for a while, but without a place in the queue. Before the client hears
  // of the end, which handling_ keeps back.
  if (!given_up.empty()) services_.uploads.ReleaseJobSlot(given_up);
  bool more;
  {
    engine::MutexLock lock(mu_);
    handling_ = false;
    more = ok && phase_ == Phase::kChunks && !outcome_.has_value();
  }
  if (more) StartRead(&request_bytes_);
  Pump();
}

absl::Status ProveStreamCall::HandleMessage() {
  static const std::vector<FieldPath> kPaths = {
      {v1::ProveStreamRequest::kChunkFieldNumber, v1::Chunk::kDataFieldNumber}};
  SecretField data;
  if (!ParseApart(request_bytes_, kPaths, request_, data)) return InvalidRequest("not a ProveStreamRequest");
  Phase phase;
  {
    engine::MutexLock lock(mu_);
    phase = phase_;
  }
  if (phase == Phase::kHeader) {
    if (request_.has_header()) return HandleHeader(request_.header());
    return InvalidRequest("the first message must be a header");
  }
  if (request_.has_chunk()) return HandleChunk(request_.chunk(), data);
  return InvalidRequest("after the header every message must be a chunk");
}

absl::Status ProveStreamCall::HandleHeader(const v1::StreamHeader& header) {
  PROOFMILL_ASSIGN_OR_RETURN(spec_, ParseSpec(header.spec()));
  spec_.tenant = record_.caller().tenant;
  record_.SetCircuit(spec_.circuit);
  record_.SetRequestId(spec_.request_id);
  record_.SetWitnessBytes(header.size_bytes());
  PROOFMILL_RETURN_IF_ERROR(CheckSha256(header.sha256()));
  PROOFMILL_ASSIGN_OR_RETURN(circuit_, FindCircuit(services_, spec_));
  PROOFMILL_RETURN_IF_ERROR(ApiOf(circuit_->system).CheckClaims(*circuit_, header.whir_claims()));
  claims_ = header.whir_claims();
  PROOFMILL_ASSIGN_OR_RETURN(const UploadInfo upload, OpenUpload(header));

  v1::Admitted admitted;
  admitted.set_upload(upload.name);
  admitted.set_chunk_bytes_max(services_.limits.chunk_bytes_max);
  admitted.set_committed_bytes(upload.committed_bytes);
  if (const auto wait = services_.engine.EstimatedWait(spec_.priority, spec_.tenant)) {
    *admitted.mutable_estimated_wait() = server::ToProto(*wait);
  }
  {
    engine::MutexLock lock(mu_);
    phase_ = Phase::kChunks;
    upload_ = upload.name;
    committed_bytes_ = upload.committed_bytes;
    idle_since_ = services_.engine.clock().Now();
    admitted_ = std::move(admitted);
  }
  Pump();
  // All of it came with an earlier stream.
  return upload.complete() ? SubmitUploaded() : absl::OkStatus();
}

absl::StatusOr<UploadInfo> ProveStreamCall::OpenUpload(const v1::StreamHeader& header) {
  if (header.upload().empty()) {
    PROOFMILL_ASSIGN_OR_RETURN(
        engine::Reservation reservation,
        ReserveWitness(services_, spec_, circuit_, header.size_bytes(), deadline_, /*with_job_slot=*/true));
    return services_.uploads.Create({.tenant = spec_.tenant,
                                     .circuit = spec_.circuit,
                                     .size_bytes = header.size_bytes(),
                                     .sha256 = header.sha256(),
                                     .reservation = std::move(reservation)});
  }
  PROOFMILL_ASSIGN_OR_RETURN(UploadInfo upload, services_.uploads.Get(spec_.tenant, header.upload()));
  if (upload.circuit != spec_.circuit || upload.size_bytes != header.size_bytes()) {
    return InvalidRequest(absl::StrCat("header: expected circuit ", upload.circuit, " and ",
                                       upload.size_bytes, " bytes, as the upload was begun with, got ",
                                       spec_.circuit, " and ", header.size_bytes(), " bytes"));
  }
  // Left out, the one that the upload was begun with counts.
  if (!header.sha256().empty() && upload.sha256 != header.sha256()) {
    return InvalidRequest(absl::StrCat("header.sha256: expected ",
                                       upload.sha256.empty() ? "none" : "the hash or none",
                                       ", as the upload was begun with, got another"));
  }
  return upload;
}

absl::Status ProveStreamCall::HandleChunk(const v1::Chunk& chunk, SecretField& data) {
  if (data.size() == 0 || data.size() > services_.limits.chunk_bytes_max) {
    return InvalidRequest(absl::StrCat("chunk.data: expected 1 to ", services_.limits.chunk_bytes_max,
                                       " bytes, got ", data.size()));
  }
  if (chunk.has_crc32c() && chunk.crc32c() != engine::Crc32c(data.pieces())) {
    return engine::WithReason(
        absl::InvalidArgumentError(absl::StrCat("chunk.crc32c: expected the checksum of the ", data.size(),
                                                " bytes of data, got another")),
        ErrorReason::kUploadChecksum);
  }
  std::string name;
  {
    engine::MutexLock lock(mu_);
    name = upload_;
  }
  PROOFMILL_ASSIGN_OR_RETURN(
      const UploadInfo upload,
      services_.uploads.Write(spec_.tenant, name, chunk.offset_bytes(), data.pieces()));
  data.Wipe();  // before the last chunk makes a job of the upload, and its answer
  {
    engine::MutexLock lock(mu_);
    // A chunk that came before keeps no stream alive.
    if (upload.committed_bytes > committed_bytes_) idle_since_ = services_.engine.clock().Now();
    committed_bytes_ = upload.committed_bytes;
  }
  return upload.complete() ? SubmitUploaded() : absl::OkStatus();
}

absl::Status ProveStreamCall::SubmitUploaded() {
  std::string name;
  {
    engine::MutexLock lock(mu_);
    phase_ = Phase::kSubmitted;
    name = upload_;
  }
  const auto self = shared_from_this();
  PROOFMILL_ASSIGN_OR_RETURN(
      auto ticket,
      SubmitUpload(
          services_, name,
          {.spec = spec_,
           .claims = claims_,
           .circuit = std::move(circuit_),
           .deadline = deadline_,
           .done = [self](absl::StatusOr<engine::ProveResult> result) { self->End(std::move(result)); },
           .progress = [self](const engine::Progress& progress) { self->OnProgress(progress); }}));
  const engine::Progress progress = ticket->progress();
  engine::MutexLock lock(mu_);
  ticket_ = std::move(ticket);
  if (cancelled_) ticket_->Cancel();
  // The engine tells of changes; this is what there was before the first one.
  if (!progress_heard_ && progress.state == engine::JobState::kQueued) progress_ = progress;
  return absl::OkStatus();
}

absl::Status ProveStreamCall::HalfClosed() {
  engine::MutexLock lock(mu_);
  if (phase_ == Phase::kSubmitted || outcome_.has_value()) return absl::OkStatus();
  if (cancelled_ || context_.IsCancelled()) return absl::CancelledError("the client went away");
  return engine::WithReason(
      absl::FailedPreconditionError("the client ended its stream before the witness was complete"),
      ErrorReason::kUploadIncomplete);
}

void ProveStreamCall::OnWriteDone(bool ok) {
  services_.sends.End(context_);
  {
    engine::MutexLock lock(mu_);
    sending_ = false;
  }
  // The connection is gone. OnCancel() gives the job up; this is for the case that there is none yet.
  if (!ok) OnCancel();
  Pump();
}

void ProveStreamCall::OnCancel() {
  std::shared_ptr<engine::Ticket> ticket;
  std::string upload;
  bool submitted;
  {
    engine::MutexLock lock(mu_);
    cancelled_ = true;
    ticket = ticket_;
    upload = upload_;
    submitted = phase_ == Phase::kSubmitted;
  }
  if (ticket != nullptr) ticket->Cancel();
  if (submitted) return;  // the engine answers
  // The upload stays for a while, for a stream that goes on with it, but without a place in the queue.
  services_.uploads.ReleaseJobSlot(upload);
  End(absl::CancelledError("the client went away before the witness was complete"));
}

void ProveStreamCall::OnDone() {
  services_.sends.End(context_);
  services_.metrics.AddStreams(-1);
  const auto self = std::move(self_);  // the last reference may be this one
}

void ProveStreamCall::EndIdle(engine::Clock::time_point now) {
  absl::Status status;
  std::string upload;
  {
    engine::MutexLock lock(mu_);
    if (phase_ == Phase::kSubmitted || outcome_.has_value()) return;
    upload = upload_;
    if (services_.draining) {
      status =
          engine::WithReason(absl::UnavailableError("the service is shutting down"), ErrorReason::kDraining);
    } else if (now >= idle_since_ + services_.limits.idle_timeout) {
      status = Expired("the client sent nothing new for too long");
    } else if (now >= deadline_) {
      status = Expired("the deadline passed before the witness was complete");
    }
  }
  if (status.ok()) return;
  services_.uploads.ReleaseJobSlot(upload);
  End(status);
}

void ProveStreamCall::OnProgress(const engine::Progress& progress) {
  {
    engine::MutexLock lock(mu_);
    if (outcome_.has_value() || progress.state == engine::JobState::kDone) return;
    progress_ = progress;
    progress_heard_ = true;
  }
  Pump();
}

void ProveStreamCall::End(absl::StatusOr<engine::ProveResult> outcome) {
  {
    engine::MutexLock lock(mu_);
    if (outcome_.has_value()) return;
    outcome_ = std::move(outcome);
  }
  Pump();
}

void ProveStreamCall::Pump() {
  // After Finish() OnDone() may come at once, on another thread.
  const auto self = shared_from_this();
  std::optional<absl::StatusOr<engine::ProveResult>> outcome;
  v1::ProveStreamResponse response;
  {
    engine::MutexLock lock(mu_);
    if (sending_ || finished_) return;
    if (admitted_.has_value() && !cancelled_) {
      *response.mutable_admitted() = *std::move(admitted_);
      admitted_.reset();
    } else if (outcome_.has_value() && !handling_) {
      finished_ = true;
      outcome = outcome_;
    } else if (progress_.has_value() && !outcome_.has_value()) {
      *response.mutable_progress() = ToProto(*progress_);
      progress_.reset();
    } else {
      return;
    }
    sending_ = true;
  }
  services_.sends.Begin(context_);
  if (outcome.has_value()) {
    SendOutcome(*outcome);
  } else {
    response_bytes_ = Serialize(response);
    StartWrite(&response_bytes_);
  }
}

void ProveStreamCall::SendOutcome(const absl::StatusOr<engine::ProveResult>& outcome) {
  if (!outcome.ok()) {
    Finish(record_.End(outcome.status()));
    return;
  }
  record_.SetResult(*outcome);
  v1::ProveStreamResponse response;
  FillResult(*outcome, spec_.include_snarkjs_json, record_.request_id(), *response.mutable_result());
  response_bytes_ = Serialize(response);
  StartWriteAndFinish(&response_bytes_, grpc::WriteOptions(), record_.End(absl::OkStatus()));
}

}  // namespace proofmill::server
