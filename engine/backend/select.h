// From the words that a user gives (--backend auto|cpu|cuda, --cpu_arithmetic auto|portable|adx|fma|ifma) to
// the backends of this process.
//
// Thread safety: MakeBackends() and CompiledBackends() are pure functions; ChooseCpuArithmetic() is called
// once at start, before anything computes.

#ifndef PROOFMILL_ENGINE_BACKEND_SELECT_H_
#define PROOFMILL_ENGINE_BACKEND_SELECT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/backend.h"
#include "engine/groth16/fixed_base.h"
#include "engine/whir/device.h"

namespace proofmill::engine {

struct BackendOptions {
  // Threads of the cpu backend; 0: one per hardware thread.
  size_t cpu_threads = 0;
  // Device memory that each cuda backend may take for keys and scratch, bytes; 0: most of the card.
  size_t device_memory_limit = 0;
};

// A smaller limit would hold no circuit worth a GPU: more likely a unit was forgotten.
inline constexpr size_t kDeviceMemoryLimitMin = size_t{64} << 20;
// INVALID_ARGUMENT for a limit other than 0 that is below that.
absl::Status CheckDeviceMemoryLimit(uint64_t bytes);

struct BackendSelection {
  std::vector<std::unique_ptr<Groth16Backend>> backends;  // at least one
  std::string reason;  // why these, for the log: "cpu was asked for", "auto: this build has no cuda backend"
};

// "auto": every GPU if there is one, else the CPU. "cpu": one backend on all threads. "cuda": GPUs or an
// error.
//   INVALID_ARGUMENT     another word, or a limit that CheckDeviceMemoryLimit() refuses.
//   FAILED_PRECONDITION  cuda was asked for and this build or machine has none; the message says which.
absl::StatusOr<BackendSelection> MakeBackends(std::string_view choice, const BackendOptions& options = {});

// Where WHIR proofs are made, for the same words: nothing in the maker means the CPU. With several GPUs it is
// the first.
//   INVALID_ARGUMENT, FAILED_PRECONDITION  as MakeBackends().
absl::StatusOr<WhirDeviceMaker> ChooseWhirDevice(std::string_view choice);

// Where a set-up of a domain of 2^log2_domain multiplies the generators, for the same words; null means the
// CPU. With several GPUs it is the first. "auto" takes the CPU for domains below
// 2^kGpuSetupLog2DomainMin.
//   INVALID_ARGUMENT, FAILED_PRECONDITION  as MakeBackends().
//   RESOURCE_EXHAUSTED, INTERNAL           the GPU does not work.
absl::StatusOr<std::unique_ptr<FixedBaseMultiplier>> ChooseFixedBaseMultiplier(std::string_view choice,
                                                                               uint32_t log2_domain);
// To start CUDA takes a process longer than a CPU of a few cores needs for the points of a smaller key.
inline constexpr uint32_t kGpuSetupLog2DomainMin = 16;

// What the arithmetic of this process on the CPU uses from now on (kernels/field/arithmetic.h); "auto" leaves
// the best that the CPU has.
//   INVALID_ARGUMENT     another word.
//   FAILED_PRECONDITION  this CPU does not have it; the message says what it has.
absl::Status ChooseCpuArithmetic(std::string_view choice);

// The backends that this build has, "cpu" or "cpu, cuda", for the last line of a build or a test run.
std::string_view CompiledBackends();

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_SELECT_H_
