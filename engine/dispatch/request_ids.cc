#include "engine/dispatch/request_ids.h"

#include <openssl/evp.h>

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::engine {
namespace {

size_t BytesOf(const absl::StatusOr<ProveResult>& result) {
  if (!result.ok()) return sizeof(ProveResult) + result.status().message().size();
  return sizeof(ProveResult) + OutputBytes(result->output) + result->stages.size() * sizeof(StageTime) +
         result->circuit.size() + result->version.size();
}

// Longer contents are taken in blocks of so many bytes, by as many threads as there are.
constexpr size_t kBlockBytes = size_t{256} << 10;

// Null for want of memory.
EVP_MAC* Poly1305() {
  static EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "POLY1305", nullptr);  // for the whole process
  return mac;
}

// A computation. False from any of its methods: there is no memory, and nothing comes of it.
class Mac {
 public:
  // The end of the computation wipes what the context holds of the content.
  explicit Mac(const std::array<uint8_t, 32>& key)
      : context_(EVP_MAC_CTX_new(Poly1305()), &EVP_MAC_CTX_free) {
    good_ = context_ != nullptr && EVP_MAC_init(context_.get(), key.data(), key.size(), nullptr) == 1;
  }
  bool Add(const void* data, size_t size) {
    good_ = good_ && EVP_MAC_update(context_.get(), static_cast<const uint8_t*>(data), size) == 1;
    return good_;
  }
  bool End(RequestDigest& digest) {
    size_t size = 0;
    good_ = good_ && EVP_MAC_final(context_.get(), digest.data(), &size, digest.size()) == 1 &&
            size == digest.size();
    return good_;
  }

 private:
  std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context_;
  bool good_ = false;
};

// The digests of the blocks of a content, in order; empty for want of memory.
std::vector<RequestDigest> DigestBlocks(const std::array<uint8_t, 32>& key,
                                        absl::Span<const uint8_t> content) {
  std::vector<RequestDigest> digests((content.size() + kBlockBytes - 1) / kBlockBytes);
  std::atomic<bool> good{true};  // read when all have ended
  kernels::ParallelFor(0, digests.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const absl::Span<const uint8_t> block = content.subspan(i * kBlockBytes, kBlockBytes);
      Mac mac(key);
      if (!mac.Add(block.data(), block.size()) || !mac.End(digests[i])) good = false;
    }
    WipeThreadTraces();
  });
  if (!good) digests.clear();
  return digests;
}

absl::Status Conflict(absl::string_view id, absl::string_view what) {
  return WithReason(
      absl::AlreadyExistsError(absl::StrCat("request id \"", id, "\" was used before with ", what)),
      ErrorReason::kRequestIdConflict);
}

bool IsFinal(const absl::StatusOr<ProveResult>& result) {
  return result.ok() || absl::IsInvalidArgument(result.status());
}

}  // namespace

RequestIds::RequestIds(Options options, Clock& clock) : options_(options), clock_(clock) {
  // Without randomness the digests are still right, only guessable; the prover refuses to work then anyway.
  FillRandom(digest_key_.data(), digest_key_.size()).IgnoreError();
}

RequestDigest RequestIds::Digest(const ProofInput& witness) const {
  if (Poly1305() == nullptr) throw std::bad_alloc();
  RequestDigest digest{};
  Mac mac(digest_key_);
  bool ok = true;
  for (const absl::Span<const uint8_t> piece : InputContent(witness)) {
    if (piece.size() <= kBlockBytes) {
      ok = ok && mac.Add(piece.data(), piece.size());
      continue;
    }
    // The pieces of all inputs of a circuit have the same sizes, so this is the form of all of them.
    const std::vector<RequestDigest> digests = DigestBlocks(digest_key_, piece);
    ok = ok && !digests.empty() && mac.Add(digests.data(), digests.size() * sizeof(RequestDigest));
  }
  ok = ok && mac.End(digest);
  // Cannot fail but for want of memory. Two contents must never share a digest, so there is no going on.
  if (!ok) throw std::bad_alloc();
  return digest;
}

absl::StatusOr<std::optional<RequestIds::Known>> RequestIds::FindOrInsert(const std::shared_ptr<Job>& job,
                                                                          const RequestContent& content,
                                                                          const Job* finished) {
  const Key key(job->tenant(), job->request_id());
  MutexLock lock(mu_);
  DropExpiredLocked();
  const auto found = entries_.find(key);
  if (found == entries_.end() || (found->second.job != nullptr && found->second.job.get() == finished)) {
    entries_.insert_or_assign(
        key, Entry{content.witness, content.circuit, job->circuit().version, job, results_.end()});
    return std::nullopt;
  }
  const Entry& entry = found->second;
  if (entry.circuit != content.circuit) {
    return Conflict(key.second, absl::StrCat("circuit ", entry.circuit, ", got ", content.circuit));
  }
  if (!content.version.empty() && entry.version != content.version) {
    return Conflict(key.second, absl::StrCat("version ", entry.version, ", got ", content.version));
  }
  if (entry.witness != content.witness) return Conflict(key.second, "another witness");
  Known known;
  known.job = entry.job;
  if (entry.job == nullptr) known.result = entry.result->value;
  return known;
}

void RequestIds::Complete(const Job& job, const absl::StatusOr<ProveResult>& result) {
  if (job.request_id().empty()) return;
  if (!IsFinal(result)) {
    Forget(job);
    return;
  }
  MutexLock lock(mu_);
  DropExpiredLocked();
  const auto found = entries_.find(KeyOf(job));
  if (found == entries_.end() || found->second.job.get() != &job) return;
  try {
    results_.push_back({found->first, clock_.Now() + options_.ttl, BytesOf(result), result});
  } catch (const std::bad_alloc&) {
    entries_.erase(found);
    return;
  }
  result_bytes_ += results_.back().bytes;
  found->second.job = nullptr;
  found->second.result = std::prev(results_.end());
  while (results_.size() > options_.results_max || result_bytes_ > options_.result_bytes_max)
    DropOldestLocked();
}

void RequestIds::Forget(const Job& job) {
  if (job.request_id().empty()) return;
  MutexLock lock(mu_);
  const auto found = entries_.find(KeyOf(job));
  if (found != entries_.end() && found->second.job.get() == &job) entries_.erase(found);
}

size_t RequestIds::size() const {
  MutexLock lock(mu_);
  return entries_.size();
}

void RequestIds::DropOldestLocked() {
  result_bytes_ -= results_.front().bytes;
  entries_.erase(results_.front().key);
  results_.pop_front();
}

void RequestIds::DropExpiredLocked() {
  const Clock::time_point now = clock_.Now();
  while (!results_.empty() && results_.front().expiry <= now) DropOldestLocked();
}

}  // namespace proofmill::engine
