// Constraint systems of circom (.r1cs, version 1) over the scalar field of BN254.
//
// Each constraint says (A_i . w) * (B_i . w) = C_i . w for the witness w. Wires are ordered: constant one,
// public outputs, public inputs, private inputs, internal. Circuits with custom gates (sections 4 and 5) are
// for PLONK and refused.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_FORMATS_R1CS_H_
#define PROOFMILL_ENGINE_FORMATS_R1CS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/host_buffer.h"
#include "engine/formats/file.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// Compressed rows: the terms of row i are [row_offsets[i], row_offsets[i + 1]) of `wires` and `values`, in
// the order of the file. Terms may repeat a wire and may be zero.
struct R1csMatrix {
  HostBuffer<uint64_t> row_offsets;  // n_constraints + 1
  HostBuffer<uint32_t> wires;        // below n_wires
  HostBuffer<kernels::Fr> values;
};

struct R1cs {
  uint32_t n_wires = 0;  // the constant wire included
  uint32_t n_pub_out = 0;
  uint32_t n_pub_in = 0;
  uint32_t n_prv_in = 0;
  uint64_t n_labels = 0;
  uint32_t n_constraints = 0;
  R1csMatrix a, b, c;

  // Does not overflow: the sum is below n_wires.
  uint32_t n_public() const { return n_pub_out + n_pub_in; }
};

// Reads a constraint system. Needs memory for twice the file's bytes while it runs.
//   INVALID_ARGUMENT  not an .r1cs file over BN254, custom gates, or its parts contradict each other.
//   DATA_LOSS         cut short, or a section is missing.
//   ABORTED           the file changed while it was read.
//   INTERNAL          the system could not read it.
absl::StatusOr<R1cs> ReadR1cs(const ByteSource& source);

// Writes sections 1, 2 and 3 (wire i has label i). Errors as AtomicFile.
// REQUIRES: r1cs is consistent in the sense of ReadR1cs.
absl::Status WriteR1cs(const std::string& path, const R1cs& r1cs);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_R1CS_H_
