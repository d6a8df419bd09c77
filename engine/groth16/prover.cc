#include "engine/groth16/prover.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "engine/groth16/proof_parts.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Xyzz;
using kernels::G2Xyzz;
using kernels::U256;

// Uniform in [0, r) by rejection: 254 random bits are below r with probability 0.756.
absl::Status DrawScalar(Fr& out) {
  U256 candidate;
  const ScopedWipe wipe(candidate);
  do {
    PROOFMILL_RETURN_IF_ERROR(FillRandom(&candidate, sizeof(candidate)));
    candidate.limb[3] &= ~uint64_t{0} >> 2;
  } while (!Fr::IsCanonical(candidate));
  out = Fr::FromPlain(candidate);
  return absl::OkStatus();
}

absl::Status WitnessError(ErrorReason reason, absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat("witness: ", text)), reason);
}

// Whether `x` is below r, told by its top word but in one case of 2^60.
bool IsBelowModulus(const U256& x) {
  constexpr uint64_t kTop = Fr::kModulus.limb[3];
  return x.limb[3] < kTop || Fr::IsCanonical(x);
}

// Index of the first value of r or more, or the length. Multi-threaded, since on one core it would be a tenth
// of a GPU proof.
size_t FirstNotCanonical(absl::Span<const U256> witness) {
  constexpr size_t kGrain = size_t{1} << 15;
  std::atomic<size_t> first{witness.size()};
  kernels::ParallelFor(0, witness.size(), kGrain, [&](size_t begin, size_t end) {
    const U256* found = std::find_if_not(witness.data() + begin, witness.data() + end, IsBelowModulus);
    if (found == witness.data() + end) return;
    const auto index = static_cast<size_t>(found - witness.data());
    size_t least = first.load(std::memory_order_relaxed);  // the join at the end orders everything
    while (index < least && !first.compare_exchange_weak(least, index, std::memory_order_relaxed)) {
    }
  });
  return first.load(std::memory_order_relaxed);
}

// The length and the constant wire.
absl::Status CheckWitnessShape(const ProvingKey& key, absl::Span<const U256> witness) {
  if (witness.size() != key.n_vars()) {
    return WitnessError(
        ErrorReason::kWitnessLength,
        absl::StrCat("expected ", key.n_vars(), " values, as the circuit has wires, got ", witness.size()));
  }
  if (witness[0] != U256{{1, 0, 0, 0}}) {
    return WitnessError(ErrorReason::kWitnessMalformed,
                        "expected the first value (the constant wire) to be 1, got another");
  }
  return absl::OkStatus();
}

absl::Status CheckCanonical(absl::Span<const U256> witness) {
  const size_t bad = FirstNotCanonical(witness);
  if (bad == witness.size()) return absl::OkStatus();
  return WitnessError(ErrorReason::kWitnessNotCanonical,
                      absl::StrCat("expected values below r, got a larger one at index ", bad));
}

template <typename F>
auto TimeStage(StageSink* sink, Stage stage, F&& body) {
  const auto start = std::chrono::steady_clock::now();
  auto result = body();
  if (sink != nullptr) sink->OnStage(StageName(stage), std::chrono::steady_clock::now() - start);
  return result;
}

// What needs no sums, for the side thread. What it did not do, for want of memory, the steps after it do.
void PrepareParts(ProofParts& parts, absl::Span<const Fr> public_signals, bool check) {
  try {
    parts.Prepare();
    if (check) parts.TakePublicSignals(public_signals);
  } catch (const std::exception&) {
    // Nobody would hear of it here; whoever does the work instead will.
  }
}

absl::Status CheckWanted(const ProveOptions& options) {
  return options.cancel == nullptr ? absl::OkStatus() : options.cancel->Check();
}

}  // namespace

absl::Status CheckWitness(const ProvingKey& key, absl::Span<const U256> witness) {
  PROOFMILL_RETURN_IF_ERROR(CheckWitnessShape(key, witness));
  return CheckCanonical(witness);
}

std::vector<Fr> PublicSignals(const ProvingKey& key, absl::Span<const U256> witness) {
  std::vector<Fr> signals(key.n_public());
  for (size_t i = 0; i < signals.size(); ++i) signals[i] = Fr::FromPlain(witness[i + 1]);
  return signals;
}

absl::Status DrawBlinding(Blinding& out) {
  PROOFMILL_RETURN_IF_ERROR(DrawScalar(out.r));
  return DrawScalar(out.s);
}

absl::StatusOr<Groth16Proof> Prove(Groth16Backend& backend, ResidentKey& resident,
                                   absl::Span<const U256> witness, const ProveOptions& options) {
  const ProvingKey& key = *resident.key();
  const absl::Cleanup wipe_traces = [] { WipeThreadTraces(); };
  PROOFMILL_RETURN_IF_ERROR(CheckWitnessShape(key, witness));
  if (!options.witness_is_canonical) PROOFMILL_RETURN_IF_ERROR(CheckCanonical(witness));
  PROOFMILL_RETURN_IF_ERROR(CheckWanted(options));
  Blinding blinding;
  const ScopedWipe wipe_blinding(blinding);
  if (options.fixed_blinding.has_value()) {
    blinding = *options.fixed_blinding;
  } else {
    PROOFMILL_RETURN_IF_ERROR(DrawBlinding(blinding));
  }

  const std::vector<Fr> public_signals = PublicSignals(key, witness);
  const ProofThreads::Lease threads = ProofThreads::Borrow();
  ProofParts parts(key, blinding, threads.get());
  absl::StatusOr<Groth16Sums> sums = [&] {
    const auto prepare = [&] {
      // Proofs that are checked together have one pairing for all their public signals.
      PrepareParts(parts, public_signals, options.self_check && !key.checks().in_company());
      WipeThreadTraces();
    };
    // Where no thread is left others have work for the backend meanwhile.
    if (threads == nullptr || !threads->preparing.Start(prepare)) prepare();
    const absl::Cleanup wait = [&] {
      if (threads != nullptr) threads->preparing.Wait();
    };
    return backend.ComputeSums(
        resident, witness,
        {.cancel = options.cancel,
         .stages = options.stages,
         .on_a_and_b = [&](const G1Xyzz& a, const G1Xyzz& b1,
                           const G2Xyzz& b2) { parts.AddAB(a, b1, b2, options.self_check); },
         .on_witness_sums =
             [&](const WitnessSums& of_witness) { parts.AddWitnessSums(of_witness, options.self_check); }});
  }();
  if (!sums.ok()) return sums.status();
  const ScopedWipe wipe_sums(*sums);
  PROOFMILL_RETURN_IF_ERROR(CheckWanted(options));
  const Groth16Proof proof = TimeStage(options.stages, Stage::kFinish, [&] {
    if (!parts.has_witness_sums()) parts.AddWitnessSums(sums->witness, options.self_check);
    return parts.Finish(sums->h);
  });

  if (!options.self_check) return proof;
  PROOFMILL_RETURN_IF_ERROR(CheckWanted(options));
  const bool good =
      TimeStage(options.stages, Stage::kSelfCheck, [&] { return parts.Accepts(proof, public_signals); });
  if (!good) {
    return WithReason(absl::InternalError("self-check: the proof that was made does not verify"),
                      ErrorReason::kSelfCheckFailed);
  }
  return proof;
}

}  // namespace proofmill::engine
