#include "server/upload_store.h"

#include <array>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "server/rpc/rpc_status.h"
#include "server/upload.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;

absl::StatusOr<std::string> RandomName() {
  std::array<char, 16> random;
  PROOFMILL_RETURN_IF_ERROR(engine::FillRandom(random.data(), random.size()));
  return absl::StrCat("uploads/", absl::BytesToHexString(absl::string_view(random.data(), random.size())));
}

absl::Status NoMemory() {
  return engine::WithReason(absl::ResourceExhaustedError("there is no memory for the upload"),
                            ErrorReason::kOutOfMemory);
}

// A tenant without a name is everybody; one that holds nothing gets whatever fits.
bool HoldsShare(const std::string& tenant, uint64_t held, uint64_t free) {
  return !tenant.empty() && held / engine::Admission::kShareOfFree >= free;
}

}  // namespace

UploadStore::UploadStore(const Options& options, engine::Clock& clock, UsageListener listener)
    : options_(options), clock_(clock), listener_(std::move(listener)) {}

UploadStore::~UploadStore() = default;

absl::StatusOr<std::optional<UploadInfo>> UploadStore::FindRepeated(const NewUpload& upload) const {
  UploadPtr known;
  {
    engine::MutexLock lock(mu_);
    PROOFMILL_ASSIGN_OR_RETURN(known, SameLocked(upload));
  }
  if (known == nullptr) return std::nullopt;
  absl::StatusOr<UploadInfo> info = known->Get();
  if (!info.ok()) return std::nullopt;  // it has just ended
  return *std::move(info);
}

absl::StatusOr<UploadStore::UploadPtr> UploadStore::SameLocked(const NewUpload& upload) const {
  if (upload.request_id.empty()) return nullptr;
  const auto found = by_request_id_.find({upload.tenant, upload.request_id});
  if (found == by_request_id_.end()) return nullptr;
  if (found->second->IsFor(upload)) return found->second;
  return engine::WithReason(
      absl::AlreadyExistsError(absl::StrCat("request_id: expected the circuit, size and hash that ",
                                            upload.request_id, " came with before, got others")),
      ErrorReason::kRequestIdConflict);
}

absl::StatusOr<UploadInfo> UploadStore::Create(NewUpload request) {
  PROOFMILL_ASSIGN_OR_RETURN(std::string name, RandomName());
  const uint64_t size_bytes = request.size_bytes;
  const std::string tenant = request.tenant;
  PROOFMILL_RETURN_IF_ERROR(Claim(tenant, size_bytes));
  absl::StatusOr<UploadPtr> inserted;
  try {
    const NewUpload content{.tenant = tenant,
                            .request_id = request.request_id,
                            .circuit = request.circuit,
                            .size_bytes = size_bytes,
                            .sha256 = request.sha256,
                            .reservation = {}};
    const auto upload =
        std::make_shared<Upload>(std::move(name), std::move(request), clock_, options_.idle_timeout);
    UploadInfo info = *upload->Get();
    engine::MutexLock lock(mu_);
    // Another call with the same id may have been first.
    inserted = SameLocked(content);
    if (inserted.ok() && *inserted == nullptr) {
      InsertLocked(upload);
      return info;
    }
  } catch (const std::bad_alloc&) {
    inserted = NoMemory();
  }
  Unclaim(tenant, size_bytes);
  if (!inserted.ok()) return inserted.status();
  return (*inserted)->Get();
}

absl::StatusOr<UploadInfo> UploadStore::Write(std::string_view tenant, std::string_view name, uint64_t offset,
                                              absl::Span<const std::string_view> data) {
  PROOFMILL_ASSIGN_OR_RETURN(const UploadPtr upload, Find(tenant, name));
  auto result = upload->Write(offset, data);
  if (engine::GetReason(result.status()) == ErrorReason::kUploadChecksum) Remove(upload);
  return result;
}

absl::StatusOr<UploadInfo> UploadStore::Get(std::string_view tenant, std::string_view name) const {
  PROOFMILL_ASSIGN_OR_RETURN(const UploadPtr upload, Find(tenant, name));
  return upload->Get();
}

absl::Status UploadStore::Delete(std::string_view tenant, std::string_view name) {
  PROOFMILL_ASSIGN_OR_RETURN(const UploadPtr upload, Find(tenant, name));
  Remove(upload);
  upload->End();
  return absl::OkStatus();
}

absl::StatusOr<UploadStore::TakenUpload> UploadStore::Take(std::string_view tenant, std::string_view name,
                                                           std::string_view circuit) {
  PROOFMILL_ASSIGN_OR_RETURN(const UploadPtr upload, Find(tenant, name));
  PROOFMILL_ASSIGN_OR_RETURN(TakenUpload taken, upload->Take(circuit));
  Remove(upload);
  return taken;
}

void UploadStore::PutBack(TakenUpload taken) {
  const std::string tenant = taken.info.tenant;
  const uint64_t size_bytes = taken.info.size_bytes;
  if (!Claim(tenant, size_bytes).ok()) return;
  try {
    const auto upload = std::make_shared<Upload>(std::move(taken), clock_, options_.idle_timeout);
    engine::MutexLock lock(mu_);
    InsertLocked(upload);
  } catch (const std::bad_alloc&) {
    Unclaim(tenant, size_bytes);
  }
}

