// Groth16 proving keys of snarkjs (.zkey, version 1, BN254).
//
// Reading checks structure: protocol, curve, section sizes against the header's counts before anything is
// allocated, index ranges and canonical values of the coefficients. It does NOT check that points are
// canonical or on their curve: that is the key audit (engine/groth16/key_audit.h), and until it has run the
// points are only bytes.
//
// Rules where the format leaves room:
//   * The version must be 1, the only one whose layout is known.
//   * Sections may come in any order; ids that Groth16 does not use are ignored, also when repeated.
//   * Bytes after the last section, and a section beyond the end of the file, are errors even where the
//     section is not needed: such a file is not what its writer wrote.
//   * A coefficient value of r or more is an error (snarkjs would reduce it, and never writes one).
//     Records in any order and several for one (matrix, constraint, signal) are fine: they add up.
//   * No section 10, or one without contributions, is a warning. A malformed one is an error.
//
// Thread safety: pure functions; ZkeyWriter is for one thread at a time.

#ifndef PROOFMILL_ENGINE_FORMATS_ZKEY_H_
#define PROOFMILL_ENGINE_FORMATS_ZKEY_H_

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/host_buffer.h"
#include "engine/formats/binfile.h"
#include "engine/formats/file.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {

inline constexpr uint32_t kZkeyDomainLog2Max = 28;

enum class ZkeySection : uint32_t {
  kProtocol = 1,
  kHeader = 2,
  kIc = 3,
  kCoefficients = 4,
  kA = 5,
  kB1 = 6,
  kB2 = 7,
  kC = 8,
  kH = 9,
  kContributions = 10,
};

// Invariants after reading: n_public < n_vars; domain_size is a power of two, 2 to 2^28.
struct ZkeyHeader {
  uint32_t n_vars = 0;    // wires, the constant wire included
  uint32_t n_public = 0;  // the constant wire not counted
  uint32_t domain_size = 0;
  uint64_t n_coefs = 0;  // records of section 4
  kernels::G1Affine alpha1, beta1, delta1;
  kernels::G2Affine beta2, gamma2, delta2;

  uint32_t log2_domain() const;
};

// One record of section 4, as in the file. `value` is v * R^2 mod r, least significant word first: the
// Montgomery product with a plain witness value w is the Montgomery form of v * w.
struct ZkeyCoefficient {
  uint32_t matrix;      // 0: A, 1: B
  uint32_t constraint;  // row, below domain_size
  uint32_t signal;      // column, below n_vars
  uint32_t value[8];
};
static_assert(sizeof(ZkeyCoefficient) == 44, "the layout of section 4");

// One entry of section 10. Points as in the file: Montgomery form, unchecked.
struct ZkeyContribution {
  kernels::G1Affine delta_after, g1_s, g1_sx;
  kernels::G2Affine g2_spx;
  std::array<uint8_t, 64> transcript{};
  uint32_t type = 0;                 // 0: contribution, 1: beacon
  std::string name;                  // at most 255 bytes, as in the file: may be any bytes
  uint32_t iterations_exp = 0;       // of a beacon
  std::vector<uint8_t> beacon_hash;  // of a beacon
};

struct Zkey {
  ZkeyHeader header;
  HostBuffer<kernels::G1Affine> ic;  // n_public + 1
  HostBuffer<kernels::G1Affine> a;   // n_vars
  HostBuffer<kernels::G1Affine> b1;  // n_vars
  HostBuffer<kernels::G2Affine> b2;  // n_vars
  HostBuffer<kernels::G1Affine> c;   // n_vars - n_public - 1
  HostBuffer<kernels::G1Affine> h;   // domain_size
  HostBuffer<ZkeyCoefficient> coefficients;

  bool has_contributions_section = false;
  std::array<uint8_t, 64> circuit_hash{};  // csHash of section 10
  std::vector<ZkeyContribution> contributions;

  std::vector<std::string> warnings;
  std::array<uint8_t, 64> hash{};  // BLAKE2b-512 of the file; zeros when not asked for
  uint64_t file_size = 0;
};

struct ZkeyReadOptions {
  bool compute_hash = true;
  uint64_t file_bytes_max = std::numeric_limits<uint64_t>::max();
};

// Reads a key into memory: one copy of the file's bytes, straight into the typed buffers. The hash is taken
// over those very buffers, and over sections that are not kept as they stream by, on a second thread.
//   INVALID_ARGUMENT    not a Groth16 key over BN254, or its parts contradict each other.
//   DATA_LOSS           cut short, or a section is missing.
//   RESOURCE_EXHAUSTED  longer than options.file_bytes_max.
//   ABORTED             the file changed while it was read.
//   INTERNAL            the system could not read it.
// Throws std::bad_alloc when memory for a key that is really there cannot be had.
absl::StatusOr<Zkey> ReadZkey(const ByteSource& source, const ZkeyReadOptions& options = {});

// Everything that ReadZkey checks without reading points or coefficient records; errors as above.
absl::StatusOr<ZkeyHeader> ReadZkeyHeader(const ByteSource& source);

// The exact length of a section of a key with this header. REQUIRES: not kContributions.
uint64_t ZkeySectionBytes(ZkeySection section, const ZkeyHeader& header);

// Streams a key to disk. Sections 1 and 2 are written by Create(); then for each of sections 3 to 9 in any
// order BeginSection and its elements in as many Write calls as wanted; then WriteContributions, if at all;
// then Commit. Without Commit no file appears.
// Errors: as AtomicFile, and FAILED_PRECONDITION when a section got another number of elements than the
// header says, came twice, or is missing at Commit.
class ZkeyWriter {
 public:
  static absl::StatusOr<std::unique_ptr<ZkeyWriter>> Create(const std::string& path,
                                                            const ZkeyHeader& header);

  // Ends the open section, if any, and begins another.
  [[nodiscard]] absl::Status BeginSection(ZkeySection section);
  [[nodiscard]] absl::Status Write(absl::Span<const kernels::G1Affine> points);
  [[nodiscard]] absl::Status Write(absl::Span<const kernels::G2Affine> points);
  [[nodiscard]] absl::Status Write(absl::Span<const ZkeyCoefficient> coefficients);
  // REQUIRES: names and beacon hashes of at most 255 bytes.
  [[nodiscard]] absl::Status WriteContributions(const std::array<uint8_t, 64>& circuit_hash,
                                                absl::Span<const ZkeyContribution> contributions);
  [[nodiscard]] absl::Status Commit();

 private:
  ZkeyWriter(std::unique_ptr<BinFileWriter> file, const ZkeyHeader& header)
      : file_(std::move(file)), header_(header) {}
  absl::Status EndOpenSection();
  absl::Status WriteHeaderSections();

  std::unique_ptr<BinFileWriter> file_;
  const ZkeyHeader header_;
  uint32_t open_section_ = 0;      // 0: none
  uint32_t sections_written_ = 0;  // bit i: section i
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_ZKEY_H_
