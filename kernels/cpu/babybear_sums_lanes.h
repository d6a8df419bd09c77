// Sums of products over extension vectors: sumcheck rounds, folds, tensor products and their transposes.
// Compiled once for each instruction set (babybear_lanes.h); the functions are described in
// babybear_kernels.h.

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_SUMS_LANES_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_SUMS_LANES_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/babybear_kernels.h"
#include "kernels/cpu/babybear_lanes.h"

namespace proofmill::kernels::PROOFMILL_LANES {

PROOFMILL_LANES_INLINE size_t LanesLeft(size_t i, size_t end) { return end - i < kLanes ? end - i : kLanes; }

// The sum of product(i), a Wide, over i < kCount.
template <size_t kCount, typename Product>
PROOFMILL_LANES_INLINE Vec SumOfProducts(const Product& product) {
  Vec sum = Set(0);
  for (size_t first = 0; first < kCount; first += 4) {
    Wide wide = product(first);
    for (size_t i = first + 1; i < first + 4 && i < kCount; ++i) wide = AddWide(wide, product(i));
    const Vec part = kCount - first == 1 ? Reduce(wide) : ReduceSum(wide);
    sum = first == 0 ? part : Add(sum, part);
  }
  return sum;
}

// An extension element a lane.
template <size_t kD>
struct Ext {
  Vec c[kD];
};
template <size_t kD>
PROOFMILL_LANES_INLINE Ext<kD> LoadExt(Planes from, size_t i, size_t count) {
  Ext<kD> out;
  Unrolled<kD>([&](size_t k)
                   PROOFMILL_LANES_BODY { out.c[k] = LoadSome(from.data + k * from.stride + i, count); });
  return out;
}
template <size_t kD>
PROOFMILL_LANES_INLINE void StoreExt(Planes to, size_t i, const Ext<kD>& x, size_t count) {
  Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { StoreSome(to.data + k * to.stride + i, x.c[k], count); });
}

// x times w of X^kD = w.
template <size_t kD>
PROOFMILL_LANES_INLINE Vec TimesNonResidue(Vec x) {
  const Vec twice = Double(x);
  if constexpr (kD == 5) return twice;
  return Add(Double(Double(twice)), Add(twice, x));  // 11
}
template <size_t kD>
PROOFMILL_LANES_INLINE Ext<kD> MulExt(const Ext<kD>& a, const Ext<kD>& b) {
  Ext<kD> folded, out;
  Unrolled<kD>([&](size_t i) PROOFMILL_LANES_BODY { folded.c[i] = TimesNonResidue<kD>(b.c[i]); });
  Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY {
    out.c[k] = SumOfProducts<kD>([&](size_t i) PROOFMILL_LANES_BODY {
      return MulWide(a.c[i], i <= k ? b.c[k - i] : folded.c[kD + k - i]);
    });
  });
  return out;
}

// Multiplication by one element as a matrix: (x * r)_k = sum of x_i * m[k][i].
template <size_t kD>
struct ExtFactor {
  Vec m[kD][kD];
};
template <size_t kD>
PROOFMILL_LANES_INLINE ExtFactor<kD> MakeFactor(const uint32_t* r) {
  ExtFactor<kD> out;
  for (size_t k = 0; k < kD; ++k) {
    for (size_t i = 0; i < kD; ++i) {
      out.m[k][i] = i <= k ? Set(r[k - i]) : TimesNonResidue<kD>(Set(r[kD + k - i]));
    }
  }
  return out;
}

template <size_t kD>
struct RoundAccumulator {
  Ext<kD> h0, h2;

  PROOFMILL_LANES_INLINE RoundAccumulator() {
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { h0.c[k] = h2.c[k] = Set(0); });
  }
  PROOFMILL_LANES_INLINE void AddTo(Ext<kD>& sum, const Ext<kD>& x) {
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { sum.c[k] = Add(sum.c[k], x.c[k]); });
  }
  PROOFMILL_LANES_INLINE void StoreTo(RoundSums* sums) const {
    for (size_t k = 0; k < kD; ++k) {
      sums->h0[k] = SumLanes(h0.c[k]);
      sums->h2[k] = SumLanes(h2.c[k]);
    }
  }
};

