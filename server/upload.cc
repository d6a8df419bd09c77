#include "server/upload.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;

absl::Status BadOffset(uint64_t offset, uint64_t length, uint64_t committed, uint64_t size) {
  return engine::WithReason(
      absl::InvalidArgumentError(absl::StrCat("expected a piece that begins at byte ", committed,
                                              " or before and ends at byte ", size, " or before, got bytes ",
                                              offset, " to ", offset, " + ", length)),
      ErrorReason::kUploadOffset);
}

}  // namespace

UploadStore::Upload::Upload(std::string name, NewUpload request, engine::Clock& clock,
                            engine::Clock::duration idle_timeout)
    : name_(std::move(name)),
      tenant_(std::move(request.tenant)),
      request_id_(std::move(request.request_id)),
      circuit_(std::move(request.circuit)),
      size_bytes_(request.size_bytes),
      sha256_(std::move(request.sha256)),
      clock_(clock),
      idle_timeout_(idle_timeout),
      bytes_(request.size_bytes),
      reservation_(std::move(request.reservation)) {
  Touch();
  if (sha256_.empty()) return;
  digest_.reset(EVP_MD_CTX_new());
  if (digest_ == nullptr || EVP_DigestInit_ex(digest_.get(), EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc();
}

UploadStore::Upload::Upload(TakenUpload taken, engine::Clock& clock, engine::Clock::duration idle_timeout)
    : name_(std::move(taken.info.name)),
      tenant_(std::move(taken.info.tenant)),
      request_id_(std::move(taken.info.request_id)),
      circuit_(std::move(taken.info.circuit)),
      size_bytes_(taken.info.size_bytes),
      sha256_(std::move(taken.info.sha256)),
      clock_(clock),
      idle_timeout_(idle_timeout),
      committed_(taken.info.size_bytes),
      bytes_(std::move(taken.bytes)),
      reservation_(std::move(taken.reservation)) {
  Touch();
}

absl::StatusOr<UploadInfo> UploadStore::Upload::Write(uint64_t offset,
                                                      absl::Span<const std::string_view> data) {
  uint64_t length = 0;
  for (const std::string_view part : data) length += part.size();
  engine::MutexLock lock(mu_);
  if (ended_) return UploadUnknown(name_);
  // In this order, so that no sum can wrap.
  if (offset > committed_ || length > size_bytes_ - offset) {
    return BadOffset(offset, length, committed_, size_bytes_);
  }
  uint64_t known = committed_ - offset;
  if (length <= known) return InfoLocked();
  Touch();  // only what is new keeps an upload alive
  for (std::string_view part : data) {
    const uint64_t skipped = std::min<uint64_t>(known, part.size());
    known -= skipped;
    part.remove_prefix(skipped);
    if (!AppendLocked(part)) return absl::InternalError("SHA-256 failed");
  }
  if (committed_ == size_bytes_) {
    const absl::Status status = CheckHashLocked();
    if (!status.ok()) {
      EndLocked();
      return status;
    }
  }
  return InfoLocked();
}

bool UploadStore::Upload::AppendLocked(std::string_view data) {
  bytes_.Write(committed_, {reinterpret_cast<const uint8_t*>(data.data()), data.size()});
  committed_ += data.size();
  return digest_ == nullptr || EVP_DigestUpdate(digest_.get(), data.data(), data.size()) == 1;
}

absl::StatusOr<UploadInfo> UploadStore::Upload::Get() const {
  engine::MutexLock lock(mu_);
  if (ended_) return UploadUnknown(name_);
  return InfoLocked();
}

absl::StatusOr<UploadStore::TakenUpload> UploadStore::Upload::Take(std::string_view circuit) {
  engine::MutexLock lock(mu_);
  if (ended_) return UploadUnknown(name_);
  if (circuit != circuit_) {
    return engine::WithReason(
        absl::InvalidArgumentError(absl::StrCat("the upload is for the circuit ", circuit_, ", not for ",
                                                absl::string_view(circuit.data(), circuit.size()))),
        ErrorReason::kRequestInvalid);
  }
  if (committed_ != size_bytes_) {
    return engine::WithReason(absl::FailedPreconditionError(
                                  absl::StrCat("the upload has ", committed_, " of ", size_bytes_, " bytes")),
                              ErrorReason::kUploadIncomplete);
  }
  TakenUpload taken{InfoLocked(), std::move(bytes_), std::move(reservation_)};
  EndLocked();
  return taken;
}

void UploadStore::Upload::ReleaseJobSlot() {
  engine::MutexLock lock(mu_);
  reservation_.ReleaseJobSlot();
}

void UploadStore::Upload::End() {
  engine::MutexLock lock(mu_);
  EndLocked();
}

bool UploadStore::Upload::IdleAt(engine::Clock::time_point now) const {
  return now >= last_use() + idle_timeout_;
}

UploadInfo UploadStore::Upload::InfoLocked() const {
  return {name_,       tenant_, request_id_, circuit_,
          size_bytes_, sha256_, committed_,  last_use() + idle_timeout_};
}

absl::Status UploadStore::Upload::CheckHashLocked() {
  if (digest_ == nullptr) return absl::OkStatus();
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
  unsigned int length = 0;
  if (EVP_DigestFinal_ex(digest_.get(), hash.data(), &length) != 1)
    return absl::InternalError("SHA-256 failed");
  digest_.reset();
  if (length == sha256_.size() && std::memcmp(hash.data(), sha256_.data(), length) == 0)
    return absl::OkStatus();
  return engine::WithReason(
      absl::InvalidArgumentError("the SHA-256 of the whole witness is not the announced one"),
      ErrorReason::kUploadChecksum);
}

void UploadStore::Upload::EndLocked() {
  ended_ = true;
  bytes_ = {};
  reservation_.Release();
  digest_.reset();
}

}  // namespace proofmill::server
