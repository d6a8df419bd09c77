// A division step takes (delta, f, g), f odd, to
//   (1 - delta, g, (g - f) / 2)                  if delta > 0 and g is odd,
//   (1 + delta, f, (g + (g mod 2) * f) / 2)      otherwise,
// and started from (1, p, x) it ends in g = 0, f = gcd(p, x) up to its sign. 62 steps depend on the lowest 62
// bits of f and g alone; they are a matrix with entries below 2^62, which is then applied to the full f and
// g, and modulo p to the numbers d and e with d * x = f and e * x = g.

#include "kernels/field/inverse.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

namespace proofmill::kernels {
namespace {

__extension__ typedef __int128 Int128;

constexpr int kBits = 62;
constexpr int kLimbs = 5;
constexpr uint64_t kMask = (uint64_t{1} << kBits) - 1;

// A signed number in limbs of 62 bits, the top one with the sign.
struct Signed62 {
  int64_t limb[kLimbs] = {};

  bool IsZero() const { return (limb[0] | limb[1] | limb[2] | limb[3] | limb[4]) == 0; }
  bool IsNegative() const { return limb[kLimbs - 1] < 0; }
};

constexpr Signed62 ToSigned62(const U256& x) {
  Signed62 out;
  for (int i = 0; i < kLimbs; ++i) {
    const int bit = kBits * i;
    uint64_t word = x.limb[bit / 64] >> (bit % 64);
    if (bit % 64 > 64 - kBits && bit / 64 < 3) word |= x.limb[bit / 64 + 1] << (64 - bit % 64);
    out.limb[i] = static_cast<int64_t>(word & kMask);
  }
  return out;
}

// REQUIRES: 0 <= x < 2^256.
U256 ToU256(const Signed62& x) {
  U256 out;
  for (int i = 0; i < kLimbs; ++i) {
    const int bit = kBits * i;
    const uint64_t limb = static_cast<uint64_t>(x.limb[i]);
    out.limb[bit / 64] |= limb << (bit % 64);
    if (bit % 64 > 64 - kBits && bit / 64 < 3) out.limb[bit / 64 + 1] |= limb >> (64 - bit % 64);
  }
  return out;
}

// 2^62 times the matrix of 62 steps: f becomes (u*f + v*g) / 2^62, g becomes (q*f + r*g) / 2^62.
struct Steps {
  int64_t u, v, q, r;
};

// `eta` is -delta. The steps between two swaps only add multiples of f to g: a few bits of g at a time are
// cleared by one multiple w * f.
Steps TakeSteps(int64_t& eta, uint64_t f, uint64_t g) {
  uint64_t u = 1, v = 0, q = 0, r = 1;
  int left = kBits;
  while (true) {
    const int zeros = std::countr_zero(g | (~uint64_t{0} << left));
    g >>= zeros;
    u <<= zeros;
    v <<= zeros;
    eta -= zeros;
    left -= zeros;
    if (left == 0) break;
    if (eta < 0) {
      eta = -eta;
      f = std::exchange(g, uint64_t{0} - f);
      u = std::exchange(q, uint64_t{0} - u);
      v = std::exchange(r, uint64_t{0} - v);
    }
    const int64_t steps = std::min<int64_t>({eta + 1, left, 6});
    const uint64_t mask = (uint64_t{1} << steps) - 1;
    const uint64_t w = (f * g * (f * f - 2)) & mask;  // -g / f modulo 2^6, for f * (2 - f^2) = 1 / f there
    g += f * w;
    q += u * w;
    r += v * w;
  }
  return {static_cast<int64_t>(u), static_cast<int64_t>(v), static_cast<int64_t>(q), static_cast<int64_t>(r)};
}

// Both are divisible by 2^62 after the steps.
void ApplyToFg(const Steps& t, Signed62& f, Signed62& g) {
  Int128 next_f = 0, next_g = 0;
  for (int i = 0; i < kLimbs; ++i) {
    next_f += Int128{t.u} * f.limb[i] + Int128{t.v} * g.limb[i];
    next_g += Int128{t.q} * f.limb[i] + Int128{t.r} * g.limb[i];
    if (i > 0) {
      f.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(next_f) & kMask);
      g.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(next_g) & kMask);
    }
    next_f >>= kBits;
    next_g >>= kBits;
  }
  f.limb[kLimbs - 1] = static_cast<int64_t>(next_f);
  g.limb[kLimbs - 1] = static_cast<int64_t>(next_g);
}

