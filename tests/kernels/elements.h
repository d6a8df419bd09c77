// Field elements and points for tests: edge values and reproducible random ones.

#ifndef PROOFMILL_TESTS_KERNELS_ELEMENTS_H_
#define PROOFMILL_TESTS_KERNELS_ELEMENTS_H_

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "kernels/curve/bn254.h"
#include "kernels/curve/tower.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {

// The value of hexadecimal digits, at most 64 of them.
inline U256 HexToU256(std::string_view hex) {
  U256 out;
  for (const char digit : hex) {
    for (size_t i = 4; i-- > 1;) out.limb[i] = out.limb[i] << 4 | out.limb[i - 1] >> 60;
    const int value = digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10;
    out.limb[0] = out.limb[0] << 4 | static_cast<uint64_t>(value);
  }
  return out;
}
inline Fq FqFromHex(std::string_view hex) { return Fq::FromPlain(HexToU256(hex)); }

// 2^k.
inline U256 PowerOfTwo(uint32_t k) {
  U256 out;
  out.limb[k / 64] = uint64_t{1} << (k % 64);
  return out;
}

using Random = std::mt19937_64;

// Uniform among the integers below the modulus.
template <typename Params>
U256 RandomBelow(Random& random) {
  U256 out;
  do {
    for (uint64_t& limb : out.limb) limb = random();
    out.limb[3] >>= 2;
  } while (!Less(out, Params::kModulus));
  return out;
}

// Integers below the modulus at which carries, borrows and the last subtraction change their ways.
template <typename Params>
std::vector<U256> EdgeIntegers() {
  const auto offset = [](U256 x, int64_t by) {
    U256 out;
    if (by < 0) {
      Sub(x, U256{{static_cast<uint64_t>(-by), 0, 0, 0}}, out);
    } else {
      Add(x, U256{{static_cast<uint64_t>(by), 0, 0, 0}}, out);
    }
    return out;
  };
  std::vector<U256> out = {{}, offset({}, 1), offset({}, 2), offset({}, 3)};
  for (const int64_t by : {-1, -2, -3}) out.push_back(offset(Params::kModulus, by));
  for (const uint32_t k : {32u, 64u, 128u, 192u, 253u}) {
    for (const int64_t by : {-1, 0, 1}) out.push_back(offset(PowerOfTwo(k), by));
  }
  U256 half = offset(Params::kModulus, -1);
  for (size_t i = 0; i < 4; ++i) half.limb[i] = half.limb[i] >> 1 | (i < 3 ? half.limb[i + 1] << 63 : 0);
  out.push_back(half);
  out.push_back(offset(half, 1));
  return out;
}

// Of the field F: edge values, and a random element.
template <typename F>
struct Elements;

template <typename Params>
struct Elements<MontgomeryField<Params>> {
  using F = MontgomeryField<Params>;
  // Each edge integer once as the value and once as the stored representation.
  static std::vector<F> Edge() {
    std::vector<F> out;
    for (const U256& x : EdgeIntegers<Params>()) {
      out.push_back(F::FromPlain(x));
      out.push_back(F::FromMontgomery(x));
    }
    return out;
  }
  static F Uniform(Random& random) { return F::FromMontgomery(RandomBelow<Params>(random)); }
};

template <>
struct Elements<Fq2> {
  static std::vector<Fq2> Edge() {
    const Fq few[] = {Fq::Zero(), Fq::One(), -Fq::One(), Fq::FromMontgomery({{~uint64_t{0}, 0, 0, 0}}),
                      Fq::FromMontgomery({{0, 0, ~uint64_t{0}, 0}})};
    std::vector<Fq2> out;
    for (const Fq& c0 : few) {
      for (const Fq& c1 : few) out.push_back({c0, c1});
    }
    return out;
  }
  static Fq2 Uniform(Random& random) {
    const Fq c0 = Elements<Fq>::Uniform(random);
    return {c0, Elements<Fq>::Uniform(random)};
  }
};

template <>
struct Elements<Fq6> {
  static std::vector<Fq6> Edge() {
    const Fq2 few[] = {Fq2::Zero(), Fq2::One(), {-Fq::One(), -Fq::One()}};
    std::vector<Fq6> out;
    for (const Fq2& c0 : few) {
      for (const Fq2& c1 : few) {
        for (const Fq2& c2 : few) out.push_back({c0, c1, c2});
      }
    }
    return out;
  }
  static Fq6 Uniform(Random& random) {
    const Fq2 c0 = Elements<Fq2>::Uniform(random);
    const Fq2 c1 = Elements<Fq2>::Uniform(random);
    return {c0, c1, Elements<Fq2>::Uniform(random)};
  }
};

template <>
struct Elements<Fq12> {
  static std::vector<Fq12> Edge() {
    const std::vector<Fq6> all = Elements<Fq6>::Edge();
    std::vector<Fq12> out;
    for (size_t i = 0; i < all.size(); i += 4) {
      for (size_t j = 0; j < all.size(); j += 5) out.push_back({all[i], all[j]});
    }
    return out;
  }
  static Fq12 Uniform(Random& random) {
    const Fq6 c0 = Elements<Fq6>::Uniform(random);
    return {c0, Elements<Fq6>::Uniform(random)};
  }
};

template <typename F>
struct Generator;
template <>
struct Generator<Fq> {
  static constexpr G1Affine kValue = kG1Generator;
};
template <>
struct Generator<Fq2> {
  static constexpr G2Affine kValue = kG2Generator;
};

// k * generator.
template <typename F>
Affine<F> Multiple(const U256& k) {
  return ScalarMulVartime(Xyzz<F>::FromAffine(Generator<F>::kValue), k).ToAffine();
}
template <typename F>
Affine<F> Multiple(uint64_t k) {
  return Multiple<F>(U256{{k, 0, 0, 0}});
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_KERNELS_ELEMENTS_H_
