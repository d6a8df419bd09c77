#include "engine/formats/snarkjs_json.h"

#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/decimal.h"
#include "engine/formats/json_text.h"
#include "engine/formats/snarkjs_json_tower.h"
#include "kernels/curve/pairing.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;
using kernels::G1Affine;
using kernels::G2Affine;
using kernels::U256;
using Json = nlohmann::json;

std::string Element(const std::string& place, size_t index) { return absl::StrCat(place, "[", index, "]"); }

template <typename Field>
absl::StatusOr<Field> ParseField(const Json& value, const std::string& place) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string* text, ExpectJsonString(value, place));
  const absl::StatusOr<U256> plain = ParseDecimalBelow(*text, Field::kModulus);
  if (!plain.ok())
    return absl::Status(plain.status().code(), absl::StrCat(place, ": ", plain.status().message()));
  return Field::FromPlain(*plain);
}

template <typename F>
absl::StatusOr<F> ParseCoordinate(const Json& value, const std::string& place);

template <>
absl::StatusOr<Fq> ParseCoordinate<Fq>(const Json& value, const std::string& place) {
  return ParseField<Fq>(value, place);
}

template <>
absl::StatusOr<Fq2> ParseCoordinate<Fq2>(const Json& value, const std::string& place) {
  PROOFMILL_RETURN_IF_ERROR(ExpectJsonArray(value, 2, place));
  PROOFMILL_ASSIGN_OR_RETURN(const Fq c0, ParseField<Fq>(value[0], Element(place, 0)));
  PROOFMILL_ASSIGN_OR_RETURN(const Fq c1, ParseField<Fq>(value[1], Element(place, 1)));
  return Fq2{c0, c1};
}

// [x, y, z] with z = 1, or [0, 1, 0] for infinity. Other projective forms would give one point many
// spellings.
template <typename F>
absl::StatusOr<kernels::Affine<F>> ParsePoint(const Json& value, const std::string& place) {
  PROOFMILL_RETURN_IF_ERROR(ExpectJsonArray(value, 3, place));
  PROOFMILL_ASSIGN_OR_RETURN(const F x, ParseCoordinate<F>(value[0], Element(place, 0)));
  PROOFMILL_ASSIGN_OR_RETURN(const F y, ParseCoordinate<F>(value[1], Element(place, 1)));
  PROOFMILL_ASSIGN_OR_RETURN(const F z, ParseCoordinate<F>(value[2], Element(place, 2)));
  if (z.IsZero() && x.IsZero() && y == F::One()) return kernels::Affine<F>::Infinity();
  if (z != F::One()) {
    return absl::InvalidArgumentError(absl::StrCat(
        place, ": expected an affine point (last coordinate one) or infinity (0, 1, 0), got another form"));
  }
  const kernels::Affine<F> point{x, y};
  // (0, 0) stands for infinity in memory, but in JSON it is only a point off the curve.
  if (point.IsInfinity() || !kernels::IsOnCurve(point)) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": expected a point on the curve, got one that is not"));
  }
  return point;
}

template <typename F>
absl::StatusOr<kernels::Affine<F>> PointMember(const Json& object, const char* key,
                                               const std::string& place) {
  PROOFMILL_ASSIGN_OR_RETURN(const Json* value, ExpectJsonMember(object, key, place));
  return ParsePoint<F>(*value, absl::StrCat(place, ": ", key));
}

template <typename F>
absl::StatusOr<kernels::Affine<F>> FinitePointMember(const Json& object, const char* key,
                                                     const std::string& place) {
  PROOFMILL_ASSIGN_OR_RETURN(const kernels::Affine<F> point, PointMember<F>(object, key, place));
  if (point.IsInfinity()) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": ", key, ": expected a finite point, got infinity"));
  }
  return point;
}

// Text from the document is repeated in errors only when it is short and harmless.
std::string Quote(const std::string& text) {
  for (const char c : text) {
    if (c < ' ' || c > '~') return "another string";
  }
  return text.size() > 32 ? "another string" : absl::StrCat("\"", text, "\"");
}

absl::Status CheckProtocolAndCurve(const Json& object, const std::string& place) {
  PROOFMILL_ASSIGN_OR_RETURN(const Json* protocol, ExpectJsonMember(object, "protocol", place));
  PROOFMILL_ASSIGN_OR_RETURN(const std::string* name,
                             ExpectJsonString(*protocol, absl::StrCat(place, ": protocol")));
  if (*name != "groth16") {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": protocol: expected \"groth16\", got ", Quote(*name)));
  }
  const auto curve = object.find("curve");
  if (curve == object.end()) return absl::OkStatus();
  PROOFMILL_ASSIGN_OR_RETURN(const std::string* curve_name,
                             ExpectJsonString(*curve, absl::StrCat(place, ": curve")));
  if (*curve_name == "bn128" || *curve_name == "bn254") return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": curve: expected \"bn128\", got ", Quote(*curve_name)));
}

