// The work that a WHIR proof cannot do without, and the time that a GPU needs for it at least.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_CLI_WHIR_WORK_H_
#define PROOFMILL_CLI_WHIR_WORK_H_

#include "engine/whir/parameters.h"

namespace proofmill::cli {

struct WhirWork {
  double permutations = 0;  // of leaves and nodes, and of the expected nonces; the transcript's are few
  double bytes = 0;         // of vectors, matrices and trees, read and written once a step
};
// A matrix is written by the encoder and read by the tree; f is read to encode it and for each out-of-domain
// answer; the weight is written, after the first time added to; each round of sumcheck reads both vectors and
// writes them at half the length.
WhirWork CountWhirWork(const engine::WhirConfig& config);

// What an H200 copies in a second, read and written, measured with 4 GiB.
inline constexpr double kMemoryBytesPerSecond = 4.289e12;

// Permutations at the rate of a device, then bytes at that of its memory: what is hashed depends on what was
// written.
constexpr double FloorSeconds(const WhirWork& work, double permutations_per_second) {
  return work.permutations / permutations_per_second + work.bytes / kMemoryBytesPerSecond;
}

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_WHIR_WORK_H_
