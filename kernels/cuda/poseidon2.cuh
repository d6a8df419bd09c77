// Poseidon2 of width 16 on a device (kernels/field/poseidon2.h): one state a thread, or one word a lane where
// a single permutation must be over soon. Device code only.

#ifndef PROOFMILL_KERNELS_CUDA_POSEIDON2_CUH_
#define PROOFMILL_KERNELS_CUDA_POSEIDON2_CUH_

#include <cstdint>

#include "kernels/cuda/babybear.cuh"
#include "kernels/field/poseidon2.h"

namespace proofmill::kernels::device {

inline constexpr int kWidth = 16;
inline constexpr int kRate = 8;
inline constexpr int kPartialRounds = kPoseidon2PartialRounds<kWidth>;
using Constants = Poseidon2Constants<kWidth>;

__device__ __forceinline__ uint32_t SBox(uint32_t x) {
  const uint32_t square = Mul(x, x);
  return Mul(Mul(square, square), Mul(square, x));
}

__device__ __forceinline__ void ExternalLayer(uint32_t (&s)[kWidth]) {
#pragma unroll
  for (int b = 0; b < kWidth; b += 4) {
    const uint32_t s01 = Add(s[b], s[b + 1]), s23 = Add(s[b + 2], s[b + 3]), all = Add(s01, s23);
    const uint32_t all1 = Add(all, s[b + 1]), all3 = Add(all, s[b + 3]);
    s[b + 3] = Add(all3, Double(s[b]));
    s[b + 1] = Add(all1, Double(s[b + 2]));
    s[b] = Add(all1, s01);
    s[b + 2] = Add(all3, s23);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const uint32_t column = Add(Add(s[i], s[i + 4]), Add(s[i + 8], s[i + 12]));
#pragma unroll
    for (int b = 0; b < kWidth; b += 4) s[b + i] = Add(s[b + i], column);
  }
}

__device__ __forceinline__ void FullRound(const BabyBear* constants, uint32_t (&s)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) s[i] = SBox(Add(s[i], constants[i].montgomery()));
  ExternalLayer(s);
}

// The diagonal -2, 1, 2, 1/2, 3, 4, -1/2, -3, -4, 2^-8, 1/4, 1/8, 2^-27, -2^-8, -1/16, -2^-27 by shifts.
__device__ __forceinline__ void PartialRound(uint32_t constant, uint32_t (&s)[kWidth]) {
  const uint32_t rest = Add(Add(Add(Add(s[1], s[2]), Add(s[3], s[4])), Add(Add(s[5], s[6]), Add(s[7], s[8]))),
                            Add(Add(Add(s[9], s[10]), Add(s[11], s[12])), Add(Add(s[13], s[14]), s[15])));
  s[0] = SBox(Add(s[0], constant));
  const uint32_t sum = Add(rest, s[0]);
  s[0] = Sub(sum, Double(s[0]));
  s[1] = Add(sum, s[1]);
  s[2] = Add(sum, Double(s[2]));
  s[3] = Add(sum, DivPowerOfTwo<1>(s[3]));
  s[4] = Add(sum, Add(Double(s[4]), s[4]));
  s[5] = Add(sum, Double(Double(s[5])));
  s[6] = Sub(sum, DivPowerOfTwo<1>(s[6]));
  s[7] = Sub(sum, Add(Double(s[7]), s[7]));
  s[8] = Sub(sum, Double(Double(s[8])));
  s[9] = Add(sum, DivPowerOfTwo<8>(s[9]));
  s[10] = Add(sum, DivPowerOfTwo<2>(s[10]));
  s[11] = Add(sum, DivPowerOfTwo<3>(s[11]));
  s[12] = Add(sum, DivPowerOfTwo<27>(s[12]));
  s[13] = Sub(sum, DivPowerOfTwo<8>(s[13]));
  s[14] = Sub(sum, DivPowerOfTwo<4>(s[14]));
  s[15] = Sub(sum, DivPowerOfTwo<27>(s[15]));
}

// Permutes a state that one thread holds.
__device__ __forceinline__ void Permute(const Constants& constants, uint32_t (&s)[kWidth]) {
  ExternalLayer(s);
#pragma unroll 1
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) FullRound(constants.initial[r], s);
#pragma unroll 1
  for (int r = 0; r < kPartialRounds; ++r) PartialRound(constants.partial[r].montgomery(), s);
#pragma unroll 1
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) FullRound(constants.terminal[r], s);
}

// The same with word l of a state in lane l of each half of a warp; all lanes call it.
inline constexpr unsigned kAllLanes = 0xffffffffu;
__device__ __forceinline__ uint32_t WarpExternalLayer(uint32_t word, int lane) {
  const uint32_t next = __shfl_sync(kAllLanes, word, (lane & ~3) | ((lane + 1) & 3), kWidth);
  uint32_t all = Add(word, __shfl_xor_sync(kAllLanes, word, 1));
  all = Add(all, __shfl_xor_sync(kAllLanes, all, 2));
  word = Add(Add(all, word), Double(next));  // rows 2 3 1 1, 1 2 3 1, ..
  uint32_t column = Add(word, __shfl_xor_sync(kAllLanes, word, 4));
  column = Add(column, __shfl_xor_sync(kAllLanes, column, 8));
  return Add(word, column);
}

__device__ inline uint32_t WarpPermute(const Constants& constants, uint32_t word) {
  constexpr internal::DiagonalTable<kWidth> kDiagonal = internal::MakeDiagonal<kWidth>();
  const int lane = static_cast<int>(threadIdx.x % kWidth);
  uint32_t diagonal = 0;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) diagonal = lane == i ? kDiagonal.d[i].montgomery() : diagonal;
  word = WarpExternalLayer(word, lane);
#pragma unroll 1
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) {
    word = WarpExternalLayer(SBox(Add(word, constants.initial[r][lane].montgomery())), lane);
  }
#pragma unroll 1
  for (int r = 0; r < kPartialRounds; ++r) {
    uint32_t rest = lane == 0 ? 0 : word;
    const uint32_t first = SBox(Add(word, constants.partial[r].montgomery()));
#pragma unroll
    for (int half = kWidth / 2; half > 0; half /= 2) rest = Add(rest, __shfl_xor_sync(kAllLanes, rest, half));
    const uint32_t sum = Add(rest, __shfl_sync(kAllLanes, first, 0, kWidth));
    word = Add(sum, Mul(lane == 0 ? first : word, diagonal));
  }
#pragma unroll 1
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) {
    word = WarpExternalLayer(SBox(Add(word, constants.terminal[r][lane].montgomery())), lane);
  }
  return word;
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_POSEIDON2_CUH_
