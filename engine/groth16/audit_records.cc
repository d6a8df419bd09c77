#include "engine/groth16/audit_records.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "engine/base/status_macros.h"
#include "engine/formats/atomic_file.h"
#include "engine/formats/file.h"

namespace proofmill::engine {
namespace {

// The number goes up when the audit checks more than before: older records then count no longer.
constexpr absl::string_view kRecord = "proofmill key audit 2\n";
constexpr absl::string_view kFolder = "audited-keys";
constexpr uint64_t kRecordBytesMax = 256;

std::string HexOf(const AuditRecords::FileHash& hash) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash.data()), hash.size()));
}

std::string RecordOf(const AuditRecords::FileHash& hash) { return absl::StrCat(kRecord, HexOf(hash), "\n"); }

// OK if `path` itself, not what a link leads to, is of this type (S_IFDIR or S_IFREG) and ours alone to
// write.
absl::Status CheckOnlyOursToWrite(const std::string& path, mode_t type) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    const int error = errno;
    return absl::ErrnoToStatus(error, absl::StrCat(path, ": cannot stat"));
  }
  if ((status.st_mode & S_IFMT) != type) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": expected a ", type == S_IFDIR ? "folder" : "regular file", ", got something else"));
  }
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": expected user ", ::geteuid(), " or root to own it, got user ", status.st_uid));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: expected that nobody but its owner may write it, got mode %04o", path, status.st_mode & 07777));
  }
  return absl::OkStatus();
}

}  // namespace

AuditRecords::AuditRecords(const std::string& state_dir)
    : folder_(state_dir.empty() ? "" : absl::StrCat(state_dir, "/", kFolder)) {}

std::string AuditRecords::PathOf(const FileHash& hash) const {
  return absl::StrCat(folder_, "/", HexOf(hash));
}

absl::Status AuditRecords::Find(const FileHash& hash) const {
  const std::string path = PathOf(hash);
  if (folder_.empty()) return absl::NotFoundError("no records of audits are kept");
  PROOFMILL_RETURN_IF_ERROR(CheckOnlyOursToWrite(folder_, S_IFDIR));
  PROOFMILL_RETURN_IF_ERROR(CheckOnlyOursToWrite(path, S_IFREG));
  PROOFMILL_ASSIGN_OR_RETURN(const std::string record, ReadTextFile(path, kRecordBytesMax));
  if (record == RecordOf(hash)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": expected a record of this audit and of this key, got another content of ",
                   record.size(), " bytes"));
}

absl::Status AuditRecords::Add(const FileHash& hash) const {
  if (folder_.empty()) return absl::OkStatus();
  if (::mkdir(folder_.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    const int error = errno;
    return absl::ErrnoToStatus(error, absl::StrCat(folder_, ": cannot create the folder"));
  }
  return WriteFileAtomically(PathOf(hash), RecordOf(hash), AtomicFile::Access::kOwnerOnly);
}

}  // namespace proofmill::engine
