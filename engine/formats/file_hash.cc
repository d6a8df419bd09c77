#include "engine/formats/file_hash.h"

#include <openssl/evp.h>

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"

namespace proofmill::engine {
namespace {

constexpr uint64_t kReadBytes = uint64_t{1} << 20;

}  // namespace

class FileHash::Blake2b {
 public:
  Blake2b() : context_(EVP_MD_CTX_new()) {
    good_ = context_ != nullptr && EVP_DigestInit_ex(context_, EVP_blake2b512(), nullptr) == 1;
  }
  ~Blake2b() { EVP_MD_CTX_free(context_); }
  Blake2b(const Blake2b&) = delete;
  Blake2b& operator=(const Blake2b&) = delete;

  void Update(absl::Span<const uint8_t> bytes) {
    good_ = good_ && EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1;
  }
  absl::StatusOr<Digest> Finish() {
    Digest digest;
    unsigned size = 0;
    if (!good_ || EVP_DigestFinal_ex(context_, digest.data(), &size) != 1 || size != digest.size()) {
      return absl::InternalError("BLAKE2b-512 is not available in the crypto library");
    }
    return digest;
  }

 private:
  EVP_MD_CTX* const context_;
  bool good_ = false;
};

FileHash::FileHash(const ByteSource& source) : source_(source), blake2b_(std::make_unique<Blake2b>()) {
  if (source.size() > kInlineBytesMax) thread_ = std::thread([this] { RunThread(); });
}

FileHash::~FileHash() {
  {
    // An early end: what is still queued is not wanted any more.
    MutexLock lock(mu_);
    parts_.clear();
  }
  Join();
}

void FileHash::Add(absl::Span<const uint8_t> bytes) {
  if (!bytes.empty()) Enqueue({bytes, 0, 0});
}

void FileHash::AddFromSource(uint64_t offset, uint64_t length) {
  if (length != 0) Enqueue({{}, offset, length});
}

void FileHash::Enqueue(const Part& part) {
  if (!thread_.joinable()) {
    HashPart(part);
    return;
  }
  MutexLock lock(mu_);
  parts_.push_back(part);
  changed_.NotifyOne();
}

void FileHash::HashPart(const Part& part) {
  if (!status_.ok()) return;
  if (!part.bytes.empty()) {
    blake2b_->Update(part.bytes);
    return;
  }
  std::vector<uint8_t> buffer(std::min(part.length, kReadBytes));
  for (uint64_t done = 0; done < part.length && status_.ok();) {
    const absl::Span<uint8_t> chunk =
        absl::MakeSpan(buffer).subspan(0, std::min<uint64_t>(buffer.size(), part.length - done));
    status_ = source_.ReadAt(part.offset + done, chunk);
    if (status_.ok()) blake2b_->Update(chunk);
    done += chunk.size();
  }
}

void FileHash::RunThread() {
  SetThreadName("pm-file-hash");
  while (true) {
    Part part;
    {
      MutexLock lock(mu_);
      while (parts_.empty() && !closed_) changed_.Wait(mu_);
      if (parts_.empty()) return;
      part = parts_.front();
      parts_.pop_front();
    }
    HashPart(part);
  }
}

void FileHash::Join() {
  if (!thread_.joinable()) return;
  {
    MutexLock lock(mu_);
    closed_ = true;
    changed_.NotifyOne();
  }
  thread_.join();
}

absl::StatusOr<FileHash::Digest> FileHash::Finish() {
  Join();
  PROOFMILL_RETURN_IF_ERROR(status_);
  return blake2b_->Finish();
}

}  // namespace proofmill::engine
