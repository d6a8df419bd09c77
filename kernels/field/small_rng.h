// The random stream from which whir-p3 draws its Poseidon2 constants and benchmark inputs: xoshiro256++
// (Blackman and Vigna 2019), seeded from 64 bits by SplitMix64. For test inputs and public constants, never
// for secrets.
//
// Thread safety: as a plain object.

#ifndef PROOFMILL_KERNELS_FIELD_SMALL_RNG_H_
#define PROOFMILL_KERNELS_FIELD_SMALL_RNG_H_

#include <cstdint>

#include "kernels/field/babybear.h"
#include "kernels/field/babybear_ext.h"

namespace proofmill::kernels {

class SmallRng {
 public:
  explicit constexpr SmallRng(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  constexpr uint64_t NextU64() {
    const uint64_t out = RotateLeft(state_[0] + state_[3], 23) + state_[0];
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = RotateLeft(state_[3], 45);
    return out;
  }

  // Uniform: 31 bits from the top of a draw, taken as the Montgomery form, drawn again until they are below
  // p.
  constexpr BabyBear NextBabyBear() {
    for (;;) {
      const auto bits = static_cast<uint32_t>(NextU64() >> 33);
      if (bits < kBabyBearP) return BabyBear::FromMontgomery(bits);
    }
  }
  // Coefficient by coefficient, that of X^0 first.
  template <int kDegree>
  constexpr BabyBearExt<kDegree> NextExt() {
    BabyBearExt<kDegree> out{};
    for (BabyBear& coefficient : out.c) coefficient = NextBabyBear();
    return out;
  }

 private:
  static constexpr uint64_t RotateLeft(uint64_t x, int count) { return x << count | x >> (64 - count); }

  uint64_t state_[4] = {};
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_SMALL_RNG_H_
