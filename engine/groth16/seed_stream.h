// Repeatable pseudorandom field elements and words from a 64-bit seed, for test set-ups and synthetic
// circuits. Nothing here is a source of secrets.
//
// Thread safety: const methods from any thread.

#ifndef PROOFMILL_ENGINE_GROTH16_SEED_STREAM_H_
#define PROOFMILL_ENGINE_GROTH16_SEED_STREAM_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// Element number i of the stream (domain, seed), by SHA-256 in counter mode:
//   SHA-256("proofmill" 0 domain 0 seed i 0) || SHA-256(... 1), numbers as 8 bytes little-endian, taken as a
//   512-bit little-endian integer mod r. So uniform up to 2^-250, and streams of other domains are
//   independent.
class SeedStream {
 public:
  // `domain` says what the stream is for; it holds no zero byte.
  SeedStream(std::string_view domain, uint64_t seed);
  kernels::Fr Element(uint64_t i) const;

 private:
  std::string prefix_;
};

// A quick mixing function (the finaliser of SplitMix64, Steele, Lea and Flood 2014) for the millions of
// structural choices of a synthetic circuit.
constexpr uint64_t Mix64(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_SEED_STREAM_H_
