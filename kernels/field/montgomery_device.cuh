// Device arithmetic under MontgomeryField: 256-bit numbers as eight 32-bit words, carry chains in PTX.
//
// The product keeps two accumulators, one for the partial products that start at an even word and one for
// those that start at an odd word, so that each row is two unbroken chains of 32 x 32 + 64 multiply-adds
// (IMAD.WIDE), which is what fills the pipe: 60 G products/s on an H200 (CUDA 13.0, 2026-11-30). One word
// of the Montgomery quotient is folded in per row (CIOS).

#ifndef PROOFMILL_KERNELS_FIELD_MONTGOMERY_DEVICE_CUH_
#define PROOFMILL_KERNELS_FIELD_MONTGOMERY_DEVICE_CUH_

#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels::device {

struct Words {
  uint32_t w[8];
};

__device__ __forceinline__ Words ToWords(const U256& x) {
  Words out;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out.w[2 * i] = static_cast<uint32_t>(x.limb[i]);
    out.w[2 * i + 1] = static_cast<uint32_t>(x.limb[i] >> 32);
  }
  return out;
}

__device__ __forceinline__ U256 FromWords(const Words& x) {
  U256 out;
#pragma unroll
  for (int i = 0; i < 4; ++i) out.limb[i] = uint64_t{x.w[2 * i]} | (uint64_t{x.w[2 * i + 1]} << 32);
  return out;
}

// Word i of a 64-bit limbed constant, foldable at compile time.
__host__ __device__ constexpr uint32_t ConstantWord(const U256& x, int i) {
  return static_cast<uint32_t>(x.limb[i / 2] >> (32 * (i % 2)));
}

// x + y mod 2^256; the callers' operands never overflow.
__device__ __forceinline__ Words AddWords(const Words& x, const Words& y) {
  Words r;
  asm("add.cc.u32 %0, %8, %16; addc.cc.u32 %1, %9, %17; addc.cc.u32 %2, %10, %18; addc.cc.u32 %3, %11, %19;"
      "addc.cc.u32 %4, %12, %20; addc.cc.u32 %5, %13, %21; addc.cc.u32 %6, %14, %22; addc.u32 %7, %15, %23;"
      : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3]), "=r"(r.w[4]), "=r"(r.w[5]), "=r"(r.w[6]),
        "=r"(r.w[7])
      : "r"(x.w[0]), "r"(x.w[1]), "r"(x.w[2]), "r"(x.w[3]), "r"(x.w[4]), "r"(x.w[5]), "r"(x.w[6]),
        "r"(x.w[7]), "r"(y.w[0]), "r"(y.w[1]), "r"(y.w[2]), "r"(y.w[3]), "r"(y.w[4]), "r"(y.w[5]),
        "r"(y.w[6]), "r"(y.w[7]));
  return r;
}

// x - y mod 2^256; borrow becomes 0xffffffff when x < y and 0 otherwise.
__device__ __forceinline__ Words SubWords(const Words& x, const Words& y, uint32_t& borrow) {
  Words r;
  asm("sub.cc.u32 %0, %9, %17; subc.cc.u32 %1, %10, %18; subc.cc.u32 %2, %11, %19; subc.cc.u32 %3, %12, %20;"
      "subc.cc.u32 %4, %13, %21; subc.cc.u32 %5, %14, %22; subc.cc.u32 %6, %15, %23; subc.cc.u32 %7, %16, "
      "%24;"
      "subc.u32 %8, 0, 0;"
      : "=r"(r.w[0]), "=r"(r.w[1]), "=r"(r.w[2]), "=r"(r.w[3]), "=r"(r.w[4]), "=r"(r.w[5]), "=r"(r.w[6]),
        "=r"(r.w[7]), "=r"(borrow)
      : "r"(x.w[0]), "r"(x.w[1]), "r"(x.w[2]), "r"(x.w[3]), "r"(x.w[4]), "r"(x.w[5]), "r"(x.w[6]),
        "r"(x.w[7]), "r"(y.w[0]), "r"(y.w[1]), "r"(y.w[2]), "r"(y.w[3]), "r"(y.w[4]), "r"(y.w[5]),
        "r"(y.w[6]), "r"(y.w[7]));
  return r;
}

