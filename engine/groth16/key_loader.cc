// LoadProvingKey(): from a path to an audited key.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/groth16/audit_records.h"
#include "engine/groth16/host_memory.h"
#include "engine/groth16/proving_key.h"

namespace proofmill::engine {
namespace {

namespace fs = std::filesystem;

// A verification key found beside a key file.
struct Companion {
  std::string path;
  VerificationKey vk;
  bool binding = true;  // whether a difference is an error
};

// The same error with the file's name in front.
absl::Status Named(const std::string& path, const absl::Status& status) {
  absl::Status named(status.code(), absl::StrCat(path, ": ", status.message()));
  const std::optional<ErrorReason> reason = GetReason(status);
  return reason.has_value() ? WithReason(std::move(named), *reason) : named;
}

// Whether `folder` holds a .zkey other than `key`. A folder that cannot be listed counts as holding none.
bool HasOtherKeys(const fs::path& folder, const fs::path& key) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path& path = entries->path();
    if (path.extension() == ".zkey" && path.filename() != key.filename()) return true;
  }
  return false;
}

absl::StatusOr<std::optional<Companion>> FindCompanion(const std::string& key_path) {
  const fs::path key(key_path);
  const fs::path folder = key.has_parent_path() ? key.parent_path() : fs::path(".");
  const std::string stem = key.stem().string();
  const std::string candidates[] = {stem + ".verification_key.json", stem + ".vkey.json",
                                    "verification_key.json"};
  for (const std::string& candidate : candidates) {
    const fs::path path = folder / candidate;
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    Companion found;
    found.path = path.string();
    PROOFMILL_ASSIGN_OR_RETURN(const std::string text,
                               ReadTextFile(found.path, kVerificationKeyJsonBytesMax));
    absl::StatusOr<VerificationKey> vk = ParseVerificationKeyJson(text);
    if (!vk.ok()) return WithReason(Named(found.path, vk.status()), ErrorReason::kKeyMalformed);
    found.vk = *std::move(vk);
    found.binding = candidate != candidates[2] || !HasOtherKeys(folder, key);
    return found;
  }
  return std::nullopt;
}

absl::Status WithKeyReason(const absl::Status& status) {
  const bool content = absl::IsInvalidArgument(status) || absl::IsDataLoss(status);
  if (!content || GetReason(status).has_value()) return status;
  return WithReason(status, ErrorReason::kKeyMalformed);
}

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

absl::StatusOr<AuditReport> Audit(const std::string& path, const Zkey& zkey, const KeyOptions& options) {
  AuditReport report;
  report.insecure_test_setup = IsInsecureTestSetup(zkey);
  report.gamma_equals_delta = zkey.header.gamma2 == zkey.header.delta2;
  if (!options.audit) return report;

  const AuditRecords records(options.state_dir);
  const absl::Status on_record = records.Find(zkey.hash);
  AuditOptions audit{.content_audited = on_record.ok(),
                     .allow_unsafe_setup = options.allow_unsafe_setup,
                     .allow_insecure_test_keys = options.allow_insecure_test_keys};
  std::optional<Companion> companion;
  if (options.expected_vk.has_value()) {
    audit.expected_vk = &*options.expected_vk;
  } else {
    PROOFMILL_ASSIGN_OR_RETURN(companion, FindCompanion(path));
    if (companion.has_value() && companion->binding) {
      audit.expected_vk = &companion->vk;
      audit.expected_vk_name = companion->path;
    }
  }
  absl::StatusOr<AuditReport> audited = AuditZkey(zkey, audit);
  if (!audited.ok()) return Named(path, audited.status());
  report = *std::move(audited);
  if (!audit.content_audited) {
    if (!absl::IsNotFound(on_record)) {
      report.warnings.push_back(
          absl::StrCat("the record of an earlier audit is not believed, so the key was "
                       "checked anew: ",
                       std::string(on_record.message())));
    }
    const absl::Status kept = records.Add(zkey.hash);
    if (!kept.ok()) {
      report.warnings.push_back(absl::StrCat("the audit is not on record: ", std::string(kept.message())));
    }
  }
  if (companion.has_value() && !companion->binding && companion->vk != VerificationKeyOf(zkey)) {
    report.warnings.push_back(
        absl::StrCat(companion->path, " is the verification key of another key (the folder holds several)"));
  }
  return report;
}

