// Prime fields of up to 254 bits in Montgomery form, R = 2^256. Usable on host and device.
//
// Invariant: an element x is kept as x * R mod p, fully reduced (below p). Every function takes and gives
// such elements. Words used everywhere: "plain" is the integer in [0, p); "Montgomery" is the stored integer
// x * R mod p. Nothing here branches on the value of an element, except functions that end in Vartime.

#ifndef PROOFMILL_KERNELS_FIELD_MONTGOMERY_H_
#define PROOFMILL_KERNELS_FIELD_MONTGOMERY_H_

#include <cstdint>

#include "kernels/field/divsteps_host.h"
#include "kernels/field/limbs.h"
#if defined(__CUDACC__)
#include "kernels/field/divsteps.cuh"
#include "kernels/field/montgomery_device.cuh"
#endif
#if defined(__x86_64__)
#include "kernels/field/montgomery_x86.h"
#endif

namespace proofmill::kernels {

// In bodies the modulus is copied to a local constant: device code may not refer to a static member of the
// class itself.
//
// Params gives: static constexpr U256 kModulus (odd, below 2^254), kR (2^256 mod p), kR2 (2^512 mod p);
// uint64_t kNegInverse = -p^-1 mod 2^64.
template <typename Params>
class MontgomeryField {
 public:
  static constexpr U256 kModulus = Params::kModulus;
  static_assert(kModulus.limb[3] >> 62 == 0, "two elements must add up below 2^255");
  static_assert(uint64_t{Params::kModulus.limb[0] * Params::kNegInverse} == ~uint64_t{0}, "-p^-1 is wrong");

  // Zero.
  constexpr MontgomeryField() = default;

  static PROOFMILL_HD constexpr MontgomeryField Zero() { return MontgomeryField(); }
  static PROOFMILL_HD constexpr MontgomeryField One() {
    constexpr U256 r = Params::kR;
    return FromMontgomery(r);
  }
  // REQUIRES: plain < p.
  static PROOFMILL_HD constexpr MontgomeryField FromPlain(const U256& plain) {
    constexpr U256 r2 = Params::kR2;
    return FromMontgomery(plain) * FromMontgomery(r2);
  }
  static PROOFMILL_HD constexpr MontgomeryField FromUint64(uint64_t x) {
    return FromPlain(U256{{x, 0, 0, 0}});
  }
  // Takes x * R as it is. REQUIRES: montgomery < p.
  static PROOFMILL_HD constexpr MontgomeryField FromMontgomery(const U256& montgomery) {
    MontgomeryField out;
    out.value_ = montgomery;
    return out;
  }
  // Whether an integer from outside is below p, so that FromPlain or FromMontgomery may take it.
  static PROOFMILL_HD constexpr bool IsCanonical(const U256& x) {
    constexpr U256 modulus = kModulus;
    return Less(x, modulus);
  }

  PROOFMILL_HD constexpr U256 ToPlain() const { return (*this * FromMontgomery(U256{{1, 0, 0, 0}})).value_; }
  PROOFMILL_HD constexpr const U256& montgomery() const { return value_; }
  PROOFMILL_HD constexpr bool IsZero() const { return value_.IsZero(); }

  friend PROOFMILL_HD constexpr bool operator==(const MontgomeryField& a, const MontgomeryField& b) {
    return a.value_ == b.value_;
  }
  friend PROOFMILL_HD constexpr bool operator!=(const MontgomeryField& a, const MontgomeryField& b) {
    return !(a == b);
  }

  friend PROOFMILL_HD constexpr MontgomeryField operator+(const MontgomeryField& a,
                                                          const MontgomeryField& b) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return FromMontgomery(device::AddMod<Params>(a.value_, b.value_));
#elif defined(__x86_64__)
    if (!__builtin_is_constant_evaluated()) return FromMontgomery(x86::AddMod<Params>(a.value_, b.value_));
#endif
    U256 sum;
    Add(a.value_, b.value_, sum);  // below 2^255: no carry
    return FromMontgomery(SubtractModulusOnce(sum));
  }
  friend PROOFMILL_HD constexpr MontgomeryField operator-(const MontgomeryField& a,
                                                          const MontgomeryField& b) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return FromMontgomery(device::SubMod<Params>(a.value_, b.value_));
#elif defined(__x86_64__)
    if (!__builtin_is_constant_evaluated()) return FromMontgomery(x86::SubMod<Params>(a.value_, b.value_));
#endif
    constexpr U256 modulus = kModulus;
    U256 difference;
    const uint64_t mask = uint64_t{0} - Sub(a.value_, b.value_, difference);
    U256 out;
    Add(difference, Masked(modulus, mask), out);
    return FromMontgomery(out);
  }
  PROOFMILL_HD constexpr MontgomeryField operator-() const { return Zero() - *this; }

  // The product a * b * R^-1 mod p of the stored integers.
  friend PROOFMILL_HD constexpr MontgomeryField operator*(const MontgomeryField& a,
                                                          const MontgomeryField& b) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return FromMontgomery(device::MulMod<Params>(a.value_, b.value_));
#elif defined(__x86_64__)
    if (!__builtin_is_constant_evaluated()) {
      if (x86::AdxChosen()) return FromMontgomery(x86::MulModAdx<Params>(a.value_, b.value_));
      return MultiplyOutOfLine(a, b);
    }
