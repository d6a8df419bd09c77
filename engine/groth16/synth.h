// Synthetic circuits with key and witness, for tests, benchmarks and load: the shapes of real ones without
// their secrets. Keys come from the test set-up of setup.h, with its warning.
//
// constraints = 2^K - n_public - 1, so that the domain is exactly 2^K; every constraint defines one wire, so
// there are 2^K + 2 wires; 3 or 4 coefficients (section 4 records) a constraint.
//   dense  witness values uniform in Fr; only the last wire at infinity in B1 and B2 (when there are at least
//          n_public + 3 constraints).
//   bits   45 % zeros, 45 % ones, 10 % full-size values; a third of the wires at infinity in B1 and B2.
// The circuit depends on log2_domain, profile, n_public and seed; the witness also on witness_seed. Public
// signals are inputs drawn from witness_seed, so two witness seeds have different public signals.
//
// Thread safety: pure functions; they run on the thread arena of the caller.

#ifndef PROOFMILL_ENGINE_GROTH16_SYNTH_H_
#define PROOFMILL_ENGINE_GROTH16_SYNTH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/formats/r1cs.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/constraint_system.h"
#include "engine/groth16/setup.h"

namespace proofmill::engine {

inline constexpr uint32_t kSynthLog2DomainMin = 1;
inline constexpr uint32_t kSynthLog2DomainMax = 26;

enum class SynthProfile { kDense, kBits };
// "dense" or "bits".
//   INVALID_ARGUMENT  another word.
absl::StatusOr<SynthProfile> ParseSynthProfile(std::string_view word);

struct SynthOptions {
  uint32_t log2_domain = 10;
  SynthProfile profile = SynthProfile::kDense;
  uint64_t seed = 0;
  uint32_t n_public = 1;
  ProgressFunction progress = nullptr;
  FixedBaseMultiplier* multiplier = nullptr;  // as in SetupOptions
};

// All of these:
//   INVALID_ARGUMENT  log2_domain outside its bounds, or 2^log2_domain < n_public + 1.
//   otherwise         as ZkeyWriter, WriteWtns or WriteR1cs.

// Key and the witness of witness_seed 0, at the same time; `progress` may be called on another thread.
absl::Status Synthesize(const SynthOptions& options, const std::string& key_path,
                        const std::string& witness_path);
absl::StatusOr<Witness> SynthWitness(const SynthOptions& options, uint64_t witness_seed);
absl::Status WriteSynthWitness(const SynthOptions& options, uint64_t witness_seed,
                               const std::string& witness_path);
absl::StatusOr<std::unique_ptr<ConstraintSystem>> SynthConstraints(const SynthOptions& options);
// The whole system in memory, about 400 bytes a constraint: for tests, and for WriteR1cs.
absl::StatusOr<R1cs> SynthR1cs(const SynthOptions& options);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_SYNTH_H_