// 2 * hi - lo: the line through (0, lo) and (1, hi) at 2.
PROOFMILL_LANES_INLINE Vec AtTwo(Vec lo, Vec hi) { return Sub(Double(hi), lo); }
template <size_t kD>
PROOFMILL_LANES_INLINE Ext<kD> AtTwo(const Ext<kD>& lo, const Ext<kD>& hi) {
  Ext<kD> out;
  Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { out.c[k] = AtTwo(lo.c[k], hi.c[k]); });
  return out;
}

template <size_t kD>
inline void RoundBase(const uint32_t* f, Planes w, size_t half, size_t begin, size_t end, RoundSums* sums) {
  RoundAccumulator<kD> total;
  for (size_t i = begin; i < end; i += kLanes) {
    const size_t count = LanesLeft(i, end);
    const Vec f_lo = LoadSome(f + i, count), f_two = AtTwo(f_lo, LoadSome(f + i + half, count));
    const Ext<kD> w_lo = LoadExt<kD>(w, i, count), w_two = AtTwo(w_lo, LoadExt<kD>(w, i + half, count));
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY {
      total.h0.c[k] = Add(total.h0.c[k], Mul(w_lo.c[k], f_lo));
      total.h2.c[k] = Add(total.h2.c[k], Mul(w_two.c[k], f_two));
    });
  }
  total.StoreTo(sums);
}

template <size_t kD>
inline void RoundExt(Planes f, Planes w, size_t half, size_t begin, size_t end, RoundSums* sums) {
  RoundAccumulator<kD> total;
  for (size_t i = begin; i < end; i += kLanes) {
    const size_t count = LanesLeft(i, end);
    const Ext<kD> f_lo = LoadExt<kD>(f, i, count), w_lo = LoadExt<kD>(w, i, count);
    total.AddTo(total.h0, MulExt<kD>(f_lo, w_lo));
    total.AddTo(total.h2, MulExt<kD>(AtTwo(f_lo, LoadExt<kD>(f, i + half, count)),
                                     AtTwo(w_lo, LoadExt<kD>(w, i + half, count))));
  }
  total.StoreTo(sums);
}

template <size_t kD>
inline void FoldBase(const uint32_t* in, Planes out, const uint32_t* r, size_t half, size_t begin,
                     size_t end) {
  for (size_t i = begin; i < end; i += kLanes) {
    const size_t count = LanesLeft(i, end);
    const Vec lo = LoadSome(in + i, count), difference = Sub(LoadSome(in + i + half, count), lo);
    Ext<kD> folded;
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { folded.c[k] = Mul(difference, Set(r[k])); });
    folded.c[0] = Add(folded.c[0], lo);
    StoreExt<kD>(out, i, folded, count);
  }
}

template <size_t kD>
inline void FoldExt(Planes in, Planes out, const uint32_t* r, size_t half, size_t begin, size_t end) {
  const ExtFactor<kD> factor = MakeFactor<kD>(r);
  for (size_t i = begin; i < end; i += kLanes) {
    const size_t count = LanesLeft(i, end);
    const Ext<kD> lo = LoadExt<kD>(in, i, count), hi = LoadExt<kD>(in, i + half, count);
    Ext<kD> difference, folded;
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { difference.c[k] = Sub(hi.c[k], lo.c[k]); });
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY {
      const Vec product = SumOfProducts<kD>(
          [&](size_t j) PROOFMILL_LANES_BODY { return MulWideSet(difference.c[j], factor.m[k][j]); });
      folded.c[k] = Add(lo.c[k], product);
    });
    StoreExt<kD>(out, i, folded, count);
  }
}

