// Numbers as signed digits, few of which differ from zero: the exponents and scalars of chains of squarings
// and doublings, in groups where the inverse costs nothing.

#ifndef PROOFMILL_KERNELS_CURVE_NON_ADJACENT_FORM_H_
#define PROOFMILL_KERNELS_CURVE_NON_ADJACENT_FORM_H_

#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// A number as digits that are 0 or odd and below 2^(width - 1) in absolute value, of which no `width`
// neighbours hold two that differ from 0; least significant first. Any 128-bit number, any width from 2 to 7.
struct NonAdjacentForm {
  static constexpr int kDigitsMax = 129;
  int8_t digit[kDigitsMax] = {};
  int length = 0;

  constexpr NonAdjacentForm() = default;
  constexpr NonAdjacentForm(Uint128 n, int width) {
    const int modulus = 1 << width;
    while (n != 0) {
      int d = 0;
      if (n % 2 != 0) {
        d = static_cast<int>(n % static_cast<Uint128>(modulus));
        if (d >= modulus / 2) d -= modulus;
      }
      // (n - d) / 2 with n and d both odd or d zero, so that nothing goes past the top.
      n = d < 0 ? n / 2 + static_cast<Uint128>(-d / 2) + 1 : n / 2 - static_cast<Uint128>(d / 2);
      digit[length++] = static_cast<int8_t>(d);
    }
  }
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CURVE_NON_ADJACENT_FORM_H_