template <typename Params>
__device__ __forceinline__ Words Modulus() {
  Words p;
  constexpr U256 modulus = Params::kModulus;
#pragma unroll
  for (int i = 0; i < 8; ++i) p.w[i] = ConstantWord(modulus, i);
  return p;
}

// x or x - p, whichever lies in [0, p). REQUIRES: x < 2p.
template <typename Params>
__device__ __forceinline__ Words SubtractModulusOnce(const Words& x) {
  uint32_t borrow;
  Words r = SubWords(x, Modulus<Params>(), borrow);
#pragma unroll
  for (int i = 0; i < 8; ++i) r.w[i] = borrow != 0 ? x.w[i] : r.w[i];
  return r;
}

template <typename Params>
__device__ __forceinline__ U256 AddMod(const U256& a, const U256& b) {
  return FromWords(SubtractModulusOnce<Params>(AddWords(ToWords(a), ToWords(b))));
}

template <typename Params>
__device__ __forceinline__ U256 SubMod(const U256& a, const U256& b) {
  uint32_t borrow;
  const Words difference = SubWords(ToWords(a), ToWords(b), borrow);
  Words p = Modulus<Params>();
#pragma unroll
  for (int i = 0; i < 8; ++i) p.w[i] &= borrow;
  return FromWords(AddWords(difference, p));
}

// acc[0..7] = x0*y, x2*y, x4*y, x6*y side by side.
__device__ __forceinline__ void MulRow(uint32_t* acc, uint32_t x0, uint32_t x2, uint32_t x4, uint32_t x6,
                                       uint32_t y) {
  asm("mul.lo.u32 %0, %8, %12; mul.hi.u32 %1, %8, %12; mul.lo.u32 %2, %9, %12; mul.hi.u32 %3, %9, %12;"
      "mul.lo.u32 %4, %10, %12; mul.hi.u32 %5, %10, %12; mul.lo.u32 %6, %11, %12; mul.hi.u32 %7, %11, %12;"
      : "=r"(acc[0]), "=r"(acc[1]), "=r"(acc[2]), "=r"(acc[3]), "=r"(acc[4]), "=r"(acc[5]), "=r"(acc[6]),
        "=r"(acc[7])
      : "r"(x0), "r"(x2), "r"(x4), "r"(x6), "r"(y));
}

// acc += the row x*y; the carry out of the top word is added to `above`.
__device__ __forceinline__ void MulAddRow(uint32_t* acc, uint32_t x0, uint32_t x2, uint32_t x4, uint32_t x6,
                                          uint32_t y, uint32_t& above) {
  asm("mad.lo.cc.u32 %0, %9, %13, %0; madc.hi.cc.u32 %1, %9, %13, %1; madc.lo.cc.u32 %2, %10, %13, %2;"
      "madc.hi.cc.u32 %3, %10, %13, %3; madc.lo.cc.u32 %4, %11, %13, %4; madc.hi.cc.u32 %5, %11, %13, %5;"
      "madc.lo.cc.u32 %6, %12, %13, %6; madc.hi.cc.u32 %7, %12, %13, %7; addc.u32 %8, %8, 0;"
      : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]), "+r"(acc[6]),
        "+r"(acc[7]), "+r"(above)
      : "r"(x0), "r"(x2), "r"(x4), "r"(x6), "r"(y));
}

// The same where the bounds of the caller exclude a carry out.
__device__ __forceinline__ void MulAddRow(uint32_t* acc, uint32_t x0, uint32_t x2, uint32_t x4, uint32_t x6,
                                          uint32_t y) {
  asm("mad.lo.cc.u32 %0, %8, %12, %0; madc.hi.cc.u32 %1, %8, %12, %1; madc.lo.cc.u32 %2, %9, %12, %2;"
      "madc.hi.cc.u32 %3, %9, %12, %3; madc.lo.cc.u32 %4, %10, %12, %4; madc.hi.cc.u32 %5, %10, %12, %5;"
      "madc.lo.cc.u32 %6, %11, %12, %6; madc.hi.u32 %7, %11, %12, %7;"
      : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]), "+r"(acc[6]),
        "+r"(acc[7])
      : "r"(x0), "r"(x2), "r"(x4), "r"(x6), "r"(y));
}

