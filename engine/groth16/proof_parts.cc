#include "engine/groth16/proof_parts.h"

#include <optional>

#include "engine/base/secure_memory.h"
#include "kernels/cpu/scalar_mul.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Xyzz;
using kernels::G2Xyzz;
using kernels::ScalarMulBy;

}  // namespace

ProofParts::ProofParts(const ProvingKey& key, const Blinding& blinding, ProofThreads* threads)
    : key_(key), threads_(threads), verification_(key.vk(), key.prepared_pairings(), key.tables()) {
  secrets_.blinding = blinding;
}

ProofParts::~ProofParts() {
  WaitForSideThreads();
  WipeMemory(&secrets_, sizeof(secrets_));
}

void ProofParts::WaitForSideThreads() {
  if (threads_ == nullptr) return;
  threads_->products.Wait();
  threads_->pairing.Wait();
}

void ProofParts::Prepare() {
  // On this thread alone: one that waits for parallel work may take up other work, and come back to this very
  // flag.
  std::call_once(prepared_, [this] {
    Fr rs = secrets_.blinding.r * secrets_.blinding.s;
    const ScopedWipe wipe(rs);
    const KeyTables* const tables = key_.tables();
    const auto* const delta1 = tables == nullptr ? nullptr : &tables->delta1;
    const auto* const delta2 = tables == nullptr ? nullptr : &tables->delta2;
    secrets_.r_delta1 = ScalarMulBy(delta1, key_.header().delta1, secrets_.blinding.r);
    secrets_.rs_delta1 = ScalarMulBy(delta1, key_.header().delta1, rs);
    secrets_.s_delta2 = ScalarMulBy(delta2, key_.header().delta2, secrets_.blinding.s);
  });
}

void ProofParts::TakePublicSignals(absl::Span<const Fr> public_signals) {
  verification_.SetPublicSignals(public_signals);
  has_public_signals_ = true;
}

// groth16.md H6, and H7 less SH:
//   pi_a = alpha1 + SA + r*delta1, pi_b = beta2 + SB2 + s*delta2, pib1 = beta1 + SB1 + s*delta1,
//   pi_c = SC + SH + s*pi_a + r*pib1 - r*s*delta1 = SC + SH + s*(alpha1 + SA) + r*(beta1 + SB1) + r*s*delta1.
void ProofParts::AddAB(const G1Xyzz& a_sum, const G1Xyzz& b1_sum, const G2Xyzz& b2_sum, bool check) {
  Prepare();
  secrets_.a_without_r = a_sum + key_.header().alpha1;
  secrets_.a = (secrets_.a_without_r + secrets_.r_delta1).ToAffine();
  secrets_.b = (b2_sum + key_.header().beta2 + secrets_.s_delta2).ToAffine();
  has_ab_ = true;
  const bool alone = threads_ == nullptr;
  // Proofs that are checked together have their pairings side by side.
  pairs_ab_ = check && !key_.checks().in_company();
  if (pairs_ab_ && (alone || !threads_->pairing.Start(pair_ab_))) PairAB();
  if (alone || !threads_->products.Start(multiply_a_)) MultiplyA();
  G1Xyzz b1 = b1_sum + key_.header().beta1;
  const ScopedWipe wipe(b1);
  secrets_.r_times_b1 = kernels::ScalarMul(b1, secrets_.blinding.r);
}

void ProofParts::MultiplyA() {
  secrets_.s_times_a = kernels::ScalarMul(secrets_.a_without_r, secrets_.blinding.s);
  WipeThreadTraces();
}

void ProofParts::PairAB() {
  verification_.SetAB(secrets_.a, secrets_.b);
  WipeThreadTraces();
}

void ProofParts::AddWitnessSums(const WitnessSums& sums, bool check) {
  if (!has_ab_) AddAB(sums.a, sums.b1, sums.b2, check);
  if (threads_ != nullptr) threads_->products.Wait();
  secrets_.c_without_h = sums.c + secrets_.s_times_a + secrets_.r_times_b1 + secrets_.rs_delta1;
  has_witness_sums_ = true;
}

Groth16Proof ProofParts::Finish(const G1Xyzz& h) const {
  return {secrets_.a, secrets_.b, (secrets_.c_without_h + h).ToAffine()};
}

bool ProofParts::Accepts(const Groth16Proof& proof, absl::Span<const Fr> public_signals) {
  const auto alone = [&] {
    if (!has_public_signals_) TakePublicSignals(public_signals);
    verification_.SetC(proof.c);
    WaitForSideThreads();
    if (!pairs_ab_) verification_.SetAB(proof.a, proof.b);
    return verification_.Accepts();
  };
  const auto for_batch = [&]() -> std::optional<BatchedProof> {
    if (!IsOnCurves(proof)) return std::nullopt;
    return BatchedProof{proof, public_signals};
  };
  return key_.checks().Accepts(key_.tables(), alone, for_batch);
}

}  // namespace proofmill::engine
