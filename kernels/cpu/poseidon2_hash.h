// What is hashed with Poseidon2 of width 16: rows, nodes, Merkle trees over the rows of a matrix, and nonces.
//
// A digest is eight words. A row is hashed by the overwrite-mode sponge of rate 8 without padding (the width
// of rows must be known to whoever checks one), a node is the first eight words of the permutation of its two
// children.

#ifndef PROOFMILL_KERNELS_CPU_POSEIDON2_HASH_H_
#define PROOFMILL_KERNELS_CPU_POSEIDON2_HASH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/cpu/babybear_kernels.h"
#include "kernels/field/babybear.h"
#include "kernels/field/poseidon2.h"

namespace proofmill::kernels {

using Digest = std::array<BabyBear, 8>;

// The digest of `n` words; all zeros for none.
Digest HashWords(const Poseidon2Constants<16>& constants, const BabyBear* words, size_t n);
Digest HashNode(const Poseidon2Constants<16>& constants, const Digest& left, const Digest& right);

// The constants in the form of the kernels.
Poseidon2Words ToWords(const Poseidon2Constants<16>& constants);

// The digests of all rows of a matrix and of all nodes above them, in memory of the caller's.
//
// Thread safety: immutable after construction, which uses all threads of the current arena.
class MerkleTree {
 public:
  // The number of digests of a tree over 2^log2_height rows.
  static constexpr size_t DigestCount(uint32_t log2_height) { return (size_t{2} << log2_height) - 1; }

  // REQUIRES: `digests` has room for DigestCount() of them and outlives this.
  MerkleTree(const Poseidon2Constants<16>& constants, const ColumnMatrix& matrix, Digest* digests);

  const Digest& root() const { return digests_[DigestCount(log2_height_) - 1]; }
  uint32_t log2_height() const { return log2_height_; }
  // The digest of row `row`.
  const Digest& leaf(size_t row) const { return digests_[row]; }
  // The siblings on the way from row `row` up: log2_height() of them. REQUIRES: row < 2^log2_height().
  std::vector<Digest> Path(size_t row) const;

 private:
  const uint32_t log2_height_;
  const Digest* const digests_;  // the leaves, the layer above them, .., the root
};

// A row of a matrix and the siblings on its way up, bottom first.
struct OpenedRow {
  const BabyBear* words;
  const Digest* path;
  uint32_t position;
};
// Whether the paths of all rows, of `words` words and under `height` siblings each, end at `root`. The rows
// are hashed side by side, on this thread.
bool AllLeadTo(const Digest& root, const Poseidon2Constants<16>& constants,
               const std::vector<OpenedRow>& rows, size_t words, uint32_t height);

// Row `row` of a matrix stored by columns.
std::vector<BabyBear> MatrixRow(const ColumnMatrix& matrix, size_t row);

// A search for the smallest nonce w in [0, end), canonical, with which word 7 of the permutation of `state`,
// w being its word `position`, has `bits` zero bits at its low end.
struct NonceSearch {
  std::array<BabyBear, 16> state;
  size_t position;  // below 16
  uint32_t bits;    // 1 to 31
  uint32_t end = kBabyBearP;
};
// Nothing if there is none. `tried`, if not null, grows by the number of nonces up to it. Uses all threads of
// the current arena.
std::optional<uint32_t> SearchNonce(const Poseidon2Constants<16>& constants, const NonceSearch& search,
                                    uint64_t* tried = nullptr);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_POSEIDON2_HASH_H_
