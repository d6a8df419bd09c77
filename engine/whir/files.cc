#include "engine/whir/files.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/formats/json_text.h"
#include "engine/whir/json_values.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using nlohmann::json;

constexpr size_t kStatementBytesMax = size_t{256} << 20;
constexpr size_t kParametersBytesMax = size_t{64} << 10;

json ParametersToJson(const WhirParameters& p) {
  json folding = {{"constant", p.folding.first}};
  if (!p.folding.constant) folding = {{"first", p.folding.first}, {"rest", p.folding.rest}};
  return {{"extension_degree", p.extension_degree},
          {"constants", ConstantsName(p.constants)},
          {"num_variables", p.num_variables},
          {"folding", std::move(folding)},
          {"log_inv_rate", p.log_inv_rate},
          {"domain_reduction", p.domain_reduction},
          {"security_level", p.security_level},
          {"max_pow_bits", p.max_pow_bits},
          {"assumption", AssumptionName(p.assumption)},
          {"num_claims", p.num_claims}};
}

WhirParameters ParametersWithDefaults(const json& given, size_t claims) {
  JsonMember(given, "num_variables");
  json all = ParametersToJson(WhirParameters{});
  for (const auto& [name, value] : given.get_ref<const json::object_t&>()) {
    if (!all.contains(name)) ThrowJsonError(absl::StrCat("parameters: unknown name ", name));
    all[name] = value;
  }
  if (!given.contains("num_claims")) all["num_claims"] = claims;
  if (!given.contains("domain_reduction"))
    all["domain_reduction"] = std::min(JsonFolding(all["folding"]).first, 3u);
  JsonConstants(all["constants"]);  // so that an unknown name is shown
  return JsonStrictParameters(all);
}

// The value may be left out.
WhirClaim ClaimFrom(const json& claim, uint32_t degree) {
  WhirClaim out;
  const json& point = JsonMember(claim, "point");
  try {
    out.point = JsonExtElements(point, degree);
  } catch (const json::exception& error) {
    ThrowJsonError(absl::StrCat("point: ", JsonErrorText(error)));
  }
  if (!claim.contains("value")) return out;
  out.value = JsonElements(claim.at("value"));
  if (out.value.size() != degree) {
    ThrowJsonError(absl::StrCat("value: expected ", degree, " coefficients, got ", out.value.size()));
  }
  return out;
}

WhirStatement StatementFrom(const json& file) {
  const json& claims = JsonMember(file, "claims");
  WhirStatement out;
  out.parameters = ParametersWithDefaults(JsonMember(file, "parameters"), claims.size());
  const uint32_t degree = out.parameters.extension_degree;
  for (const json& claim : JsonList(claims)) {
    try {
      out.claims.push_back(ClaimFrom(claim, degree));
    } catch (const json::exception& error) {
      ThrowJsonError(absl::StrCat("claim ", out.claims.size(), ": ", JsonErrorText(error)));
    }
  }
  return out;
}

// The strict profile is the only one that is offered, so it need not be named.
void TakeProfile(json& parameters) {
  const auto found = parameters.find("profile");
  if (found == parameters.end()) return;
  if (*found != "strict") {
    ThrowJsonError(
        "profile: expected strict, got another (pin is for comparison with whir-p3 only: it binds no "
        "claims)");
  }
  parameters.erase(found);
}

}  // namespace

absl::StatusOr<WhirParameters> ParseWhirParameters(std::string_view text) {
  PROOFMILL_ASSIGN_OR_RETURN(json file, ParseJsonText("parameters", text, kParametersBytesMax));
  try {
    TakeProfile(file);
    return ParametersWithDefaults(file, 1);
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("parameters: ", JsonErrorText(error)));
  }
}

std::string WhirParametersToJson(const WhirParameters& parameters) {
  return ParametersToJson(parameters).dump();
}

absl::StatusOr<WhirStatement> ParseWhirStatement(std::string_view text) {
  PROOFMILL_ASSIGN_OR_RETURN(const json file, ParseJsonText("statement", text, kStatementBytesMax));
  try {
    return StatementFrom(file);
  } catch (const json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("statement: ", JsonErrorText(error)));
  }
}

std::string WhirStatementToJson(const WhirStatement& statement) {
  json claims = json::array();
  const size_t degree = statement.parameters.extension_degree;
  for (const WhirClaim& claim : statement.claims) {
    claims.push_back(
        {{"point", ExtElementsToJson(claim.point, degree)}, {"value", ElementsToJson(claim.value)}});
  }
  const json out = {{"parameters", ParametersToJson(statement.parameters)}, {"claims", std::move(claims)}};
  return out.dump() + "\n";
}

absl::StatusOr<SecretBuffer<BabyBear>> ReadWhirPolynomial(const ByteSource& source, uint32_t num_variables) {
  static_assert(sizeof(BabyBear) == 4 && std::endian::native == std::endian::little);
  const uint64_t count = uint64_t{1} << num_variables;
  const auto invalid = [&](ErrorReason reason, const std::string& what) {
    return WithReason(absl::InvalidArgumentError(absl::StrCat(source.name(), ": polynomial: ", what)),
                      reason);
  };
  if (source.size() != 4 * count) {
    return invalid(ErrorReason::kWitnessLength, absl::StrCat("expected ", 4 * count, " bytes (2^",
                                                             num_variables, " words), got ", source.size()));
  }
  SecretBuffer<BabyBear> values(count);
  PROOFMILL_RETURN_IF_ERROR(
      source.ReadAt(0, {reinterpret_cast<uint8_t*>(values.data()), values.size_bytes()}));
  PROOFMILL_RETURN_IF_ERROR(source.CheckUnchanged());
  for (uint64_t i = 0; i < count; ++i) {
    const uint32_t word = values[i].montgomery();  // as it was read
    if (!BabyBear::IsCanonical(word)) {
      return invalid(
          ErrorReason::kWitnessNotCanonical,
          absl::StrCat("expected words below ", kernels::kBabyBearP, ", got a larger one at index ", i));
    }
    values[i] = BabyBear::FromCanonical(word);
  }
  return values;
}

}  // namespace proofmill::engine