absl::StatusOr<std::vector<G1Affine>> ParseIc(const Json& object, const std::string& place) {
  PROOFMILL_ASSIGN_OR_RETURN(const Json* n_public, ExpectJsonMember(object, "nPublic", place));
  if (!n_public->is_number_unsigned()) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": nPublic: expected a whole number, got another ", n_public->type_name()));
  }
  PROOFMILL_ASSIGN_OR_RETURN(const Json* points, ExpectJsonMember(object, "IC", place));
  const std::string ic_place = absl::StrCat(place, ": IC");
  const uint64_t count = n_public->get<uint64_t>();
  if (!points->is_array() || points->empty() || points->size() - 1 != count) {
    return absl::InvalidArgumentError(absl::StrCat(
        ic_place, ": expected an array of nPublic + 1 points, nPublic being ", count, ", got ",
        points->is_array() ? absl::StrCat("one of ", points->size()) : std::string(points->type_name())));
  }
  std::vector<G1Affine> ic;
  ic.reserve(points->size());
  for (size_t i = 0; i < points->size(); ++i) {
    PROOFMILL_ASSIGN_OR_RETURN(const G1Affine point, ParsePoint<Fq>((*points)[i], Element(ic_place, i)));
    ic.push_back(point);
  }
  return ic;
}

// "vk_alphabeta_12" is [w][v], pairs of u; absent in some tools' keys, and no verifier needs it.
absl::Status CheckAlphabeta(const Json& object, const std::string& place, const VerificationKey& key,
                            const VerificationKeyJsonOptions& options) {
  const auto value = object.find("vk_alphabeta_12");
  if (value == object.end()) return absl::OkStatus();
  const std::string value_place = absl::StrCat(place, ": vk_alphabeta_12");
  TowerCoefficients coefficients;
  PROOFMILL_RETURN_IF_ERROR(ExpectJsonArray(*value, coefficients.size(), value_place));
  for (size_t i = 0; i < coefficients.size(); ++i) {
    const std::string row_place = Element(value_place, i);
    PROOFMILL_RETURN_IF_ERROR(ExpectJsonArray((*value)[i], coefficients[i].size(), row_place));
    for (size_t j = 0; j < coefficients[i].size(); ++j) {
      PROOFMILL_ASSIGN_OR_RETURN(coefficients[i][j],
                                 ParseCoordinate<Fq2>((*value)[i][j], Element(row_place, j)));
    }
  }
  if (!options.check_alphabeta) return absl::OkStatus();
  if (!kernels::IsInG2Subgroup(key.beta2)) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": vk_beta_2: expected a point of the subgroup of order r, got another"));
  }
  if (coefficients == TowerCoefficientsOf(kernels::Pairing(key.alpha1, key.beta2))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(value_place, ": expected the pairing of vk_alpha_1 and vk_beta_2, got another value"));
}

}  // namespace

absl::StatusOr<Groth16Proof> ParseProofJson(std::string_view text) {
  const std::string place = "proof";
  PROOFMILL_ASSIGN_OR_RETURN(const Json object, ParseJsonText(place, text, kProofJsonBytesMax));
  PROOFMILL_RETURN_IF_ERROR(ExpectJsonObject(object, place));
  PROOFMILL_RETURN_IF_ERROR(CheckProtocolAndCurve(object, place));
  Groth16Proof proof;
  PROOFMILL_ASSIGN_OR_RETURN(proof.a, PointMember<Fq>(object, "pi_a", place));
  PROOFMILL_ASSIGN_OR_RETURN(proof.b, PointMember<Fq2>(object, "pi_b", place));
  PROOFMILL_ASSIGN_OR_RETURN(proof.c, PointMember<Fq>(object, "pi_c", place));
  return proof;
}

absl::StatusOr<std::vector<Fr>> ParsePublicJson(std::string_view text, std::optional<size_t> expected_count) {
  const std::string place = "public signals";
  PROOFMILL_ASSIGN_OR_RETURN(const Json array, ParseJsonText(place, text, kPublicJsonBytesMax));
  // rapidsnark writes null where it has no signals.
  const size_t count = array.is_null() ? 0 : array.size();
  if (!array.is_null()) {
    PROOFMILL_RETURN_IF_ERROR(ExpectJsonArray(array, expected_count.value_or(count), place));
  } else if (expected_count.value_or(0) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": expected an array of ", *expected_count, ", got null"));
  }
  std::vector<Fr> signals;
  signals.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    PROOFMILL_ASSIGN_OR_RETURN(const Fr signal, ParseField<Fr>(array[i], Element(place, i)));
    signals.push_back(signal);
  }
  return signals;
}

absl::StatusOr<VerificationKey> ParseVerificationKeyJson(std::string_view text,
                                                         const VerificationKeyJsonOptions& options) {
  const std::string place = "verification key";
  PROOFMILL_ASSIGN_OR_RETURN(const Json object, ParseJsonText(place, text, kVerificationKeyJsonBytesMax));
  PROOFMILL_RETURN_IF_ERROR(ExpectJsonObject(object, place));
  PROOFMILL_RETURN_IF_ERROR(CheckProtocolAndCurve(object, place));
  VerificationKey key;
  PROOFMILL_ASSIGN_OR_RETURN(key.alpha1, FinitePointMember<Fq>(object, "vk_alpha_1", place));
  PROOFMILL_ASSIGN_OR_RETURN(key.beta2, FinitePointMember<Fq2>(object, "vk_beta_2", place));
  PROOFMILL_ASSIGN_OR_RETURN(key.gamma2, FinitePointMember<Fq2>(object, "vk_gamma_2", place));
  PROOFMILL_ASSIGN_OR_RETURN(key.delta2, FinitePointMember<Fq2>(object, "vk_delta_2", place));
  PROOFMILL_ASSIGN_OR_RETURN(key.ic, ParseIc(object, place));
  PROOFMILL_RETURN_IF_ERROR(CheckAlphabeta(object, place, key, options));
  return key;
}

}  // namespace proofmill::engine