// Refuses a key that would not fit, after reading its header alone. A header that cannot be read is left to
// ReadZkey() to complain about.
absl::Status CheckMemory(const RandomAccessFile& file, const KeyOptions& options) {
  const absl::StatusOr<ZkeyHeader> header = ReadZkeyHeader(file);
  const std::optional<uint64_t> available =
      options.memory_bytes_max.has_value() ? options.memory_bytes_max : AvailableHostMemory();
  if (!header.ok() || !available.has_value()) return absl::OkStatus();
  const uint64_t needed = KeyLoadBytesMax(*header, file.size());
  if (needed <= *available) return absl::OkStatus();
  return WithReason(
      absl::ResourceExhaustedError(absl::StrCat(file.name(), ": loading the key takes up to ", needed,
                                                " bytes of memory, of which ", *available, " are available")),
      ErrorReason::kOutOfMemory);
}

void Tell(const KeyOptions& options, std::string_view step) {
  if (options.on_step) options.on_step(step);
}

absl::StatusOr<std::shared_ptr<const ProvingKey>> Load(const std::string& path, const KeyOptions& options,
                                                       KeyLoadTimes& times) {
  auto start = std::chrono::steady_clock::now();
  Tell(options, "reading");
  PROOFMILL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file, RandomAccessFile::Open(path));
  PROOFMILL_RETURN_IF_ERROR(CheckMemory(*file, options));
  absl::StatusOr<Zkey> zkey =
      ReadZkey(*file, {.compute_hash = options.compute_hash || !options.state_dir.empty(),
                       .file_bytes_max = options.file_bytes_max});
  if (!zkey.ok()) return WithKeyReason(zkey.status());
  times.read_seconds = SecondsSince(start);

  start = std::chrono::steady_clock::now();
  Tell(options, "checking");
  absl::StatusOr<AuditReport> report = Audit(path, *zkey, options);
  if (!report.ok()) return report.status();
  times.audit_seconds = SecondsSince(start);

  start = std::chrono::steady_clock::now();
  Tell(options, "regrouping");
  std::shared_ptr<const ProvingKey> key = ProvingKey::FromZkey(*std::move(zkey), *std::move(report));
  times.regroup_seconds = SecondsSince(start);
  return key;
}

}  // namespace

// Beside the file's own bytes there is at one time: in the audit 64 bytes a wire for sums, 80 for random
// combinations and 136 of kernels' scratch for those, 8 a row, and buckets; or in regrouping 36 bytes a
// coefficient and 16 a row; or, when the records of section 4 are gone, a second copy of the largest section.
uint64_t KeyLoadBytesMax(const ZkeyHeader& header, uint64_t file_size) {
  const uint64_t wires = header.n_vars;
  const uint64_t rows = header.domain_size;
  const uint64_t audit = 288 * wires + 8 * rows;
  const uint64_t regroup = 36 * header.n_coefs + 16 * rows;
  return file_size + std::max(audit, regroup) + (uint64_t{12} << 20);
}

absl::StatusOr<std::shared_ptr<const ProvingKey>> LoadProvingKey(const std::string& path,
                                                                 const KeyOptions& options,
                                                                 KeyLoadTimes* times) {
  KeyLoadTimes unused;
  try {
    return Load(path, options, times == nullptr ? unused : *times);
  } catch (const std::bad_alloc&) {
    return WithReason(absl::ResourceExhaustedError(
                          absl::StrCat(path, ": the system does not give the memory that the key needs")),
                      ErrorReason::kOutOfMemory);
  }
}

}  // namespace proofmill::engine
