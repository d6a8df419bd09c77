#include "engine/whir/json_values.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"

namespace proofmill::engine {

using kernels::BabyBear;
using kernels::Poseidon2Set;
using nlohmann::json;

namespace {

constexpr size_t kShownMax = 40;  // characters of a value

std::string Got(const json& value) {
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kShownMax ? text : absl::StrCat(text.substr(0, kShownMax), "...");
}

std::optional<Poseidon2Set> FindConstants(std::string_view name) {
  for (const Poseidon2Set set : {Poseidon2Set::kGrainLfsr, Poseidon2Set::kSmallRngSeed1}) {
    if (name == ConstantsName(set)) return set;
  }
  return std::nullopt;
}

}  // namespace

void ThrowJsonError(const std::string& what) { throw json::other_error::create(599, what, nullptr); }

std::string JsonErrorText(const json::exception& error) {
  const std::string_view what = error.what();
  const size_t number_end = what.find("] ");
  return std::string(number_end == std::string_view::npos ? what : what.substr(number_end + 2));
}

const json& JsonMember(const json& object, const char* name) {
  if (!object.is_object())
    ThrowJsonError(absl::StrCat("expected an object with ", name, ", got ", Got(object)));
  const auto found = object.find(name);
  if (found == object.end()) ThrowJsonError(absl::StrCat(name, ": expected it, got none"));
  return *found;
}

const json::array_t& JsonList(const json& value) {
  if (!value.is_array()) ThrowJsonError(absl::StrCat("expected a list, got ", Got(value)));
  return value.get_ref<const json::array_t&>();
}

const std::string& JsonText(const json& value) {
  if (!value.is_string()) ThrowJsonError(absl::StrCat("expected a text, got ", Got(value)));
  return value.get_ref<const std::string&>();
}

uint64_t JsonUint(const json& value) {
  if (!value.is_number_unsigned())
    ThrowJsonError(absl::StrCat("expected a whole number from 0 on, got ", Got(value)));
  return value.get<uint64_t>();
}

uint32_t JsonUint32(const json& value) {
  const uint64_t number = JsonUint(value);
  if (number > std::numeric_limits<uint32_t>::max()) {
    ThrowJsonError(absl::StrCat("expected a number below 2^32, got ", number));
  }
  return static_cast<uint32_t>(number);
}

uint32_t JsonUint32(const json& object, const char* name) {
  const json& value = JsonMember(object, name);
  try {
    return JsonUint32(value);
  } catch (const json::exception& error) {
    ThrowJsonError(absl::StrCat(name, ": ", JsonErrorText(error)));
  }
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
  for (const json& value : JsonList(list)) out.push_back(JsonElement(value, numbers));
}

WhirElements JsonElements(const json& list, WhirNumbers numbers) {
  WhirElements out;
  AppendJsonElements(list, numbers, out);
  return out;
}

WhirElements JsonExtElements(const json& list, size_t degree) {
  WhirElements out;
  for (const json& element : JsonList(list)) {
    if (JsonList(element).size() != degree) {
      ThrowJsonError(
          absl::StrCat("expected lists of ", degree, " coefficients, got one of ", element.size()));
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
  if (!value.is_object() || value.contains("constant"))
    return WhirFolding::Constant(JsonUint32(value, "constant"));
  return WhirFolding::FirstRest(JsonUint32(value, "first"), JsonUint32(value, "rest"));
}

WhirAssumption JsonAssumption(const json& value) {
  const std::string& name = JsonText(value);
  for (const auto assumption :
       {WhirAssumption::kUniqueDecoding, WhirAssumption::kJohnsonBound, WhirAssumption::kCapacityBound}) {
    if (name == AssumptionName(assumption)) return assumption;
  }
  ThrowJsonError(absl::StrCat("assumption: expected UniqueDecoding or JohnsonBound, got ", Got(value)));
}

kernels::Poseidon2Set JsonConstants(const json& value) {
  if (const auto found = FindConstants(JsonText(value))) return *found;
  ThrowJsonError(absl::StrCat("constants: expected ", std::string(ConstantsName(Poseidon2Set::kGrainLfsr)),
                              " or ", std::string(ConstantsName(Poseidon2Set::kSmallRngSeed1)), ", got ",
                              Got(value)));
}

WhirParameters JsonStrictParameters(const json& value) {
  WhirParameters p;
  // Another name is refused by DeriveWhirConfig().
  p.constants = FindConstants(JsonText(JsonMember(value, "constants"))).value_or(Poseidon2Set{0});
  p.profile = WhirProfile::kStrict;
  p.extension_degree = JsonUint32(value, "extension_degree");
  p.num_variables = JsonUint32(value, "num_variables");
  p.folding = JsonFolding(JsonMember(value, "folding"));
  p.log_inv_rate = JsonUint32(value, "log_inv_rate");
  p.domain_reduction = JsonUint32(value, "domain_reduction");
  p.security_level = JsonUint32(value, "security_level");
  p.max_pow_bits = JsonUint32(value, "max_pow_bits");
  p.assumption = JsonAssumption(JsonMember(value, "assumption"));
  p.num_claims = JsonUint32(value, "num_claims");
  return p;
}

std::vector<WhirClaim> JsonClaims(const json& list, size_t degree) {
  std::vector<WhirClaim> out;
  for (const json& claim : JsonList(list)) {
    WhirElements value = JsonElements(JsonMember(claim, "value"));
    if (value.size() != degree)
      ThrowJsonError(absl::StrCat("value: expected ", degree, " coefficients, got ", value.size()));
    out.push_back({JsonExtElements(JsonMember(claim, "point"), degree), std::move(value)});
  }
  return out;
}

}  // namespace proofmill::engine
