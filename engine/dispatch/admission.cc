#include "engine/dispatch/admission.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

struct Admission::State {
  State(Limits limits_in, WitnessBytesListener listener_in)
      : limits(limits_in), listener(std::move(listener_in)) {}

  absl::Status CheckLocked(uint64_t witness_bytes, size_t jobs, const TenantLimits& tenant) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (closed) {
      return WithReason(absl::UnavailableError("the service is shutting down"), ErrorReason::kDraining);
    }
    // No overflow: usage never exceeds the limits.
    if (witness_bytes > limits.witness_bytes_max - usage.witness_bytes) {
      return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                            "the queue is full: witnesses hold ", usage.witness_bytes, " of ",
                            limits.witness_bytes_max, " bytes, and this one needs ", witness_bytes)),
                        ErrorReason::kQueueFull);
    }
    if (jobs > limits.jobs_max - usage.jobs) {
      return WithReason(absl::ResourceExhaustedError(
                            absl::StrCat("the queue is full: ", limits.jobs_max, " jobs wait or upload")),
                        ErrorReason::kQueueFull);
    }
    return CheckTenantLocked(witness_bytes, jobs, tenant);
  }

  absl::Status CheckTenantLocked(uint64_t witness_bytes, size_t jobs, const TenantLimits& tenant) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    const auto found = tenants.find(tenant.name);
    const Usage held = found == tenants.end() ? Usage{} : found->second;
    if (jobs != 0) {
      PROOFMILL_RETURN_IF_ERROR(CheckShare("jobs", tenant,
                                           {.held = held.jobs,
                                            .wanted = jobs,
                                            .free = limits.jobs_max - usage.jobs,
                                            .own_max = tenant.jobs_max}));
    }
    if (witness_bytes == 0) return absl::OkStatus();
    return CheckShare("bytes of witness", tenant,
                      {.held = held.witness_bytes,
                       .wanted = witness_bytes,
                       .free = limits.witness_bytes_max - usage.witness_bytes,
                       .own_max = tenant.witness_bytes_max});
  }

  struct Share {
    uint64_t held;
    uint64_t wanted;
    uint64_t free;
    uint64_t own_max;
  };
  static absl::Status CheckShare(std::string_view what, const TenantLimits& tenant, const Share& share) {
    const std::string unit(what);
    if (share.own_max != 0 && share.wanted > share.own_max - std::min(share.held, share.own_max)) {
      return WithReason(absl::ResourceExhaustedError(absl::StrCat("the tenant's own limit is ", share.own_max,
                                                                  " ", unit, "; it holds ", share.held,
                                                                  " and asks for ", share.wanted)),
                        ErrorReason::kQuotaExceeded);
    }
    // What it holds already counts, not what it asks for: a tenant that holds nothing gets whatever fits.
    if (tenant.name.empty() || share.held / kShareOfFree < share.free) return absl::OkStatus();
    return WithReason(
        absl::ResourceExhaustedError(absl::StrCat("the tenant holds its share, ", share.held, " ", unit,
                                                  ", and ", share.free, " are free for all others")),
        ErrorReason::kQuotaExceeded);
  }

  void TakeLocked(uint64_t witness_bytes, size_t jobs, const std::string& tenant)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    Usage& own = tenants[tenant];  // first: it may throw
    own.witness_bytes += witness_bytes;
    own.jobs += jobs;
    usage.witness_bytes += witness_bytes;
    usage.jobs += jobs;
  }

  void GiveBack(uint64_t witness_bytes, size_t jobs, const std::string& tenant) {
    MutexLock lock(mu);
    const auto own = tenants.find(tenant);
    own->second.witness_bytes -= witness_bytes;
    own->second.jobs -= jobs;
    if (own->second.witness_bytes == 0 && own->second.jobs == 0) tenants.erase(own);
    usage.witness_bytes -= witness_bytes;
    usage.jobs -= jobs;
    if (usage.jobs == 0) no_jobs.NotifyAll();
  }

  void Tell(int64_t change) const {
    if (listener && change != 0) listener(change);
  }

  const Limits limits;
  const WitnessBytesListener listener;
  Mutex mu;
  CondVar no_jobs;
  Usage usage ABSL_GUARDED_BY(mu);
  std::map<std::string, Usage, std::less<>> tenants ABSL_GUARDED_BY(mu);  // of those that hold something
  bool closed ABSL_GUARDED_BY(mu) = false;
};

