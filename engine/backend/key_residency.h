// Which keys are in the memory of a device when not all fit together: the least recently used give way, never
// while a proof uses them, and come back when they are needed.
//
// A key that is added gets all the memory that is left. Once a key had to give way for another the memory is
// known to be short: from then on no key takes more than its share of it (but at least what it needs), so
// that keys that fit together in a smaller form end up together instead of displacing each other in turn.
//
// Invariant: each known key fits beside what proofs in flight take, if it is alone. So a key that was added
// can always be brought back; what cannot be held is refused when it is added, never in a proof.
//
// Thread safety: every method may be called from any thread. Keys are loaded and unloaded one at a time, and
// proofs of resident keys run on meanwhile. Use() waits for proofs of other keys only when there is room for
// the key nowhere else. Locks: load_mu_ before mu_; keys and the listener are called with load_mu_ held, and
// must not call back.

#ifndef PROOFMILL_ENGINE_BACKEND_KEY_RESIDENCY_H_
#define PROOFMILL_ENGINE_BACKEND_KEY_RESIDENCY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

class KeyResidency;

// A key as this class sees it.
class EvictableKey {
 public:
  EvictableKey() = default;
  virtual ~EvictableKey() = default;
  EvictableKey(const EvictableKey&) = delete;
  EvictableKey& operator=(const EvictableKey&) = delete;

  // The least that Load() can do with. Does not change.
  virtual size_t bytes_min() const = 0;
  // Takes device memory, at most `bytes_max` bytes of it, and returns how many. REQUIRES: bytes_max >=
  // bytes_min().
  //   RESOURCE_EXHAUSTED  the device has less memory than it should.
  virtual absl::StatusOr<size_t> Load(size_t bytes_max) = 0;
  // Gives it back. No proof uses it.
  virtual void Unload() = 0;

 private:
  friend class KeyResidency;
  // Guarded by KeyResidency::mu_.
  size_t resident_bytes_ = 0;
  bool resident_ = false;
  bool leaving_ = false;  // chosen to give way: no proof may begin
  uint32_t users_ = 0;
  uint64_t last_use_ = 0;
};

class KeyResidency {
 public:
  enum class EventKind { kLoaded, kEvicted, kReloaded };
  struct Event {
    EventKind kind;
    EvictableKey& key;
    size_t bytes;
    std::chrono::nanoseconds duration;  // of loading
  };
  struct Options {
    std::string device;    // for messages
    size_t bytes_max = 0;  // for keys and proofs together
    std::function<void(const Event&)> listener = nullptr;
  };
  explicit KeyResidency(Options options) : options_(std::move(options)) {}
  // REQUIRES: every key was removed.
  ~KeyResidency() = default;
  KeyResidency(const KeyResidency&) = delete;
  KeyResidency& operator=(const KeyResidency&) = delete;

  // Whether the invariant would hold with `key` and so many bytes for proofs.
  //   RESOURCE_EXHAUSTED  it would not; the message names the bytes.
  absl::Status CheckFits(const EvictableKey& key, size_t proof_bytes) const;

  // Makes `key` known and resident. `proof_bytes` is what all proofs in flight may take together from now on;
  // `take_proof_memory` is called, once, when keys leave as much free. On an error the key is not known.
  //   RESOURCE_EXHAUSTED  as CheckFits().
  //   otherwise           as Load() and `take_proof_memory`.
  absl::Status Add(EvictableKey& key, size_t proof_bytes,
                   const std::function<absl::Status()>& take_proof_memory);
  // Unloads and forgets it; nothing if it is not known. REQUIRES: no proof uses it.
  void Remove(EvictableKey& key);

  // As long as it lives the key stays resident.
  class Use {
   public:
    Use(Use&& other) noexcept : residency_(std::exchange(other.residency_, nullptr)), key_(other.key_) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (residency_ != nullptr) residency_->EndUse(*key_);
    }

   private:
    friend class KeyResidency;
    Use(KeyResidency* residency, EvictableKey* key) : residency_(residency), key_(key) {}
    KeyResidency* residency_;
    EvictableKey* key_;
  };
  // Brings a known key back if it had to give way. Errors of Load().
  absl::StatusOr<Use> UseKey(EvictableKey& key);

  struct Stats {
    size_t keys = 0;
    size_t resident = 0;
    size_t resident_bytes = 0;
    size_t proof_bytes = 0;
    size_t bytes_min_most = 0;  // the largest bytes_min() of the known keys
    uint64_t evictions = 0;
    uint64_t reloads = 0;
  };
  Stats stats() const;
  size_t bytes_max() const { return options_.bytes_max; }

 private:
  absl::Status BringIn(EvictableKey& key, EventKind kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mu_);
  // How much `key` may take now; it evicts until that is at least what the key needs.
  size_t MakeRoomFor(const EvictableKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mu_);
  // Evicts one key, waiting for its proofs if all keys are in use. False if none is resident.
  bool EvictOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(load_mu_);
  bool TryUse(EvictableKey& key);
  void Forget(EvictableKey& key);
  void EndUse(EvictableKey& key);
  void Tell(EventKind kind, EvictableKey& key, size_t bytes, std::chrono::nanoseconds duration) const;

  const Options options_;

  Mutex load_mu_;
  bool short_of_memory_ ABSL_GUARDED_BY(load_mu_) = false;

  mutable Mutex mu_;
  CondVar unused_;  // a key that is leaving has lost its last user
  std::vector<EvictableKey*> keys_ ABSL_GUARDED_BY(mu_);
  Stats stats_ ABSL_GUARDED_BY(mu_);
  uint64_t next_use_ ABSL_GUARDED_BY(mu_) = 1;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_KEY_RESIDENCY_H_
