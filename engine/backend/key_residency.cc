#include "engine/backend/key_residency.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

absl::Status DoesNotFit(absl::string_view message) {
  return WithReason(absl::ResourceExhaustedError(message), ErrorReason::kOutOfMemory);
}

}  // namespace

absl::Status KeyResidency::CheckFits(const EvictableKey& key, size_t proof_bytes) const {
  const size_t bytes_max = options_.bytes_max;
  const size_t room = bytes_max > proof_bytes ? bytes_max - proof_bytes : 0;
  if (key.bytes_min() > room) {
    return DoesNotFit(
        absl::StrCat(options_.device, ": the key needs at least ", key.bytes_min(), " + ", proof_bytes,
                     " bytes of device memory (itself and its proofs), the limit is ", bytes_max));
  }
  MutexLock lock(mu_);
  for (const EvictableKey* known : keys_) {
    if (known->bytes_min() <= room) continue;
    return DoesNotFit(absl::StrCat(options_.device, ": proofs of the key need ", proof_bytes,
                                   " bytes of device memory, which leaves ", room, " of the limit of ",
                                   bytes_max, " for a key here that needs ", known->bytes_min()));
  }
  return absl::OkStatus();
}

absl::Status KeyResidency::Add(EvictableKey& key, size_t proof_bytes,
                               const std::function<absl::Status()>& take_proof_memory) {
  MutexLock load_lock(load_mu_);
  PROOFMILL_RETURN_IF_ERROR(CheckFits(key, proof_bytes));
  while (stats().resident_bytes + proof_bytes > options_.bytes_max) {
    short_of_memory_ = true;
    if (!EvictOne()) break;
  }
  PROOFMILL_RETURN_IF_ERROR(take_proof_memory());
  {
    MutexLock lock(mu_);
    stats_.proof_bytes = proof_bytes;
    keys_.push_back(&key);  // before it is loaded, so that its share is right
    stats_.keys = keys_.size();
  }
  absl::Status status;
  try {
    status = BringIn(key, EventKind::kLoaded);
  } catch (...) {
    Forget(key);
    throw;
  }
  if (!status.ok()) Forget(key);
  return status;
}

void KeyResidency::Forget(EvictableKey& key) {
  MutexLock lock(mu_);
  keys_.erase(std::find(keys_.begin(), keys_.end(), &key));
  stats_.keys = keys_.size();
}

void KeyResidency::Remove(EvictableKey& key) {
  MutexLock load_lock(load_mu_);
  bool resident = false;
  {
    MutexLock lock(mu_);
    if (std::find(keys_.begin(), keys_.end(), &key) == keys_.end()) return;
    resident = key.resident_;
  }
  Forget(key);
  if (!resident) return;
  key.Unload();
  MutexLock lock(mu_);
  key.resident_ = false;
  --stats_.resident;
  stats_.resident_bytes -= std::exchange(key.resident_bytes_, 0);
}

absl::StatusOr<KeyResidency::Use> KeyResidency::UseKey(EvictableKey& key) {
  if (TryUse(key)) return Use(this, &key);
  MutexLock load_lock(load_mu_);
  if (TryUse(key)) return Use(this, &key);
  PROOFMILL_RETURN_IF_ERROR(BringIn(key, EventKind::kReloaded));
  TryUse(key);  // nobody else evicts while load_mu_ is held
  return Use(this, &key);
}

bool KeyResidency::TryUse(EvictableKey& key) {
  MutexLock lock(mu_);
  if (!key.resident_ || key.leaving_) return false;
  ++key.users_;
  key.last_use_ = next_use_++;
  return true;
}

void KeyResidency::EndUse(EvictableKey& key) {
  MutexLock lock(mu_);
  --key.users_;
  key.last_use_ = next_use_++;
  if (key.users_ == 0 && key.leaving_) unused_.NotifyAll();
}

absl::Status KeyResidency::BringIn(EvictableKey& key, EventKind kind) {
  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<size_t> bytes = 0;
  while (true) {
    bytes = key.Load(MakeRoomFor(key));
    if (bytes.ok() || !absl::IsResourceExhausted(bytes.status())) break;
    // Something else took memory of the device.
    short_of_memory_ = true;
    if (!EvictOne()) break;
  }
  if (!bytes.ok()) return bytes.status();
  {
    MutexLock lock(mu_);
    key.resident_ = true;
    key.leaving_ = false;
    key.resident_bytes_ = *bytes;
    key.last_use_ = next_use_++;
    ++stats_.resident;
    stats_.resident_bytes += *bytes;
    if (kind == EventKind::kReloaded) ++stats_.reloads;
  }
  Tell(kind, key, *bytes, std::chrono::steady_clock::now() - start);
  return absl::OkStatus();
}

size_t KeyResidency::MakeRoomFor(const EvictableKey& key) {
  while (true) {
    const Stats now = stats();
    const size_t used = now.resident_bytes + now.proof_bytes;
    const size_t room = options_.bytes_max > used ? options_.bytes_max - used : 0;
    if (room >= key.bytes_min()) {
      if (!short_of_memory_) return room;
      const size_t share = (options_.bytes_max - now.proof_bytes) / now.keys;
      return std::max(std::min(room, share), key.bytes_min());
    }
    short_of_memory_ = true;
    // By the invariant this ends with room before it ends without keys; Load() reports it if not.
    if (!EvictOne()) return key.bytes_min();
  }
}

bool KeyResidency::EvictOne() {
  EvictableKey* victim = nullptr;
  {
    MutexLock lock(mu_);
    // One that nobody uses, if there is one; of several the one whose last use is the longest ago.
    for (EvictableKey* key : keys_) {
      if (!key->resident_) continue;
      const auto order = [](const EvictableKey* k) { return std::pair(k->users_ != 0, k->last_use_); };
      if (victim == nullptr || order(key) < order(victim)) victim = key;
    }
    if (victim == nullptr) return false;
    victim->leaving_ = true;
    while (victim->users_ != 0) unused_.Wait(mu_);
  }
  victim->Unload();
  size_t bytes = 0;
  {
    MutexLock lock(mu_);
    bytes = std::exchange(victim->resident_bytes_, 0);
    victim->resident_ = false;
    victim->leaving_ = false;
    --stats_.resident;
    stats_.resident_bytes -= bytes;
    ++stats_.evictions;
  }
  Tell(EventKind::kEvicted, *victim, bytes, std::chrono::nanoseconds(0));
  return true;
}

KeyResidency::Stats KeyResidency::stats() const {
  MutexLock lock(mu_);
  Stats stats = stats_;
  for (const EvictableKey* key : keys_)
    stats.bytes_min_most = std::max(stats.bytes_min_most, key->bytes_min());
  return stats;
}

void KeyResidency::Tell(EventKind kind, EvictableKey& key, size_t bytes,
                        std::chrono::nanoseconds duration) const {
  if (options_.listener) options_.listener({kind, key, bytes, duration});
}

}  // namespace proofmill::engine
