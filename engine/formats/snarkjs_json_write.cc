#include <string>

#include "engine/formats/decimal.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/formats/snarkjs_json_tower.h"
#include "kernels/curve/pairing.h"
#include "nlohmann/json.hpp"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;
using Json = nlohmann::ordered_json;

constexpr int kIndent = 1;

Json Write(const Fq& x) { return ToDecimal(x.ToPlain()); }

Json Write(const Fq2& x) { return Json::array({Write(x.c0), Write(x.c1)}); }

template <typename F>
Json Write(const kernels::Affine<F>& p) {
  if (p.IsInfinity()) return Json::array({Write(F::Zero()), Write(F::One()), Write(F::Zero())});
  return Json::array({Write(p.x), Write(p.y), Write(F::One())});
}

template <typename T, size_t kSize>
Json Write(const std::array<T, kSize>& elements) {
  Json array = Json::array();
  for (const T& element : elements) array.push_back(Write(element));
  return array;
}

}  // namespace

std::string ProofToJson(const Groth16Proof& proof) {
  Json object;
  object["pi_a"] = Write(proof.a);
  object["pi_b"] = Write(proof.b);
  object["pi_c"] = Write(proof.c);
  object["protocol"] = "groth16";
  object["curve"] = "bn128";
  return object.dump(kIndent);
}

std::string PublicToJson(absl::Span<const Fr> signals) {
  Json array = Json::array();
  for (const Fr& signal : signals) array.push_back(ToDecimal(signal.ToPlain()));
  return array.dump(kIndent);
}

std::string VerificationKeyToJson(const VerificationKey& key) {
  Json object;
  object["protocol"] = "groth16";
  object["curve"] = "bn128";
  object["nPublic"] = key.n_public();
  object["vk_alpha_1"] = Write(key.alpha1);
  object["vk_beta_2"] = Write(key.beta2);
  object["vk_gamma_2"] = Write(key.gamma2);
  object["vk_delta_2"] = Write(key.delta2);
  object["vk_alphabeta_12"] = Write(TowerCoefficientsOf(kernels::Pairing(key.alpha1, key.beta2)));
  Json ic = Json::array();
  for (const kernels::G1Affine& point : key.ic) ic.push_back(Write(point));
  object["IC"] = std::move(ic);
  return object.dump(kIndent);
}

}  // namespace proofmill::engine
