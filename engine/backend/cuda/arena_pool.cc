#include "engine/backend/cuda/arena_pool.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {

absl::StatusOr<ArenaPool::Lease> ArenaPool::Take() {
  MutexLock lock(mu_);
  while (resizing_ || (idle_.empty() && !arenas_.empty())) returned_.Wait(mu_);
  if (arenas_.empty()) {
    return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                          device_, ": there is no scratch memory for proofs: another process took ",
                          "the memory of the device while a larger circuit was loaded")),
                      ErrorReason::kOutOfMemory);
  }
  Arena* const arena = idle_.back();
  idle_.pop_back();
  return Lease(this, arena);
}

void ArenaPool::Return(Arena* arena) {
  MutexLock lock(mu_);
  idle_.push_back(arena);  // never grows: it had this place before
  returned_.NotifyAll();
}

absl::Status ArenaPool::Resize(const MemoryPlan& plan, size_t staging_values) {
  MutexLock lock(mu_);
  if (plan.arenas == plan_.arenas && plan.arena_bytes == plan_.arena_bytes &&
      staging_values <= staging_values_) {
    return absl::OkStatus();
  }
  resizing_ = true;
  while (idle_.size() != arenas_.size()) returned_.Wait(mu_);
  const MemoryPlan old = plan_;
  const size_t old_values = staging_values_;
  absl::Status status = MakeArenas(plan, std::max(staging_values, staging_values_));
  // Keys that were loaded before get back what they had. Should even that fail, their proofs are refused
  // until a load succeeds.
  if (!status.ok() && old.arenas != 0) MakeArenas(old, old_values).IgnoreError();
  resizing_ = false;
  returned_.NotifyAll();
  return status;
}

// The old scratch goes first: the two need not fit side by side.
absl::Status ArenaPool::MakeArenas(const MemoryPlan& plan, size_t staging_values) {
  idle_.clear();
  std::vector<std::unique_ptr<Arena>> arenas = std::exchange(arenas_, {});
  plan_ = {.arena_bytes = 0, .arenas = 0};
  arenas.resize(plan.arenas);
  for (std::unique_ptr<Arena>& arena : arenas) {
    if (arena != nullptr && arena->scratch.size() != plan.arena_bytes) {
      arena->scratch = DeviceBuffer<uint8_t>();
    }
  }
  for (std::unique_ptr<Arena>& arena : arenas) {
    if (arena == nullptr) {
      arena = std::make_unique<Arena>();
      PROOFMILL_ASSIGN_OR_RETURN(arena->resources, WorkerResources::Make(calls_));
    }
    if (arena->resources.staging.size() < staging_values) {
      arena->resources.staging = PinnedBuffer<kernels::U256>();
      PROOFMILL_ASSIGN_OR_RETURN(arena->resources.staging,
                                 PinnedBuffer<kernels::U256>::Make(calls_, staging_values));
    }
    if (arena->scratch.size() != plan.arena_bytes) {
      PROOFMILL_RETURN_IF_ERROR(TakeScratch(*arena, plan.arena_bytes));
    }
  }
  idle_.reserve(arenas.size());
  for (uint32_t i = 0; i < arenas.size(); ++i) {
    arenas[i]->number = i;
    idle_.push_back(arenas[i].get());
  }
  arenas_ = std::move(arenas);
  plan_ = plan;
  staging_values_ = staging_values;
  return absl::OkStatus();
}

absl::Status ArenaPool::TakeScratch(Arena& arena, size_t bytes) {
  arena.generation = ++generations_;
  PROOFMILL_ASSIGN_OR_RETURN(arena.scratch, DeviceBuffer<uint8_t>::Make(calls_, bytes));
  if (bytes == 0) return absl::OkStatus();
  // On the stream that the next proof starts on: the default stream would not be ordered before it, and could
  // overwrite the witness.
  uint8_t* const scratch = arena.scratch.data();
  const cudaStream_t stream = arena.resources.main.get();
  return calls_.Call("cudaMemset", [&] { return cudaMemsetAsync(scratch, 0, bytes, stream); });
}

size_t ArenaPool::scratch_bytes() const {
  MutexLock lock(mu_);
  return plan_.bytes();
}

size_t ArenaPool::arena_bytes() const {
  MutexLock lock(mu_);
  return plan_.arena_bytes;
}

absl::StatusOr<std::string> ArenaPool::Read() {
  MutexLock lock(mu_);
  std::string bytes(plan_.bytes(), '\0');
  PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaDeviceSynchronize", [] { return cudaDeviceSynchronize(); }));
  char* target = bytes.data();
  for (const std::unique_ptr<Arena>& arena : arenas_) {
    const DeviceBuffer<uint8_t>& scratch = arena->scratch;
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaMemcpy", [&] {
      return cudaMemcpy(target, scratch.data(), scratch.size_bytes(), cudaMemcpyDeviceToHost);
    }));
    target += scratch.size_bytes();
  }
  return bytes;
}

}  // namespace proofmill::engine
