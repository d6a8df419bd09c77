// Poseidon2 of width 16 on a device (kernels/field/poseidon2.h): one state a thread, one in four lanes where
// there are too few states to fill the device, one in sixteen where there are so few that each must be over
// soon. Device code only.

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
  const auto base = static_cast<int32_t>(x);
  const int32_t square = MulSigned(base, base);
  return FromSigned(MulSigned(MulSigned(square, square), MulSigned(square, base)));
}

// Four words times the matrix with rows 2 3 1 1, 1 2 3 1, 1 1 2 3, 3 1 1 2.
__device__ __forceinline__ void MixFour(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
  const uint32_t ab = Add(a, b), cd = Add(c, d), all = Add(ab, cd);
  const uint32_t all_b = Add(all, b), all_d = Add(all, d);
  d = Add(all_d, Double(a));
  b = Add(all_b, Double(c));
  a = Add(all_b, ab);
  c = Add(all_d, cd);
}

__device__ __forceinline__ void ExternalLayer(uint32_t (&s)[kWidth]) {
#pragma unroll
  for (int b = 0; b < kWidth; b += 4) MixFour(s[b], s[b + 1], s[b + 2], s[b + 3]);
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

// The same with words 4q .. 4q + 3 of a state in lane q of each four lanes. A permutation is over in a
// fraction of the time: four S-boxes of a full round are at work at once in a lane, and a partial round takes
// little longer than its S-box. All lanes of the warp call everything here.
inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kQuad = 4;  // lanes, and words of a state in each

// The constants in shared memory, from where the lanes read different words at once.
struct QuadTable {
  uint4 full[2 * kPoseidon2HalfRounds][kQuad];
  uint32_t partial[kPartialRounds];
};
// All threads of the block call it; ends with a barrier.
__device__ __forceinline__ void FillQuadTable(const Constants& constants, QuadTable& table) {
  auto* const words = reinterpret_cast<uint32_t*>(table.full);
  constexpr uint32_t kWords = kPoseidon2HalfRounds * kWidth;
  static_assert(kPartialRounds <= kWords);
  for (uint32_t i = threadIdx.x; i < kWords; i += blockDim.x) {
    words[i] = constants.initial[i / kWidth][i % kWidth].montgomery();
    words[kWords + i] = constants.terminal[i / kWidth][i % kWidth].montgomery();
    if (i < kPartialRounds) table.partial[i] = constants.partial[i].montgomery();
  }
  __syncthreads();
}

__device__ __forceinline__ uint32_t QuadSum(uint32_t x) {
  x = Add(x, __shfl_xor_sync(kAllLanes, x, 1));
  return Add(x, __shfl_xor_sync(kAllLanes, x, 2));
}
__device__ __forceinline__ void QuadExternalLayer(uint32_t (&s)[kQuad]) {
  MixFour(s[0], s[1], s[2], s[3]);
#pragma unroll
  for (int i = 0; i < kQuad; ++i) s[i] = Add(s[i], QuadSum(s[i]));
}
__device__ __forceinline__ void QuadFullRounds(const uint4 (*rounds)[kQuad], uint32_t (&s)[kQuad]) {
  const uint32_t lane = threadIdx.x % kQuad;
  uint4 constants = rounds[0][lane];
#pragma unroll 1
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) {
    // The next ones arrive meanwhile; those of the last round again, after it.
    const uint4 next = rounds[min(r + 1, kPoseidon2HalfRounds - 1)][lane];
    s[0] = SBox(Add(s[0], constants.x));
    s[1] = SBox(Add(s[1], constants.y));
    s[2] = SBox(Add(s[2], constants.z));
    s[3] = SBox(Add(s[3], constants.w));
    QuadExternalLayer(s);
    constants = next;
  }
}
// With d_0 = -2, word 0 becomes the sum of the others minus its S-box: the next S-box waits for no shuffle of
// this one. The others wait for one, and their sum is at work while the next S-box is.
__device__ __forceinline__ void QuadPartialRounds(const QuadTable& table, uint32_t (&s)[kQuad]) {
  constexpr internal::DiagonalTable<kWidth> kDiagonal = internal::MakeDiagonal<kWidth>();
  const int lane = static_cast<int>(threadIdx.x % kQuad);
  uint32_t diagonal[kQuad] = {};
#pragma unroll
  for (int i = 0; i < kWidth; ++i)
    diagonal[i % kQuad] = lane == i / kQuad ? kDiagonal.d[i].montgomery() : diagonal[i % kQuad];
  uint32_t constant = table.partial[0];
#pragma unroll 1
  for (int r = 0; r < kPartialRounds; ++r) {
    const uint32_t next = table.partial[min(r + 1, kPartialRounds - 1)];
    const uint32_t first = SBox(Add(s[0], constant));
    const uint32_t rest = QuadSum(Add(Add(s[1], s[2]), lane == 0 ? s[3] : Add(s[3], s[0])));
    const uint32_t from_first = __shfl_sync(kAllLanes, first, 0, kQuad);
    const uint32_t own = Add(Add(rest, Mul(s[0], diagonal[0])), from_first);
    s[0] = lane == 0 ? Sub(rest, first) : own;
#pragma unroll
    for (int i = 1; i < kQuad; ++i) s[i] = Add(Add(rest, Mul(s[i], diagonal[i])), from_first);
    constant = next;
  }
}
__device__ __forceinline__ void QuadPermute(const QuadTable& table, uint32_t (&s)[kQuad]) {
  QuadExternalLayer(s);
  QuadFullRounds(table.full, s);
  QuadPartialRounds(table, s);
  QuadFullRounds(table.full + kPoseidon2HalfRounds, s);
}

