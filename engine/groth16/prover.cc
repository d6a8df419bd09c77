#include "engine/groth16/prover.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "engine/groth16/verifier.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Affine;
using kernels::G2Xyzz;
using kernels::ScalarMulVartime;
using kernels::U256;

// What blinding gives before H is known. Secret.
struct BlindedParts {
  bool ready = false;
  G1Affine a;
  G2Affine b;
  G1Xyzz c_without_h;
};

// groth16.md H6, and H7 less SH:
//   pi_a = alpha1 + SA + r*delta1, pi_b = beta2 + SB2 + s*delta2, pib1 = beta1 + SB1 + s*delta1,
//   pi_c = SC + SH + s*pi_a + r*pib1 - r*s*delta1.
void Blind(const ZkeyHeader& key, const WitnessSums& sums, const Blinding& blinding, BlindedParts& out) {
  U256 r = blinding.r.ToPlain();
  U256 s = blinding.s.ToPlain();
  U256 minus_rs = (-(blinding.r * blinding.s)).ToPlain();
  const ScopedWipe wipe_r(r), wipe_s(s), wipe_rs(minus_rs);
  const G1Xyzz delta1 = G1Xyzz::FromAffine(key.delta1);

  G1Xyzz a = sums.a + key.alpha1 + ScalarMulVartime(delta1, r);
  G2Xyzz b = sums.b2 + key.beta2 + ScalarMulVartime(G2Xyzz::FromAffine(key.delta2), s);
  G1Xyzz b1 = sums.b1 + key.beta1 + ScalarMulVartime(delta1, s);
  const ScopedWipe wipe_a(a), wipe_b1(b1);
  const ScopedWipe wipe_b(b);
  out.a = a.ToAffine();
  out.b = b.ToAffine();
  out.c_without_h =
      sums.c + ScalarMulVartime(a, s) + ScalarMulVartime(b1, r) + ScalarMulVartime(delta1, minus_rs);
  out.ready = true;
}

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

// Index of the first value of r or more, or the length. Multi-threaded, since on one core it would be a tenth
// of a GPU proof.
size_t FirstNotCanonical(absl::Span<const U256> witness) {
  constexpr size_t kGrain = size_t{1} << 15;
  std::atomic<size_t> first{witness.size()};
  kernels::ParallelFor(0, witness.size(), kGrain, [&](size_t begin, size_t end) {
    const U256* found = std::find_if_not(witness.data() + begin, witness.data() + end, Fr::IsCanonical);
    if (found == witness.data() + end) return;
    const auto index = static_cast<size_t>(found - witness.data());
    size_t least = first.load(std::memory_order_relaxed);  // the join at the end orders everything
    while (index < least && !first.compare_exchange_weak(least, index, std::memory_order_relaxed)) {
    }
  });
  return first.load(std::memory_order_relaxed);
}

template <typename F>
auto TimeStage(StageSink* sink, Stage stage, F&& body) {
  const auto start = std::chrono::steady_clock::now();
  auto result = body();
  if (sink != nullptr) sink->OnStage(stage, std::chrono::steady_clock::now() - start);
  return result;
}

absl::Status SelfCheck(const ProvingKey& key, absl::Span<const U256> witness, const Groth16Proof& proof) {
  PROOFMILL_ASSIGN_OR_RETURN(const bool good, Verify(key.vk(), PublicSignals(key, witness), proof));
  if (good) return absl::OkStatus();
  return WithReason(absl::InternalError("self-check: the proof that was made does not verify"),
                    ErrorReason::kSelfCheckFailed);
}

absl::Status CheckWanted(const ProveOptions& options) {
  return options.cancel == nullptr ? absl::OkStatus() : options.cancel->Check();
}

}  // namespace

absl::Status CheckWitness(const ProvingKey& key, absl::Span<const U256> witness) {
  if (witness.size() != key.n_vars()) {
    return WitnessError(
        ErrorReason::kWitnessLength,
        absl::StrCat("expected ", key.n_vars(), " values, as the circuit has wires, got ", witness.size()));
  }
  const size_t bad = FirstNotCanonical(witness);
  if (bad != witness.size()) {
    return WitnessError(ErrorReason::kWitnessNotCanonical,
                        absl::StrCat("expected values below r, got a larger one at index ", bad));
  }
  if (witness[0] != U256{{1, 0, 0, 0}}) {
    return WitnessError(ErrorReason::kWitnessMalformed,
                        "expected the first value (the constant wire) to be 1, got another");
  }
  return absl::OkStatus();
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
  PROOFMILL_RETURN_IF_ERROR(CheckWitness(key, witness));
  PROOFMILL_RETURN_IF_ERROR(CheckWanted(options));
  Blinding blinding;
  const ScopedWipe wipe_blinding(blinding);
  if (options.fixed_blinding.has_value()) {
    blinding = *options.fixed_blinding;
  } else {
    PROOFMILL_RETURN_IF_ERROR(DrawBlinding(blinding));
  }

  BlindedParts parts;
  const ScopedWipe wipe_parts(parts);
  ComputeContext context{
      .cancel = options.cancel, .stages = options.stages, .on_witness_sums = [&](const WitnessSums& sums) {
        Blind(key.header(), sums, blinding, parts);
      }};
  absl::StatusOr<Groth16Sums> sums = backend.ComputeSums(resident, witness, context);
  if (!sums.ok()) return sums.status();
  const ScopedWipe wipe_sums(*sums);
  PROOFMILL_RETURN_IF_ERROR(CheckWanted(options));
  const Groth16Proof proof = TimeStage(options.stages, Stage::kFinish, [&] {
    if (!parts.ready) Blind(key.header(), sums->witness, blinding, parts);
    return Groth16Proof{parts.a, parts.b, (parts.c_without_h + sums->h).ToAffine()};
  });

  if (!options.self_check) return proof;
  PROOFMILL_RETURN_IF_ERROR(CheckWanted(options));
  PROOFMILL_RETURN_IF_ERROR(
      TimeStage(options.stages, Stage::kSelfCheck, [&] { return SelfCheck(key, witness, proof); }));
  return proof;
}

}  // namespace proofmill::engine
