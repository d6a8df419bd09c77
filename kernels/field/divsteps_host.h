// Inversion modulo a prime by Bernstein and Yang's division steps: constant time, and some four times as fast
// as the power p - 2.
//
// Bernstein, Yang: Fast constant-time gcd computation and modular inversion, 2019 (ePrint 2019/266). A step
// takes (delta, f, g), f odd, to (1 - delta, g, (g - f)/2) if delta > 0 and g is odd, else to (1 + delta, f,
// (g + (g mod 2)*f)/2). Started with delta = 1/2 (Wuille's variant), at most 590 steps bring g to 0 and f to
// plus or minus gcd(f, g) if both fit in 256 bits. 62 steps depend on the low 64 bits alone: they are done on
// machine words, as a 2 x 2 matrix, which then multiplies the long numbers.
//
// Included by montgomery.h alone.

#ifndef PROOFMILL_KERNELS_FIELD_DIVSTEPS_HOST_H_
#define PROOFMILL_KERNELS_FIELD_DIVSTEPS_HOST_H_

#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels::divsteps::host {

__extension__ typedef __int128 Int128;

inline constexpr int kStepsABatch = 62;
inline constexpr int kBatches = 10;
static_assert(kStepsABatch * kBatches >= 590);

// A signed number: limbs 0 to 3 in [0, 2^62), limb 4 with the sign.
struct Signed310 {
  static constexpr int kLimbs = 5;
  static constexpr uint64_t kLimbMask = (uint64_t{1} << 62) - 1;
  int64_t limb[kLimbs] = {};

  static constexpr Signed310 From(const U256& x) {
    Signed310 out;
    const uint64_t* const w = x.limb;
    out.limb[0] = static_cast<int64_t>(w[0] & kLimbMask);
    out.limb[1] = static_cast<int64_t>((w[0] >> 62 | w[1] << 2) & kLimbMask);
    out.limb[2] = static_cast<int64_t>((w[1] >> 60 | w[2] << 4) & kLimbMask);
    out.limb[3] = static_cast<int64_t>((w[2] >> 58 | w[3] << 6) & kLimbMask);
    out.limb[4] = static_cast<int64_t>(w[3] >> 56);
    return out;
  }
  // REQUIRES: 0 <= this < 2^256.
  U256 ToU256() const {
    const auto u = [this](int i) { return static_cast<uint64_t>(limb[i]); };
    return {{u(0) | u(1) << 62, u(1) >> 2 | u(2) << 60, u(2) >> 4 | u(3) << 58, u(3) >> 6 | u(4) << 56}};
  }
  // All ones if negative, else 0.
  int64_t SignMask() const { return limb[kLimbs - 1] >> 63; }
  void PropagateCarries() {
    for (int i = 0; i + 1 < kLimbs; ++i) {
      limb[i + 1] += limb[i] >> 62;
      limb[i] &= static_cast<int64_t>(kLimbMask);
    }
  }
  void AddMasked(const Signed310& x, int64_t mask) {
    for (int i = 0; i < kLimbs; ++i) limb[i] += x.limb[i] & mask;
    PropagateCarries();
  }
  // -this where the mask is all ones.
  void NegateMasked(int64_t mask) {
    for (int64_t& l : limb) l = (l ^ mask) - mask;
    PropagateCarries();
  }
};

// 2^62 times the effect of a batch: f becomes (u*f + v*g) / 2^62, g becomes (q*f + r*g) / 2^62. The rows are
// bounded: |u| + |v| and |q| + |r| are at most 2^62.
struct Matrix {
  int64_t u, v, q, r;
};

// A batch of steps on the low words of f and g. zeta is -(delta + 1/2), kept between batches. Unsigned words,
// since what matters is modulo 2^64.
inline int64_t Batch(int64_t zeta, uint64_t f, uint64_t g, Matrix& t) {
  uint64_t u = 1, v = 0, q = 0, r = 1;
  for (int i = 0; i < kStepsABatch; ++i) {
    uint64_t positive_delta = static_cast<uint64_t>(zeta >> 63);
    const uint64_t odd = uint64_t{0} - (g & 1);
    // g -= f, or g += f unless delta > 0, if g is odd.
    g += ((f ^ positive_delta) - positive_delta) & odd;
    q += ((u ^ positive_delta) - positive_delta) & odd;
    r += ((v ^ positive_delta) - positive_delta) & odd;
    // With g - f in g, f becomes the old g by adding it. delta becomes 1 - delta or 1 + delta.
    positive_delta &= odd;
    zeta = (zeta ^ static_cast<int64_t>(positive_delta)) - 1;
    f += g & positive_delta;
    u += q & positive_delta;
    v += r & positive_delta;
    g >>= 1;
    u <<= 1;
    v <<= 1;
  }
  t = {static_cast<int64_t>(u), static_cast<int64_t>(v), static_cast<int64_t>(q), static_cast<int64_t>(r)};
  return zeta;
}