// acc += the end of the row x*y, from x6, x4 or x2 on; the carry out of the top word is added to `above`.
__device__ __forceinline__ void MulAddRowEnd(uint32_t* acc, uint32_t x6, uint32_t y, uint32_t& above) {
  asm("mad.lo.cc.u32 %0, %3, %4, %0; madc.hi.cc.u32 %1, %3, %4, %1; addc.u32 %2, %2, 0;"
      : "+r"(acc[6]), "+r"(acc[7]), "+r"(above)
      : "r"(x6), "r"(y));
}
__device__ __forceinline__ void MulAddRowEnd(uint32_t* acc, uint32_t x4, uint32_t x6, uint32_t y,
                                             uint32_t& above) {
  asm("mad.lo.cc.u32 %0, %5, %7, %0; madc.hi.cc.u32 %1, %5, %7, %1; madc.lo.cc.u32 %2, %6, %7, %2;"
      "madc.hi.cc.u32 %3, %6, %7, %3; addc.u32 %4, %4, 0;"
      : "+r"(acc[4]), "+r"(acc[5]), "+r"(acc[6]), "+r"(acc[7]), "+r"(above)
      : "r"(x4), "r"(x6), "r"(y));
}
__device__ __forceinline__ void MulAddRowEnd(uint32_t* acc, uint32_t x2, uint32_t x4, uint32_t x6, uint32_t y,
                                             uint32_t& above) {
  asm("mad.lo.cc.u32 %0, %7, %10, %0; madc.hi.cc.u32 %1, %7, %10, %1; madc.lo.cc.u32 %2, %8, %10, %2;"
      "madc.hi.cc.u32 %3, %8, %10, %3; madc.lo.cc.u32 %4, %9, %10, %4; madc.hi.cc.u32 %5, %9, %10, %5;"
      "addc.u32 %6, %6, 0;"
      : "+r"(acc[2]), "+r"(acc[3]), "+r"(acc[4]), "+r"(acc[5]), "+r"(acc[6]), "+r"(acc[7]), "+r"(above)
      : "r"(x2), "r"(x4), "r"(x6), "r"(y));
}

// The step between two rows, in one chain: even[0] += odd[1], then odd = (odd >> 64) + the row x*y with that
// carry.
__device__ __forceinline__ void ShiftMulAddRow(uint32_t& even0, uint32_t* odd, uint32_t x1, uint32_t x3,
                                               uint32_t x5, uint32_t x7, uint32_t y) {
  asm("add.cc.u32 %0, %0, %2; madc.lo.cc.u32 %1, %9, %13, %3; madc.hi.cc.u32 %2, %9, %13, %4;"
      "madc.lo.cc.u32 %3, %10, %13, %5; madc.hi.cc.u32 %4, %10, %13, %6; madc.lo.cc.u32 %5, %11, %13, %7;"
      "madc.hi.cc.u32 %6, %11, %13, %8; madc.lo.cc.u32 %7, %12, %13, 0; madc.hi.u32 %8, %12, %13, 0;"
      : "+r"(even0), "+r"(odd[0]), "+r"(odd[1]), "+r"(odd[2]), "+r"(odd[3]), "+r"(odd[4]), "+r"(odd[5]),
        "+r"(odd[6]), "+r"(odd[7])
      : "r"(x1), "r"(x3), "r"(x5), "r"(x7), "r"(y));
}

