// Poseidon2 over BabyBear (Grassi, Khovratovich, Schofnegger, eprint 2023/323), widths 16 and 24: S-box x^7,
// 4 + 4 full rounds, 13 (width 16) or 21 (width 24) partial rounds. The permutation is usable on host and
// device.
//
// State s of W words:
//   s := E(s)
//   4 times:         s_i := (s_i + c_i)^7 for all i, s := E(s)
//   13 or 21 times:  s_0 := (s_0 + c)^7, then s_i := d_i s_i + sum of all s
//   4 times:         as in the second line
// E: u := M4 on each block of four, then s_i := u_i + sum over blocks b of u_(4b + i mod 4).

#ifndef PROOFMILL_KERNELS_FIELD_POSEIDON2_H_
#define PROOFMILL_KERNELS_FIELD_POSEIDON2_H_

#include <cstdint>

#include "kernels/field/babybear.h"

namespace proofmill::kernels {

inline constexpr int kPoseidon2HalfRounds = 4;
template <int kWidth>
inline constexpr int kPoseidon2PartialRounds = kWidth == 16 ? 13 : 21;

template <int kWidth>
struct Poseidon2Constants {
  static_assert(kWidth == 16 || kWidth == 24);
  BabyBear initial[kPoseidon2HalfRounds][kWidth];
  BabyBear partial[kPoseidon2PartialRounds<kWidth>];
  BabyBear terminal[kPoseidon2HalfRounds][kWidth];
};

// Where the constants come from. The numbers are those of the strict profile's binding.
enum class Poseidon2Set : uint32_t {
  kGrainLfsr = 1,      // the fixed ones of Plonky3, made by the Grain LFSR: nothing up anybody's sleeve
  kSmallRngSeed1 = 2,  // those of whir-p3's tests and benchmarks: for comparison with its runs
};

// The constants of a set; they live as long as the program. Width 24 of kSmallRngSeed1 continues the stream
// after width 16.
const Poseidon2Constants<16>& Poseidon2Width16(Poseidon2Set set);
const Poseidon2Constants<24>& Poseidon2Width24(Poseidon2Set set);

namespace internal {

// d_i = sign * 2^-exponent, or a small integer where the exponent is 0.
struct Poseidon2Diagonal {
  int sign_or_integer;
  uint32_t exponent;
};
inline constexpr Poseidon2Diagonal kPoseidon2Diagonal16[16] = {
    {-2, 0}, {1, 0}, {2, 0}, {1, 1}, {3, 0},  {4, 0},  {-1, 1}, {-3, 0},
    {-4, 0}, {1, 8}, {1, 2}, {1, 3}, {1, 27}, {-1, 8}, {-1, 4}, {-1, 27}};
inline constexpr Poseidon2Diagonal kPoseidon2Diagonal24[24] = {
    {-2, 0}, {1, 0},  {2, 0},  {1, 1},  {3, 0},  {4, 0},  {-1, 1}, {-3, 0},
    {-4, 0}, {1, 8},  {1, 2},  {1, 3},  {1, 4},  {1, 7},  {1, 9},  {1, 27},
    {-1, 8}, {-1, 2}, {-1, 3}, {-1, 4}, {-1, 5}, {-1, 6}, {-1, 7}, {-1, 27}};

PROOFMILL_HD constexpr BabyBear DiagonalValue(Poseidon2Diagonal d) {
  const int integer = d.sign_or_integer;
  const BabyBear magnitude = BabyBear::FromCanonical(static_cast<uint32_t>(integer < 0 ? -integer : integer));
  const BabyBear half = BabyBear::FromCanonical((kBabyBearP + 1) / 2);
  const BabyBear scaled = magnitude * half.Pow(d.exponent);
  return integer < 0 ? -scaled : scaled;
}

template <int kWidth>
struct DiagonalTable {
  BabyBear d[kWidth];
};
template <int kWidth>
PROOFMILL_HD constexpr DiagonalTable<kWidth> MakeDiagonal() {
  DiagonalTable<kWidth> out{};
  for (int i = 0; i < kWidth; ++i) {
    out.d[i] = DiagonalValue(kWidth == 16 ? kPoseidon2Diagonal16[i % 16] : kPoseidon2Diagonal24[i]);
  }
  return out;
}

PROOFMILL_HD constexpr BabyBear SBox7(BabyBear x) {
  const BabyBear square = x * x;
  return square * square * (square * x);
}

template <int kWidth>
PROOFMILL_HD constexpr void ExternalLayer(BabyBear* s) {
  BabyBear column[4] = {};
  for (int b = 0; b < kWidth; b += 4) {
    const BabyBear s01 = s[b] + s[b + 1], s23 = s[b + 2] + s[b + 3], all = s01 + s23;
    const BabyBear all1 = all + s[b + 1], all3 = all + s[b + 3];
    s[b + 3] = all3 + s[b] + s[b];          // 3 1 1 2
    s[b + 1] = all1 + s[b + 2] + s[b + 2];  // 1 2 3 1
    s[b] = all1 + s01;                      // 2 3 1 1
    s[b + 2] = all3 + s23;                  // 1 1 2 3
    for (int i = 0; i < 4; ++i) column[i] += s[b + i];
  }
  for (int i = 0; i < kWidth; ++i) s[i] += column[i % 4];
}

template <int kWidth>
PROOFMILL_HD constexpr void FullRound(const BabyBear* constants, BabyBear* s) {
  for (int i = 0; i < kWidth; ++i) s[i] = SBox7(s[i] + constants[i]);
  ExternalLayer<kWidth>(s);
}

}  // namespace internal

// Permutes `s` in place.
template <int kWidth>
PROOFMILL_HD constexpr void Poseidon2Permute(const Poseidon2Constants<kWidth>& constants, BabyBear* s) {
  constexpr internal::DiagonalTable<kWidth> diagonal = internal::MakeDiagonal<kWidth>();
  internal::ExternalLayer<kWidth>(s);
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) internal::FullRound<kWidth>(constants.initial[r], s);
  for (int r = 0; r < kPoseidon2PartialRounds<kWidth>; ++r) {
    s[0] = internal::SBox7(s[0] + constants.partial[r]);
    BabyBear sum = s[0];
    for (int i = 1; i < kWidth; ++i) sum += s[i];
    for (int i = 0; i < kWidth; ++i) s[i] = s[i] * diagonal.d[i] + sum;
  }
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) internal::FullRound<kWidth>(constants.terminal[r], s);
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_POSEIDON2_H_
