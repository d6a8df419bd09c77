#include "server/memory_budget.h"

#include <filesystem>
#include <limits>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "engine/dispatch/circuit_files.h"
#include "nlohmann/json.hpp"

namespace proofmill::server {
namespace {

// What a key takes once it is loaded and has made proofs, as a multiple of its file: measured on the CPU
// backend (docs/operating.md), which takes the most of the host.
constexpr uint64_t kKeyBytesPerFileByte = 3;

uint64_t Sum(uint64_t a, uint64_t b) {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max() : a + b;
}

}  // namespace

uint64_t MemoryBudget::total() const { return Sum(Sum(queue_witness, uploads), Sum(grpc, keys)); }

MemoryBudget PlanMemory(const Config& config) {
  MemoryBudget budget{.queue_witness = config.queue_witness_bytes_max.bytes,
                      .uploads = config.upload_bytes_max.bytes,
                      .grpc = config.grpc_memory_bytes_max.bytes};
  const auto scan = engine::ScanCircuitDirectory(config.circuits);
  if (!scan.ok()) return budget;
  for (const engine::CircuitFiles& circuit : scan->circuits) {
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(circuit.key_path, error);
    if (!error && circuit.system == engine::ProofSystem::kGroth16) budget.keys = Sum(budget.keys, bytes);
  }
  budget.keys = budget.keys > std::numeric_limits<uint64_t>::max() / kKeyBytesPerFileByte
                    ? std::numeric_limits<uint64_t>::max()
                    : budget.keys * kKeyBytesPerFileByte;
  return budget;
}

void TellMemoryBudget(const MemoryBudget& budget, const std::optional<engine::HostMemoryLimit>& limit,
                      Log& log) {
  if (!limit.has_value()) return;
  nlohmann::ordered_json fields = {
      {"needed_bytes", budget.total()},     {"limit_bytes", limit->bytes},
      {"limit_from", limit->from},          {"queue_witness_bytes_max", budget.queue_witness},
      {"upload_bytes_max", budget.uploads}, {"grpc_memory_bytes_max", budget.grpc},
      {"keys_bytes", budget.keys}};
  if (budget.total() <= limit->bytes) {
    log.Info("memory_budget", fields);
    return;
  }
  fields["message"] = absl::StrCat("memory: expected ", budget.total(),
                                   " bytes or more, for what queue_witness_bytes_max, upload_bytes_max and "
                                   "grpc_memory_bytes_max allow and "
                                   "for the keys, got ",
                                   limit->bytes, " by ", limit->from,
                                   "; under load the process may be killed: lower the bounds or raise that");
  log.Warn("memory_budget", fields);
}

}  // namespace proofmill::server
