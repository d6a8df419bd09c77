// Merkle trees on a device: the digests of kernels/cpu/poseidon2_hash.h, word for word, and openings.
//
// Plain C++: host code that includes this file needs no CUDA compiler. Launchers only enqueue on `stream` and
// return the launch error. REQUIRES everywhere: the current device owns the stream and the memory. Digests
// are eight words, aligned to 16 bytes.

#ifndef PROOFMILL_KERNELS_CUDA_MERKLE_H_
#define PROOFMILL_KERNELS_CUDA_MERKLE_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/field/poseidon2.h"

namespace proofmill::kernels {

// Rows of `width` words, stored by columns; row i is at place (bits of i reversed) of each column.
struct DeviceMatrix {
  const uint32_t* data;
  uint32_t width;
  uint32_t log2_height;
};

// Words of the tree over 2^log2_height rows: the leaves in the order of the rows, the layer above them, ..,
// the root.
constexpr size_t MerkleTreeWords(uint32_t log2_height) { return 8 * ((size_t{2} << log2_height) - 1); }
constexpr size_t MerkleRootPlace(uint32_t log2_height) { return MerkleTreeWords(log2_height) - 8; }

// Fills the tree. Where there are many rows a thread hashes two siblings, half a column apart, and their
// node; fewer rows and nodes are spread over four lanes each, few nodes over sixteen, and small layers share
// launches.
cudaError_t LaunchMerkleTree(const Poseidon2Constants<16>& constants, const DeviceMatrix& matrix,
                             uint32_t* tree, cudaStream_t stream);
// The same with a launch for the leaves and one for each layer: what the fusion is measured against.
cudaError_t LaunchMerkleTreeUnfused(const Poseidon2Constants<16>& constants, const DeviceMatrix& matrix,
                                    uint32_t* tree, cudaStream_t stream);

// Where opened rows are evaluated: rows of 2^log2_width base elements, or elements of the extension side by
// side, at `point`, an element for each variable. Writes kDegree words, 4 or 5, a row. REQUIRES: log2_width
// <= 8.
struct RowPoint {
  const uint32_t* point;
  uint32_t log2_width;
  bool extension;
  uint32_t* values;  // null: nowhere
};
// Copies row and path, siblings bottom up, of each position to out + i * (width + 8 * log2_height).
// positions: *count of them, at most count_max.
template <int kDegree>
cudaError_t LaunchOpenings(const DeviceMatrix& matrix, const uint32_t* tree, const uint32_t* positions,
                           const uint32_t* count, uint32_t count_max, uint32_t* out, const RowPoint& at,
                           cudaStream_t stream);

// Permutes `count` states of 16 words, side by side, `times` times: the rate of the permutation itself.
cudaError_t LaunchPermutations(const Poseidon2Constants<16>& constants, uint32_t* states, uint32_t count,
                               uint32_t times, cudaStream_t stream);
// The same with each state in four lanes, aligned to 16 bytes.
cudaError_t LaunchQuadPermutations(const Poseidon2Constants<16>& constants, uint32_t* states, uint32_t count,
                                   uint32_t times, cudaStream_t stream);
// The same with each state in sixteen lanes.
cudaError_t LaunchSpreadPermutations(const Poseidon2Constants<16>& constants, uint32_t* states,
                                     uint32_t count, uint32_t times, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_MERKLE_H_
