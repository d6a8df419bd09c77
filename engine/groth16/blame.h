// The canary rule: a proof failed its own check, so whose fault is it, the witness's or the device's?
//
// In this order:
//   1. With a canary (a witness known to be good for this circuit): prove it on the same device. Good: the
//      witness is to blame. Bad: the device. A canary that the circuit refuses (wrong length) counts as none.
//   2. With the constraint system: a constraint that fails blames the witness, and is named. All hold: the
//      device is to blame.
//   3. Otherwise the same witness once more on the same device. Bad again: the witness. Good: the device,
//      since it gave two answers to one question.
// Whenever the verdict is the witness and a constraint system is there, the first failing constraint is
// looked for.
//
// A key whose coefficients or points were replaced by other valid ones fails every witness; with a canary
// that looks like a bad device. So whoever has a canary should prove it once when the key is loaded.
//
// Thread safety: as Prove().

#ifndef PROOFMILL_ENGINE_GROTH16_BLAME_H_
#define PROOFMILL_ENGINE_GROTH16_BLAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/backend/backend.h"
#include "engine/base/cancellation.h"
#include "engine/formats/r1cs.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {

enum class Blame { kWitness, kDevice };

struct Evidence {
  absl::Span<const kernels::U256> witness = {};  // the one whose proof failed
  absl::Span<const kernels::U256> canary = {};   // empty: none
  const R1cs* r1cs = nullptr;
  const CancellationToken* cancel = nullptr;
};

struct Verdict {
  Blame blame;
  std::optional<uint64_t> failing_constraint;        // row of the .r1cs, from 0
  std::string explanation;                           // one sentence for a log; no values
  std::optional<bool> canary_proved = std::nullopt;  // nothing where there is no canary to try
};

// REQUIRES: Prove(backend, key, evidence.witness) just failed with kSelfCheckFailed.
//   CANCELLED, DEADLINE_EXCEEDED  as evidence.cancel says: nobody waits for the verdict.
//   otherwise                     never: a device that fails outright is to blame.
absl::StatusOr<Verdict> FindBlame(Groth16Backend& backend, ResidentKey& key, const Evidence& evidence);

// What the client is told. The witness: INVALID_ARGUMENT, kWitnessUnsatisfied, "witness does not satisfy the
// circuit" and the constraint if known. The device: INTERNAL, kSelfCheckFailed.
absl::Status ToStatus(const Verdict& verdict);

// The first constraint that `witness` breaks, or nothing when all hold.
//   INVALID_ARGUMENT  the witness has another number of values than the system has wires, or a value of r or
//                     more.
absl::StatusOr<std::optional<uint64_t>> FirstFailingConstraint(const R1cs& r1cs,
                                                               absl::Span<const kernels::U256> witness);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_BLAME_H_
