// Remembers requests by their ids, so that a repeated one gets the same job instead of a second proof.
//
// An entry belongs to a tenant and an id, and holds the content: the name of the circuit as the request says
// it, so that one that is repeated after an alias has moved is the same; the version that proves it, which a
// repeated one may pin or not; and a digest of the witness. Then either the job while it is on its way or its
// result. Results are kept for a time, up to a number of entries and of bytes; the oldest go first. Witnesses
// are never kept, and the digest is keyed with random bytes of this process, so that it does not let anybody
// who finds it in memory test guesses of a witness.
//
// Only final answers are kept: a proof, or an error that the same content would get again (INVALID_ARGUMENT).
// After any other error the id is free, so that a retry runs anew.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_ENGINE_DISPATCH_REQUEST_IDS_H_
#define PROOFMILL_ENGINE_DISPATCH_REQUEST_IDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/prove_types.h"

namespace proofmill::engine {

using RequestDigest = std::array<uint8_t, 16>;

// What a request says, apart from its id.
struct RequestContent {
  RequestDigest witness{};
  std::string circuit;  // id or alias
  std::string version;  // pinned; empty: any
};

class RequestIds {
 public:
  struct Options {
    Clock::duration ttl;  // of results
    size_t results_max;
    size_t result_bytes_max;
  };
  RequestIds(Options options, Clock& clock);
  RequestIds(const RequestIds&) = delete;
  RequestIds& operator=(const RequestIds&) = delete;

  // The tag of the witness under this process's key.
  RequestDigest Digest(const ProofInput& witness) const;

  // What an id stands for: one of the two is set.
  struct Known {
    std::shared_ptr<Job> job;
    std::optional<absl::StatusOr<ProveResult>> result;
  };
  // What (job->tenant(), job->request_id()) stands for; nothing if it was free, and it stands for `job` then.
  // An entry that still holds `finished` counts as free.
  //   ALREADY_EXISTS REQUEST_ID_CONFLICT  it stands for other content; the message says what differs.
  absl::StatusOr<std::optional<Known>> FindOrInsert(const std::shared_ptr<Job>& job,
                                                    const RequestContent& content,
                                                    const Job* finished = nullptr);

  // The entry of `job`, if it has one, gets the result; or is forgotten, where the result is not final or
  // there is no memory to keep it.
  void Complete(const Job& job, const absl::StatusOr<ProveResult>& result);
  // Frees the id if it still stands for `job`.
  void Forget(const Job& job);

  size_t size() const;

 private:
  using Key = std::pair<std::string, std::string>;  // tenant, id
  // For looking up without making strings: what gives a job up must not fail for want of memory.
  using KeyView = std::pair<absl::string_view, absl::string_view>;
  static KeyView KeyOf(const Job& job) { return {job.tenant(), job.request_id()}; }
  struct KeyHash {
    using is_transparent = void;
    size_t operator()(const KeyView& key) const { return absl::Hash<KeyView>()(key); }
  };
  struct KeyEqual {
    using is_transparent = void;
    bool operator()(const KeyView& a, const KeyView& b) const { return a == b; }
  };
  struct Result {
    Key key;
    Clock::time_point expiry;
    size_t bytes;
    absl::StatusOr<ProveResult> value;
  };
  struct Entry {
    RequestDigest witness;
    std::string circuit;                 // as the request named it
    std::string version;                 // that proves it
    std::shared_ptr<Job> job;            // null once there is a result
    std::list<Result>::iterator result;  // valid when `job` is null
  };

  void DropOldestLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DropExpiredLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  Clock& clock_;
  std::array<uint8_t, 32> digest_key_{};

  mutable Mutex mu_;
  absl::flat_hash_map<Key, Entry, KeyHash, KeyEqual> entries_ ABSL_GUARDED_BY(mu_);
  std::list<Result> results_ ABSL_GUARDED_BY(mu_);  // oldest first
  size_t result_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_REQUEST_IDS_H_
