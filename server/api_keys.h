// The API keys of the service: a text file that holds their hashes, never the keys.
//
//   # KEY_ID      TENANT   HASH               attributes
//   3f9c0a51d2e4  rollup   sha256:5994471...  expires=2027-01-31T00:00:00Z
//   91b2c8d07e66  ops      sha256:e3b0c44...  admin
//
// A key is `pmk_` KEY_ID `_` and 64 hexadecimal digits, which are 256 random bits. Its hash is a plain
// SHA-256 of the whole text: salts and slow hashes make guesses expensive where people choose a secret, and
// nobody guesses 256 random bits; whoever reads the file cannot find a key from it, and a call is not kept
// waiting by its check. The id is no secret: it finds the line, and names the key in logs. Only the hash is
// compared, in constant time.
//
// Thread safety: immutable once made.

#ifndef PROOFMILL_SERVER_API_KEYS_H_
#define PROOFMILL_SERVER_API_KEYS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace proofmill::server {

struct ApiKey {
  std::string id;
  std::string tenant;
  std::array<uint8_t, 32> sha256{};
  bool admin = false;
  absl::Time expiry = absl::InfiniteFuture();
};

class ApiKeys {
 public:
  // Reads the text of a key file, which errors call `name`.
  //   INVALID_ARGUMENT  lines that are no keys, an id or a hash twice, no key at all, or an end without a
  //   line
  //                     end, as half a file has it. Up to ten mistakes, with line numbers, separated by "; ".
  //                     No message repeats what stands where a hash should: it might be a key.
  static absl::StatusOr<ApiKeys> Parse(std::string_view name, std::string_view text);
  // The same for a file.
  //   otherwise  as engine::ReadTextFile().
  static absl::StatusOr<ApiKeys> Load(const std::string& path);

  // The entry of a key, or null. The time it takes depends on the id only.
  const ApiKey* Find(std::string_view key) const;

  size_t size() const { return keys_.size(); }
  // When the next key expires after `now`; never, if none does.
  absl::Time NextExpiry(absl::Time now) const;

 private:
  std::map<std::string, ApiKey, std::less<>> keys_;  // by id
};

// A new random key.
struct NewApiKey {
  std::string key;
  std::string line;  // of the key file
};
//   INVALID_ARGUMENT  `tenant` is no name for a tenant (tenant_policies.h).
//   INTERNAL          the kernel gives no randomness.
absl::StatusOr<NewApiKey> MakeApiKey(const std::string& tenant, bool admin, absl::Time expiry);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_API_KEYS_H_
