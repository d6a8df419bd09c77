// Transforms on several elements at a time: kLanes is 8 or 4 (lanes52.h).
//
// A pass takes 2 to 16 rows of a block, kLanes neighbouring columns of each in a vector, through one to four
// levels. A leaf is kLanes^2 elements: log2(kLanes) levels between its vectors, a transposition of the
// square, and as many levels between the vectors again, where every lane is a block of its own and has its
// own factor.
//
// Elements are the integers of Fr, times 2^256; factors are c * 2^260, so that products come out right.
// Between two passes memory holds numbers below 2r.

#ifndef PROOFMILL_KERNELS_CPU_NTT_LANES_H_
#define PROOFMILL_KERNELS_CPU_NTT_LANES_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/ntt_kernels.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/lanes52.h"

namespace proofmill::kernels::PROOFMILL_LANES52 {
namespace {  // NOLINT(google-build-namespaces): of one unit for each instruction set

constexpr uint32_t kLaneLevels = std::bit_width(kLanes) - 1;
constexpr uint32_t kLeafLog2 = 2 * kLaneLevels;
constexpr uint32_t kFactorScale = 16;  // 2^260 / 2^256
constexpr uint32_t kPassLevelsMax = 4;
constexpr uint32_t kStoredBound = 2;

using Factor = Tight<FrParams, 1>;
template <uint32_t kBound>
using Number = Loose<FrParams, kBound>;

static_assert(sizeof(Fr) == sizeof(U256), "an Fr is its one member");
U256* Integers(Fr* x) { return reinterpret_cast<U256*>(x); }
const U256* Integers(const Fr* x) { return reinterpret_cast<const U256*>(x); }

// A number between two steps; the step knows its bound.
struct Slot {
  Vector limb[kLimbs];
};
template <uint32_t kBound>
PROOFMILL_LANES52_INLINE Number<kBound> Get(const Slot& slot) {
  Number<kBound> out;
  for (int j = 0; j < kLimbs; ++j) out.limb[j] = slot.limb[j];
  return out;
}
template <uint32_t kBound>
PROOFMILL_LANES52_INLINE void Put(Slot& slot, const Number<kBound>& x) {
  for (int j = 0; j < kLimbs; ++j) slot.limb[j] = x.limb[j];
}

// Where the factor of a block of some level stands, and how a butterfly uses it. kBound bounds what goes in.
struct InverseNetwork {
  static constexpr bool kLevelsDescend = false;

  // Minus the inverse of the forward factor. The bits of `block` below the highest, inverted, give the place
  // of the twiddle with the exponent 2^(k-1) - e for the exponent e of `block` (k bits), and
  // w_{2^k}^(2^(k-1)) = -1.
  static const U256* FactorAt(const NttFactors& factors, size_t block) {
    if (block == 0) return Integers(&factors.minus_one);
    const size_t below_highest = (~size_t{0} >> 1) >> __builtin_clzll(block);
    return Integers(factors.twiddles) + (block ^ below_highest);
  }
  // (x, y) to (x + c*y, x - c*y) for the factor -c.
  template <uint32_t kBound>
  PROOFMILL_LANES52_INLINE static void Butterfly(Slot& x, Slot& y, const Factor& minus_c) {
    const Number<2> t = Tighten(Get<kBound>(y)) * minus_c;
    const Number<kBound> before = Get<kBound>(x);
    Put(x, before - t);
    Put(y, before + t);
  }
  template <uint32_t kBound>
  static constexpr uint32_t kBoundAfterProducts = kBound + 2;
};

struct ForwardNetwork {
  static constexpr bool kLevelsDescend = true;

