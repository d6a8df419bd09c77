// CRC-32C (Castagnoli polynomial, as in RFC 3720), the checksum of the pieces of witnesses.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_FORMATS_CRC32C_H_
#define PROOFMILL_ENGINE_FORMATS_CRC32C_H_

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace proofmill::engine {

uint32_t Crc32c(std::string_view data);
// Of pieces that follow each other.
uint32_t Crc32c(absl::Span<const std::string_view> pieces);
// As Crc32c(), without instructions that not every processor has.
uint32_t Crc32cPortable(std::string_view data);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_CRC32C_H_
