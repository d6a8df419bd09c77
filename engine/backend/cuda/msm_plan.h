// How the five MSMs of a circuit are done within a budget of device memory: the window of each base set, how
// many multiples of each base stay resident, and in how many chunks the bases are summed.
//
// With all multiples 2^(c*j) * P resident one bucket set serves every window, and the window is the one that
// was measured best. With fewer, the bucket sets multiply, and a smaller window may be the better one. Chunks
// make the workspace smaller and take a little longer each. The ways that are worth having are listed, from
// the fastest to the smallest. key_plan.h chooses among them.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_MSM_PLAN_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_MSM_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/cuda/msm.h"

namespace proofmill::engine {

enum class BaseSetId { kA, kB1, kB2, kC, kH };
inline constexpr size_t kBaseSetCount = 5;
inline constexpr std::array<const char*, kBaseSetCount> kBaseSetNames = {"a", "b1", "b2", "c", "h"};

using BaseCounts = std::array<uint32_t, kBaseSetCount>;

// Proofs of one circuit that are made together, at most, and the digits of all their scalars for one base
// set.
inline constexpr uint32_t kBatchLog2Max = 4;
inline constexpr uint32_t kBatchMax = uint32_t{1} << kBatchLog2Max;
inline constexpr uint64_t kBatchEntriesMax = uint64_t{1} << 23;

// Bytes that a proof may send to the host.
inline constexpr size_t kResultBytesMax = 4096;

struct MsmPlan {
  std::array<kernels::MsmShape, kBaseSetCount> shapes;
  // One MSM after the other, in a workspace that they share; else side by side, each in its own.
  bool in_turn = false;

  const kernels::MsmShape& shape(BaseSetId id) const { return shapes[static_cast<size_t>(id)]; }
  // Bytes of one set's resident multiples, and of all.
  size_t table_bytes(size_t set) const;
  size_t table_bytes() const;
  // Whether every multiple is resident.
  bool is_full() const;
  // Proofs that it makes together.
  uint32_t batch() const { return shapes[0].batch; }
  // The same for a power of two of proofs, and the most proofs that this is worth it for: small circuits
  // only, since large ones fill a device alone.
  MsmPlan ForBatch(uint32_t proofs) const;
  uint32_t BatchMax() const;
  // What a proof sends to the host: the parts of the sums, and the length of each list of digits.
  size_t result_bytes() const;
  // "a: 1048576 bases, 17-bit windows, 15 of 15 multiples, 960 MiB; b1: ...; one MSM at a time".
  std::string ToString() const;
};

// Asks how much device memory one MSM in flight takes; the answer depends on the device.
class WorkspaceSizes {
 public:
  virtual ~WorkspaceSizes() = default;
  virtual absl::StatusOr<size_t> BytesFor(BaseSetId id, const kernels::MsmShape& shape) const = 0;
};

// What cudaMalloc takes for `bytes`: small pieces share pages, larger ones have pages of their own.
constexpr size_t DeviceAllocationBytes(size_t bytes) {
  constexpr size_t kPiece = 512;
  constexpr size_t kPage = size_t{2} << 20;
  const size_t unit = bytes > kPage / 2 ? kPage : kPiece;
  return (bytes + unit - 1) / unit * unit;
}

// The window for a set of `bases` points of which all multiples are resident.
uint32_t WindowBits(uint32_t bases);

// One way to do the MSM of a set.
struct MsmOption {
  kernels::MsmShape shape;
  size_t table_bytes = 0;
  size_t workspace_bytes = 0;
  double seconds = 0;  // of a model: uniform scalars, one H200, nothing else running

  size_t bytes() const { return table_bytes + workspace_bytes; }
};

// All ways for one set, the one with every multiple and the measured window first. Never empty.
//   RESOURCE_EXHAUSTED  (reason kOutOfMemory) so many points that they cannot be numbered in 31 bits.
//   otherwise           as `sizes`.
absl::StatusOr<std::vector<MsmOption>> MsmOptions(BaseSetId id, uint32_t bases, const WorkspaceSizes& sizes);

// Those that are worth having, fastest first; each later one takes less memory and more time. For MSMs side
// by side a way takes its tables and its workspace, and is not cut in chunks; for MSMs in turn only the
// tables count, and the workspace is at most `workspace_max`. May be empty.
std::vector<MsmOption> SideBySideOptions(const std::vector<MsmOption>& options);
std::vector<MsmOption> InTurnOptions(const std::vector<MsmOption>& options, size_t workspace_max);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_MSM_PLAN_H_
