#include "engine/groth16/verifier.h"

#include <array>
#include <cstddef>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "kernels/cpu/miller_product.h"
#include "kernels/cpu/msm.h"
#include "kernels/cpu/scalar_mul.h"
#include "kernels/curve/pairing.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fq;
using kernels::Fq12;
using kernels::Fr;
using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Affine;
using kernels::SplitScalar;
using kernels::U256;

// Up to this many public signals are multiplied one by one, which needs no threads.
constexpr size_t kSerialSignalsMax = 8;

static_assert(kProofBatchMax <= kernels::kFewPointsMax);

bool HasCanonicalCoordinates(const G1Affine& p) {
  return Fq::IsCanonical(p.x.montgomery()) && Fq::IsCanonical(p.y.montgomery());
}
bool HasCanonicalCoordinates(const G2Affine& p) {
  for (const Fq& coordinate : {p.x.c0, p.x.c1, p.y.c0, p.y.c1}) {
    if (!Fq::IsCanonical(coordinate.montgomery())) return false;
  }
  return true;
}

// IC[0] + sum signals[i] * IC[i + 1]. `tables` may be null.
G1Affine CombineSignals(const std::vector<G1Affine>& ic, absl::Span<const Fr> signals,
                        const KeyTables* tables = nullptr) {
  G1Xyzz sum = G1Xyzz::FromAffine(ic[0]);
  if (signals.size() <= kSerialSignalsMax) {
    for (size_t i = 0; i < signals.size(); ++i) {
      sum += tables == nullptr ? kernels::ScalarMul(G1Xyzz::FromAffine(ic[i + 1]), signals[i])
                               : tables->ic[i + 1].Times(signals[i]);
    }
    return sum.ToAffine();
  }
  std::vector<U256> plain(signals.size());
  for (size_t i = 0; i < signals.size(); ++i) plain[i] = signals[i].ToPlain();
  sum += kernels::Msm(ic.data() + 1, plain.data(), nullptr, plain.size());
  return sum.ToAffine();
}

bool IsOne(const kernels::CheckedMiller& miller) {
  return miller.in_g2 && kernels::FinalExponentiation(miller.value) == Fq12::One();
}

// sum weights[i] * IC[i]. `tables` may be null.
G1Affine WeightedSum(const std::vector<G1Affine>& ic, const std::vector<Fr>& weights,
                     const KeyTables* tables) {
  if (weights.size() <= kSerialSignalsMax + 1) {
    G1Xyzz sum = G1Xyzz::Infinity();
    for (size_t i = 0; i < weights.size(); ++i) {
      sum += tables == nullptr ? kernels::ScalarMul(G1Xyzz::FromAffine(ic[i]), weights[i])
                               : tables->ic[i].Times(weights[i]);
    }
    return sum.ToAffine();
  }
  std::vector<U256> plain(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) plain[i] = weights[i].ToPlain();
  return kernels::Msm(ic.data(), plain.data(), nullptr, plain.size()).ToAffine();
}

// The share of each IC point in a batch: of IC[0] the sum of all coefficients, of IC[i + 1] that of
// coefficient times signal i.
std::vector<Fr> SignalWeights(absl::Span<const BatchedProof> proofs, const SplitScalar* coefficients,
                              size_t n_public) {
  std::vector<Fr> weights(n_public + 1);
  for (size_t k = 0; k < proofs.size(); ++k) {
    const Fr coefficient = coefficients[k].ToFr();
    weights[0] += coefficient;
    for (size_t i = 0; i < n_public; ++i) weights[i + 1] += coefficient * proofs[k].public_signals[i];
  }
  return weights;
}

template <typename F>
absl::Status CheckPoint(absl::string_view name, const Affine<F>& p) {
  if (!HasCanonicalCoordinates(p)) {
    return absl::InvalidArgumentError(
        absl::StrCat("verification key: ", name, ": expected coordinates below q, got a larger one"));
  }
  if (!kernels::IsOnCurve(p)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "verification key: ", name, ": expected a point of the curve, got one that is not on it"));
  }
  return absl::OkStatus();
}

template <typename F>
absl::Status CheckHeaderPoint(absl::string_view name, const Affine<F>& p) {
  PROOFMILL_RETURN_IF_ERROR(CheckPoint(name, p));
  if (p.IsInfinity()) {
    return absl::InvalidArgumentError(
        absl::StrCat("verification key: ", name, ": expected a point other than infinity, got infinity"));
  }
  return absl::OkStatus();
}

