// A circuit as the service holds it: a proving key, or the parameters that stand in its place, under an id,
// with what is known about it.
//
// A Circuit is an immutable snapshot. When a circuit changes its state the registry makes a new snapshot, so
// whoever holds one (a job in the queue, an answer being written) sees one consistent circuit to the end.
//
// Thread safety: immutable, so any number of threads may read one.

#ifndef PROOFMILL_ENGINE_DISPATCH_CIRCUIT_H_
#define PROOFMILL_ENGINE_DISPATCH_CIRCUIT_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "engine/dispatch/proof_system.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/proving_key.h"
#include "engine/whir/parameters.h"

namespace proofmill::engine {

// kUnloading: it takes nothing new, and goes when nobody uses it any more. kUnloaded: it has gone; what
// watchers and observers are told last.
enum class CircuitState { kLoading, kReady, kFailed, kUnloading, kUnloaded };
// "loading", "ready", "failed", "unloading", "unloaded".
std::string_view CircuitStateName(CircuitState state);

struct Circuit {
  std::string id;
  ProofSystem system = ProofSystem::kGroth16;
  CircuitState state = CircuitState::kLoading;
  // Grows with every snapshot, over all circuits of a registry.
  uint64_t revision = 0;

  // While a key is being loaded, for the first time or to take the place of the one that is served: what is
  // done, "waiting", "reading", "checking", "regrouping" or "placing".
  std::string load_step;
  // A ready circuit whose key file is being loaded anew, and why the last such load failed.
  bool reloading = false;
  absl::Status reload_failure;

  // Set when the state is kFailed: why.
  absl::Status failure;

  // The rest is set once it is loaded. Of the first two the one that its system has: `key` holds the
  // verification key, the sizes and the audit.
  std::shared_ptr<const ProvingKey> key;
  std::shared_ptr<const WhirConfig> whir;
  // BLAKE2b-512 of the key file, or of WHIR parameters as text with all of them written out; 128 lower-case
  // hexadecimal digits.
  std::string version;
  uint64_t key_bytes = 0;
  std::vector<std::string> warnings;
  // Reading and checking the key; then making it resident and proving the canary on every device.
  std::chrono::nanoseconds load_duration{0};
  std::chrono::nanoseconds warm_up_duration{0};
  // A witness that is known to satisfy the circuit, or null.
  std::shared_ptr<const Witness> canary;
  // The constraints, for naming one that a bad witness breaks; empty if there is no such file.
  std::string r1cs_path;
  // Keeps the key on the devices (circuit_work.h); set when the state is kReady. So whoever holds a snapshot
  // that was ready can have it proved, whatever becomes of the circuit meanwhile.
  std::shared_ptr<const void> hold;

  // What backends know it by: the address of `key` or `whir`.
  const void* key_address() const {
    return key != nullptr ? static_cast<const void*>(key.get()) : static_cast<const void*>(whir.get());
  }
};

using CircuitPtr = std::shared_ptr<const Circuit>;

// Whether `id` is a circuit id: 1 to 128 characters of [A-Za-z0-9._-], the first not a dot.
bool IsCircuitId(std::string_view id);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_CIRCUIT_H_
