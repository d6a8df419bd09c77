#include "engine/dispatch/job.h"

#include <algorithm>
#include <utility>

#include "engine/base/status_macros.h"

namespace proofmill::engine {

Job::Job(Params params) : params_(std::move(params)) {}

JobInfo Job::info() const {
  return {.circuit = circuit().id,
          .system = circuit().system,
          .tenant = params_.tenant,
          .request_id = params_.request_id,
          .priority = params_.priority};
}

bool Job::Attach(std::shared_ptr<Ticket> ticket) {
  MutexLock lock(mu_);
  if (abandoned_ || state_ == JobState::kDone) return false;
  tickets_.push_back(std::move(ticket));
  return true;
}

Job::Detached Job::Detach(const Ticket& ticket) {
  std::shared_ptr<Ticket> taken_off;  // let go of after the lock
  MutexLock lock(mu_);
  const auto found = std::find_if(tickets_.begin(), tickets_.end(),
                                  [&](const auto& attached) { return attached.get() == &ticket; });
  if (found == tickets_.end()) return Detached::kNot;
  taken_off = std::move(*found);
  tickets_.erase(found);
  if (!tickets_.empty()) return Detached::kOthersWait;
  abandoned_ = true;
  cancellation_.Cancel();
  return Detached::kLast;
}

std::vector<std::shared_ptr<Ticket>> Job::tickets() const {
  MutexLock lock(mu_);
  return tickets_;
}

bool Job::Start() {
  MutexLock lock(mu_);
  if (abandoned_ || state_ == JobState::kDone) return false;
  state_ = JobState::kRunning;
  stage_.clear();
  return true;
}

bool Job::Requeue(size_t device) {
  MutexLock lock(mu_);
  if (abandoned_ || state_ == JobState::kDone) return false;
  excluded_device_ = device;
  state_ = JobState::kQueued;
  return true;
}

bool Job::MayRunOn(size_t device) const {
  MutexLock lock(mu_);
  return excluded_device_ != device;
}

bool Job::WasRequeued() const {
  MutexLock lock(mu_);
  return excluded_device_.has_value();
}

void Job::ReportStage(std::string stage) {
  MutexLock lock(mu_);
  stage_ = std::move(stage);
}

std::vector<std::shared_ptr<Ticket>> Job::Finish() {
  MutexLock lock(mu_);
  state_ = JobState::kDone;
  cancellation_.Cancel();
  return std::exchange(tickets_, {});
}

Progress Job::progress() const {
  MutexLock lock(mu_);
  return {.state = state_, .jobs_ahead = 0, .stage = stage_};
}

absl::Status Job::Reserve(Admission& admission) {
  MutexLock lock(holdings_mu_);
  const TenantLimits tenant{.name = params_.tenant,
                            .jobs_max = params_.tenant_jobs_max,
                            .witness_bytes_max = params_.tenant_witness_bytes_max};
  const uint64_t witness_bytes = InputBytes(params_.witness);
  if (params_.reservation.witness_bytes() >= witness_bytes) {
    return admission.AddJobSlot(params_.reservation, tenant);
  }
  params_.reservation.Release();
  PROOFMILL_ASSIGN_OR_RETURN(params_.reservation, admission.Reserve(witness_bytes, true, tenant));
  return absl::OkStatus();
}

void Job::DropWitness() {
  MutexLock lock(holdings_mu_);
  params_.witness = ProofInput();
  params_.reservation.Release();
}

ProofInput Job::TakeWitness() {
  MutexLock lock(holdings_mu_);
  return std::move(params_.witness);
}

void Job::ReleaseJobSlot() {
  MutexLock lock(holdings_mu_);
  params_.reservation.ReleaseJobSlot();
}

}  // namespace proofmill::engine
