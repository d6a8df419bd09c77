#include "engine/dispatch/circuit_reader.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/formats/file_hash.h"
#include "engine/whir/files.h"

namespace proofmill::engine {
namespace {

constexpr uint64_t kParametersBytesMax = uint64_t{64} << 10;
constexpr uint32_t kSecurityLevelLow = 80;  // bits; what is below is said

std::string ToHex(absl::Span<const uint8_t> bytes) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

absl::StatusOr<std::shared_ptr<const Witness>> ReadCanary(const std::string& path, const ProvingKey& key) {
  PROOFMILL_ASSIGN_OR_RETURN(auto file, RandomAccessFile::Open(path));
  PROOFMILL_ASSIGN_OR_RETURN(Witness witness, ReadWtns(*file, key.n_vars()));
  return std::make_shared<const Witness>(std::move(witness));
}

absl::Status ReadGroth16(const CircuitFiles& files, const KeyOptions& options, Circuit& circuit) {
  PROOFMILL_ASSIGN_OR_RETURN(circuit.key, LoadProvingKey(files.key_path, options));
  circuit.version = ToHex(circuit.key->hash());
  circuit.key_bytes = circuit.key->file_size();
  circuit.warnings = circuit.key->warnings();
  circuit.r1cs_path = files.r1cs_path;
  if (!files.canary_path.empty()) {
    PROOFMILL_ASSIGN_OR_RETURN(circuit.canary, ReadCanary(files.canary_path, *circuit.key));
  }
  return absl::OkStatus();
}

absl::StatusOr<WhirConfig> ParseAndDerive(const std::string& text) {
  PROOFMILL_ASSIGN_OR_RETURN(const WhirParameters parameters, ParseWhirParameters(text));
  return DeriveWhirConfig(parameters);
}

absl::Status ReadWhir(const CircuitFiles& files, const KeyOptions&, Circuit& circuit) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(files.key_path, kParametersBytesMax));
  absl::StatusOr<WhirConfig> config = ParseAndDerive(text);
  if (!config.ok()) {
    return WithReason(
        absl::InvalidArgumentError(absl::StrCat(files.key_path, ": ", config.status().message())),
        ErrorReason::kKeyMalformed);
  }
  const std::string all = WhirParametersToJson(config->parameters);
  const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(all.data()), all.size());
  const MemorySource source("the parameters", bytes);
  FileHash hash(source);
  hash.Add(bytes);
  PROOFMILL_ASSIGN_OR_RETURN(const FileHash::Digest digest, hash.Finish());
  circuit.version = ToHex(digest);
  circuit.key_bytes = text.size();
  circuit.warnings.emplace_back("WHIR is not hiding: a proof reveals values of the polynomial");
  if (config->parameters.security_level < kSecurityLevelLow) {
    circuit.warnings.push_back(absl::StrCat("a security level of ", config->parameters.security_level,
                                            " bits: proofs can be forged with that much work"));
  }
  if (config->parameters.constants == kernels::Poseidon2Set::kSmallRngSeed1) {
    circuit.warnings.emplace_back(
        "the constants of the hash come from a small generator, for comparison only");
  }
  circuit.whir = std::make_shared<const WhirConfig>(*std::move(config));
  return absl::OkStatus();
}

}  // namespace

Circuit NewCircuit(const CircuitFiles& files) {
  Circuit circuit;
  circuit.id = files.id;
  circuit.system = files.system;
  return circuit;
}

absl::Status ReadCircuit(const CircuitFiles& files, const KeyOptions& options, Circuit& circuit) {
  PROOFMILL_RETURN_IF_ERROR(files.problem);
  switch (files.system) {
    case ProofSystem::kGroth16:
      return ReadGroth16(files, options, circuit);
    case ProofSystem::kWhir:
      return ReadWhir(files, options, circuit);
  }
  return absl::InternalError("a proof system without a reader");
}

absl::Status WithoutFolder(const absl::Status& status, const std::string& folder) {
  std::string message(status.message());
  for (std::string prefix : {folder, std::filesystem::path(folder).lexically_normal().string()}) {
    while (!prefix.empty() && prefix.back() == '/') prefix.pop_back();
    if (prefix.empty()) continue;
    prefix += '/';
    message = absl::StrReplaceAll(message, {{prefix, ""}});
  }
  absl::Status out(status.code(), message);
  status.ForEachPayload(
      [&out](absl::string_view type, const absl::Cord& payload) { out.SetPayload(type, payload); });
  return out;
}

bool ProvesTheSame(const Circuit& a, const Circuit& b) {
  if (a.system != b.system || a.version != b.version || a.r1cs_path != b.r1cs_path) return false;
  if (a.canary == nullptr || b.canary == nullptr) return a.canary == b.canary;
  const auto& x = a.canary->values;
  const auto& y = b.canary->values;
  return x.size() == y.size() && std::equal(x.data(), x.data() + x.size(), y.data());
}

}  // namespace proofmill::engine
