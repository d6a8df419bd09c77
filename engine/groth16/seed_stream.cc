#include "engine/groth16/seed_stream.h"

#include <openssl/sha.h>

#include <cstddef>

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

void AppendLittleEndian(uint64_t x, std::string& out) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(x >> (8 * i)));
}

// x mod r for any 256-bit x: 2^256 is below 6r.
Fr Reduce(U256 x) {
  U256 less;
  while (kernels::Sub(x, Fr::kModulus, less) == 0) x = less;
  return Fr::FromPlain(x);
}

U256 Sha256(const std::string& text) {
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return kernels::U256FromLittleEndian(digest);
}

}  // namespace

SeedStream::SeedStream(std::string_view domain, uint64_t seed) : prefix_("proofmill") {
  prefix_.push_back('\0');
  prefix_.append(domain);
  prefix_.push_back('\0');
  AppendLittleEndian(seed, prefix_);
}

Fr SeedStream::Element(uint64_t i) const {
  std::string text = prefix_;
  AppendLittleEndian(i, text);
  const Fr low = Reduce(Sha256(text + '\0'));
  const Fr high = Reduce(Sha256(text + '\1'));
  const Fr two_to_256 = Fr::FromPlain(kernels::FrParams::kR);
  return low + high * two_to_256;
}

}  // namespace proofmill::engine