// The same step with the end of the row only, from x7, x5 or x3 on.
__device__ __forceinline__ void ShiftMulAddRowEnd(uint32_t& even0, uint32_t* odd, uint32_t x7, uint32_t y) {
  asm("add.cc.u32 %0, %0, %2; addc.cc.u32 %1, %3, 0; addc.cc.u32 %2, %4, 0; addc.cc.u32 %3, %5, 0;"
      "addc.cc.u32 %4, %6, 0; addc.cc.u32 %5, %7, 0; addc.cc.u32 %6, %8, 0; madc.lo.cc.u32 %7, %9, %10, 0;"
      "madc.hi.u32 %8, %9, %10, 0;"
      : "+r"(even0), "+r"(odd[0]), "+r"(odd[1]), "+r"(odd[2]), "+r"(odd[3]), "+r"(odd[4]), "+r"(odd[5]),
        "+r"(odd[6]), "+r"(odd[7])
      : "r"(x7), "r"(y));
}
__device__ __forceinline__ void ShiftMulAddRowEnd(uint32_t& even0, uint32_t* odd, uint32_t x5, uint32_t x7,
                                                  uint32_t y) {
  asm("add.cc.u32 %0, %0, %2; addc.cc.u32 %1, %3, 0; addc.cc.u32 %2, %4, 0; addc.cc.u32 %3, %5, 0;"
      "addc.cc.u32 %4, %6, 0; madc.lo.cc.u32 %5, %9, %11, %7; madc.hi.cc.u32 %6, %9, %11, %8;"
      "madc.lo.cc.u32 %7, %10, %11, 0; madc.hi.u32 %8, %10, %11, 0;"
      : "+r"(even0), "+r"(odd[0]), "+r"(odd[1]), "+r"(odd[2]), "+r"(odd[3]), "+r"(odd[4]), "+r"(odd[5]),
        "+r"(odd[6]), "+r"(odd[7])
      : "r"(x5), "r"(x7), "r"(y));
}
__device__ __forceinline__ void ShiftMulAddRowEnd(uint32_t& even0, uint32_t* odd, uint32_t x3, uint32_t x5,
                                                  uint32_t x7, uint32_t y) {
  asm("add.cc.u32 %0, %0, %2; addc.cc.u32 %1, %3, 0; addc.cc.u32 %2, %4, 0; madc.lo.cc.u32 %3, %9, %12, %5;"
      "madc.hi.cc.u32 %4, %9, %12, %6; madc.lo.cc.u32 %5, %10, %12, %7; madc.hi.cc.u32 %6, %10, %12, %8;"
      "madc.lo.cc.u32 %7, %11, %12, 0; madc.hi.u32 %8, %11, %12, 0;"
      : "+r"(even0), "+r"(odd[0]), "+r"(odd[1]), "+r"(odd[2]), "+r"(odd[3]), "+r"(odd[4]), "+r"(odd[5]),
        "+r"(odd[6]), "+r"(odd[7])
      : "r"(x3), "r"(x5), "r"(x7), "r"(y));
}

// even and odd += a * b for one word b of the multiplier; first makes room by a shift of one word unless
// kFirst.
template <bool kFirst>
__device__ __forceinline__ void ProductRow(uint32_t* even, uint32_t* odd, const Words& a, uint32_t b) {
  if constexpr (kFirst) {
    MulRow(odd, a.w[1], a.w[3], a.w[5], a.w[7], b);
    MulRow(even, a.w[0], a.w[2], a.w[4], a.w[6], b);
  } else {
    ShiftMulAddRow(even[0], odd, a.w[1], a.w[3], a.w[5], a.w[7], b);
    MulAddRow(even, a.w[0], a.w[2], a.w[4], a.w[6], b, odd[7]);
  }
}

// One word of the quotient. On return even[0] is 0, so that the value is (odd + (even >> 32)) with the roles
// of the two swapped.
template <typename Params>
__device__ __forceinline__ void QuotientRow(uint32_t* even, uint32_t* odd) {
  constexpr U256 p = Params::kModulus;
  const uint32_t m = even[0] * static_cast<uint32_t>(Params::kNegInverse);
  MulAddRow(odd, ConstantWord(p, 1), ConstantWord(p, 3), ConstantWord(p, 5), ConstantWord(p, 7), m);
  MulAddRow(even, ConstantWord(p, 0), ConstantWord(p, 2), ConstantWord(p, 4), ConstantWord(p, 6), m, odd[7]);
}

