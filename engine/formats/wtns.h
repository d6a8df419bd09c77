// Witnesses of snarkjs and circom (.wtns) over the scalar field of BN254.
//
// A witness is a secret. Its values go straight from the source into a SecretBuffer, which wipes itself; no
// message here ever holds one of them. Versions 1 and 2 are read alike, as snarkjs does.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_FORMATS_WTNS_H_
#define PROOFMILL_ENGINE_FORMATS_WTNS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/host_buffer.h"
#include "engine/formats/file.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

// Bytes around the values in a file as snarkjs writes it: header, section 1, header of section 2.
inline constexpr uint64_t kWtnsHeaderBytes = 76;

// Plain integers, all below r: the constant wire (which must be 1, but that is for the prover to say), public
// outputs, public inputs, private wires. Move only; wiped when it goes.
struct Witness {
  SecretBuffer<kernels::U256> values;
};

// Reads a witness of `expected_count` values (0: any number above none). All content errors are
// INVALID_ARGUMENT with a reason (engine/base/error_reason.h):
//   INVALID_ARGUMENT  kWitnessLength        another number of values than expected; both are named.
//                     kWitnessNotCanonical  a value of r or more; its index is named, not the value.
//                     kWitnessMalformed     not a .wtns file over BN254, cut short, or inconsistent.
//   ABORTED           the file changed while it was read.
//   INTERNAL          the system could not read it.
absl::StatusOr<Witness> ReadWtns(const ByteSource& source, uint32_t expected_count);

// Only the number of values, from the header; nothing secret is read. Errors as above.
absl::StatusOr<uint32_t> ReadWtnsCount(const ByteSource& source);

// The bytes of a .wtns file, version 2. REQUIRES: at most 2^32 - 1 values, all below r.
SecretBuffer<uint8_t> SerializeWtns(absl::Span<const kernels::U256> values);

// Writes them to a file that only its owner may read. Errors as AtomicFile.
absl::Status WriteWtns(const std::string& path, absl::Span<const kernels::U256> values);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_WTNS_H_
