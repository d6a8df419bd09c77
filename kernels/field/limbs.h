// 256-bit unsigned integers of four 64-bit limbs, least significant first, and the carry arithmetic under the
// Montgomery fields. Usable on host and device. Nothing here depends on a modulus.

#ifndef PROOFMILL_KERNELS_FIELD_LIMBS_H_
#define PROOFMILL_KERNELS_FIELD_LIMBS_H_

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define PROOFMILL_HD __host__ __device__
#else
#define PROOFMILL_HD
#endif

namespace proofmill::kernels {

__extension__ typedef unsigned __int128 Uint128;

struct U256 {
  uint64_t limb[4] = {0, 0, 0, 0};

  friend PROOFMILL_HD constexpr bool operator==(const U256& a, const U256& b) {
    return ((a.limb[0] ^ b.limb[0]) | (a.limb[1] ^ b.limb[1]) | (a.limb[2] ^ b.limb[2]) |
            (a.limb[3] ^ b.limb[3])) == 0;
  }
  friend PROOFMILL_HD constexpr bool operator!=(const U256& a, const U256& b) { return !(a == b); }

  PROOFMILL_HD constexpr bool IsZero() const { return (limb[0] | limb[1] | limb[2] | limb[3]) == 0; }
  // Bit i, i < 256, as 0 or 1.
  PROOFMILL_HD constexpr uint64_t Bit(size_t i) const { return (limb[i / 64] >> (i % 64)) & 1; }
};
static_assert(sizeof(U256) == 32);

// a + b + carry; carry in and out is 0 or 1.
PROOFMILL_HD constexpr uint64_t AddCarry(uint64_t a, uint64_t b, uint64_t& carry) {
  const Uint128 sum = Uint128{a} + b + carry;
  carry = static_cast<uint64_t>(sum >> 64);
  return static_cast<uint64_t>(sum);
}

// a - b - borrow; borrow in and out is 0 or 1.
PROOFMILL_HD constexpr uint64_t SubBorrow(uint64_t a, uint64_t b, uint64_t& borrow) {
  const Uint128 difference = Uint128{a} - b - borrow;
  borrow = static_cast<uint64_t>(difference >> 64) & 1;
  return static_cast<uint64_t>(difference);
}

// Low word of a * b + c + carry; the high word goes to carry. Never overflows.
PROOFMILL_HD constexpr uint64_t MulAddCarry(uint64_t a, uint64_t b, uint64_t c, uint64_t& carry) {
  const Uint128 t = Uint128{a} * b + c + carry;
  carry = static_cast<uint64_t>(t >> 64);
  return static_cast<uint64_t>(t);
}

// out = a + b mod 2^256; returns the carry.
PROOFMILL_HD constexpr uint64_t Add(const U256& a, const U256& b, U256& out) {
  uint64_t carry = 0;
  for (int i = 0; i < 4; ++i) out.limb[i] = AddCarry(a.limb[i], b.limb[i], carry);
  return carry;
}

// out = a - b mod 2^256; returns the borrow, which is 1 exactly when a < b.
PROOFMILL_HD constexpr uint64_t Sub(const U256& a, const U256& b, U256& out) {
  uint64_t borrow = 0;
  for (int i = 0; i < 4; ++i) out.limb[i] = SubBorrow(a.limb[i], b.limb[i], borrow);
  return borrow;
}

PROOFMILL_HD constexpr bool Less(const U256& a, const U256& b) {
  U256 unused;
  return Sub(a, b, unused) != 0;
}

// The value of 32 bytes, least significant first (as in .zkey and .wtns files).
constexpr U256 U256FromLittleEndian(const uint8_t* bytes) {
  U256 out;
  for (size_t i = 0; i < 32; ++i) out.limb[i / 8] |= uint64_t{bytes[i]} << (8 * (i % 8));
  return out;
}
constexpr void U256ToLittleEndian(const U256& x, uint8_t* bytes) {
  for (size_t i = 0; i < 32; ++i) bytes[i] = static_cast<uint8_t>(x.limb[i / 8] >> (8 * (i % 8)));
}
// The value of 32 bytes, most significant first (as in EVM calldata and the gRPC API).
constexpr U256 U256FromBigEndian(const uint8_t* bytes) {
  U256 out;
  for (size_t i = 0; i < 32; ++i) out.limb[i / 8] |= uint64_t{bytes[31 - i]} << (8 * (i % 8));
  return out;
}
constexpr void U256ToBigEndian(const U256& x, uint8_t* bytes) {
  for (size_t i = 0; i < 32; ++i) bytes[31 - i] = static_cast<uint8_t>(x.limb[i / 8] >> (8 * (i % 8)));
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_LIMBS_H_
