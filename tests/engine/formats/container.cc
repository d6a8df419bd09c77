#include "tests/engine/formats/container.h"

#include <algorithm>

namespace proofmill::engine {
namespace {

uint64_t GetLittleEndian(const Bytes& bytes, size_t offset, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= uint64_t{bytes.at(offset + i)} << (8 * i);
  return value;
}

// r of BN254, least significant byte first.
constexpr uint8_t kR[32] = {0x01, 0x00, 0x00, 0xf0, 0x93, 0xf5, 0xe1, 0x43, 0x91, 0x70, 0xb9,
                            0x79, 0x48, 0xe8, 0x33, 0x28, 0x5d, 0x58, 0x81, 0x81, 0xb6, 0x45,
                            0x50, 0xb8, 0x29, 0xa0, 0x31, 0xe1, 0x72, 0x4e, 0x64, 0x30};

}  // namespace

void AppendLittleEndian(Bytes& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void SetU32(Bytes& bytes, size_t offset, uint32_t value) {
  for (size_t i = 0; i < 4; ++i) bytes.at(offset + i) = static_cast<uint8_t>(value >> (8 * i));
}

uint32_t GetU32(const Bytes& bytes, size_t offset) {
  return static_cast<uint32_t>(GetLittleEndian(bytes, offset, 4));
}

void AddR(Bytes& bytes, size_t offset) {
  unsigned carry = 0;
  for (size_t i = 0; i < 32; ++i) {
    const unsigned sum = unsigned{bytes.at(offset + i)} + kR[i] + carry;
    bytes[offset + i] = static_cast<uint8_t>(sum);
    carry = sum >> 8;
  }
}

Container Container::Parse(const Bytes& bytes) {
  Container out;
  out.magic.assign(bytes.begin(), bytes.begin() + 4);
  out.version = GetU32(bytes, 4);
  size_t offset = 12;
  for (uint32_t i = 0; i < GetU32(bytes, 8); ++i) {
    const auto length = static_cast<size_t>(GetLittleEndian(bytes, offset + 4, 8));
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(offset + 12);
    out.sections.push_back(
        {GetU32(bytes, offset), Bytes(begin, begin + static_cast<std::ptrdiff_t>(length))});
    offset += 12 + length;
  }
  return out;
}

Bytes Container::Serialize() const {
  Bytes out(magic.begin(), magic.end());
  AppendLittleEndian(out, version, 4);
  AppendLittleEndian(out, sections.size(), 4);
  for (const Section& section : sections) {
    AppendLittleEndian(out, section.id, 4);
    AppendLittleEndian(out, section.payload.size(), 8);
    out.insert(out.end(), section.payload.begin(), section.payload.end());
  }
  return out;
}

Bytes& Container::operator[](uint32_t id) {
  return std::find_if(sections.begin(), sections.end(), [id](const Section& s) { return s.id == id; })
      ->payload;
}

void Container::Remove(uint32_t id) {
  sections.erase(
      std::remove_if(sections.begin(), sections.end(), [id](const Section& s) { return s.id == id; }),
      sections.end());
}

size_t Container::HeaderOffset(uint32_t id) const {
  size_t offset = 12;
  for (const Section& section : sections) {
    if (section.id == id) return offset;
    offset += 12 + section.payload.size();
  }
  return offset;
}

}  // namespace proofmill::engine
