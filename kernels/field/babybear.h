// BabyBear, the prime field of p = 2^31 - 2^27 + 1. Usable on host and device.
//
// Invariant: an element x is kept as x * R mod p, R = 2^32, fully reduced (below p). "Canonical" is the
// integer x in [0, p), "Montgomery" the stored one. Nothing here branches on the value of an element, except
// functions that end in Vartime.

#ifndef PROOFMILL_KERNELS_FIELD_BABYBEAR_H_
#define PROOFMILL_KERNELS_FIELD_BABYBEAR_H_

#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels {

inline constexpr uint32_t kBabyBearP = 0x78000001u;
inline constexpr uint32_t kBabyBearPInverse = 0x88000001u;  // p^-1 mod 2^32
static_assert(uint32_t{kBabyBearP * kBabyBearPInverse} == 1u);
inline constexpr uint32_t kBabyBearR = 268435454u;    // 2^32 mod p
inline constexpr uint32_t kBabyBearR2 = 1172168163u;  // 2^64 mod p
static_assert((uint64_t{1} << 32) % kBabyBearP == kBabyBearR);
static_assert(uint64_t{kBabyBearR} * kBabyBearR % kBabyBearP == kBabyBearR2);
inline constexpr uint32_t kBabyBearTwoAdicity = 27;

// x / 2^32 mod p, fully reduced. REQUIRES: x < p * 2^32.
PROOFMILL_HD constexpr uint32_t BabyBearReduce(uint64_t x) {
  const uint32_t quotient = static_cast<uint32_t>(x) * kBabyBearPInverse;
  const auto high = static_cast<uint32_t>(x >> 32);
  const auto correction = static_cast<uint32_t>((uint64_t{quotient} * kBabyBearP) >> 32);
  return high - correction + (high < correction ? kBabyBearP : 0u);
}

class BabyBear {
 public:
  // Zero.
  constexpr BabyBear() = default;

  static PROOFMILL_HD constexpr BabyBear Zero() { return BabyBear(); }
  static PROOFMILL_HD constexpr BabyBear One() { return FromMontgomery(kBabyBearR); }
  // REQUIRES: x < p.
  static PROOFMILL_HD constexpr BabyBear FromCanonical(uint32_t x) {
    return FromMontgomery(BabyBearReduce(uint64_t{x} * kBabyBearR2));
  }
  // Takes x * R as it is. REQUIRES: montgomery < p.
  static PROOFMILL_HD constexpr BabyBear FromMontgomery(uint32_t montgomery) {
    BabyBear out;
    out.value_ = montgomery;
    return out;
  }
  // Whether an integer from outside is below p, so that FromCanonical or FromMontgomery may take it.
  static PROOFMILL_HD constexpr bool IsCanonical(uint64_t x) { return x < kBabyBearP; }

  PROOFMILL_HD constexpr uint32_t ToCanonical() const { return BabyBearReduce(value_); }
  PROOFMILL_HD constexpr uint32_t montgomery() const { return value_; }
  PROOFMILL_HD constexpr bool IsZero() const { return value_ == 0; }

  friend PROOFMILL_HD constexpr bool operator==(BabyBear a, BabyBear b) { return a.value_ == b.value_; }
  friend PROOFMILL_HD constexpr bool operator!=(BabyBear a, BabyBear b) { return a.value_ != b.value_; }

  friend PROOFMILL_HD constexpr BabyBear operator+(BabyBear a, BabyBear b) {
    const uint32_t sum = a.value_ + b.value_;
    return FromMontgomery(sum - (sum >= kBabyBearP ? kBabyBearP : 0u));
  }
  friend PROOFMILL_HD constexpr BabyBear operator-(BabyBear a, BabyBear b) {
    return FromMontgomery(a.value_ - b.value_ + (a.value_ < b.value_ ? kBabyBearP : 0u));
  }
  friend PROOFMILL_HD constexpr BabyBear operator*(BabyBear a, BabyBear b) {
    return FromMontgomery(BabyBearReduce(uint64_t{a.value_} * b.value_));
  }
  PROOFMILL_HD constexpr BabyBear operator-() const { return Zero() - *this; }
  PROOFMILL_HD constexpr BabyBear& operator+=(BabyBear other) { return *this = *this + other; }
  PROOFMILL_HD constexpr BabyBear& operator-=(BabyBear other) { return *this = *this - other; }
  PROOFMILL_HD constexpr BabyBear& operator*=(BabyBear other) { return *this = *this * other; }

  // Time depends on the exponent alone.
  PROOFMILL_HD constexpr BabyBear Pow(uint64_t exponent) const {
    BabyBear out = One(), power = *this;
    for (; exponent != 0; exponent >>= 1) {
      if ((exponent & 1) != 0) out *= power;
      power *= power;
    }
    return out;
  }
  // The inverse, and zero of zero.
  PROOFMILL_HD constexpr BabyBear Inverse() const { return Pow(kBabyBearP - 2); }

 private:
  uint32_t value_ = 0;
};
static_assert(sizeof(BabyBear) == 4);

// The generator of the subgroup of order 2^log2_n: 0x1a427a41^(2^(27 - log2_n)). REQUIRES: log2_n <= 27.
PROOFMILL_HD constexpr BabyBear BabyBearRootOfUnity(uint32_t log2_n) {
  BabyBear root = BabyBear::FromCanonical(0x1a427a41u);
  for (uint32_t i = log2_n; i < kBabyBearTwoAdicity; ++i) root *= root;
  return root;
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_BABYBEAR_H_
