// The checked outline of a .zkey: which section lies where, and the header. Internal to engine/formats.
//
// Once ReadZkeyLayout() succeeds, every section that Groth16 needs is there once and has exactly the length
// that the header's counts ask for, so buffers may be sized from the header.

#ifndef PROOFMILL_ENGINE_FORMATS_ZKEY_LAYOUT_H_
#define PROOFMILL_ENGINE_FORMATS_ZKEY_LAYOUT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/formats/binfile.h"
#include "engine/formats/file.h"
#include "engine/formats/zkey.h"

namespace proofmill::engine {

inline constexpr BinFileKind kZkeyKind{"zkey", 1, 1};
inline constexpr uint32_t kZkeySectionIdMax = 10;
inline constexpr uint32_t kGroth16ProtocolId = 1;

// What errors call a section.
absl::string_view ZkeySectionName(ZkeySection section);

struct ZkeyLayout {
  BinFile file;
  ZkeyHeader header;
  std::array<BinFileSection, kZkeySectionIdMax> sections;  // by id, from 1 to 9; entry 0 is unused
  std::optional<BinFileSection> contributions;
  // The bytes of sections 1 and 2 and the record count of section 4, as they were read.
  std::vector<uint8_t> protocol_bytes;
  std::vector<uint8_t> header_bytes;
  std::vector<uint8_t> count_bytes;

  const BinFileSection& section(ZkeySection id) const { return sections[static_cast<uint32_t>(id)]; }
};

// Errors as ReadZkeyHeader().
absl::StatusOr<ZkeyLayout> ReadZkeyLayout(const ByteSource& source);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_ZKEY_LAYOUT_H_
