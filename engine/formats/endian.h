// Little-endian integers in byte arrays, as all our binary formats hold them. Typed buffers are read and
// written as they lie in memory, so the host must be little-endian too.

#ifndef PROOFMILL_ENGINE_FORMATS_ENDIAN_H_
#define PROOFMILL_ENGINE_FORMATS_ENDIAN_H_

#include <bit>
#include <cstdint>
#include <cstring>

namespace proofmill::engine {

static_assert(std::endian::native == std::endian::little, "sections are read straight into typed buffers");

inline uint32_t LoadU32(const uint8_t* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}
inline uint64_t LoadU64(const uint8_t* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}
inline void StoreU32(uint32_t value, uint8_t* bytes) { std::memcpy(bytes, &value, sizeof(value)); }
inline void StoreU64(uint64_t value, uint8_t* bytes) { std::memcpy(bytes, &value, sizeof(value)); }

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_ENDIAN_H_