  static const U256* FactorAt(const NttFactors& factors, size_t block) {
    return Integers(factors.twiddles) + block;
  }
  // (x, y) to (x + y, c*(x - y)).
  template <uint32_t kBound>
  PROOFMILL_LANES52_INLINE static void Butterfly(Slot& x, Slot& y, const Factor& c) {
    const auto sum = Get<kBound>(x) + Get<kBound>(y);
    Put(y, Tighten(Get<kBound>(x) - Get<kBound>(y)) * c);
    Put(x, sum);
  }
  template <uint32_t kBound>
  static constexpr uint32_t kBoundAfterProducts = 2 * kBound;
};

// (x, y) to (x + y, x - y): for the factor 1 in either network.
template <uint32_t kBound>
PROOFMILL_LANES52_INLINE void PlainButterfly(Slot& x, Slot& y) {
  const auto sum = Get<kBound>(x) + Get<kBound>(y);
  Put(y, Get<kBound>(x) - Get<kBound>(y));
  Put(x, sum);
}

// One level on 2^log2_slots slots, which are 2^level blocks with the factors factors[0], factors[1], ...
// kMayBePlain: with `first_is_plain`, the factor of the first block is 1.
template <typename Network, uint32_t kBound, bool kMayBePlain>
void Level(Slot* x, uint32_t log2_slots, uint32_t level, const Factor* factors, bool first_is_plain) {
  const size_t half = size_t{1} << (log2_slots - level - 1);
  size_t block = 0;
  if (kMayBePlain && first_is_plain) {
    for (size_t j = 0; j < half; ++j) PlainButterfly<kBound>(x[j], x[half + j]);
    block = 1;
  }
  for (; block < size_t{1} << level; ++block) {
    Slot* const first = x + 2 * half * block;
    for (size_t j = 0; j < half; ++j) {
      Network::template Butterfly<kBound>(first[j], first[half + j], factors[block]);
    }
  }
}

// What bounds numbers after one more level.
template <typename Network, uint32_t kBound, bool kMayBePlain>
constexpr uint32_t kBoundAfter = kMayBePlain ? 2 * kBound : Network::template kBoundAfterProducts<kBound>;

// The factors of the levels that a pass does under a block: those of its level k from place 2^k on.
struct LevelFactors {
  Factor at[size_t{1} << kPassLevelsMax];
};

// kLevels levels on 2^kLevels slots. Returns nothing, but FinalBound() of the same arguments bounds the
// result.
template <typename Network, uint32_t kBound, bool kMayBePlain, uint32_t kLevels, uint32_t kDone = 0>
PROOFMILL_LANES52_INLINE void Levels(Slot* x, const LevelFactors& factors, bool first_is_plain) {
  if constexpr (kDone < kLevels) {
    constexpr uint32_t kLevel = Network::kLevelsDescend ? kLevels - 1 - kDone : kDone;
    Level<Network, kBound, kMayBePlain>(x, kLevels, kLevel, factors.at + (size_t{1} << kLevel),
                                        first_is_plain);
    Levels<Network, kBoundAfter<Network, kBound, kMayBePlain>, kMayBePlain, kLevels, kDone + 1>(
        x, factors, first_is_plain);
  }
}
template <typename Network, uint32_t kBound, bool kMayBePlain>
consteval uint32_t FinalBound(uint32_t levels) {
  if constexpr (kBound > kBoundMax) {
    return kBound;  // more than the levels below can ask for
  } else {
    return levels == 0
               ? kBound
               : FinalBound<Network, kBoundAfter<Network, kBound, kMayBePlain>, kMayBePlain>(levels - 1);
  }
}

// ---- Passes over columns.

template <typename Network>
PROOFMILL_LANES52_INLINE void LoadFactors(const NttFactors& factors, size_t block, uint32_t levels,
                                          LevelFactors& out) {
  for (uint32_t level = 0; level < levels; ++level) {
    for (size_t i = 0; i < size_t{1} << level; ++i) {
      const U256* const factor = Network::FactorAt(factors, (block << level) + i);
      out.at[(size_t{1} << level) + i] = LoadFrom<FrParams>([&](size_t) { return factor; });
    }
  }
}

template <bool kLast, uint32_t kBound>
PROOFMILL_LANES52_INLINE void StoreReduced(U256* out, size_t stride, const Number<kBound>& x) {
  if constexpr (kLast) {
    Store(out, Canonical(x), stride);
  } else {
    static_assert(kStoredBound == 2);
    Store(out, ReduceBelowTwice(x), stride);
  }
}

template <typename Network, uint32_t kLevels, bool kLast>
void Columns(const NttFactors& factors, const NttBlock& b, size_t begin, size_t end) {
  constexpr size_t kRows = size_t{1} << kLevels;
  constexpr uint32_t kFinalBound = FinalBound<Network, kStoredBound, true>(kLevels);
  const size_t columns = size_t{1} << (b.log2_size - kLevels);
  U256* const values = Integers(b.values);
  LevelFactors level_factors;
  LoadFactors<Network>(factors, b.block, kLevels, level_factors);
  for (size_t column = begin; column < end; column += kLanes) {
    Slot x[kRows];
    for (size_t row = 0; row < kRows; ++row) {
      Put<kStoredBound>(x[row], Load<FrParams, kStoredBound>(values + row * columns + column));
    }
    Levels<Network, kStoredBound, true, kLevels>(x, level_factors, b.block == 0);
    for (size_t row = 0; row < kRows; ++row) {
      StoreReduced<kLast>(values + row * columns + column, 1, Get<kFinalBound>(x[row]));
    }
  }
}

template <typename Network, bool kLast>
void Pass(const NttFactors& factors, const NttBlock& b, uint32_t levels, size_t begin, size_t end) {
  static_assert(kPassLevelsMax == 4);
  switch (levels) {
    case 1:
      return Columns<Network, 1, kLast>(factors, b, begin, end);
    case 2:
      return Columns<Network, 2, kLast>(factors, b, begin, end);
    case 3:
      return Columns<Network, 3, kLast>(factors, b, begin, end);
    default:
      return Columns<Network, 4, kLast>(factors, b, begin, end);
  }
}

void InversePass(const NttFactors& factors, const NttBlock& b, uint32_t levels, size_t begin, size_t end) {
  Pass<InverseNetwork, false>(factors, b, levels, begin, end);
}
void ForwardPass(const NttFactors& factors, const NttBlock& b, uint32_t levels, bool last, size_t begin,
                 size_t end) {
  return last ? Pass<ForwardNetwork, true>(factors, b, levels, begin, end)
              : Pass<ForwardNetwork, false>(factors, b, levels, begin, end);
}

// ---- Leaves. With L lanes, in rows, vector j holds elements L*j .. L*j + L-1; in columns, elements j, L +
// j, 2L + j, ...

void Transpose(Slot (&x)[kLanes]) {
  for (int limb = 0; limb < kLimbs; ++limb) {
    Vector r[kLanes];
    for (size_t i = 0; i < kLanes; ++i) r[i] = x[i].limb[limb];
    PROOFMILL_LANES52::Transpose(r);
    for (size_t i = 0; i < kLanes; ++i) x[i].limb[limb] = r[i];
  }
}

// The factors of the lower levels: lane k for the blocks under block kLanes * leaf + k.
template <typename Network>
PROOFMILL_LANES52_INLINE void LoadLaneFactors(const NttFactors& factors, size_t leaf, LevelFactors& out) {
  for (uint32_t level = 0; level < kLaneLevels; ++level) {
    for (size_t i = 0; i < size_t{1} << level; ++i) {
      out.at[(size_t{1} << level) + i] = LoadFrom<FrParams>(
          [&](size_t lane) { return Network::FactorAt(factors, ((kLanes * leaf + lane) << level) + i); });
    }
  }
}

constexpr uint32_t kInverseBound =
    FinalBound<InverseNetwork, FinalBound<InverseNetwork, kStoredBound, true>(kLaneLevels), false>(
        kLaneLevels);
constexpr uint32_t kForwardBound = FinalBound<ForwardNetwork, kStoredBound, true>(kLaneLevels);

// From rows in memory to columns of the coefficients, below kInverseBound.
PROOFMILL_LANES52_INLINE void InverseToColumns(const NttFactors& factors, const NttBlock& b,
                                               Slot (&x)[kLanes]) {
  LevelFactors level_factors;
  for (size_t i = 0; i < kLanes; ++i) {
    Put<kStoredBound>(x[i], Load<FrParams, kStoredBound>(Integers(b.values) + kLanes * i));
  }
  LoadFactors<InverseNetwork>(factors, b.block, kLaneLevels, level_factors);
  Levels<InverseNetwork, kStoredBound, true, kLaneLevels>(x, level_factors, b.block == 0);
  Transpose(x);
  LoadLaneFactors<InverseNetwork>(factors, b.block, level_factors);
  Levels<InverseNetwork, FinalBound<InverseNetwork, kStoredBound, true>(kLaneLevels), false, kLaneLevels>(
      x, level_factors, false);
}

// From columns of the coefficients, below kStoredBound, to rows in memory.
template <bool kLast>
PROOFMILL_LANES52_INLINE void ForwardFromColumns(const NttFactors& factors, const NttBlock& b,
                                                 Slot (&x)[kLanes]) {
  LevelFactors level_factors;
  LoadLaneFactors<ForwardNetwork>(factors, b.block, level_factors);
  Levels<ForwardNetwork, kStoredBound, false, kLaneLevels>(x, level_factors, false);
  for (Slot& slot : x) {
    constexpr uint32_t kBound = FinalBound<ForwardNetwork, kStoredBound, false>(kLaneLevels);
    Put<kStoredBound>(slot, ReduceBelowTwice(Get<kBound>(slot)));
  }
  Transpose(x);
  LoadFactors<ForwardNetwork>(factors, b.block, kLaneLevels, level_factors);
  Levels<ForwardNetwork, kStoredBound, true, kLaneLevels>(x, level_factors, b.block == 0);
  for (size_t i = 0; i < kLanes; ++i) {
    StoreReduced<kLast>(Integers(b.values) + kLanes * i, 1, Get<kForwardBound>(x[i]));
  }
}

void InverseLeaf(const NttFactors& factors, const NttBlock& b) {
  Slot x[kLanes];
  InverseToColumns(factors, b, x);
  for (size_t i = 0; i < kLanes; ++i) {
    StoreReduced<true>(Integers(b.values) + i, kLanes, Get<kInverseBound>(x[i]));
  }
}

void ForwardLeaf(const NttFactors& factors, const NttBlock& b, bool last) {
  Slot x[kLanes];
  for (size_t i = 0; i < kLanes; ++i) {
    Put<kStoredBound>(x[i], Load<FrParams, kStoredBound>(Integers(b.values) + i, kLanes));
  }
  return last ? ForwardFromColumns<true>(factors, b, x) : ForwardFromColumns<false>(factors, b, x);
}

// What scales the row of places that `begin` lies in, in every lane.
PROOFMILL_LANES52_INLINE Factor RowScale(const NttCoset& coset, size_t begin) {
  const U256* const high = Integers(coset.high) + (begin >> coset.low_bits);
  return LoadFrom<FrParams>([&](size_t) { return high; });
}
PROOFMILL_LANES52_INLINE const U256* ColumnScales(const NttCoset& coset, size_t begin) {
  return Integers(coset.low) + (begin & ((size_t{1} << coset.low_bits) - 1));
}

void CosetLeaf(const NttFactors& factors, const NttCoset& coset, const NttBlock& b, bool last) {
  const size_t begin = b.block << kLeafLog2;
  const Factor row_scale = RowScale(coset, begin);
  const U256* const column_scales = ColumnScales(coset, begin);
  Slot x[kLanes];
  InverseToColumns(factors, b, x);
  for (size_t i = 0; i < kLanes; ++i) {
    const Number<2> in_row = Tighten(Get<kInverseBound>(x[i])) * row_scale;
    Put<kStoredBound>(x[i], Tighten(in_row) * Load<FrParams>(column_scales + i, kLanes));
  }
  return last ? ForwardFromColumns<true>(factors, b, x) : ForwardFromColumns<false>(factors, b, x);
}

// A row of places is at least a leaf long, so that kLanes places from a multiple of kLanes on are in one row.
void Scale(const NttCoset& coset, size_t begin, size_t n, Fr* values) {
  for (size_t i = 0; i < n; i += kLanes) {
    U256* const group = Integers(values + i);
    const Number<2> in_row = Load<FrParams>(group) * RowScale(coset, begin + i);
    Store(group, Canonical(Tighten(in_row) * Load<FrParams>(ColumnScales(coset, begin + i))));
  }
}

}  // namespace
}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_KERNELS_CPU_NTT_LANES_H_
