// The SHA-256 that uploads carry.
//
// Thread safety: may be called from any thread.

#ifndef PROOFMILL_CLIENTS_CPP_SHA256_H_
#define PROOFMILL_CLIENTS_CPP_SHA256_H_

#include <string>

#include "absl/strings/string_view.h"

namespace proofmill::client {

// SHA-256 of `data`, 32 bytes.
std::string Sha256(absl::string_view data);

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_SHA256_H_
