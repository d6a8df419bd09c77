#include "engine/groth16/blame.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/groth16/prover.h"
#include "kernels/cpu/parallel.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

constexpr size_t kRowsPerChunk = 1024;

// The row times the witness. The Montgomery product of a value with a plain integer is a plain result.
Fr PlainRow(const R1csMatrix& matrix, size_t row, absl::Span<const U256> witness) {
  Fr sum;
  for (uint64_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
    sum += matrix.values[k] * Fr::FromMontgomery(witness[matrix.wires[k]]);
  }
  return sum;
}

bool RowHolds(const R1cs& r1cs, size_t row, absl::Span<const U256> witness) {
  const Fr plain_one = Fr::FromMontgomery(U256{{1, 0, 0, 0}});
  // Both sides carry one factor 1/R.
  return PlainRow(r1cs.a, row, witness) * PlainRow(r1cs.b, row, witness) ==
         PlainRow(r1cs.c, row, witness) * plain_one;
}

bool NobodyWaits(const absl::Status& status) {
  return absl::IsCancelled(status) || absl::IsDeadlineExceeded(status);
}

// The first failing constraint, when there is a system that fits the witness.
std::optional<uint64_t> FailingConstraint(const Evidence& evidence) {
  if (evidence.r1cs == nullptr) return std::nullopt;
  const absl::StatusOr<std::optional<uint64_t>> failing =
      FirstFailingConstraint(*evidence.r1cs, evidence.witness);
  return failing.ok() ? *failing : std::nullopt;
}

Verdict BlameWitness(const Evidence& evidence, absl::string_view explanation) {
  return {Blame::kWitness, FailingConstraint(evidence), std::string(explanation)};
}

Verdict BlameDevice(absl::string_view explanation) {
  return {Blame::kDevice, std::nullopt, std::string(explanation)};
}

}  // namespace

absl::StatusOr<Verdict> FindBlame(Groth16Backend& backend, ResidentKey& key, const Evidence& evidence) {
  const ProveOptions options{.cancel = evidence.cancel};
  if (!evidence.canary.empty() && CheckWitness(*key.key(), evidence.canary).ok()) {
    const absl::Status canary = Prove(backend, key, evidence.canary, options).status();
    if (NobodyWaits(canary)) return canary;
    Verdict verdict =
        canary.ok()
            ? BlameWitness(evidence, "the canary witness proved on the same device")
            : BlameDevice(absl::StrCat("the canary witness failed on the same device: ", canary.message()));
    verdict.canary_proved = canary.ok();
    return verdict;
  }
  if (evidence.r1cs != nullptr) {
    const auto failing = FirstFailingConstraint(*evidence.r1cs, evidence.witness);
    if (failing.ok() && failing->has_value())
      return BlameWitness(evidence, "a constraint of the .r1cs does not hold");
    if (failing.ok()) return BlameDevice("every constraint of the .r1cs holds, yet the proof was bad");
    // A system of another circuit says nothing.
  }
  const absl::Status again = Prove(backend, key, evidence.witness, options).status();
  if (NobodyWaits(again)) return again;
  if (again.ok()) return BlameDevice("the same witness proved at the second try");
  if (GetReason(again) == ErrorReason::kSelfCheckFailed) {
    return BlameWitness(evidence, "the proof was bad twice on the same device");
  }
  return BlameDevice(absl::StrCat("the second try failed: ", again.message()));
}

absl::Status ToStatus(const Verdict& verdict) {
  if (verdict.blame == Blame::kDevice) {
    return WithReason(
        absl::InternalError(absl::StrCat("self-check: the device made a bad proof: ", verdict.explanation)),
        ErrorReason::kSelfCheckFailed);
  }
  std::string text = "witness does not satisfy the circuit";
  if (verdict.failing_constraint.has_value()) {
    absl::StrAppend(&text, ": constraint ", *verdict.failing_constraint,
                    " of the .r1cs is the first that does not hold");
  }
  return WithReason(absl::InvalidArgumentError(text), ErrorReason::kWitnessUnsatisfied);
}

absl::StatusOr<std::optional<uint64_t>> FirstFailingConstraint(const R1cs& r1cs,
                                                               absl::Span<const U256> witness) {
  if (witness.size() != r1cs.n_wires) {
    return WithReason(
        absl::InvalidArgumentError(absl::StrCat("witness: expected ", r1cs.n_wires,
                                                " values, as the .r1cs has wires, got ", witness.size())),
        ErrorReason::kWitnessLength);
  }
  if (!std::all_of(witness.begin(), witness.end(), Fr::IsCanonical)) {
    return WithReason(absl::InvalidArgumentError("witness: expected values below r, got a larger one"),
                      ErrorReason::kWitnessNotCanonical);
  }
  // A minimum over chunks in any order: relaxed is enough, the join of the loop makes it visible.
  std::atomic<uint64_t> first{r1cs.n_constraints};
  kernels::ParallelFor(0, r1cs.n_constraints, kRowsPerChunk, [&](size_t begin, size_t end) {
    for (size_t row = begin; row < end && row < first.load(std::memory_order_relaxed); ++row) {
      if (RowHolds(r1cs, row, witness)) continue;
      uint64_t seen = first.load(std::memory_order_relaxed);
      while (row < seen && !first.compare_exchange_weak(seen, row, std::memory_order_relaxed)) {
      }
      return;
    }
  });
  const uint64_t found = first.load(std::memory_order_relaxed);
  if (found == r1cs.n_constraints) return std::nullopt;
  return found;
}

}  // namespace proofmill::engine
