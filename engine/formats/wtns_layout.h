// Where the values of a .wtns file lie. Internal to the readers of witnesses.
//
// Thread safety: a pure function.

#ifndef PROOFMILL_ENGINE_FORMATS_WTNS_LAYOUT_H_
#define PROOFMILL_ENGINE_FORMATS_WTNS_LAYOUT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "engine/formats/file.h"

namespace proofmill::engine {

struct WtnsLayout {
  uint32_t count;          // of values, 32 bytes each
  uint64_t values_offset;  // of the first, in bytes; all of them are inside the source
};

// Errors as ReadWtns(), which then reads the values.
absl::StatusOr<WtnsLayout> ReadWtnsLayout(const ByteSource& source, uint32_t expected_count);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_WTNS_LAYOUT_H_
