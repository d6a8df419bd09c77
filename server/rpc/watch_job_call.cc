#include "server/rpc/watch_job_call.h"

#include <utility>

#include "engine/base/status_macros.h"
#include "server/rpc/convert.h"

namespace proofmill::server {
namespace {

v1::Job::State StateOf(const JobView& job) {
  if (job.outcome != nullptr) {
    if (job.outcome->ok()) return v1::Job::STATE_SUCCEEDED;
    return absl::IsCancelled(job.outcome->status()) ? v1::Job::STATE_CANCELLED : v1::Job::STATE_FAILED;
  }
  return job.progress.state == engine::JobState::kRunning ? v1::Job::STATE_RUNNING : v1::Job::STATE_QUEUED;
}

}  // namespace

void FillJob(const JobView& job, bool with_result, v1::Job& out) {
  out.set_name(job.name);
  out.set_state(StateOf(job));
  out.set_circuit(job.circuit);
  out.set_circuit_version(job.version);
  out.set_request_id(job.request_id);
  out.set_priority(ToProto(job.priority));
  out.set_jobs_ahead(static_cast<uint32_t>(job.progress.jobs_ahead));
  out.set_stage(job.progress.stage);
  *out.mutable_create_time() = ToProto(job.create_time);
  *out.mutable_deadline() = ToProto(job.deadline);
  if (job.outcome == nullptr) return;
  *out.mutable_end_time() = ToProto(job.end_time);
  *out.mutable_expire_time() = ToProto(job.expire_time);
  if (!job.outcome->ok()) {
    FillError(job.outcome->status(), *out.mutable_error());
  } else if (with_result) {
    FillResult(**job.outcome, job.include_snarkjs_json, job.request_id, *out.mutable_result());
  }
}

WatchJobCall* WatchJobCall::Start(ServiceContext& services, grpc::CallbackServerContext& context,
                                  const std::string& name) {
  const auto call = std::make_shared<WatchJobCall>(services, context, name);
  call->self_ = call;
  // An error is found again, and told, by Pump().
  if (call->record_.access().ok()) {
    services.jobs.Watch(call->record_.caller().tenant, name, call).status().IgnoreError();
  }
  call->Pump();
  return call.get();
}

WatchJobCall::WatchJobCall(ServiceContext& services, grpc::CallbackServerContext& context, std::string name)
    : services_(services),
      context_(context),
      name_(std::move(name)),
      record_(services, Method::kWatchJob, context) {}

void WatchJobCall::OnWriteDone(bool ok) {
  services_.sends.End(context_);
  {
    engine::MutexLock lock(mu_);
    sending_ = false;
    if (!ok) cancelled_ = true;
  }
  Pump();
}

void WatchJobCall::OnCancel() {
  {
    engine::MutexLock lock(mu_);
    cancelled_ = true;
  }
  Pump();
}

void WatchJobCall::OnDone() {
  services_.sends.End(context_);
  const auto self = std::move(self_);  // the last reference may be this one
}

absl::StatusOr<JobView> WatchJobCall::Find() const {
  PROOFMILL_RETURN_IF_ERROR(record_.access());
  return services_.jobs.Get(record_.caller().tenant, name_);
}

void WatchJobCall::Pump() {
  // After Finish() OnDone() may come at once, on another thread.
  const auto self = shared_from_this();
  absl::StatusOr<JobView> job = absl::CancelledError("the client went away");
  {
    engine::MutexLock lock(mu_);
    if (sending_ || finished_) return;
    if (!cancelled_) job = Find();
    if (job.ok() && told_ == job->revision) return;
    if (job.ok()) told_ = job->revision;
    sending_ = true;
    finished_ = !job.ok() || job->outcome != nullptr;
  }
  services_.sends.Begin(context_);
  if (!job.ok()) {
    Finish(record_.End(job.status()));
    return;
  }
  response_.Clear();
  FillJob(*job, /*with_result=*/true, *response_.mutable_job());
  if (job->outcome != nullptr) {
    record_.SetCircuit(job->circuit);
    record_.SetRequestId(job->request_id);
    StartWriteAndFinish(&response_, grpc::WriteOptions(), record_.End(absl::OkStatus()));
  } else {
    StartWrite(&response_);
  }
}

}  // namespace proofmill::server
