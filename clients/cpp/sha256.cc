#include "clients/cpp/sha256.h"

#include <openssl/sha.h>

namespace proofmill::client {

std::string Sha256(absl::string_view data) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace proofmill::client
