// A Groth16 set-up with a KNOWN trapdoor, for tests and benchmarks only: whoever knows the seed can forge
// proofs for the key. The key says so in its contribution record (kInsecureTestSetupName), and the service
// refuses it unless a flag accepts it.
//
// The key has the layout of snarkjs: sections 1 to 10 ascending, gamma2 the generator, delta2 another point,
// the n_public + 1 extra rows of section 4, and section 9 in the odd Lagrange basis of the domain of 2n
// points (groth16.md B). It is streamed to disk: memory is about 250 bytes a domain point or wire and
// some 60 MiB, whatever the file's size. Same system and seed give the same file.
//
// Thread safety: pure functions; they run on the thread arena of the caller.

#ifndef PROOFMILL_ENGINE_GROTH16_SETUP_H_
#define PROOFMILL_ENGINE_GROTH16_SETUP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/formats/r1cs.h"
#include "engine/groth16/constraint_system.h"
#include "engine/groth16/fixed_base.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// Told now and then how far a long run is: a step ("section 7: B2") and its done part in [0, 1].
// Called on the calling thread.
using ProgressFunction = std::function<void(std::string_view step, double done)>;

struct SetupOptions {
  uint64_t seed = 0;
  ProgressFunction progress = nullptr;
  // What multiplies the generators; null: the CPU. The key is the same.
  FixedBaseMultiplier* multiplier = nullptr;
  // Points, coefficients or constraints in memory at a time; at least 1. The key is the same.
  size_t chunk = size_t{1} << 16;
};

// Writes KEY.zkey for a constraint system.
//   INVALID_ARGUMENT  it is too large: constraints + n_public + 1 above 2^27 (section 9 needs the domain of
//                     twice the size), or more coefficients than the format can count.
//   otherwise         as ZkeyWriter and FixedBaseMultiplier.
absl::Status Setup(const ConstraintSystem& system, const SetupOptions& options, const std::string& key_path);
absl::Status Setup(const R1cs& r1cs, const SetupOptions& options, const std::string& key_path);

// log2 of the domain that a circuit gets: the smallest power of two, at least 2, that holds constraints +
// n_public + 1 rows.
uint32_t SetupDomainLog2(uint64_t n_constraints, uint64_t n_public);

// The secrets of a set-up; gamma is 1. Known to whoever knows the seed.
struct Trapdoor {
  kernels::Fr tau, alpha, beta, delta;
};
// Expanded from the seed by SHA-256 in counter mode under a domain of its own; all non-zero, tau outside the
// domain of 2^28 points, delta not 1.
Trapdoor TrapdoorFromSeed(uint64_t seed);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_SETUP_H_