// (a*x + b*y + c*z) / 2^62 for a sum whose low 62 bits are zero. The sums of a limb stay below 2^126.
inline Signed310 Combine(int64_t a, const Signed310& x, int64_t b, const Signed310& y, int64_t c,
                         const Signed310& z) {
  Signed310 out;
  Int128 sum = Int128{a} * x.limb[0] + Int128{b} * y.limb[0] + Int128{c} * z.limb[0];
  for (int i = 1; i < Signed310::kLimbs; ++i) {
    sum >>= 62;
    sum += Int128{a} * x.limb[i] + Int128{b} * y.limb[i] + Int128{c} * z.limb[i];
    out.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(sum) & Signed310::kLimbMask);
  }
  out.limb[Signed310::kLimbs - 1] = static_cast<int64_t>(sum >> 62);
  return out;
}

// What multiple of p makes a*d + b*e divisible by 2^62: one that also counts p once for a negative d and e,
// so that (a*d + b*e + multiple*p) / 2^62 is in (-2p, p) if d and e are.
inline int64_t MultipleOfModulus(int64_t a, const Signed310& d, int64_t b, const Signed310& e,
                                 uint64_t inverse_of_modulus) {
  const auto unsigned_product = [](int64_t x, int64_t y) {
    return static_cast<uint64_t>(x) * static_cast<uint64_t>(y);
  };
  const int64_t from_signs = (a & d.SignMask()) + (b & e.SignMask());
  const uint64_t low = unsigned_product(a, d.limb[0]) + unsigned_product(b, e.limb[0]);
  const uint64_t excess =
      (inverse_of_modulus * low + static_cast<uint64_t>(from_signs)) & Signed310::kLimbMask;
  return from_signs - static_cast<int64_t>(excess);
}

// scale / x mod p for 0 < x < p, and 0 for x = 0. REQUIRES: p is an odd prime below 2^255, scale < p,
// negative_inverse = -p^-1 mod 2^64.
inline U256 Invert(const U256& x, const U256& scale, const U256& p, uint64_t negative_inverse) {
  const Signed310 modulus = Signed310::From(p);
  const uint64_t inverse_of_modulus = uint64_t{0} - negative_inverse;
  Signed310 f = modulus, g = Signed310::From(x);
  // d*x = scale*f and e*x = scale*g modulo p, all the way.
  Signed310 d, e = Signed310::From(scale);
  const Signed310 zero;
  int64_t zeta = -1;
  for (int i = 0; i < kBatches; ++i) {
    Matrix t;
    const auto low_word = [](const Signed310& n) {
      return static_cast<uint64_t>(n.limb[0]) | static_cast<uint64_t>(n.limb[1]) << 62;
    };
    zeta = Batch(zeta, low_word(f), low_word(g), t);
    const int64_t md = MultipleOfModulus(t.u, d, t.v, e, inverse_of_modulus);
    const int64_t me = MultipleOfModulus(t.q, d, t.r, e, inverse_of_modulus);
    const Signed310 next_d = Combine(t.u, d, t.v, e, md, modulus);
    e = Combine(t.q, d, t.r, e, me, modulus);
    d = next_d;
    const Signed310 next_f = Combine(t.u, f, t.v, g, 0, zero);
    g = Combine(t.q, f, t.r, g, 0, zero);
    f = next_f;
  }
  // f is 1 or -1 (p or -p for x = 0, with d = 0), and d in (-2p, p).
  d.AddMasked(modulus, d.SignMask());
  d.NegateMasked(f.SignMask());
  d.AddMasked(modulus, d.SignMask());
  return d.ToU256();
}

}  // namespace proofmill::kernels::divsteps::host

#endif  // PROOFMILL_KERNELS_FIELD_DIVSTEPS_HOST_H_
