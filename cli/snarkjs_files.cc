#include "cli/snarkjs_files.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/groth16/verifier.h"

namespace proofmill::cli {
namespace {

// `status` with the file's name before its message; the code and the payloads stay.
absl::Status In(const std::string& path, const absl::Status& status) {
  if (status.ok()) return status;
  absl::Status named(status.code(), absl::StrCat(path, ": ", status.message()));
  status.ForEachPayload(
      [&named](absl::string_view type, const absl::Cord& payload) { named.SetPayload(type, payload); });
  return named;
}

}  // namespace

absl::StatusOr<engine::VerificationKey> ReadVerificationKeyFile(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text,
                             engine::ReadTextFile(path, engine::kVerificationKeyJsonBytesMax));
  absl::StatusOr<engine::VerificationKey> key = engine::ParseVerificationKeyJson(text);
  if (!key.ok()) return In(path, key.status());
  PROOFMILL_RETURN_IF_ERROR(In(path, engine::CheckVerificationKey(*key)));
  return key;
}

absl::StatusOr<engine::Groth16Proof> ReadProofFile(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text, engine::ReadTextFile(path, engine::kProofJsonBytesMax));
  absl::StatusOr<engine::Groth16Proof> proof = engine::ParseProofJson(text);
  if (!proof.ok()) return In(path, proof.status());
  return proof;
}

absl::StatusOr<std::vector<kernels::Fr>> ReadPublicFile(const std::string& path,
                                                        std::optional<size_t> expected_count) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text, engine::ReadTextFile(path, engine::kPublicJsonBytesMax));
  absl::StatusOr<std::vector<kernels::Fr>> signals = engine::ParsePublicJson(text, expected_count);
  if (!signals.ok()) return In(path, signals.status());
  return signals;
}

}  // namespace proofmill::cli
