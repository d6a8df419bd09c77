// The Groth16 prover: from a witness to a proof that has been verified.
//
// The heavy sums come from a backend; here are the checks of the witness, the blinding, the assembly of the
// proof (groth16.md H6 to H8) and the self-check. The blinding part that needs only the witness sums runs on
// the host while the backend still computes MSM H.
//
// Secrets (r, s, intermediate sums) are wiped before Prove() returns. The scalar multiplications by r and s
// take time that depends on them, as in every prover of this kind; they are fresh for each proof.
//
// Thread safety: Prove() is a pure function of its arguments; the backend's rule (one proof at a time per
// backend) applies.

#ifndef PROOFMILL_ENGINE_GROTH16_PROVER_H_
#define PROOFMILL_ENGINE_GROTH16_PROVER_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/backend/backend.h"
#include "engine/base/cancellation.h"
#include "engine/groth16/proving_key.h"
#include "engine/groth16/types.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

struct ProveOptions {
  // For tests only: a proof whose r and s are known, or used twice, gives the witness away. Unset: fresh from
  // the kernel's CSPRNG, uniform in [0, r).
  std::optional<Blinding> fixed_blinding = std::nullopt;
  const CancellationToken* cancel = nullptr;  // polled between stages
  StageSink* stages = nullptr;
  // CheckWitness() was OK on these very values: they are not searched for one of r or more again.
  bool witness_is_canonical = false;
  bool self_check = true;  // off only in benchmarks, whose proofs go nowhere
};

// Proves `witness` (plain values, the constant wire first). With the same blinding the proof is the same,
// byte for byte, on every backend and with any number of threads.
//   INVALID_ARGUMENT   kWitnessLength        not n_vars values.
//                      kWitnessNotCanonical  a value of r or more.
//                      kWitnessMalformed     the first value is not 1.
//   CANCELLED, DEADLINE_EXCEEDED             as options.cancel says.
//   INTERNAL           kSelfCheckFailed      the proof does not verify. FindBlame() tells whose fault it is.
//                      otherwise             no randomness.
//   otherwise          as Groth16Backend::ComputeSums().
absl::StatusOr<Groth16Proof> Prove(Groth16Backend& backend, ResidentKey& key,
                                   absl::Span<const kernels::U256> witness, const ProveOptions& options = {});

// The checks of the witness that Prove() makes first, with their errors; for admission before a queue.
absl::Status CheckWitness(const ProvingKey& key, absl::Span<const kernels::U256> witness);

// witness[1 .. n_public]. REQUIRES: CheckWitness() was OK.
std::vector<kernels::Fr> PublicSignals(const ProvingKey& key, absl::Span<const kernels::U256> witness);

// Fresh blinding by rejection sampling. Filled in place, so that no copy stays behind; the caller wipes it.
//   INTERNAL  the kernel gave no randomness.
[[nodiscard]] absl::Status DrawBlinding(Blinding& out);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_PROVER_H_