// The same with a word in each of sixteen lanes: one S-box of a full round in place of four stands between a
// state and the next. Lane q of quad i has word 4q + i: what the external layer adds up by rows is in lanes
// four apart, and by columns in those of a quad.
inline constexpr int kSpread = 16;
__device__ __forceinline__ uint32_t SpreadWord() { return threadIdx.x % 4 * 4 + threadIdx.x / 4 % 4; }

__device__ __forceinline__ void SpreadExternalLayer(uint32_t& s) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  const uint32_t next = __shfl_sync(kAllLanes, s, (lane & ~12) | ((lane + 4) & 12));
  uint32_t all = Add(s, __shfl_xor_sync(kAllLanes, s, 4));
  all = Add(all, __shfl_xor_sync(kAllLanes, all, 8));
  s = Add(all, Add(s, Double(next)));
  s = Add(s, QuadSum(s));
}
__device__ __forceinline__ void SpreadFullRounds(const uint4 (*rounds)[kQuad], uint32_t& s) {
  const auto* const words = reinterpret_cast<const uint32_t*>(rounds) + SpreadWord();
  uint32_t constant = words[0];
#pragma unroll 1
  for (int r = 0; r < kPoseidon2HalfRounds; ++r) {
    const uint32_t next = words[min(r + 1, kPoseidon2HalfRounds - 1) * kWidth];
    s = SBox(Add(s, constant));
    SpreadExternalLayer(s);
    constant = next;
  }
}
__device__ __forceinline__ uint32_t SpreadSum(uint32_t x) {
  x = QuadSum(x);
  x = Add(x, __shfl_xor_sync(kAllLanes, x, 4));
  return Add(x, __shfl_xor_sync(kAllLanes, x, 8));
}
// As QuadPartialRounds. The sum of words 1 .. 15 after a round, sum_i (d_i s_i + all) = sum_i d_i s_i + 15
// all, is known but for `all` before the round: its four shuffles have the time of two S-boxes.
__device__ __forceinline__ void SpreadPartialRounds(const QuadTable& table, uint32_t& s) {
  constexpr internal::DiagonalTable<kWidth> kDiagonal = internal::MakeDiagonal<kWidth>();
  constexpr uint32_t kFifteen = BabyBear::FromCanonical(kWidth - 1).montgomery();
  const uint32_t word = SpreadWord();
  uint32_t diagonal = 0;  // none for word 0, which takes another way
#pragma unroll
  for (uint32_t i = 1; i < kWidth; ++i) diagonal = word == i ? kDiagonal.d[i].montgomery() : diagonal;
  uint32_t rest = SpreadSum(word == 0 ? 0 : s);
  uint32_t constant = table.partial[0];
#pragma unroll 1
  for (int r = 0; r < kPartialRounds; ++r) {
    const uint32_t next = table.partial[min(r + 1, kPartialRounds - 1)];
    const uint32_t first = SBox(Add(s, constant));  // of word 0, in its lane
    const uint32_t product = Mul(s, diagonal), products = SpreadSum(product);
    const uint32_t all = Add(rest, __shfl_sync(kAllLanes, first, 0, kSpread));
    s = word == 0 ? Sub(rest, first) : Add(product, all);
    rest = Add(products, Mul(all, kFifteen));
    constant = next;
  }
}
// Word SpreadWord() of the state. All lanes of the warp call it, for two states.
__device__ __forceinline__ void SpreadPermute(const QuadTable& table, uint32_t& s) {
  SpreadExternalLayer(s);
  SpreadFullRounds(table.full, s);
  SpreadPartialRounds(table, s);
  SpreadFullRounds(table.full + kPoseidon2HalfRounds, s);
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_POSEIDON2_CUH_