void UploadStore::ReleaseJobSlot(std::string_view name) {
  UploadPtr upload;
  {
    engine::MutexLock lock(mu_);
    const auto found = uploads_.find(name);
    if (found == uploads_.end()) return;
    upload = found->second;
  }
  upload->ReleaseJobSlot();
}

void UploadStore::EndIdle(engine::Clock::time_point now) {
  std::vector<UploadPtr> idle;
  {
    engine::MutexLock lock(mu_);
    for (const auto& [name, upload] : uploads_) {
      if (upload->IdleAt(now)) idle.push_back(upload);
    }
  }
  for (const UploadPtr& upload : idle) {
    Remove(upload);
    upload->End();
  }
}

UploadStore::Usage UploadStore::usage() const {
  engine::MutexLock lock(mu_);
  return usage_;
}

// Nothing has changed if this throws std::bad_alloc.
void UploadStore::InsertLocked(const UploadPtr& upload) {
  const auto inserted = uploads_.emplace(upload->name(), upload).first;
  if (upload->request_id().empty()) return;
  try {
    by_request_id_.emplace(RequestKey(upload->tenant(), upload->request_id()), upload);
  } catch (const std::bad_alloc&) {
    uploads_.erase(inserted);
    throw;
  }
}

absl::StatusOr<UploadStore::UploadPtr> UploadStore::Find(std::string_view tenant,
                                                         std::string_view name) const {
  engine::MutexLock lock(mu_);
  const auto found = uploads_.find(name);
  if (found != uploads_.end() && found->second->tenant() == tenant) return found->second;
  return UploadUnknown(name);
}

absl::Status UploadUnknown(std::string_view name) {
  return engine::WithReason(
      absl::NotFoundError(absl::StrCat(
          "there is no such upload: expected one that was not used, not deleted, and not idle too long",
          Got(name))),
      ErrorReason::kUploadUnknown);
}

absl::Status UploadStore::Claim(const std::string& tenant, uint64_t size_bytes) try {
  {
    engine::MutexLock lock(mu_);
    PROOFMILL_RETURN_IF_ERROR(CheckRoomLocked(tenant, size_bytes));
    Usage& own = tenants_[tenant];  // first: it may throw
    own.count += 1;
    own.bytes += size_bytes;
    usage_.count += 1;
    usage_.bytes += size_bytes;
  }
  if (listener_) listener_(1, static_cast<int64_t>(size_bytes));
  return absl::OkStatus();
} catch (const std::bad_alloc&) {
  return NoMemory();
}

void UploadStore::Unclaim(const std::string& tenant, uint64_t size_bytes) {
  {
    engine::MutexLock lock(mu_);
    const auto own = tenants_.find(tenant);
    own->second.count -= 1;
    own->second.bytes -= size_bytes;
    if (own->second.count == 0) tenants_.erase(own);
    usage_.count -= 1;
    usage_.bytes -= size_bytes;
  }
  if (listener_) listener_(-1, -static_cast<int64_t>(size_bytes));
}

void UploadStore::Remove(const UploadPtr& upload) {
  {
    engine::MutexLock lock(mu_);
    const auto found = uploads_.find(upload->name());
    if (found == uploads_.end() || found->second != upload) return;  // another thread was first
    uploads_.erase(found);
    // Only while the id stands for this one: no key is made, since what ends an upload must not want memory.
    std::erase_if(by_request_id_, [&upload](const auto& entry) { return entry.second == upload; });
  }
  Unclaim(upload->tenant(), upload->size_bytes());
}

absl::Status UploadStore::CheckRoomLocked(const std::string& tenant, uint64_t size_bytes) const {
  const uint64_t bytes_free = options_.bytes_max - usage_.bytes;  // usage never exceeds the bound
  if (usage_.count < options_.count_max && size_bytes <= bytes_free) return CheckShareLocked(tenant);
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
      "there is no room for an upload of ", size_bytes, " bytes: ", usage_.count, " of ", options_.count_max,
      " uploads are open, with ", usage_.bytes, " of ", options_.bytes_max, " bytes"));
  // More than the bound alone can never fit, so waiting does not help.
  if (size_bytes > options_.bytes_max) {
    return engine::WithReason(std::move(status), ErrorReason::kMessageTooLarge);
  }
  return engine::WithRetryDelay(engine::WithReason(std::move(status), ErrorReason::kQueueFull),
                                options_.retry_delay);
}

absl::Status UploadStore::CheckShareLocked(const std::string& tenant) const {
  const auto own = tenants_.find(tenant);
  if (own == tenants_.end()) return absl::OkStatus();
  const Usage& held = own->second;
  const Usage free{.count = options_.count_max - usage_.count, .bytes = options_.bytes_max - usage_.bytes};
  if (!HoldsShare(tenant, held.count, free.count) && !HoldsShare(tenant, held.bytes, free.bytes)) {
    return absl::OkStatus();
  }
  return engine::WithRetryDelay(
      engine::WithReason(
          absl::ResourceExhaustedError(absl::StrCat(
              "the tenant holds its share, ", held.count, " uploads with ", held.bytes, " bytes, and ",
              free.count, " uploads and ", free.bytes, " bytes are free for all others")),
          ErrorReason::kQuotaExceeded),
      options_.retry_delay);
}

}  // namespace proofmill::server
