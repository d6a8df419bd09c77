// The one gate for work: how many jobs may wait, and how many bytes of witness the process may hold.
//
// Room is reserved before a witness is in memory, so that the bounds hold during uploads too. A Reservation
// travels with the witness: from the call that receives it, into the job, until the witness has been wiped.
// Its job slot is given back when a worker takes the job, its bytes when the witness is gone.
//
// What is free is shared: a tenant may hold at most kShareOfFree times what it leaves free, of slots and of
// bytes (the dynamic threshold of Choudhury and Hahne, 1998). So one that takes all it can get still leaves a
// fifth for others, two leave a ninth, and there is nothing to configure. Where nobody is known by name, all
// are one tenant without a name, for whom only the limits of the whole count. A tenant's own limits come on
// top.
//
// Thread safety: Admission: every method may be called from any thread. Reservation: one thread at a time.
// Lifetime: reservations may outlive their Admission.

#ifndef PROOFMILL_ENGINE_DISPATCH_ADMISSION_H_
#define PROOFMILL_ENGINE_DISPATCH_ADMISSION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

class Reservation;

// Who asks for room, and what limits of its own it has; 0: none.
struct TenantLimits {
  std::string_view name = {};  // empty: nobody is known by name
  size_t jobs_max = 0;
  uint64_t witness_bytes_max = 0;
};

class Admission {
 public:
  struct Limits {
    size_t jobs_max;
    uint64_t witness_bytes_max;
  };
  struct Usage {
    size_t jobs = 0;
    uint64_t witness_bytes = 0;
  };
  // A tenant may hold so many times what is free.
  static constexpr uint64_t kShareOfFree = 4;
  // Told of every change of the witness bytes, with no lock held; the sum of all changes is the present
  // value.
  using WitnessBytesListener = std::function<void(int64_t change)>;

  // REQUIRES: both limits are positive.
  explicit Admission(Limits limits, WitnessBytesListener listener = nullptr);

  // Takes room for one job (if `with_job_slot`) and `witness_bytes`, or nothing.
  //   RESOURCE_EXHAUSTED MESSAGE_TOO_LARGE  more bytes than the limit; trying again cannot work.
  //   RESOURCE_EXHAUSTED QUEUE_FULL         a limit would be exceeded now; the caller adds when to try again.
  //   RESOURCE_EXHAUSTED QUOTA_EXCEEDED     the tenant holds its share, or would exceed a limit of its own.
  //   UNAVAILABLE DRAINING                  Close() was called.
  absl::StatusOr<Reservation> Reserve(uint64_t witness_bytes, bool with_job_slot,
                                      const TenantLimits& tenant = {});

  // Takes a job slot for a reservation that has none; no effect on one that has. Errors as Reserve().
  // REQUIRES: what was reserved was for the same tenant.
  [[nodiscard]] absl::Status AddJobSlot(Reservation& reservation, const TenantLimits& tenant = {});

  // Refuses everything from now on; what was reserved stays. Idempotent.
  void Close();

  Usage usage() const;
  // Waits until no job slot is taken, or until `deadline`; returns whether none is.
  bool WaitUntilNoJobs(Clock& clock, Clock::time_point deadline);
  const Limits& limits() const { return limits_; }

 private:
  friend class Reservation;
  struct State;
  const Limits limits_;
  const std::shared_ptr<State> state_;
};

// Move only. Empty when default made, moved from or released.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept;
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { Release(); }

  uint64_t witness_bytes() const { return witness_bytes_; }
  bool has_job_slot() const { return has_job_slot_; }

  // Gives back a part, or all. Idempotent.
  void ReleaseJobSlot();
  void Release();

 private:
  friend class Admission;
  Reservation(std::shared_ptr<Admission::State> state, std::string tenant, uint64_t witness_bytes,
              bool has_job_slot);

  std::shared_ptr<Admission::State> state_;
  std::string tenant_;
  uint64_t witness_bytes_ = 0;
  bool has_job_slot_ = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_ADMISSION_H_
