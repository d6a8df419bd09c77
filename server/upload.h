// One upload: its memory, how much of it has come, and the hash so far. Internal to server/upload_store.cc.
//
// Thread safety: every method may be called from any thread.
// Invariant: the first `committed` bytes are final; a piece is added whole or not at all.

#ifndef PROOFMILL_SERVER_UPLOAD_H_
#define PROOFMILL_SERVER_UPLOAD_H_

#include <openssl/evp.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/upload_store.h"

namespace proofmill::server {

// NOT_FOUND, kUploadUnknown.
absl::Status UploadUnknown(std::string_view name);

class UploadStore::Upload {
 public:
  // Throws std::bad_alloc.
  Upload(std::string name, NewUpload request, engine::Clock& clock, engine::Clock::duration idle_timeout);
  // A complete one that was taken before.
  Upload(TakenUpload taken, engine::Clock& clock, engine::Clock::duration idle_timeout);

  const std::string& name() const { return name_; }
  const std::string& tenant() const { return tenant_; }
  const std::string& request_id() const { return request_id_; }
  uint64_t size_bytes() const { return size_bytes_; }
  // Whether it is for what `request` announces.
  bool IsFor(const NewUpload& request) const {
    return circuit_ == request.circuit && size_bytes_ == request.size_bytes && sha256_ == request.sha256;
  }

  // As the methods of UploadStore. A result of kUploadChecksum or an OK Take() ends the upload.
  absl::StatusOr<UploadInfo> Write(uint64_t offset, absl::Span<const std::string_view> data);
  absl::StatusOr<UploadInfo> Get() const;
  absl::StatusOr<TakenUpload> Take(std::string_view circuit);
  void ReleaseJobSlot();

  // Wipes it; later calls get kUploadUnknown.
  void End();
  bool IdleAt(engine::Clock::time_point now) const;

 private:
  struct FreeDigest {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  UploadInfo InfoLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Adds what comes next. False if there is no hash to be had.
  bool AppendLocked(std::string_view data) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckHashLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Touch() { last_use_.store(clock_.Now().time_since_epoch().count(), std::memory_order_relaxed); }
  engine::Clock::time_point last_use() const {
    return engine::Clock::time_point(engine::Clock::duration(last_use_.load(std::memory_order_relaxed)));
  }

  const std::string name_;
  const std::string tenant_;
  const std::string request_id_;
  const std::string circuit_;
  const uint64_t size_bytes_;
  const std::string sha256_;
  engine::Clock& clock_;
  const engine::Clock::duration idle_timeout_;
  // Read by the reaper while a piece is being copied, hence not under the lock; a plain value, so relaxed.
  std::atomic<engine::Clock::duration::rep> last_use_{0};

  mutable engine::Mutex mu_;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t committed_ ABSL_GUARDED_BY(mu_) = 0;
  engine::ReceivedInput bytes_ ABSL_GUARDED_BY(mu_);
  engine::Reservation reservation_ ABSL_GUARDED_BY(mu_);
  // OpenSSL wipes its buffered block when the context is freed.
  std::unique_ptr<EVP_MD_CTX, FreeDigest> digest_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_UPLOAD_H_