// Modulo p, on numbers in (-2p, p), which they stay: multiples of p that make the sums divisible by 2^62 are
// added, and p once more for each factor that is negative.
template <typename Params>
void ApplyToDe(const Steps& t, Signed62& d, Signed62& e) {
  static constexpr Signed62 p = ToSigned62(Params::kModulus);
  constexpr uint64_t kInverse = (uint64_t{0} - Params::kNegInverse) & kMask;  // of p modulo 2^62
  const int64_t d_sign = d.limb[kLimbs - 1] >> 63;
  const int64_t e_sign = e.limb[kLimbs - 1] >> 63;
  int64_t d_multiple = (t.u & d_sign) + (t.v & e_sign);
  int64_t e_multiple = (t.q & d_sign) + (t.r & e_sign);
  Int128 next_d = Int128{t.u} * d.limb[0] + Int128{t.v} * e.limb[0];
  Int128 next_e = Int128{t.q} * d.limb[0] + Int128{t.r} * e.limb[0];
  const auto correction = [](Int128 sum, int64_t multiple) {
    return static_cast<int64_t>((kInverse * static_cast<uint64_t>(sum) + static_cast<uint64_t>(multiple)) &
                                kMask);
  };
  d_multiple -= correction(next_d, d_multiple);
  e_multiple -= correction(next_e, e_multiple);
  for (int i = 0; i < kLimbs; ++i) {
    if (i > 0) {
      next_d += Int128{t.u} * d.limb[i] + Int128{t.v} * e.limb[i];
      next_e += Int128{t.q} * d.limb[i] + Int128{t.r} * e.limb[i];
    }
    next_d += Int128{p.limb[i]} * d_multiple;
    next_e += Int128{p.limb[i]} * e_multiple;
    if (i > 0) {
      d.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(next_d) & kMask);
      e.limb[i - 1] = static_cast<int64_t>(static_cast<uint64_t>(next_e) & kMask);
    }
    next_d >>= kBits;
    next_e >>= kBits;
  }
  d.limb[kLimbs - 1] = static_cast<int64_t>(next_d);
  e.limb[kLimbs - 1] = static_cast<int64_t>(next_e);
}

// sign * x + multiple * p, carried.
Signed62 Combine(const Signed62& x, int64_t sign, const Signed62& p, int64_t multiple) {
  Signed62 out;
  int64_t carry = 0;
  for (int i = 0; i < kLimbs; ++i) {
    const int64_t sum = sign * x.limb[i] + multiple * p.limb[i] + carry;
    out.limb[i] = i < kLimbs - 1 ? static_cast<int64_t>(static_cast<uint64_t>(sum) & kMask) : sum;
    carry = sum >> kBits;
  }
  return out;
}

}  // namespace

template <typename Params>
MontgomeryField<Params> InverseVartime(const MontgomeryField<Params>& x) {
  using F = MontgomeryField<Params>;
  static constexpr Signed62 p = ToSigned62(Params::kModulus);
  // R^3: the product with it takes 1 / (x * R) to (1 / x) * R.
  static constexpr F kR3 = F::FromMontgomery(Params::kR2) * F::FromMontgomery(Params::kR2);
  Signed62 f = p, g = ToSigned62(x.montgomery());
  Signed62 d, e;
  e.limb[0] = 1;
  int64_t eta = -1;
  while (!g.IsZero()) {
    const Steps t =
        TakeSteps(eta, static_cast<uint64_t>(f.limb[0]) | static_cast<uint64_t>(f.limb[1]) << kBits,
                  static_cast<uint64_t>(g.limb[0]) | static_cast<uint64_t>(g.limb[1]) << kBits);
    ApplyToDe<Params>(t, d, e);
    ApplyToFg(t, f, g);
  }
  // f is 1 or -1 (p for x = 0, and d is then 0), and d = f / x in (-2p, p).
  if (d.IsNegative()) d = Combine(d, 1, p, 1);
  if (f.IsNegative()) d = Combine(d, -1, p, 0);
  if (d.IsNegative()) d = Combine(d, 1, p, 1);
  return F::FromMontgomery(ToU256(d)) * kR3;
}

template Fq InverseVartime(const Fq&);
template Fr InverseVartime(const Fr&);

}  // namespace proofmill::kernels