// even + (odd >> 32), reduced. REQUIRES: below 2p.
template <typename Params>
__device__ __forceinline__ U256 JoinAccumulators(const uint32_t* even, const uint32_t* odd) {
  Words sum;
  asm("add.cc.u32 %0, %8, %16; addc.cc.u32 %1, %9, %17; addc.cc.u32 %2, %10, %18; addc.cc.u32 %3, %11, %19;"
      "addc.cc.u32 %4, %12, %20; addc.cc.u32 %5, %13, %21; addc.cc.u32 %6, %14, %22; addc.u32 %7, %15, 0;"
      : "=r"(sum.w[0]), "=r"(sum.w[1]), "=r"(sum.w[2]), "=r"(sum.w[3]), "=r"(sum.w[4]), "=r"(sum.w[5]),
        "=r"(sum.w[6]), "=r"(sum.w[7])
      : "r"(even[0]), "r"(even[1]), "r"(even[2]), "r"(even[3]), "r"(even[4]), "r"(even[5]), "r"(even[6]),
        "r"(even[7]), "r"(odd[1]), "r"(odd[2]), "r"(odd[3]), "r"(odd[4]), "r"(odd[5]), "r"(odd[6]),
        "r"(odd[7]));
  return FromWords(SubtractModulusOnce<Params>(sum));
}

// a * b * 2^-256 mod p, fully reduced. REQUIRES: p < 2^254, a * b <= 4 p^2 (the sum before the last
// subtraction is below p + a * b / 2^256, and p / 2^256 < 0.2).
template <typename Params>
__device__ __forceinline__ U256 MulWords(const Words& a, const Words& b) {
  uint32_t even[8], odd[8];
  ProductRow<true>(even, odd, a, b.w[0]);
  QuotientRow<Params>(even, odd);
#pragma unroll
  for (int i = 1; i < 7; i += 2) {
    ProductRow<false>(odd, even, a, b.w[i]);
    QuotientRow<Params>(odd, even);
    ProductRow<false>(even, odd, a, b.w[i + 1]);
    QuotientRow<Params>(even, odd);
  }
  ProductRow<false>(odd, even, a, b.w[7]);
  QuotientRow<Params>(odd, even);
  return JoinAccumulators<Params>(even, odd);
}
template <typename Params>
__device__ __forceinline__ U256 MulMod(const U256& a, const U256& b) {
  return MulWords<Params>(ToWords(a), ToWords(b));
}

// a * a * 2^-256 mod p, fully reduced, with 36 partial products for the 64 of a product: row i takes word i
// once and the words above it doubled, since the rows before have taken those below it. REQUIRES: p < 2^254
// and a <= p: the accumulators stay below 3 p 2^32.
template <typename Params>
__device__ __forceinline__ U256 SquareMod(const U256& number) {
  const Words a = ToWords(number);
  Words once, twice;  // words of 2a, without and with the bit from the word below
  once.w[0] = twice.w[0] = 0;
#pragma unroll
  for (int i = 1; i < 8; ++i) {
    once.w[i] = a.w[i] << 1;
    twice.w[i] = __funnelshift_l(a.w[i - 1], a.w[i], 1);
  }
  uint32_t even[8], odd[8];
  MulRow(odd, once.w[1], twice.w[3], twice.w[5], twice.w[7], a.w[0]);
  MulRow(even, a.w[0], twice.w[2], twice.w[4], twice.w[6], a.w[0]);
  QuotientRow<Params>(even, odd);
  ShiftMulAddRow(odd[0], even, a.w[1], twice.w[3], twice.w[5], twice.w[7], a.w[1]);
  MulAddRowEnd(odd, once.w[2], twice.w[4], twice.w[6], a.w[1], even[7]);
  QuotientRow<Params>(odd, even);
  ShiftMulAddRowEnd(even[0], odd, once.w[3], twice.w[5], twice.w[7], a.w[2]);
  MulAddRowEnd(even, a.w[2], twice.w[4], twice.w[6], a.w[2], odd[7]);
  QuotientRow<Params>(even, odd);
  ShiftMulAddRowEnd(odd[0], even, a.w[3], twice.w[5], twice.w[7], a.w[3]);
  MulAddRowEnd(odd, once.w[4], twice.w[6], a.w[3], even[7]);
  QuotientRow<Params>(odd, even);
  ShiftMulAddRowEnd(even[0], odd, once.w[5], twice.w[7], a.w[4]);
  MulAddRowEnd(even, a.w[4], twice.w[6], a.w[4], odd[7]);
  QuotientRow<Params>(even, odd);
  ShiftMulAddRowEnd(odd[0], even, a.w[5], twice.w[7], a.w[5]);
  MulAddRowEnd(odd, once.w[6], a.w[5], even[7]);
  QuotientRow<Params>(odd, even);
  ShiftMulAddRowEnd(even[0], odd, once.w[7], a.w[6]);
  MulAddRowEnd(even, a.w[6], a.w[6], odd[7]);
  QuotientRow<Params>(even, odd);
  ShiftMulAddRowEnd(odd[0], even, a.w[7], a.w[7]);
  QuotientRow<Params>(odd, even);
  return JoinAccumulators<Params>(even, odd);
}