// The sum over p < planes of one vector of each plane, times its coefficient, for each output k.
template <size_t kD>
PROOFMILL_LANES_INLINE Ext<kD> ExpandOne(const ExpandTask& task, const uint32_t* coefficients, size_t lo,
                                         size_t count) {
  Ext<kD> sum;
  Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { sum.c[k] = Set(0); });
  for (size_t first = 0; first < task.planes; first += 4) {
    const size_t end = task.planes - first < 4 ? task.planes : first + 4;
    Wide wide[kD];
    const Vec x = LoadSome(task.in + first * task.lo_count + lo, count);
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY {
      wide[k] = MulWideSet(x, Set(coefficients[k * task.planes + first]));
    });
    for (size_t p = first + 1; p < end; ++p) {
      const Vec y = LoadSome(task.in + p * task.lo_count + lo, count);
      Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY {
        wide[k] = AddWide(wide[k], MulWideSet(y, Set(coefficients[k * task.planes + p])));
      });
    }
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { sum.c[k] = Add(sum.c[k], ReduceSum(wide[k])); });
  }
  return sum;
}

template <size_t kD>
inline void Expand(const ExpandTask& task) {
  constexpr size_t kBlock = 64;  // words of each plane that stay in the first-level cache for all hi
  for (size_t block = 0; block < task.lo_count; block += kBlock) {
    const size_t block_end = task.lo_count - block < kBlock ? task.lo_count : block + kBlock;
    for (size_t hi = task.hi_begin; hi < task.hi_end; ++hi) {
      const uint32_t* const coefficients = task.coefficients + hi * kD * task.planes;
      for (size_t lo = block; lo < block_end; lo += kLanes) {
        const size_t count = LanesLeft(lo, block_end), at = hi * task.lo_count + lo;
        Ext<kD> sum = ExpandOne<kD>(task, coefficients, lo, count);
        if (task.accumulate) {
          const Ext<kD> before = LoadExt<kD>(task.out, at, count);
          Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY { sum.c[k] = Add(sum.c[k], before.c[k]); });
        }
        StoreExt<kD>(task.out, at, sum, count);
      }
    }
  }
}

// kHis consecutive hi, kPlanes planes each.
template <size_t kD, size_t kPlanes, size_t kHis>
PROOFMILL_LANES_INLINE void ContractSome(const ContractTask& task, size_t hi) {
  const uint32_t* const coefficients = task.coefficients + hi * kD * kPlanes;
  for (size_t lo = 0; lo < task.lo_count; lo += kLanes) {
    const size_t count = LanesLeft(lo, task.lo_count);
    Vec x[kHis * kPlanes];
    Unrolled<kHis * kPlanes>([&](size_t i) PROOFMILL_LANES_BODY {
      x[i] = LoadSome(task.in + i % kPlanes * task.stride + (hi + i / kPlanes) * task.lo_count + lo, count);
    });
    Unrolled<kD>([&](size_t k) PROOFMILL_LANES_BODY {
      const Vec part = SumOfProducts<kHis * kPlanes>([&](size_t i) PROOFMILL_LANES_BODY {
        return MulWideSet(x[i], Set(coefficients[(i / kPlanes * kD + k) * kPlanes + i % kPlanes]));
      });
      uint32_t* const sum = task.sums + k * task.lo_count + lo;
      StoreSome(sum, Add(LoadSome(sum, count), part), count);
    });
  }
}

template <size_t kD>
inline void ContractBase(const ContractTask& task) {
  size_t hi = task.hi_begin;
  for (; hi + 4 <= task.hi_end; hi += 4) ContractSome<kD, 1, 4>(task, hi);
  for (; hi < task.hi_end; ++hi) ContractSome<kD, 1, 1>(task, hi);
}
template <size_t kD>
inline void ContractExt(const ContractTask& task) {
  for (size_t hi = task.hi_begin; hi < task.hi_end; ++hi) ContractSome<kD, kD, 1>(task, hi);
}

template <size_t kD>
inline constexpr ExtKernels kExtKernels = {Expand<kD>,   ContractBase<kD>, ContractExt<kD>, RoundBase<kD>,
                                           RoundExt<kD>, FoldBase<kD>,     FoldExt<kD>};

}  // namespace proofmill::kernels::PROOFMILL_LANES

#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_SUMS_LANES_H_
