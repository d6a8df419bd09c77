#include "clients/cpp/checksum.h"

#include <openssl/sha.h>

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace proofmill::client {
namespace {

constexpr uint32_t kCrc32cPolynomial = 0x82F63B78u;  // 0x1EDC6F41 with its bits reversed

constexpr std::array<uint32_t, 256> MakeTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < table.size(); ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) != 0 ? kCrc32cPolynomial : 0u);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = MakeTable();

#if defined(__x86_64__)
// With the instruction for it, eight bytes at a time.
__attribute__((target("sse4.2"))) uint32_t Crc32cByInstruction(absl::string_view data) {
  uint64_t crc = ~0u;
  while (data.size() >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, data.data(), sizeof(word));
    crc = _mm_crc32_u64(crc, word);
    data.remove_prefix(sizeof(word));
  }
  auto rest = static_cast<uint32_t>(crc);
  for (const char c : data) rest = _mm_crc32_u8(rest, static_cast<unsigned char>(c));
  return ~rest;
}
#endif

}  // namespace

uint32_t Crc32c(absl::string_view data) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return Crc32cByInstruction(data);
#endif
  uint32_t crc = ~0u;
  for (const char c : data) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFu];
  return ~crc;
}

std::string Sha256(absl::string_view data) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(data.data()), data.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

}  // namespace proofmill::client
