#include "server/api_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "server/line_file.h"

namespace proofmill::server {
namespace {

constexpr absl::string_view kPrefix = "pmk_";
constexpr size_t kIdDigits = 12;
constexpr size_t kSecretBytes = 32;
constexpr size_t kKeyChars = 4 + kIdDigits + 1 + 2 * kSecretBytes;
constexpr absl::string_view kHashPrefix = "sha256:";

using Hash = std::array<uint8_t, 32>;

bool IsLowerHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); });
}

// Nothing if there is no memory for it.
std::optional<Hash> Sha256(std::string_view text) {
  Hash hash;
  if (EVP_Digest(text.data(), text.size(), hash.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    return std::nullopt;
  }
  return hash;
}

absl::Status ParseAttribute(absl::string_view word, ApiKey& key) {
  if (word == "admin") {
    key.admin = true;
    return absl::OkStatus();
  }
  if (absl::ConsumePrefix(&word, "expires=") &&
      absl::ParseTime(absl::RFC3339_full, word, &key.expiry, nullptr)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "expected admin or expires=2027-01-31T00:00:00Z after the hash, got something else");
}

absl::StatusOr<ApiKey> ParseKey(const std::vector<absl::string_view>& words) {
  if (words.size() < 3) {
    return absl::InvalidArgumentError(absl::StrCat(
        "expected KEY_ID TENANT sha256:HASH and perhaps attributes, got ", words.size(), " words"));
  }
  ApiKey key{.id = std::string(words[0]), .tenant = std::string(words[1])};
  if (key.id.size() != kIdDigits || !IsLowerHex(key.id)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected the id of a key, ", kIdDigits, " lower-case hexadecimal digits"));
  }
  PROOFMILL_RETURN_IF_ERROR(CheckTenantName(key.tenant));
  absl::string_view hash = words[2];
  if (!absl::ConsumePrefix(&hash, kHashPrefix) || hash.size() != 2 * key.sha256.size() || !IsLowerHex(hash)) {
    return absl::InvalidArgumentError("expected sha256: and 64 lower-case hexadecimal digits as third word");
  }
  const std::string bytes = absl::HexStringToBytes(hash);
  std::copy(bytes.begin(), bytes.end(), key.sha256.begin());
  for (size_t i = 3; i < words.size(); ++i) PROOFMILL_RETURN_IF_ERROR(ParseAttribute(words[i], key));
  return key;
}

}  // namespace

absl::StatusOr<ApiKeys> ApiKeys::Parse(std::string_view name, std::string_view text) {
  ApiKeys keys;
  const auto take = [&keys](const std::vector<absl::string_view>& words) -> absl::Status {
    PROOFMILL_ASSIGN_OR_RETURN(ApiKey key, ParseKey(words));
    std::string id = key.id;
    if (keys.keys_.emplace(id, std::move(key)).second) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the id ", id, " comes twice"));
  };
  PROOFMILL_RETURN_IF_ERROR(ForEachLine(name, text, take));
  if (keys.keys_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(absl::string_view(name.data(), name.size()), ": expected at least one key, got none"));
  }
  return keys;
}

absl::StatusOr<ApiKeys> ApiKeys::Load(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text, ReadLineFile(path));
  return Parse(path, text);
}

const ApiKey* ApiKeys::Find(std::string_view key) const {
  if (key.size() != kKeyChars || key.substr(0, kPrefix.size()) != std::string_view(kPrefix.data(), 4)) {
    return nullptr;
  }
  const auto found = keys_.find(key.substr(kPrefix.size(), kIdDigits));
  if (found == keys_.end()) return nullptr;
  const std::optional<Hash> hash = Sha256(key);
  if (!hash.has_value()) return nullptr;
  const ApiKey& entry = found->second;
  return CRYPTO_memcmp(hash->data(), entry.sha256.data(), hash->size()) == 0 ? &entry : nullptr;
}

absl::Time ApiKeys::NextExpiry(absl::Time now) const {
  absl::Time next = absl::InfiniteFuture();
  for (const auto& [id, key] : keys_) {
    if (key.expiry > now) next = std::min(next, key.expiry);
  }
  return next;
}

absl::StatusOr<NewApiKey> MakeApiKey(const std::string& tenant, bool admin, absl::Time expiry) {
  PROOFMILL_RETURN_IF_ERROR(CheckTenantName(tenant));
  std::array<char, kIdDigits / 2 + kSecretBytes> random;
  const engine::ScopedWipe wipe(random);
  PROOFMILL_RETURN_IF_ERROR(engine::FillRandom(random.data(), random.size()));
  const absl::string_view bytes(random.data(), random.size());
  const std::string id = absl::BytesToHexString(bytes.substr(0, kIdDigits / 2));
  NewApiKey made{.key = absl::StrCat(kPrefix, id, "_", absl::BytesToHexString(bytes.substr(kIdDigits / 2))),
                 .line = ""};
  const std::optional<Hash> hash = Sha256(made.key);
  if (!hash.has_value()) return absl::InternalError("SHA-256 failed");
  made.line = absl::StrCat(
      id, " ", tenant, " ", kHashPrefix,
      absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(hash->data()), hash->size())),
      admin ? " admin" : "");
  if (expiry != absl::InfiniteFuture()) {
    absl::StrAppend(&made.line,
                    " expires=", absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", expiry, absl::UTCTimeZone()));
  }
  return made;
}

}  // namespace proofmill::server
