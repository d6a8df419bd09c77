// What proofs in flight on one GPU work with: for each its streams, its scratch on the device and its
// page-locked memory. All of it is made when keys are loaded; a proof borrows one arena and allocates
// nothing.
//
// Thread safety: every method may be called from any thread. Lock: mu_, held while arenas are resized.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_ARENA_POOL_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_ARENA_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/key_plan.h"
#include "engine/backend/cuda/worker_resources.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

struct Arena {
  uint32_t number = 0;      // in the pool, below kArenasMax
  uint64_t generation = 0;  // another one whenever something of the arena moves
  WorkerResources resources;
  DeviceBuffer<uint8_t> scratch;
};

class ArenaPool {
 public:
  // `device` is for messages. `calls` must outlive the pool.
  ArenaPool(CudaCalls& calls, std::string device) : calls_(calls), device_(std::move(device)) {}
  // REQUIRES: nothing is lent.
  ~ArenaPool() = default;
  ArenaPool(const ArenaPool&) = delete;
  ArenaPool& operator=(const ArenaPool&) = delete;

  // Gives the arena back when it ends. REQUIRES: nothing is running on its streams but the wiping of its
  // scratch.
  class Lease {
   public:
    Lease(Lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), arena_(other.arena_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (pool_ != nullptr) pool_->Return(arena_);
    }
    Arena& operator*() const { return *arena_; }
    Arena* operator->() const { return arena_; }

   private:
    friend class ArenaPool;
    Lease(ArenaPool* pool, Arena* arena) : pool_(pool), arena_(arena) {}
    ArenaPool* pool_;
    Arena* arena_;
  };
  // Waits for an arena.
  //   RESOURCE_EXHAUSTED  (reason kOutOfMemory) there is none, since another process took the memory that was
  //                       given up to make larger ones.
  absl::StatusOr<Lease> Take();

  // Makes as many arenas as `plan` says, of that size, each with room for `staging_values` of witnesses.
  // Waits until all are given back; proofs that begin meanwhile wait. On an error there are the old ones, if
  // they can be had again. REQUIRES: the device is current.
  absl::Status Resize(const MemoryPlan& plan, size_t staging_values);

  size_t scratch_bytes() const;
  // Of one arena; 0 before the first Resize().
  size_t arena_bytes() const;
  // The scratch of all arenas, for the test that finds no secret in it. Waits for the device. REQUIRES: the
  // device is current, and nothing is lent.
  absl::StatusOr<std::string> Read();

 private:
  void Return(Arena* arena);
  absl::Status MakeArenas(const MemoryPlan& plan, size_t staging_values) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status TakeScratch(Arena& arena, size_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  CudaCalls& calls_;
  const std::string device_;

  mutable Mutex mu_;
  CondVar returned_;
  MemoryPlan plan_ ABSL_GUARDED_BY(mu_){.arena_bytes = 0, .arenas = 0};
  size_t staging_values_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t generations_ ABSL_GUARDED_BY(mu_) = 0;
  bool resizing_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::unique_ptr<Arena>> arenas_ ABSL_GUARDED_BY(mu_);
  std::vector<Arena*> idle_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_ARENA_POOL_H_
