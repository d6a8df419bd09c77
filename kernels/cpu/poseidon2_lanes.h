// Poseidon2 of width 16 on one state a lane, and what is hashed with it: leaves, tree levels, nonces.
// Compiled once for each instruction set (babybear_lanes.h); the functions are described in
// babybear_kernels.h.

#ifndef PROOFMILL_KERNELS_CPU_POSEIDON2_LANES_H_
#define PROOFMILL_KERNELS_CPU_POSEIDON2_LANES_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/babybear_kernels.h"
#include "kernels/cpu/babybear_lanes.h"

namespace proofmill::kernels::PROOFMILL_LANES {

inline constexpr size_t kWidth = 16, kRate = 8;

PROOFMILL_LANES_INLINE void ExternalLayer(Vec* s) {
  Unrolled<4>([&](size_t block) PROOFMILL_LANES_BODY {
    Vec* const b = s + 4 * block;
    const Vec b01 = Add(b[0], b[1]), b23 = Add(b[2], b[3]), all = Add(b01, b23);
    const Vec all1 = Add(all, b[1]), all3 = Add(all, b[3]);
    b[3] = Add(all3, Double(b[0]));
    b[1] = Add(all1, Double(b[2]));
    b[0] = Add(all1, b01);
    b[2] = Add(all3, b23);
  });
  Unrolled<4>([&](size_t i) PROOFMILL_LANES_BODY {
    const Vec column = Add(Add(s[i], s[i + 4]), Add(s[i + 8], s[i + 12]));
    Unrolled<4>([&](size_t block) PROOFMILL_LANES_BODY { s[4 * block + i] = Add(s[4 * block + i], column); });
  });
}

PROOFMILL_LANES_INLINE void FullRound(const uint32_t* constants, Vec* s) {
  Unrolled<kWidth>([&](size_t i) PROOFMILL_LANES_BODY { s[i] = SBox(s[i], Set(constants[i])); });
  ExternalLayer(s);
}

// The diagonal -2, 1, 2, 1/2, 3, 4, -1/2, -3, -4, 2^-8, 1/4, 1/8, 2^-27, -2^-8, -1/16, -2^-27.
PROOFMILL_LANES_INLINE void PartialRound(uint32_t constant, Vec* s) {
  const Vec rest = Add(Add(Add(Add(s[1], s[2]), Add(s[3], s[4])), Add(Add(s[5], s[6]), Add(s[7], s[8]))),
                       Add(Add(Add(s[9], s[10]), Add(s[11], s[12])), Add(Add(s[13], s[14]), s[15])));
  s[0] = SBox(s[0], Set(constant));
  const Vec sum = Add(rest, s[0]);
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

// Not inlined: one copy of some thousands of instructions serves every caller.
[[gnu::noinline]] inline void Permute(const Poseidon2Words& constants, Vec* state) {
  Vec s[kWidth];
  Unrolled<kWidth>([&](size_t i) PROOFMILL_LANES_BODY { s[i] = state[i]; });
  ExternalLayer(s);
  for (const auto& round : constants.initial) FullRound(round, s);
  for (const uint32_t constant : constants.partial) PartialRound(constant, s);
  for (const auto& round : constants.terminal) FullRound(round, s);
  Unrolled<kWidth>([&](size_t i) PROOFMILL_LANES_BODY { state[i] = s[i]; });
}

inline void PermuteStates(const Poseidon2Words& constants, uint32_t* states, size_t times) {
  Vec s[kWidth];
  for (size_t i = 0; i < kWidth; ++i) s[i] = Load(states + i * kLanes);
  for (size_t i = 0; i < times; ++i) Permute(constants, s);
  for (size_t i = 0; i < kWidth; ++i) Store(states + i * kLanes, s[i]);
}

PROOFMILL_LANES_INLINE size_t ReverseBits(size_t x, uint32_t bits) {
  size_t out = 0;
  for (uint32_t i = 0; i < bits; ++i) out |= (x >> i & 1) << (bits - 1 - i);
  return out;
}

// The overwrite-mode sponge without padding.
inline void HashRows(const Poseidon2Words& constants, const ColumnMatrix& matrix, size_t begin, size_t end,
                     uint32_t* digests) {
  const size_t height = size_t{1} << matrix.log2_height, group_count = height / kLanes;
  const auto log2_groups = static_cast<uint32_t>(matrix.log2_height - kLogLanes);
  size_t first_rows[kLanes];
  for (size_t l = 0; l < kLanes; ++l) first_rows[l] = ReverseBits(l, kLogLanes) * group_count;
  for (size_t c = begin; c < end; ++c) {
    const uint32_t* const column = matrix.data + ReverseBits(c, log2_groups) * kLanes;
    const uint32_t* const next = matrix.data + ReverseBits(c + 1, log2_groups) * kLanes;
    Vec s[kWidth];
    for (Vec& word : s) word = Set(0);
    for (size_t i = 0; i < matrix.width; i += kRate) {
      const size_t count = matrix.width - i < kRate ? matrix.width - i : kRate;
      for (size_t j = 0; j < count; ++j) {
        s[j] = Load(column + (i + j) * height);
        if (c + 1 < end) Prefetch(next + (i + j) * height);
      }
      Permute(constants, s);
    }
    size_t places[kLanes];
    for (size_t l = 0; l < kLanes; ++l) places[l] = first_rows[l] + c;
    StoreDigests(s, digests, places);
  }
}

inline void CompressPairs(const Poseidon2Words& constants, const uint32_t* in, uint32_t* out, size_t n) {
  for (size_t i = 0; i < n; i += kLanes) {
    Vec s[kWidth];
    for (size_t part = 0; part < kWidth; part += kLanes) {
      for (size_t l = 0; l < kLanes; ++l) s[part + l] = Load(in + (i + l) * kWidth + part);
      Transpose(s + part);
    }
    Permute(constants, s);
    size_t places[kLanes];
    for (size_t l = 0; l < kLanes; ++l) places[l] = i + l;
    StoreDigests(s, out, places);
  }
}

inline uint32_t SearchNonce(const Poseidon2Words& constants, const uint32_t* state, size_t position,
                            uint32_t mask, uint32_t begin, uint32_t end) {
  constexpr uint64_t kR = (uint64_t{1} << 32) % kP;
  alignas(64) uint32_t first[kLanes];
  for (size_t l = 0; l < kLanes; ++l) first[l] = static_cast<uint32_t>((uint64_t{begin} + l) % kP * kR % kP);
  Vec nonces = Load(first);
  const Vec step = Set(static_cast<uint32_t>(kLanes * kR % kP)), one = Set(1), bits = Set(mask);
  for (uint64_t nonce = begin; nonce < end; nonce += kLanes) {
    Vec s[kWidth];
    for (size_t i = 0; i < kWidth; ++i) s[i] = Set(state[i]);
    s[position] = nonces;
    Permute(constants, s);
    const uint32_t hits = ZeroBits(Mul(s[7], one), bits);  // a product with 1 takes R away
    if (hits != 0) {
      const uint64_t hit = nonce + static_cast<uint32_t>(__builtin_ctz(hits));
      return hit < end ? static_cast<uint32_t>(hit) : kNoNonce;
    }
    nonces = Add(nonces, step);
  }
  return kNoNonce;
}

}  // namespace proofmill::kernels::PROOFMILL_LANES

#endif  // PROOFMILL_KERNELS_CPU_POSEIDON2_LANES_H_