Admission::Admission(Limits limits, WitnessBytesListener listener)
    : limits_(limits), state_(std::make_shared<State>(limits, std::move(listener))) {}

absl::StatusOr<Reservation> Admission::Reserve(uint64_t witness_bytes, bool with_job_slot,
                                               const TenantLimits& tenant) {
  if (witness_bytes > limits_.witness_bytes_max) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          "the witness is too large: this service holds at most ", limits_.witness_bytes_max,
                          " bytes of witnesses, this one has ", witness_bytes)),
                      ErrorReason::kMessageTooLarge);
  }
  Reservation reservation(nullptr, std::string(tenant.name), witness_bytes, with_job_slot);
  const size_t jobs = with_job_slot ? 1 : 0;
  {
    MutexLock lock(state_->mu);
    PROOFMILL_RETURN_IF_ERROR(state_->CheckLocked(witness_bytes, jobs, tenant));
    state_->TakeLocked(witness_bytes, jobs, reservation.tenant_);
  }
  reservation.state_ = state_;
  state_->Tell(static_cast<int64_t>(witness_bytes));
  return reservation;
}

absl::Status Admission::AddJobSlot(Reservation& reservation, const TenantLimits& tenant) {
  if (reservation.has_job_slot_) return absl::OkStatus();
  std::string name(tenant.name);
  MutexLock lock(state_->mu);
  PROOFMILL_RETURN_IF_ERROR(state_->CheckLocked(0, 1, tenant));
  state_->TakeLocked(0, 1, name);
  reservation.state_ = state_;
  reservation.tenant_ = std::move(name);
  reservation.has_job_slot_ = true;
  return absl::OkStatus();
}

void Admission::Close() {
  MutexLock lock(state_->mu);
  state_->closed = true;
}

Admission::Usage Admission::usage() const {
  MutexLock lock(state_->mu);
  return state_->usage;
}

bool Admission::WaitUntilNoJobs(Clock& clock, Clock::time_point deadline) {
  State& state = *state_;
  MutexLock lock(state.mu);
  while (state.usage.jobs != 0 && clock.Now() < deadline) clock.WaitUntil(state.no_jobs, state.mu, deadline);
  return state.usage.jobs == 0;
}

Reservation::Reservation(std::shared_ptr<Admission::State> state, std::string tenant, uint64_t witness_bytes,
                         bool has_job_slot)
    : state_(std::move(state)),
      tenant_(std::move(tenant)),
      witness_bytes_(witness_bytes),
      has_job_slot_(has_job_slot) {}

Reservation::Reservation(Reservation&& other) noexcept
    : state_(std::move(other.state_)),
      tenant_(std::move(other.tenant_)),
      witness_bytes_(std::exchange(other.witness_bytes_, 0)),
      has_job_slot_(std::exchange(other.has_job_slot_, false)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  Release();
  state_ = std::move(other.state_);
  tenant_ = std::move(other.tenant_);
  witness_bytes_ = std::exchange(other.witness_bytes_, 0);
  has_job_slot_ = std::exchange(other.has_job_slot_, false);
  return *this;
}

void Reservation::ReleaseJobSlot() {
  if (!std::exchange(has_job_slot_, false) || state_ == nullptr) return;
  state_->GiveBack(0, 1, tenant_);
}

void Reservation::Release() {
  ReleaseJobSlot();
  const uint64_t bytes = std::exchange(witness_bytes_, 0);
  if (bytes != 0 && state_ != nullptr) {
    state_->GiveBack(bytes, 0, tenant_);
    state_->Tell(-static_cast<int64_t>(bytes));
  }
  state_.reset();
}

}  // namespace proofmill::engine
