#include "engine/dispatch/admission.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

struct Admission::State {
  State(Limits limits_in, WitnessBytesListener listener_in)
      : limits(limits_in), listener(std::move(listener_in)) {}

  // Takes a job slot. The caller holds `mu`.
  absl::Status TakeSlotLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (closed) {
      return WithReason(absl::UnavailableError("the service is shutting down"), ErrorReason::kDraining);
    }
    if (usage.jobs >= limits.jobs_max) {
      return WithReason(absl::ResourceExhaustedError(
                            absl::StrCat("the queue is full: ", limits.jobs_max, " jobs wait or upload")),
                        ErrorReason::kQueueFull);
    }
    ++usage.jobs;
    return absl::OkStatus();
  }

  absl::Status CheckBytesLocked(uint64_t witness_bytes) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    if (closed) {
      return WithReason(absl::UnavailableError("the service is shutting down"), ErrorReason::kDraining);
    }
    // No overflow: usage never exceeds the limit.
    if (witness_bytes > limits.witness_bytes_max - usage.witness_bytes) {
      return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                            "the queue is full: witnesses hold ", usage.witness_bytes, " of ",
                            limits.witness_bytes_max, " bytes, and this one needs ", witness_bytes)),
                        ErrorReason::kQueueFull);
    }
    return absl::OkStatus();
  }

  void Tell(int64_t change) const {
    if (listener && change != 0) listener(change);
  }

  const Limits limits;
  const WitnessBytesListener listener;
  Mutex mu;
  CondVar no_jobs;
  Usage usage ABSL_GUARDED_BY(mu);
  bool closed ABSL_GUARDED_BY(mu) = false;
};

Admission::Admission(Limits limits, WitnessBytesListener listener)
    : limits_(limits), state_(std::make_shared<State>(limits, std::move(listener))) {}

absl::StatusOr<Reservation> Admission::Reserve(uint64_t witness_bytes, bool with_job_slot) {
  if (witness_bytes > limits_.witness_bytes_max) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          "the witness is too large: this service holds at most ", limits_.witness_bytes_max,
                          " bytes of witnesses, this one has ", witness_bytes)),
                      ErrorReason::kMessageTooLarge);
  }
  {
    MutexLock lock(state_->mu);
    PROOFMILL_RETURN_IF_ERROR(state_->CheckBytesLocked(witness_bytes));
    if (with_job_slot) PROOFMILL_RETURN_IF_ERROR(state_->TakeSlotLocked());
    state_->usage.witness_bytes += witness_bytes;
  }
  state_->Tell(static_cast<int64_t>(witness_bytes));
  return Reservation(state_, witness_bytes, with_job_slot);
}

absl::Status Admission::AddJobSlot(Reservation& reservation) {
  if (reservation.has_job_slot_) return absl::OkStatus();
  MutexLock lock(state_->mu);
  PROOFMILL_RETURN_IF_ERROR(state_->TakeSlotLocked());
  reservation.state_ = state_;
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

Reservation::Reservation(std::shared_ptr<Admission::State> state, uint64_t witness_bytes, bool has_job_slot)
    : state_(std::move(state)), witness_bytes_(witness_bytes), has_job_slot_(has_job_slot) {}

Reservation::Reservation(Reservation&& other) noexcept
    : state_(std::move(other.state_)),
      witness_bytes_(std::exchange(other.witness_bytes_, 0)),
      has_job_slot_(std::exchange(other.has_job_slot_, false)) {}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  Release();
  state_ = std::move(other.state_);
  witness_bytes_ = std::exchange(other.witness_bytes_, 0);
  has_job_slot_ = std::exchange(other.has_job_slot_, false);
  return *this;
}

void Reservation::ReleaseJobSlot() {
  if (!has_job_slot_) return;
  has_job_slot_ = false;
  MutexLock lock(state_->mu);
  if (--state_->usage.jobs == 0) state_->no_jobs.NotifyAll();
}

void Reservation::Release() {
  ReleaseJobSlot();
  if (witness_bytes_ != 0) {
    {
      MutexLock lock(state_->mu);
      state_->usage.witness_bytes -= witness_bytes_;
    }
    state_->Tell(-static_cast<int64_t>(witness_bytes_));
    witness_bytes_ = 0;
  }
  state_.reset();
}

}  // namespace proofmill::engine
