// The error terms of WHIR's rounds, in bits, for one assumption and profile. d: log2 of a polynomial's
// degree, r: log2 of the inverse rate. Doubles are enough: no rounding of theirs comes near an integer that
// would be decided by it.
//
// Thread safety: plain data.

#ifndef PROOFMILL_ENGINE_WHIR_BOUNDS_H_
#define PROOFMILL_ENGINE_WHIR_BOUNDS_H_

#include <cstdint>
#include <optional>

#include "engine/whir/parameters.h"

namespace proofmill::engine {

class WhirBounds {
 public:
  explicit WhirBounds(const WhirParameters& parameters);

  // Log2 of the size of a list of codewords within the distance of the assumption.
  double ListBits(double d, double r) const;
  // Bits lost by no query: log2(1 - delta), negative.
  double LogMiss(double r) const;
  // Queries that give `bits` of security.
  uint32_t Queries(double bits, double r) const;
  // Out-of-domain samples that single out one codeword; nothing if no number below 64 does.
  std::optional<uint32_t> OodSamples(double d, double r) const;
  // Security of a random combination of `terms` constraints.
  double Combination(double terms, double d, double r) const;
  // Proof-of-work bits that lift `have` bits to the security level.
  uint32_t PowBits(double have) const;
  // Those of one folding challenge.
  uint32_t FoldPowBits(double d, double r) const;
  // Bits of the extension field, as the profile counts them.
  double field_bits() const { return field_bits_; }

 private:
  double LogEta(double r) const;
  double ProximityGap(double d, double r) const;

  const WhirAssumption assumption_;
  const bool strict_;
  const double security_level_;
  const double field_bits_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_BOUNDS_H_
