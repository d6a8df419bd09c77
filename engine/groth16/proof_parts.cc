#include "engine/groth16/proof_parts.h"

#include "absl/cleanup/cleanup.h"
#include "engine/base/secure_memory.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fr;
using kernels::G1Xyzz;
using kernels::G2Xyzz;
using kernels::U256;
using kernels::Xyzz;

template <typename F>
Xyzz<F> Times(const Fr& secret, const Xyzz<F>& point) {
  U256 plain = secret.ToPlain();
  const ScopedWipe wipe(plain);
  return kernels::ScalarMulVartime(point, plain);
}
template <typename F>
Xyzz<F> Times(const Fr& secret, const Affine<F>& point) {
  return Times(secret, Xyzz<F>::FromAffine(point));
}

}  // namespace

ProofParts::ProofParts(const ProvingKey& key, const Blinding& blinding, SideThread& side)
    : key_(key), side_(side), verification_(key.vk(), key.prepared_pairings()) {
  secrets_.blinding = blinding;
}

ProofParts::~ProofParts() { WipeMemory(&secrets_, sizeof(secrets_)); }

void ProofParts::Prepare() {
  // On this thread alone: one that waits for parallel work may take up other work, and come back to this very
  // flag.
  std::call_once(prepared_, [this] {
    Fr rs = secrets_.blinding.r * secrets_.blinding.s;
    const ScopedWipe wipe(rs);
    secrets_.r_delta1 = Times(secrets_.blinding.r, key_.header().delta1);
    secrets_.rs_delta1 = Times(rs, key_.header().delta1);
    secrets_.s_delta2 = Times(secrets_.blinding.s, key_.header().delta2);
  });
}

void ProofParts::TakePublicSignals(absl::Span<const Fr> public_signals) {
  verification_.SetPublicSignals(public_signals);
  has_public_signals_ = true;
}

// groth16.md H6, and H7 less SH:
//   pi_a = alpha1 + SA + r*delta1, pi_b = beta2 + SB2 + s*delta2, pib1 = beta1 + SB1 + s*delta1,
//   pi_c = SC + SH + s*pi_a + r*pib1 - r*s*delta1 = SC + SH + s*(alpha1 + SA) + r*(beta1 + SB1) + r*s*delta1.
void ProofParts::AddAB(const G1Xyzz& a_sum, const G2Xyzz& b2_sum, bool check) {
  Prepare();
  G1Xyzz a = a_sum + key_.header().alpha1;
  const ScopedWipe wipe(a);
  secrets_.a = (a + secrets_.r_delta1).ToAffine();
  secrets_.b = (b2_sum + key_.header().beta2 + secrets_.s_delta2).ToAffine();
  const auto beside = [&] {
    secrets_.s_times_a = Times(secrets_.blinding.s, a);
    if (check) verification_.CheckGroups(secrets_.a, secrets_.b);
    WipeThreadTraces();
  };
  const bool started = side_.Start(beside);
  {
    const absl::Cleanup wait = [this] { side_.Wait(); };
    if (check) verification_.SetAB(secrets_.a, secrets_.b);
  }
  if (!started) beside();
  has_ab_ = true;
}

void ProofParts::AddWitnessSums(const WitnessSums& sums, bool check) {
  if (!has_ab_) AddAB(sums.a, sums.b2, check);
  G1Xyzz b1 = sums.b1 + key_.header().beta1;
  G1Xyzz r_times_b1 = Times(secrets_.blinding.r, b1);
  const ScopedWipe wipe_b1(b1), wipe_product(r_times_b1);
  secrets_.c_without_h = sums.c + secrets_.s_times_a + r_times_b1 + secrets_.rs_delta1;
  has_witness_sums_ = true;
}

Groth16Proof ProofParts::Finish(const G1Xyzz& h) const {
  return {secrets_.a, secrets_.b, (secrets_.c_without_h + h).ToAffine()};
}

}  // namespace proofmill::engine
