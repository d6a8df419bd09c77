#include "engine/whir/json_values.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace proofmill::engine {

using kernels::BabyBear;
using nlohmann::json;

void ThrowJsonError(const std::string& what) { throw json::other_error::create(599, what, nullptr); }

uint64_t JsonUint(const json& value) { return value.get_ref<const json::number_unsigned_t&>(); }

uint32_t JsonUint32(const json& value) {
  const uint64_t number = JsonUint(value);
  if (number > std::numeric_limits<uint32_t>::max()) {
    ThrowJsonError(absl::StrCat("expected a number below 2^32, got ", number));
  }
  return static_cast<uint32_t>(number);
}

BabyBear JsonElement(const json& value, WhirNumbers numbers) {
  const uint64_t number = JsonUint(value);
  if (!BabyBear::IsCanonical(number)) {
    ThrowJsonError(absl::StrCat("expected a field element, below ", kernels::kBabyBearP, ", got ", number));
  }
  const auto word = static_cast<uint32_t>(number);
  return numbers == WhirNumbers::kCanonical ? BabyBear::FromCanonical(word) : BabyBear::FromMontgomery(word);
}

void AppendJsonElements(const json& list, WhirNumbers numbers, WhirElements& out) {
  for (const json& value : list.get_ref<const json::array_t&>()) out.push_back(JsonElement(value, numbers));
}

WhirElements JsonElements(const json& list, WhirNumbers numbers) {
  WhirElements out;
  AppendJsonElements(list, numbers, out);
  return out;
}

WhirElements JsonExtElements(const json& list, size_t degree) {
  WhirElements out;
  for (const json& element : list.get_ref<const json::array_t&>()) {
    if (element.size() != degree) {
      ThrowJsonError(absl::StrCat("expected ", degree, " coefficients, got ", element.size()));
    }
    AppendJsonElements(element, WhirNumbers::kCanonical, out);
  }
  return out;
}

kernels::Digest JsonDigest(const json& list, WhirNumbers numbers) {
  const WhirElements words = JsonElements(list, numbers);
  kernels::Digest out;
  if (words.size() != out.size())
    ThrowJsonError(absl::StrCat("digest: expected 8 words, got ", words.size()));
  std::copy(words.begin(), words.end(), out.begin());
  return out;
}

json ElementsToJson(absl::Span<const BabyBear> elements, WhirNumbers numbers) {
  json out = json::array();
  for (const BabyBear x : elements) {
    out.push_back(numbers == WhirNumbers::kCanonical ? x.ToCanonical() : x.montgomery());
  }
  return out;
}

json ExtElementsToJson(absl::Span<const BabyBear> elements, size_t degree) {
  json out = json::array();
  for (size_t i = 0; i < elements.size(); i += degree)
    out.push_back(ElementsToJson(elements.subspan(i, degree)));
  return out;
}

WhirFolding JsonFolding(const json& value) {
  if (value.contains("constant")) return WhirFolding::Constant(JsonUint32(value.at("constant")));
  return WhirFolding::FirstRest(JsonUint32(value.at("first")), JsonUint32(value.at("rest")));
}

WhirAssumption JsonAssumption(const json& value) {
  const auto& name = value.get_ref<const std::string&>();
  for (const auto assumption :
       {WhirAssumption::kUniqueDecoding, WhirAssumption::kJohnsonBound, WhirAssumption::kCapacityBound}) {
    if (name == AssumptionName(assumption)) return assumption;
  }
  ThrowJsonError("assumption: expected UniqueDecoding or JohnsonBound, got another name");
}

WhirParameters JsonStrictParameters(const json& value) {
  WhirParameters p;
  const auto& constants = value.at("constants").get_ref<const std::string&>();
  if (constants == ConstantsName(kernels::Poseidon2Set::kGrainLfsr)) {
    p.constants = kernels::Poseidon2Set::kGrainLfsr;
  } else if (constants == ConstantsName(kernels::Poseidon2Set::kSmallRngSeed1)) {
    p.constants = kernels::Poseidon2Set::kSmallRngSeed1;
  } else {
    p.constants = kernels::Poseidon2Set{0};  // refused by DeriveWhirConfig()
  }
  p.profile = WhirProfile::kStrict;
  p.extension_degree = JsonUint32(value.at("extension_degree"));
  p.num_variables = JsonUint32(value.at("num_variables"));
  p.folding = JsonFolding(value.at("folding"));
  p.log_inv_rate = JsonUint32(value.at("log_inv_rate"));
  p.domain_reduction = JsonUint32(value.at("domain_reduction"));
  p.security_level = JsonUint32(value.at("security_level"));
  p.max_pow_bits = JsonUint32(value.at("max_pow_bits"));
  p.assumption = JsonAssumption(value.at("assumption"));
  p.num_claims = JsonUint32(value.at("num_claims"));
  return p;
}

std::vector<WhirClaim> JsonClaims(const json& list, size_t degree) {
  std::vector<WhirClaim> out;
  for (const json& claim : list.get_ref<const json::array_t&>()) {
    WhirElements value = JsonElements(claim.at("value"));
    if (value.size() != degree)
      ThrowJsonError(absl::StrCat("value: expected ", degree, " coefficients, got ", value.size()));
    out.push_back({JsonExtElements(claim.at("point"), degree), std::move(value)});
  }
  return out;
}

}  // namespace proofmill::engine
