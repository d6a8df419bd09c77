// What the engine tells about itself, for metrics and logs. The server implements it.
//
// Thread safety: methods are called from any thread, also at the same time, and never with a lock of the
// engine held. They must be quick and must not call back into the engine. Ordering: gauges come as changes,
// not as values, because changes from several threads add up in any order. Calls for one device or one
// circuit come in order.

#ifndef PROOFMILL_ENGINE_DISPATCH_OBSERVER_H_
#define PROOFMILL_ENGINE_DISPATCH_OBSERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "engine/dispatch/circuit.h"
#include "engine/dispatch/proof_system.h"
#include "engine/dispatch/prove_types.h"

namespace proofmill::engine {

// Why a job never reached a device, or left one early.
enum class DropReason { kQueueFull, kQuota, kExpired, kCancelled, kDraining };
// "queue_full", "quota", "expired", "cancelled", "draining".
std::string_view DropReasonName(DropReason reason);

// kSelfCheck: the device made a wrong proof, as its canary showed.
enum class DeviceErrorClass { kOutOfMemory, kLaunch, kSticky, kTimeout, kSelfCheck };
// "oom", "launch", "sticky", "timeout", "self_check".
std::string_view DeviceErrorClassName(DeviceErrorClass error_class);

// kFree: not in use by any process. kLimit: what keys and scratch may take together.
enum class DeviceMemoryKind { kKeys, kScratch, kFree, kLimit };
// "keys", "scratch", "free", "limit".
std::string_view DeviceMemoryKindName(DeviceMemoryKind kind);

// Who was to blame for a proof that did not verify.
enum class BlameVerdict { kWitness, kDevice };
// "witness", "device".
std::string_view BlameVerdictName(BlameVerdict verdict);

struct JobInfo {
  std::string_view circuit;
  ProofSystem system = ProofSystem::kGroth16;
  std::string_view tenant;
  std::string_view request_id;
  Priority priority;
};

struct DeviceInfo {
  std::string_view device;    // "cpu", "cuda:0"
  std::string_view backend;   // "cpu", "cuda"
  std::string_view gpu_uuid;  // empty for the CPU
};

// What a device did since the start.
struct DeviceCounts {
  uint64_t host_to_device_bytes = 0;
  uint64_t device_to_host_bytes = 0;
  uint64_t allocations = 0;
  uint64_t key_evictions = 0;
  uint64_t key_reloads = 0;
  uint64_t batches = 0;
  uint64_t batched_proofs = 0;
};

// A circuit's key came into the memory of a device, gave way for another, or came back.
enum class KeyChange { kLoaded, kEvicted, kReloaded };
// "loaded", "evicted", "reloaded".
std::string_view KeyChangeName(KeyChange change);
struct KeyChangeInfo {
  std::string_view circuit;
  KeyChange change;
  uint64_t bytes;
  std::chrono::nanoseconds duration;  // of loading
  std::string_view plan;              // in which form it is held, one line; empty when it went
};

class Observer {
 public:
  virtual ~Observer() = default;

  // The queue.
  virtual void OnQueueDepthChange(Priority, int /*change*/) {}
  virtual void OnWitnessBytesChange(int64_t /*change*/) {}
  virtual void OnJobDropped(const JobInfo&, DropReason) {}

  // A job on a device. OnJobStarted and OnJobFinished come in pairs.
  virtual void OnJobStarted(const JobInfo&, const DeviceInfo&, std::chrono::nanoseconds /*queue_wait*/) {}
  virtual void OnStage(const JobInfo&, const DeviceInfo&, std::string_view /*stage*/,
                       std::chrono::nanoseconds) {}
  virtual void OnJobFinished(const JobInfo&, const DeviceInfo&, const absl::Status&,
                             std::chrono::nanoseconds /*run_time*/) {}
  virtual void OnBlame(const JobInfo&, const DeviceInfo&, BlameVerdict) {}

  // Proofs of one key of Groth16 were checked, of a job or of a canary: one that met no other, or several at
  // once. Those of several that were refused come again, each alone. Must not throw.
  virtual void OnSelfCheck(size_t /*proofs*/) {}

  // Devices. OnDeviceUp comes once at start, and then with every change; `why` is empty when it is up.
  virtual void OnDeviceUp(const DeviceInfo&, bool /*up*/, std::string_view /*why*/) {}
  virtual void OnDeviceError(const DeviceInfo&, DeviceErrorClass, const absl::Status&) {}
  virtual void OnDeviceMemory(const DeviceInfo&, DeviceMemoryKind, uint64_t /*bytes*/) {}
  // Totals, which may come late and out of order: the largest are the latest.
  virtual void OnDeviceCounts(const DeviceInfo&, const DeviceCounts&) {}
  virtual void OnKeyChange(const DeviceInfo&, const KeyChangeInfo&) {}
  // A circuit's canary (for WHIR a known polynomial) was proved on a device, or could not be: when its key
  // came there, or to find out whose fault a bad proof was.
  virtual void OnCanary(const DeviceInfo&, std::string_view /*circuit*/, bool /*proved*/) {}

  // Circuits: with every new snapshot.
  virtual void OnCircuit(const Circuit&) {}
  // Something in the circuit directory that is no circuit.
  virtual void OnCircuitFileIgnored(std::string_view /*name*/, std::string_view /*why*/) {}
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_OBSERVER_H_
