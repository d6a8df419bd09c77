// What the service may come to take of the host's memory by its own bounds and keys, against what it may take
// of its container or machine. A process that is killed for memory loses what it had accepted, so operators
// are told at the start that it can come to that.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_MEMORY_BUDGET_H_
#define PROOFMILL_SERVER_MEMORY_BUDGET_H_

#include <cstdint>
#include <optional>

#include "engine/groth16/host_memory.h"
#include "server/config.h"
#include "server/log.h"

namespace proofmill::server {

// In bytes.
struct MemoryBudget {
  uint64_t queue_witness = 0;
  uint64_t uploads = 0;
  uint64_t grpc = 0;
  uint64_t keys = 0;  // of the circuits in the folder: three times their files, as docs/operating.md has it

  // Without wrapping.
  uint64_t total() const;
};
// A folder that cannot be read counts as an empty one.
MemoryBudget PlanMemory(const Config& config);

// The event "memory_budget": a warning if the limit is less than the budget, information otherwise. Nothing
// without a limit.
void TellMemoryBudget(const MemoryBudget& budget, const std::optional<engine::HostMemoryLimit>& limit,
                      Log& log);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_MEMORY_BUDGET_H_
