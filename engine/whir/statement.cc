#include "engine/whir/statement.h"

#include "absl/strings/str_cat.h"

namespace proofmill::engine {
namespace {

constexpr uint32_t kBindingTag = 0x31574d50;  // "PMW1" as a little-endian word
constexpr uint32_t kStrictProfile = 1;

void AppendCanonical(const WhirElements& elements, std::vector<uint32_t>& out) {
  for (const kernels::BabyBear x : elements) out.push_back(x.ToCanonical());
}

}  // namespace

std::string WhirClaimsError(const WhirConfig& config, absl::Span<const WhirClaim> claims,
                            bool values_required) {
  const WhirParameters& p = config.parameters;
  // The pin's parameters do not know the number of claims.
  if (p.profile == WhirProfile::kStrict && claims.size() != p.num_claims) {
    return absl::StrCat("claims: expected ", p.num_claims, ", got ", claims.size());
  }
  const size_t degree = config.degree();
  const size_t coefficients = size_t{p.num_variables} * degree;
  for (size_t i = 0; i < claims.size(); ++i) {
    const size_t in_point = claims[i].point.size(), in_value = claims[i].value.size();
    if (in_point != coefficients) {
      return absl::StrCat("claim ", i, ": point: expected ", coefficients, " coefficients (", p.num_variables,
                          " coordinates of ", degree, "), got ", in_point);
    }
    if (in_value != degree && (in_value != 0 || values_required)) {
      return absl::StrCat("claim ", i, ": value: expected ", degree, " coefficients, got ", in_value);
    }
  }
  return "";
}

std::vector<uint32_t> WhirBinding(const WhirParameters& p, absl::Span<const WhirClaim> claims) {
  std::vector<uint32_t> out = {kBindingTag,
                               kStrictProfile,
                               static_cast<uint32_t>(p.constants),
                               p.extension_degree,
                               p.num_variables,
                               p.folding.constant ? 0u : 1u,
                               p.folding.first,
                               p.folding.rest,
                               p.log_inv_rate,
                               p.domain_reduction,
                               p.security_level,
                               p.max_pow_bits,
                               static_cast<uint32_t>(p.assumption),
                               static_cast<uint32_t>(claims.size())};
  for (const WhirClaim& claim : claims) {
    AppendCanonical(claim.point, out);
    AppendCanonical(claim.value, out);
  }
  return out;
}

WhirTranscript BeginWhirTranscript(const WhirConfig& config, absl::Span<const WhirClaim> claims,
                                   WhirTranscriptLog* log) {
  WhirTranscript transcript(kernels::Poseidon2Width16(config.parameters.constants), log);
  std::vector<uint32_t> elements = WhirDomainSeparator(config);
  if (config.parameters.profile == WhirProfile::kStrict) {
    const std::vector<uint32_t> binding = WhirBinding(config.parameters, claims);
    elements.insert(elements.end(), binding.begin(), binding.end());
  }
  for (const uint32_t element : elements) transcript.Observe(kernels::BabyBear::FromCanonical(element));
  return transcript;
}

}  // namespace proofmill::engine
