#include "engine/whir/bounds.h"

#include <algorithm>
#include <cmath>

namespace proofmill::engine {
namespace {

constexpr uint32_t kOodSamplesMax = 63;

const double kLog2Of10 = std::log2(10.0);

// The pin takes the bit length of p^degree, strict the floor of its logarithm: 123.6 and 154.5 bits in truth.
double FieldBits(bool strict, uint32_t degree) {
  if (strict) return degree == 4 ? 123 : 154;
  return degree == 4 ? 124 : 155;
}

}  // namespace

WhirBounds::WhirBounds(const WhirParameters& parameters)
    : assumption_(parameters.assumption),
      strict_(parameters.profile == WhirProfile::kStrict),
      security_level_(parameters.security_level),
      field_bits_(FieldBits(strict_, parameters.extension_degree)) {}

double WhirBounds::LogEta(double r) const {
  switch (assumption_) {
    case WhirAssumption::kUniqueDecoding:
      return 0;
    case WhirAssumption::kJohnsonBound:
      return -(0.5 * r + kLog2Of10 + 1);
    case WhirAssumption::kCapacityBound:
      return -(r + kLog2Of10 + 1);
  }
  return 0;
}

double WhirBounds::ListBits(double d, double r) const {
  switch (assumption_) {
    case WhirAssumption::kUniqueDecoding:
      return 0;
    case WhirAssumption::kJohnsonBound:
      return r / 2 - (1 + LogEta(r));
    case WhirAssumption::kCapacityBound:
      return d + r - LogEta(r);
  }
  return 0;
}

// The Johnson line is 2 (m + 1/2)^5 / (3 rho^1.5) * |domain| (Ben-Sasson et al., eprint 2025/2055), with m =
// 10 as the pin has it, or m = 20 as mutual correlated agreement needs it.
double WhirBounds::ProximityGap(double d, double r) const {
  const double m = strict_ ? 20 : 10;
  switch (assumption_) {
    case WhirAssumption::kUniqueDecoding:
      return field_bits_ - (d + r);
    case WhirAssumption::kJohnsonBound:
      return field_bits_ - (d + r + std::log2(2 * std::pow(m + 0.5, 5) / 3) + 1.5 * r);
    case WhirAssumption::kCapacityBound:
      return field_bits_ - (d + 2 * r - LogEta(r));
  }
  return 0;
}

double WhirBounds::LogMiss(double r) const {
  const double rate = std::exp2(-r), eta = std::exp2(LogEta(r));
  double delta = 0;
  switch (assumption_) {
    case WhirAssumption::kUniqueDecoding:
      delta = 0.5 * (1 - rate);
      break;
    case WhirAssumption::kJohnsonBound:
      delta = 1 - std::sqrt(rate) - eta;
      break;
    case WhirAssumption::kCapacityBound:
      delta = 1 - rate - eta;
      break;
  }
  return std::log2(1 - delta);
}

uint32_t WhirBounds::Queries(double bits, double r) const {
  return static_cast<uint32_t>(std::ceil(-bits / LogMiss(r)));
}

std::optional<uint32_t> WhirBounds::OodSamples(double d, double r) const {
  if (assumption_ == WhirAssumption::kUniqueDecoding) return 0;
  for (uint32_t k = 1; k <= kOodSamplesMax; ++k) {
    if (k * field_bits_ + 1 - (2 * ListBits(d, r) + d * k) >= security_level_) return k;
  }
  return std::nullopt;
}

double WhirBounds::Combination(double terms, double d, double r) const {
  return field_bits_ - (std::log2(terms) + ListBits(d, r) + 1);
}

uint32_t WhirBounds::PowBits(double have) const {
  const double missing = std::max(0.0, security_level_ - have);
  return static_cast<uint32_t>(strict_ ? std::ceil(missing) : std::floor(missing));
}

uint32_t WhirBounds::FoldPowBits(double d, double r) const {
  return PowBits(std::min(ProximityGap(d, r), field_bits_ - (ListBits(d, r) + 1)));
}

}  // namespace proofmill::engine