#endif
    return Multiply(a, b);
  }
  PROOFMILL_HD constexpr MontgomeryField& operator+=(const MontgomeryField& b) { return *this = *this + b; }
  PROOFMILL_HD constexpr MontgomeryField& operator-=(const MontgomeryField& b) { return *this = *this - b; }
  PROOFMILL_HD constexpr MontgomeryField& operator*=(const MontgomeryField& b) { return *this = *this * b; }

  // a * b - c * d, on a device with one reduction for both products.
  static PROOFMILL_HD constexpr MontgomeryField DifferenceOfProducts(const MontgomeryField& a,
                                                                     const MontgomeryField& b,
                                                                     const MontgomeryField& c,
                                                                     const MontgomeryField& d) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      return FromMontgomery(device::DifferenceOfProducts<Params>(a.value_, b.value_, c.value_, d.value_));
    }
#endif
    return a * b - c * d;
  }

  PROOFMILL_HD constexpr MontgomeryField Square() const {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return FromMontgomery(device::SquareMod<Params>(value_));
#endif
    return *this * *this;
  }
  PROOFMILL_HD constexpr MontgomeryField Double() const { return *this + *this; }

  // this^exponent; 0^0 is 1. Time depends on the exponent, not on the element.
  PROOFMILL_HD constexpr MontgomeryField PowVartime(const U256& exponent) const {
    MontgomeryField out = One();
    for (int i = 255; i >= 0; --i) {
      out = out.Square();
      if (exponent.Bit(static_cast<size_t>(i)) != 0) out *= *this;
    }
    return out;
  }
  // 1 / this; 0 gives 0. By division steps, which take the time of some 60 products on a device and 100 on a
  // host.
  PROOFMILL_HD constexpr MontgomeryField Inverse() const {
    if (!__builtin_is_constant_evaluated()) {
#if defined(__CUDA_ARCH__)
      constexpr U256 r2 = Params::kR2;
      // The inverse of x R is x^-1 R^-1: two factors R to the form, and one that the product takes away.
      constexpr MontgomeryField kR3 = FromMontgomery(r2) * FromMontgomery(r2);
      return FromMontgomery(divsteps::Inverse<Params>(value_)) * kR3;
#else
      return InverseByDivisionSteps();
#endif
    }
    return InverseByFermat();
  }
  // The same by Fermat's little theorem (about 380 products). The exponent p - 2 is public.
  PROOFMILL_HD constexpr MontgomeryField InverseByFermat() const {
    constexpr U256 modulus = kModulus;
    U256 exponent;
    Sub(modulus, U256{{2, 0, 0, 0}}, exponent);
    return PowVartime(exponent);
  }

 private:
  // By the interleaved (CIOS) method of Koc, Acar and Kaliski, 1996. The top word of p leaves two bits free,
  // so that the running sum never needs a fifth word.
  static PROOFMILL_HD constexpr MontgomeryField Multiply(const MontgomeryField& a, const MontgomeryField& b) {
    Accumulator t;
    t.MulAddReduce(a.value_, b.value_.limb[0]);
    t.MulAddReduce(a.value_, b.value_.limb[1]);
    t.MulAddReduce(a.value_, b.value_.limb[2]);
    t.MulAddReduce(a.value_, b.value_.limb[3]);
    return FromMontgomery(SubtractModulusOnce(U256{{t.w0, t.w1, t.w2, t.w3}}));
  }
  // (x * R)^-1 * R^2 is the stored integer of 1 / x.
  [[gnu::noinline]] MontgomeryField InverseByDivisionSteps() const {
    return FromMontgomery(divsteps::host::Invert(value_, Params::kR2, Params::kModulus, Params::kNegInverse));
  }
  // Keeps callers short where another product is the usual one.
  [[gnu::noinline]] static MontgomeryField MultiplyOutOfLine(const MontgomeryField& a,
                                                             const MontgomeryField& b) {
    return Multiply(a, b);
  }

  // The running sum of a product: four words, since it stays below 2p between steps.
  struct Accumulator {
    uint64_t w0 = 0, w1 = 0, w2 = 0, w3 = 0;

    // this = (this + a * word + m * p) / 2^64 with the m that makes the division exact. Written out, because
    // GCC unrolls such loops only at -O3.
    PROOFMILL_HD constexpr void MulAddReduce(const U256& a, uint64_t word) {
      constexpr U256 p = Params::kModulus;
      uint64_t carry = 0;
      uint64_t reduce_carry = 0;
      w0 = MulAddCarry(a.limb[0], word, w0, carry);
      const uint64_t m = w0 * Params::kNegInverse;
      MulAddCarry(m, p.limb[0], w0, reduce_carry);
      w1 = MulAddCarry(a.limb[1], word, w1, carry);
      w0 = MulAddCarry(m, p.limb[1], w1, reduce_carry);
      w2 = MulAddCarry(a.limb[2], word, w2, carry);
      w1 = MulAddCarry(m, p.limb[2], w2, reduce_carry);
      w3 = MulAddCarry(a.limb[3], word, w3, carry);
      w2 = MulAddCarry(m, p.limb[3], w3, reduce_carry);
      w3 = carry + reduce_carry;
    }
  };

  static PROOFMILL_HD constexpr U256 Masked(const U256& x, uint64_t mask) {
    return U256{{x.limb[0] & mask, x.limb[1] & mask, x.limb[2] & mask, x.limb[3] & mask}};
  }
  // x or x - p, whichever is in [0, p). REQUIRES: x < 2p.
  static PROOFMILL_HD constexpr U256 SubtractModulusOnce(const U256& x) {
#if defined(__x86_64__) && !defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) return x86::ReduceOnce<Params>(x);
#endif
    constexpr U256 modulus = kModulus;
    U256 reduced;
    const uint64_t keep = uint64_t{0} - Sub(x, modulus, reduced);
    for (int i = 0; i < 4; ++i) reduced.limb[i] ^= keep & (reduced.limb[i] ^ x.limb[i]);
    return reduced;
  }

  U256 value_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_MONTGOMERY_H_
