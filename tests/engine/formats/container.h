// A binfile taken apart into its sections, so that tests can damage one part and put it together again.
// Shares no code with engine/formats/binfile.

#ifndef PROOFMILL_TESTS_ENGINE_FORMATS_CONTAINER_H_
#define PROOFMILL_TESTS_ENGINE_FORMATS_CONTAINER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {

void AppendLittleEndian(Bytes& out, uint64_t value, size_t bytes);
void SetU32(Bytes& bytes, size_t offset, uint32_t value);
uint32_t GetU32(const Bytes& bytes, size_t offset);
// Adds r of BN254 to the 32-byte little-endian integer at `offset`.
void AddR(Bytes& bytes, size_t offset);

struct Container {
  struct Section {
    uint32_t id;
    Bytes payload;
  };
  std::string magic;
  uint32_t version = 0;
  std::vector<Section> sections;

  // REQUIRES: `bytes` are a well-formed binfile.
  static Container Parse(const Bytes& bytes);
  static Container FromFile(const std::string& path) { return Parse(ReadBytes(path)); }
  Bytes Serialize() const;

  // The first section with this id. REQUIRES: there is one.
  Bytes& operator[](uint32_t id);
  void Remove(uint32_t id);
  void Append(uint32_t id, Bytes payload) { sections.push_back({id, std::move(payload)}); }
  // The offset in the serialized bytes of the header of this section; its payload is 12 bytes further.
  size_t HeaderOffset(uint32_t id) const;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_FORMATS_CONTAINER_H_
