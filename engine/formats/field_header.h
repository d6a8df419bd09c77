// The "u32 n8, prime[n8]" that every binfile carries for each field it uses.

#ifndef PROOFMILL_ENGINE_FORMATS_FIELD_HEADER_H_
#define PROOFMILL_ENGINE_FORMATS_FIELD_HEADER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "engine/formats/byte_reader.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

inline constexpr size_t kFieldHeaderBytes = 4 + 32;

// Reads a field header, which must be that of BN254.
//   INVALID_ARGUMENT  another size or prime; the message names the curve when it is a known one.
//   DATA_LOSS         cut short.
[[nodiscard]] absl::Status ExpectBn254ScalarField(ByteReader& reader);
[[nodiscard]] absl::Status ExpectBn254BaseField(ByteReader& reader);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_FIELD_HEADER_H_
