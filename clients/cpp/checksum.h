// The checksums that uploads carry.
//
// Thread safety: both functions may be called from any thread.

#ifndef PROOFMILL_CLIENTS_CPP_CHECKSUM_H_
#define PROOFMILL_CLIENTS_CPP_CHECKSUM_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace proofmill::client {

// CRC-32C (Castagnoli, RFC 3720) of `data`.
uint32_t Crc32c(absl::string_view data);

// SHA-256 of `data`, 32 bytes.
std::string Sha256(absl::string_view data);

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_CHECKSUM_H_
