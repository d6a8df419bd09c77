// Constants in limbs of 52 bits, computed by the compiler: for montgomery_ifma.h and
// montgomery_fma.h.

#ifndef PROOFMILL_KERNELS_FIELD_DIGITS52_H_
#define PROOFMILL_KERNELS_FIELD_DIGITS52_H_

#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels::digits52 {

inline constexpr int kLimbs = 5;
inline constexpr int kLimbBits = 52;
inline constexpr uint64_t kLimbMask = (uint64_t{1} << kLimbBits) - 1;

// A number of at most 520 bits, least significant limb first.
struct Digits {
  uint64_t limb[2 * kLimbs] = {};
};

consteval Digits ToDigits(const U256& x) {
  Digits out;
  for (int i = 0; i < 256; ++i) {
    out.limb[i / kLimbBits] |= ((x.limb[i / 64] >> (i % 64)) & 1) << (i % kLimbBits);
  }
  return out;
}
// k * x * y. REQUIRES: it is below 2^520, and x and y have five limbs.
consteval Digits MultiplyDigits(const Digits& x, const Digits& y, uint32_t k) {
  Digits out;
  for (int i = 0; i < kLimbs; ++i) {
    Uint128 carry = 0;
    for (int j = 0; i + j < 2 * kLimbs; ++j) {
      const Uint128 product = j < kLimbs ? Uint128{x.limb[i]} * y.limb[j] : Uint128{0};
      const Uint128 sum = product * k + out.limb[i + j] + carry;
      out.limb[i + j] = static_cast<uint64_t>(sum) & kLimbMask;
      carry = sum >> kLimbBits;
    }
  }
  return out;
}
template <typename Params>
consteval Digits MultipleOfModulus(uint32_t k) {
  return MultiplyDigits(ToDigits(Params::kModulus), Digits{{1}}, k);
}
template <typename Params>
consteval Digits MultipleOfSquaredModulus(uint32_t k) {
  return MultiplyDigits(ToDigits(Params::kModulus), ToDigits(Params::kModulus), k);
}
// 2^260 - p.
template <typename Params>
consteval Digits ComplementOfModulus() {
  Digits out = ToDigits(Params::kModulus);
  for (int i = 0; i < kLimbs; ++i) out.limb[i] = (out.limb[i] ^ kLimbMask) + static_cast<uint64_t>(i == 0);
  return out;  // the lowest limb of p is not zero: no carry
}
// 2^e mod p.
template <typename Params>
consteval U256 PowerOfTwoModulo(uint32_t e) {
  U256 out{{1, 0, 0, 0}};
  for (uint32_t i = 0; i < e; ++i) {
    U256 reduced;
    Add(out, out, out);
    if (Sub(out, Params::kModulus, reduced) == 0) out = reduced;
  }
  return out;
}
// floor(2^304 / p) < 2^52: the factor that turns the top limb of a number into its quotient by p.
template <typename Params>
consteval uint64_t QuotientFactor() {
  uint64_t quotient = 0;
  U256 rest{{1, 0, 0, 0}};
  for (int i = 0; i < 304; ++i) {
    U256 reduced;
    Add(rest, rest, rest);
    const bool fits = Sub(rest, Params::kModulus, reduced) == 0;
    if (fits) rest = reduced;
    quotient = quotient << 1 | static_cast<uint64_t>(fits);
  }
  return quotient;
}

}  // namespace proofmill::kernels::digits52

#endif  // PROOFMILL_KERNELS_FIELD_DIGITS52_H_