// Adds c * d to what ProductRow made for the same word of the multipliers.
__device__ __forceinline__ void AddProductRow(uint32_t* even, uint32_t* odd, const Words& c, uint32_t d) {
  MulAddRow(odd, c.w[1], c.w[3], c.w[5], c.w[7], d);
  MulAddRow(even, c.w[0], c.w[2], c.w[4], c.w[6], d, odd[7]);
}

// (a * b + c * d) * 2^-256 mod p, fully reduced, with one reduction for both products. REQUIRES: p < 2^254
// and all four at most p: the accumulators stay below 3 p 2^32 and the result before the last subtraction
// below 1.4 p.
template <typename Params>
__device__ __forceinline__ U256 DotMod(const Words& a, const Words& b, const Words& c, const Words& d) {
  uint32_t even[8], odd[8];
  ProductRow<true>(even, odd, a, b.w[0]);
  AddProductRow(even, odd, c, d.w[0]);
  QuotientRow<Params>(even, odd);
#pragma unroll
  for (int i = 1; i < 7; i += 2) {
    ProductRow<false>(odd, even, a, b.w[i]);
    AddProductRow(odd, even, c, d.w[i]);
    QuotientRow<Params>(odd, even);
    ProductRow<false>(even, odd, a, b.w[i + 1]);
    AddProductRow(even, odd, c, d.w[i + 1]);
    QuotientRow<Params>(even, odd);
  }
  ProductRow<false>(odd, even, a, b.w[7]);
  AddProductRow(odd, even, c, d.w[7]);
  QuotientRow<Params>(odd, even);
  return JoinAccumulators<Params>(even, odd);
}

// (a * b - c * d) * 2^-256 mod p.
template <typename Params>
__device__ __forceinline__ U256 DifferenceOfProducts(const U256& a, const U256& b, const U256& c,
                                                     const U256& d) {
  uint32_t unused;
  return DotMod<Params>(ToWords(a), ToWords(b), SubWords(Modulus<Params>(), ToWords(c), unused), ToWords(d));
}

// (a0 + a1 u) * (b0 + b1 u) with u^2 = -1: two sums of two products, 400 multiply-adds where three products
// of Karatsuba's take 408 and five additions more.
template <typename Params>
__device__ __forceinline__ void MulExtension(const U256& a0, const U256& a1, const U256& b0, const U256& b1,
                                             U256& c0, U256& c1) {
  uint32_t unused;
  const Words x0 = ToWords(a0), x1 = ToWords(a1), y0 = ToWords(b0), y1 = ToWords(b1);
  c0 = DotMod<Params>(x0, y0, SubWords(Modulus<Params>(), x1, unused), y1);
  c1 = DotMod<Params>(x0, y1, x1, y0);
}

// (a0 + a1 u)^2 = (a0 + a1)(a0 - a1) + 2 a0 a1 u, the factors below 2p and not reduced.
template <typename Params>
__device__ __forceinline__ void SquareExtension(const U256& a0, const U256& a1, U256& c0, U256& c1) {
  uint32_t unused;
  const Words x0 = ToWords(a0), x1 = ToWords(a1);
  c0 = MulWords<Params>(AddWords(x0, x1), AddWords(x0, SubWords(Modulus<Params>(), x1, unused)));
  c1 = MulWords<Params>(AddWords(x0, x0), x1);
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_FIELD_MONTGOMERY_DEVICE_CUH_
