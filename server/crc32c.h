// CRC-32C (Castagnoli polynomial, as in RFC 3720), the checksum of upload pieces.
//
// Thread safety: a pure function.

#ifndef PROOFMILL_SERVER_CRC32C_H_
#define PROOFMILL_SERVER_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace proofmill::server {

uint32_t Crc32c(std::string_view data);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_CRC32C_H_
