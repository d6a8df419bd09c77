// Section 10 of a .zkey: who contributed to the key. Internal to engine/formats.

#ifndef PROOFMILL_ENGINE_FORMATS_ZKEY_CONTRIBUTIONS_H_
#define PROOFMILL_ENGINE_FORMATS_ZKEY_CONTRIBUTIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/formats/zkey.h"

namespace proofmill::engine {

// A record takes some 450 bytes, and the largest ceremonies had a few thousand contributors.
inline constexpr uint64_t kZkeyContributionsBytesMax = uint64_t{16} << 20;

struct ZkeyContributions {
  std::array<uint8_t, 64> circuit_hash{};
  std::vector<ZkeyContribution> records;
};

// Parses the payload. `name` starts error messages.
//   INVALID_ARGUMENT  a count, type, or parameter that the format does not allow; bytes left over.
//   DATA_LOSS         cut short.
absl::StatusOr<ZkeyContributions> ParseZkeyContributions(const std::string& name,
                                                         absl::Span<const uint8_t> payload);

// The payload again. REQUIRES: names and beacon hashes of at most 255 bytes.
std::vector<uint8_t> SerializeZkeyContributions(const std::array<uint8_t, 64>& circuit_hash,
                                                absl::Span<const ZkeyContribution> records);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_ZKEY_CONTRIBUTIONS_H_