absl::Status CheckHeaderPointG2(absl::string_view name, const G2Affine& p) {
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPoint(name, p));
  if (!kernels::IsInG2Subgroup(p)) {
    return absl::InvalidArgumentError(
        absl::StrCat("verification key: ", name, ": expected a point of order r, got one outside G2"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSignalCount(const VerificationKey& key, size_t n) {
  if (n == key.n_public()) return absl::OkStatus();
  return WithReason(
      absl::InvalidArgumentError(absl::StrCat("public signals: expected ", key.n_public(),
                                              " of them, as the verification key says, got ", n)),
      ErrorReason::kPublicSignalsMalformed);
}

absl::StatusOr<bool> Verify(const VerificationKey& key, absl::Span<const Fr> public_signals,
                            const Groth16Proof& proof) {
  PROOFMILL_RETURN_IF_ERROR(CheckSignalCount(key, public_signals.size()));
  if (!IsOnCurves(proof)) return false;
  const kernels::PairingTerm terms[] = {
      {-proof.a, proof.b},
      {CombineSignals(key.ic, public_signals), key.gamma2},
      {proof.c, key.delta2},
      {key.alpha1, key.beta2},
  };
  return IsOne(kernels::MillerProduct(terms, std::size(terms)));
}

PreparedPairings::PreparedPairings(const VerificationKey& key)
    : alpha_beta(kernels::MillerLoop(key.alpha1, key.beta2)), gamma2(key.gamma2), delta2(key.delta2) {}

KeyTables::KeyTables(const VerificationKey& key, const G1Affine& delta1_point)
    : alpha1(key.alpha1), delta1(delta1_point), delta2(key.delta2) {
  if (key.n_public() > kSerialSignalsMax) return;
  ic.reserve(key.ic.size());
  for (const G1Affine& point : key.ic) ic.emplace_back(point);
}

void StagedVerification::SetPublicSignals(absl::Span<const Fr> public_signals) {
  of_signals_ = kernels::MillerLoop(CombineSignals(key_.ic, public_signals, tables_), prepared_.gamma2);
}

void StagedVerification::SetAB(const G1Affine& a, const G2Affine& b) {
  ab_in_groups_ = kernels::IsOnCurve(a) && kernels::IsOnCurve(b);
  if (!ab_in_groups_) return;
  const kernels::CheckedMiller miller = kernels::CheckedMillerLoop(-a, b);
  of_ab_ = miller.value;
  ab_in_groups_ = miller.in_g2;
}

void StagedVerification::SetC(const G1Affine& c) {
  c_on_curve_ = kernels::IsOnCurve(c);
  if (c_on_curve_) of_c_ = kernels::MillerLoop(c, prepared_.delta2);
}

bool StagedVerification::Accepts() const {
  if (!ab_in_groups_ || !c_on_curve_) return false;
  const kernels::Fq12 product = of_ab_ * of_signals_ * of_c_ * prepared_.alpha_beta;
  return kernels::FinalExponentiation(product) == kernels::Fq12::One();
}

bool IsOnCurves(const Groth16Proof& proof) {
  return kernels::IsOnCurve(proof.a) && kernels::IsOnCurve(proof.b) && kernels::IsOnCurve(proof.c);
}

// With random t_k the product of all e(-t_k*A_k, B_k), and of e(sum t_k*alpha1, beta2), of the pairing of the
// signals' sum with gamma2 and of e(sum t_k*C_k, delta2), is one.
absl::StatusOr<bool> VerifyTogether(const VerificationKey& key, const KeyTables* tables,
                                    absl::Span<const BatchedProof> proofs) {
  const size_t n = proofs.size();
  std::array<SplitScalar, kProofBatchMax> coefficients;
  PROOFMILL_RETURN_IF_ERROR(FillRandom(coefficients.data(), n * sizeof(SplitScalar)));
  std::array<G1Affine, kProofBatchMax> a, c;
  for (size_t i = 0; i < n; ++i) {
    a[i] = -proofs[i].proof.a;
    c[i] = proofs[i].proof.c;
  }
  kernels::MultiplyEach(a.data(), coefficients.data(), n, a.data());
  const std::vector<Fr> weights = SignalWeights(proofs, coefficients.data(), key.n_public());
  std::array<kernels::PairingTerm, kProofBatchMax + 3> terms;
  for (size_t i = 0; i < n; ++i) terms[i] = {a[i], proofs[i].proof.b};
  const auto* const alpha1 = tables == nullptr ? nullptr : &tables->alpha1;
  terms[n] = {kernels::ScalarMulBy(alpha1, key.alpha1, weights[0]).ToAffine(), key.beta2};
  terms[n + 1] = {WeightedSum(key.ic, weights, tables), key.gamma2};
  terms[n + 2] = {kernels::SumOfFew(c.data(), coefficients.data(), n).ToAffine(), key.delta2};
  return IsOne(kernels::MillerProduct(terms.data(), n + 3));
}

absl::Status CheckVerificationKey(const VerificationKey& key) {
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPoint("alpha1", key.alpha1));
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPointG2("beta2", key.beta2));
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPointG2("gamma2", key.gamma2));
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPointG2("delta2", key.delta2));
  if (key.ic.empty()) {
    return absl::InvalidArgumentError("verification key: IC: expected at least one point, got none");
  }
  for (size_t i = 0; i < key.ic.size(); ++i) {
    PROOFMILL_RETURN_IF_ERROR(CheckPoint(absl::StrCat("IC[", i, "]"), key.ic[i]));
  }
  return absl::OkStatus();
}

}  // namespace proofmill::engine
