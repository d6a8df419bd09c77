#include "engine/groth16/audit_records.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/formats/atomic_file.h"
#include "engine/formats/file.h"

namespace proofmill::engine {
namespace {

// Goes up when the audit checks more than before: older records then count no longer.
constexpr absl::string_view kRecord = "proofmill key audit 1\n";
constexpr absl::string_view kFolder = "audited-keys";
constexpr uint64_t kRecordBytesMax = 256;

bool OnlyOursToWrite(const std::string& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  const bool owned = status.st_uid == ::geteuid() || status.st_uid == 0;
  return owned && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

AuditRecords::AuditRecords(const std::string& state_dir)
    : folder_(state_dir.empty() ? "" : absl::StrCat(state_dir, "/", kFolder)) {}

std::string AuditRecords::PathOf(const FileHash& hash) const {
  const absl::string_view bytes(reinterpret_cast<const char*>(hash.data()), hash.size());
  return absl::StrCat(folder_, "/", absl::BytesToHexString(bytes));
}

bool AuditRecords::Contains(const FileHash& hash) const {
  if (folder_.empty() || !OnlyOursToWrite(folder_)) return false;
  const absl::StatusOr<std::string> record = ReadTextFile(PathOf(hash), kRecordBytesMax);
  return record.ok() && *record == kRecord;
}

absl::Status AuditRecords::Add(const FileHash& hash) const {
  if (folder_.empty()) return absl::OkStatus();
  if (::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    const int error = errno;
    return absl::ErrnoToStatus(error, absl::StrCat(folder_, ": cannot create the folder"));
  }
  return WriteFileAtomically(PathOf(hash), std::string_view(kRecord.data(), kRecord.size()));
}

}  // namespace proofmill::engine
