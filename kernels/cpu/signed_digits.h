// Scalars as signed digits to base 2^window_bits: s = sum of d_w * 2^(w * window_bits) with |d_w| at most
// 2^(window_bits - 1). Half as many buckets or table entries serve, because -P costs nothing. Made on the
// host; device code takes it by value.

#ifndef PROOFMILL_KERNELS_CPU_SIGNED_DIGITS_H_
#define PROOFMILL_KERNELS_CPU_SIGNED_DIGITS_H_

#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// The number of bits of x without leading zeros.
inline uint32_t BitLength(const U256& x) {
  for (uint32_t i = 4; i-- > 0;) {
    if (x.limb[i] != 0) return 64 * i + 64 - static_cast<uint32_t>(__builtin_clzll(x.limb[i]));
  }
  return 0;
}

// Adding 2^(window_bits - 1) at every window but the top one turns the digits into plain bit fields with a
// fixed offset, so that each can be had without the carries from below.
class SignedDigits {
 public:
  // For scalars of at most `scalar_bits` bits. REQUIRES: 2 <= window_bits <= 30, scalar_bits <= 255.
  SignedDigits(uint32_t window_bits, uint32_t scalar_bits)
      : window_bits_(window_bits), windows_(scalar_bits / window_bits + 1) {
    for (uint32_t w = 0; w + 1 < windows_; ++w) {
      const uint32_t bit = w * window_bits + window_bits - 1;
      offset_.limb[bit / 64] |= uint64_t{1} << (bit % 64);
    }
  }

  PROOFMILL_HD uint32_t window_bits() const { return window_bits_; }
  PROOFMILL_HD uint32_t windows() const { return windows_; }
  // The largest absolute value of a digit.
  PROOFMILL_HD uint32_t digit_max() const { return uint32_t{1} << (window_bits_ - 1); }

  // The scalar with its offset, from which Digit() reads: worth keeping when all digits are wanted.
  PROOFMILL_HD U256 Recode(const U256& scalar) const {
    U256 out;
    Add(scalar, offset_, out);  // below 2^256: scalar < 2^255, and the offset is below 2/3 of 2^scalar_bits
    return out;
  }

  // Digit w. It is zero if the window begins above bit BitLength(scalar) + 1: the windows below hold every
  // number up to 2^(bit - 1) * (1 - 1 / (2^window_bits - 1)), so shorter scalars do not carry into it.
  PROOFMILL_HD int32_t DigitOfRecoded(const U256& recoded, uint32_t w) const {
    return DigitOfField(FieldOfRecoded(recoded, w), w);
  }
  PROOFMILL_HD int32_t Digit(const U256& scalar, uint32_t w) const {
    return DigitOfRecoded(Recode(scalar), w);
  }

  // The bits of window w in a recoded scalar, below 2^window_bits, and the digit that they stand for.
  PROOFMILL_HD uint32_t FieldOfRecoded(const U256& recoded, uint32_t w) const {
    const uint32_t bit = w * window_bits_;
    const uint32_t limb = bit / 64;
    const uint32_t shift = bit % 64;
    uint64_t field = recoded.limb[limb] >> shift;
    if (shift + window_bits_ > 64 && limb < 3) field |= recoded.limb[limb + 1] << (64 - shift);
    return static_cast<uint32_t>(field & ((uint64_t{1} << window_bits_) - 1));
  }
  PROOFMILL_HD int32_t DigitOfField(uint32_t field, uint32_t w) const {
    const int32_t offset = w + 1 < windows_ ? static_cast<int32_t>(digit_max()) : 0;
    return static_cast<int32_t>(field) - offset;
  }

 private:
  const uint32_t window_bits_;
  const uint32_t windows_;
  U256 offset_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_SIGNED_DIGITS_H_
