// Witnesses on their way in: pieces are put together here, for ProveStream and for UploadService alike.
//
// An upload belongs to the tenant who began it, and is known by its name, 128 random bits, which its creator
// alone is told; for everybody else it does not exist. It holds room in the engine's budget of witness bytes
// (its reservation) and counts against the bounds of this store, so that half-open uploads cannot take all of
// that budget. One that gets nothing new for a while is ended, and its memory wiped.
//
// Within the bounds tenants share as in the queue (engine/dispatch/admission.h): one may hold at most
// kShareOfFree times what it leaves free, of uploads and of bytes; where nobody is known by name, all of it.
//
// Thread safety: every method may be called from any thread. Pieces of different uploads are copied and
// hashed at the same time; those of one upload one after the other. Locks: that of the table, and one for
// each upload; never two at once.

#ifndef PROOFMILL_SERVER_UPLOAD_STORE_H_
#define PROOFMILL_SERVER_UPLOAD_STORE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/admission.h"
#include "engine/formats/received_input.h"
#include "server/idle_reaper.h"

namespace proofmill::server {

struct UploadInfo {
  std::string name;
  std::string tenant;
  std::string request_id;  // may be empty
  std::string circuit;
  uint64_t size_bytes = 0;
  std::string sha256;  // as it was announced
  uint64_t committed_bytes = 0;
  engine::Clock::time_point expiry;  // if nothing new comes

  bool complete() const { return committed_bytes == size_bytes; }
};

class UploadStore final : public Idler {
 public:
  struct Options {
    size_t count_max;
    uint64_t bytes_max;  // of all uploads together, counted by their announced sizes
    std::chrono::milliseconds idle_timeout;
    // Advice for those who find no room.
    std::chrono::milliseconds retry_delay{1000};
  };
  // Told of each change of what is open.
  using UsageListener = std::function<void(int count_change, int64_t bytes_change)>;

  // `clock` must outlive the store.
  UploadStore(const Options& options, engine::Clock& clock, UsageListener listener = nullptr);
  ~UploadStore() override;
  UploadStore(const UploadStore&) = delete;
  UploadStore& operator=(const UploadStore&) = delete;

  struct NewUpload {
    std::string tenant;
    std::string request_id = {};  // may be empty
    std::string circuit;
    uint64_t size_bytes = 0;  // positive
    std::string sha256;       // 32 bytes, or empty: not checked
    engine::Reservation reservation;
  };
  // The upload that an earlier request of the same tenant and id began, if it is open still; nothing for an
  // empty id.
  //   ALREADY_EXISTS kRequestIdConflict  it is for other content: another circuit, size or hash.
  absl::StatusOr<std::optional<UploadInfo>> FindRepeated(const NewUpload& upload) const;
  // Makes room; or finds what FindRepeated() finds, with its errors.
  //   RESOURCE_EXHAUSTED kMessageTooLarge more bytes than the bound; trying again cannot work.
  //   RESOURCE_EXHAUSTED kQueueFull       too many uploads, or too many bytes; retry later.
  //   RESOURCE_EXHAUSTED kQuotaExceeded   the tenant holds its share; retry later.
  //   RESOURCE_EXHAUSTED kOutOfMemory     the memory cannot be had.
  //   INTERNAL                            no randomness for the name.
  absl::StatusOr<UploadInfo> Create(NewUpload upload);

  // Adds the piece of the witness that begins at `offset`, itself in parts; what was there before is skipped,
  // and a piece of nothing else does not put off the end of an idle upload.
  // The last piece checks the hash, and a wrong one ends the upload.
  //   NOT_FOUND kUploadUnknown           no such upload, another tenant's, or it has ended.
  //   INVALID_ARGUMENT kUploadOffset     a gap before the piece, or bytes after the announced end.
  //   INVALID_ARGUMENT kUploadChecksum   the whole does not have the announced hash.
  absl::StatusOr<UploadInfo> Write(std::string_view tenant, std::string_view name, uint64_t offset,
                                   absl::Span<const std::string_view> data);

  //   NOT_FOUND kUploadUnknown  as above.
  absl::StatusOr<UploadInfo> Get(std::string_view tenant, std::string_view name) const;
  absl::Status Delete(std::string_view tenant, std::string_view name);

  struct TakenUpload {
    UploadInfo info;
    engine::ReceivedInput bytes;
    engine::Reservation reservation;
  };
  // Takes a complete upload out of the store; nobody else can then.
  //   NOT_FOUND kUploadUnknown               as above.
  //   FAILED_PRECONDITION kUploadIncomplete  bytes are missing; the upload stays.
  //   INVALID_ARGUMENT kRequestInvalid       it is for another circuit; the upload stays.
  absl::StatusOr<TakenUpload> Take(std::string_view tenant, std::string_view name, std::string_view circuit);

  // Puts back what was taken, under the same name, for another try; wiped instead if there is no room for the
  // tenant by now.
  void PutBack(TakenUpload upload);

  // Gives the place in the queue back that an upload's reservation holds, if any: its stream has gone.
  void ReleaseJobSlot(std::string_view name);

  void EndIdle(engine::Clock::time_point now) override;

  struct Usage {
    size_t count = 0;
    uint64_t bytes = 0;
  };
  Usage usage() const;

 private:
  class Upload;
  using UploadPtr = std::shared_ptr<Upload>;

  using RequestKey = std::pair<std::string, std::string>;  // tenant, request id

  absl::StatusOr<UploadPtr> Find(std::string_view tenant, std::string_view name) const;
  // The upload with that request id, or null.
  absl::StatusOr<UploadPtr> SameLocked(const NewUpload& upload) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void InsertLocked(const UploadPtr& upload) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Counts an upload before its memory is taken, and no more. Errors as Create().
  absl::Status Claim(const std::string& tenant, uint64_t size_bytes);
  void Unclaim(const std::string& tenant, uint64_t size_bytes);
  void Remove(const UploadPtr& upload);
  absl::Status CheckRoomLocked(const std::string& tenant, uint64_t size_bytes) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status CheckShareLocked(const std::string& tenant) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Options options_;
  engine::Clock& clock_;
  const UsageListener listener_;
  mutable engine::Mutex mu_;
  std::map<std::string, UploadPtr, std::less<>> uploads_ ABSL_GUARDED_BY(mu_);
  std::map<RequestKey, UploadPtr> by_request_id_ ABSL_GUARDED_BY(mu_);  // of these, those with an id
  Usage usage_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Usage> tenants_ ABSL_GUARDED_BY(mu_);  // of those that hold something
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_UPLOAD_STORE_H_
