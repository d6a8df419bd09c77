// What a device must be able to do for a Groth16 proof: hold keys, and turn a witness into five group sums.
//
// Everything else (checks of the witness, blinding, assembly, self-check) is common to all backends and lives
// in engine/groth16/prover.h. So a backend never sees r and s, and any two backends that compute the same
// sums give the same proof bytes.
//
// Order inside ComputeSums(): sums A, B1, B2 and C need only the witness; H needs gather and NTT first. When
// the first three are known `on_a_and_b` is called, when C is too, `on_witness_sums`, so that blinding and
// most of the self-check run on the host while the device still sums.
//
// Memory: LoadKey() takes all that a proof of that key will need, scratch included; ComputeSums() allocates
// nothing that grows with the circuit beyond it, and wipes what held secrets before it returns, whatever it
// returns.
//
// Thread safety: ComputeSums() may be called from any thread; proofs_in_flight() calls run at a time, others
// wait. LoadKey() and the end of a ResidentKey may come from any other thread meanwhile. A ResidentKey must
// end before its backend, and not while a call uses it.

#ifndef PROOFMILL_ENGINE_BACKEND_BACKEND_H_
#define PROOFMILL_ENGINE_BACKEND_BACKEND_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/cancellation.h"
#include "engine/base/stage_sink.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

class ProvingKey;
class WhirBackend;

// The timed steps of a Groth16 proof. Steps overlap, so their times do not add up to the proof's.
enum class Stage { kUpload, kGather, kNtt, kMsmA, kMsmB1, kMsmB2, kMsmC, kMsmH, kFinish, kSelfCheck };
inline constexpr size_t kStageCount = 10;

// "upload", "gather", "ntt", "msm_a", ... as metrics and the API name them.
std::string_view StageName(Stage stage);

// SA, SB1, SB2 and SC of groth16.md H5.
struct WitnessSums {
  kernels::G1Xyzz a, b1, c;
  kernels::G2Xyzz b2;
};
// All five. Secret: wipe after use.
struct Groth16Sums {
  WitnessSums witness;
  kernels::G1Xyzz h;
};

// What a running proof is told. Pointers may be null and must outlive the call.
struct ComputeContext {
  const CancellationToken* cancel = nullptr;  // polled between stages
  StageSink* stages = nullptr;
  // Called at most once each, the first before the second, on any thread, before ComputeSums() returns; not
  // called when the call fails before that point, and by backends where it would gain nothing not at all. A
  // call that was made is no promise that ComputeSums() will succeed.
  std::function<void(const kernels::G1Xyzz& a, const kernels::G1Xyzz& b1, const kernels::G2Xyzz& b2)>
      on_a_and_b = nullptr;
  std::function<void(const WitnessSums&)> on_witness_sums = nullptr;
};

// What a device has and has done, for metrics. Counts go from the making of the backend.
struct DeviceUsage {
  // Bytes of memory. `free_bytes` is what the device had left, for any process, when memory was last taken.
  uint64_t key_bytes = 0;
  uint64_t scratch_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t limit_bytes = 0;  // for keys and scratch together
  // Bytes over the bus of proofs and of keys.
  uint64_t host_to_device_bytes = 0;
  uint64_t device_to_host_bytes = 0;
  uint64_t allocations = 0;  // of device and page-locked memory
  uint64_t key_evictions = 0;
  uint64_t key_reloads = 0;
  // Proofs of one circuit that were made together, and in how many batches.
  uint64_t batches = 0;
  uint64_t batched_proofs = 0;
};

// A key came into the memory of a device, gave way for another, or came back.
struct KeyEvent {
  enum class Kind { kLoaded, kEvicted, kReloaded };
  Kind kind = Kind::kLoaded;
  std::shared_ptr<const void> key;  // the ProvingKey, or the WhirConfig that stands in its place
  uint64_t bytes = 0;
  std::chrono::nanoseconds duration{0};  // of loading
  std::string plan;                      // in which form it is held, one line; empty when it went
};

// A key in the form in which a backend's kernels want it. A device whose memory is short may let it go
// between proofs, and take it back from key() when it is needed.
class ResidentKey {
 public:
  virtual ~ResidentKey() = default;
  ResidentKey(const ResidentKey&) = delete;
  ResidentKey& operator=(const ResidentKey&) = delete;

  const std::shared_ptr<const ProvingKey>& key() const { return key_; }
  // Bytes that this key takes on its device now: tables and index lists; scratch that keys share is not
  // counted.
  virtual size_t device_bytes() const = 0;

 protected:
  explicit ResidentKey(std::shared_ptr<const ProvingKey> key) : key_(std::move(key)) {}

 private:
  const std::shared_ptr<const ProvingKey> key_;
};

enum class BackendKind { kCpu, kCuda };

class Groth16Backend {
 public:
  virtual ~Groth16Backend() = default;

  // "cpu", "cuda:0": the device label of metrics and replies.
  virtual const std::string& name() const = 0;
  virtual BackendKind kind() const = 0;
  // "GPU-...", as nvidia-smi has it; empty for the CPU.
  virtual std::string_view gpu_uuid() const { return ""; }
  // Calls of ComputeSums() that are worth making at a time: of the circuits that gain from the most, and of
  // one circuit, which is at least 1 and at most that. Neither changes.
  virtual size_t proofs_in_flight() const { return 1; }
  virtual size_t ProofsInFlight(const ResidentKey& /*key*/) const { return proofs_in_flight(); }
  // Nothing where there is no device memory to speak of.
  virtual std::optional<DeviceUsage> usage() const { return std::nullopt; }
  // What happened to keys since the last call, in order.
  virtual std::vector<KeyEvent> TakeKeyEvents() { return {}; }
  // True once the device is lost: nothing will work on it again in this process.
  virtual bool lost() const { return false; }
  // The side of the device that makes WHIR proofs, in the same memory; null where it makes none.
  virtual WhirBackend* whir() { return nullptr; }

  // Makes `key` resident. REQUIRES: it passed the key audit.
  //   RESOURCE_EXHAUSTED  key and scratch do not fit; the message names the bytes wanted and there.
  //   INTERNAL            the device failed (reason kDeviceFault).
  virtual absl::StatusOr<std::unique_ptr<ResidentKey>> LoadKey(std::shared_ptr<const ProvingKey> key) = 0;

  // The five sums of one proof. REQUIRES: `key` came from this backend; `witness` has n_vars values, all
  // below r (the prover checks both).
  //   CANCELLED, DEADLINE_EXCEEDED  as context.cancel says, when the host next waits between stages.
  //   RESOURCE_EXHAUSTED            the host's memory ran out, or another process took the memory of the
  //                                 device (reason kOutOfMemory).
  //   INTERNAL                      the device failed (reason kDeviceFault).
  virtual absl::StatusOr<Groth16Sums> ComputeSums(ResidentKey& key, absl::Span<const kernels::U256> witness,
                                                  const ComputeContext& context) = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_BACKEND_H_
