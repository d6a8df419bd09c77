#include "kernels/cpu/sumcheck.h"

#include <algorithm>
#include <mutex>

#include "kernels/cpu/parallel.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kPairGrain = 8192;  // pairs of elements in one chunk: some 100 us

template <int kD>
const ExtKernels& Kernels() {
  return CurrentBabyBearKernels().ext(kD);
}

// eq(point, b) for all b.
template <int kD>
std::vector<BabyBearExt<kD>> EqTable(const BabyBearExt<kD>* point, size_t n, const BabyBearExt<kD>& factor) {
  std::vector<BabyBearExt<kD>> table(size_t{1} << n);
  table[0] = factor;
  for (size_t i = 0; i < n; ++i) {
    for (size_t b = size_t{1} << i; b-- > 0;) {
      const BabyBearExt<kD> one = table[b] * point[i];
      table[2 * b] = table[b] - one;
      table[2 * b + 1] = one;
    }
  }
  return table;
}

// Row k of the matrix that multiplies by x: out[k * stride + i] is the factor of coefficient i in coefficient
// k.
template <int kD>
void StoreFactor(const BabyBearExt<kD>& x, size_t stride, uint32_t* out) {
  constexpr BabyBear w = BabyBear::FromCanonical(BabyBearExt<kD>::kNonResidue);
  for (int k = 0; k < kD; ++k) {
    for (int i = 0; i < kD; ++i) {
      const BabyBear factor = i <= k ? x.c[k - i] : w * x.c[kD + k - i];
      out[static_cast<size_t>(k) * stride + static_cast<size_t>(i)] = factor.montgomery();
    }
  }
}

template <int kD>
BabyBearExt<kD> FromWords(const uint32_t* words) {
  BabyBearExt<kD> out{};
  for (int i = 0; i < kD; ++i) out.c[i] = BabyBear::FromMontgomery(words[i]);
  return out;
}
template <int kD>
void ToWordArray(const BabyBearExt<kD>& x, uint32_t* words) {
  for (int i = 0; i < kD; ++i) words[i] = x.c[i].montgomery();
}

// The terms of AddWeights as a product of two tables: index b is hi * lo_count + lo.
template <int kD>
class WeightTables {
 public:
  WeightTables(const std::vector<EqTerm<kD>>& eqs, const std::vector<PowerTerm<kD>>& powers,
               uint32_t log2_size)
      : powers_(powers), log2_lo_((log2_size + 1) / 2), planes_(eqs.size() * kD + powers.size()) {
    const size_t log2_hi = log2_size - log2_lo_, lo_count = size_t{1} << log2_lo_;
    lo_.resize(planes_ * lo_count);
    uint32_t* plane = lo_.data();
    for (const EqTerm<kD>& eq : eqs) {
      hi_eqs_.push_back(EqTable<kD>(eq.point.data(), log2_hi, eq.coefficient));
      const auto lo = EqTable<kD>(eq.point.data() + log2_hi, log2_lo_, BabyBearExt<kD>::One());
      for (int i = 0; i < kD; ++i, plane += lo_count) {
        std::transform(lo.begin(), lo.end(), plane, [i](const auto& x) { return x.c[i].montgomery(); });
      }
    }
    for (const PowerTerm<kD>& term : powers) {
      BabyBear power = BabyBear::One();
      for (size_t lo = 0; lo < lo_count; ++lo, power *= term.x) *plane++ = power.montgomery();
      hi_steps_.push_back(power);
    }
  }

  size_t hi_count(uint32_t log2_size) const { return size_t{1} << (log2_size - log2_lo_); }

  void Apply(size_t hi_begin, size_t hi_end, bool overwrite, Planes w) const {
    std::vector<uint32_t> coefficients((hi_end - hi_begin) * kD * planes_);
    std::vector<BabyBearExt<kD>> at_hi(powers_.size());
    for (size_t j = 0; j < powers_.size(); ++j)
      at_hi[j] = powers_[j].coefficient * hi_steps_[j].Pow(hi_begin);
    uint32_t* row = coefficients.data();
    for (size_t hi = hi_begin; hi < hi_end; ++hi, row += kD * planes_) {
      for (size_t e = 0; e < hi_eqs_.size(); ++e) StoreFactor<kD>(hi_eqs_[e][hi], planes_, row + e * kD);
      for (size_t j = 0; j < powers_.size(); ++j) {
        uint32_t* const out = row + hi_eqs_.size() * kD + j;
        for (size_t k = 0; k < kD; ++k) out[k * planes_] = at_hi[j].c[k].montgomery();
        at_hi[j] = at_hi[j] * hi_steps_[j];
      }
    }
    Kernels<kD>().expand({.out = {w.data + (hi_begin << log2_lo_), w.stride},
                          .in = lo_.data(),
                          .planes = planes_,
                          .coefficients = coefficients.data(),
                          .lo_count = size_t{1} << log2_lo_,
                          .hi_begin = 0,
                          .hi_end = hi_end - hi_begin,
                          .accumulate = !overwrite});
  }

 private:
  const std::vector<PowerTerm<kD>>& powers_;
  const uint32_t log2_lo_;
  const size_t planes_;
  std::vector<uint32_t> lo_;
  std::vector<std::vector<BabyBearExt<kD>>> hi_eqs_;
  std::vector<BabyBear> hi_steps_;  // x^lo_count
};

// The value at `point` of a vector of `planes` planes (1 for a base vector), by first summing over the high
// half of the variables.
template <int kD>
BabyBearExt<kD> Evaluate(const uint32_t* f, size_t stride, size_t planes,
                         const std::vector<BabyBearExt<kD>>& point) {
  const size_t log2_lo = std::min<size_t>(point.size(), 9), log2_hi = point.size() - log2_lo;
  const size_t lo_count = size_t{1} << log2_lo;
  const auto hi_table = EqTable<kD>(point.data(), log2_hi, BabyBearExt<kD>::One());
  const auto lo_table = EqTable<kD>(point.data() + log2_hi, log2_lo, BabyBearExt<kD>::One());
  std::vector<uint32_t> coefficients(hi_table.size() * kD * planes);
  for (size_t hi = 0; hi < hi_table.size(); ++hi) {
    uint32_t* const out = coefficients.data() + hi * kD * planes;
    if (planes == 1) {
      ToWordArray(hi_table[hi], out);
    } else {
      StoreFactor<kD>(hi_table[hi], planes, out);
    }
  }
  const auto contract = planes == 1 ? Kernels<kD>().contract_base : Kernels<kD>().contract_ext;
  BabyBearExt<kD> total{};
  std::mutex mutex;  // over `total`; held for one addition
  ParallelFor(0, hi_table.size(), 64, [&](size_t begin, size_t end) {
    std::vector<uint32_t> sums(kD * lo_count);
    contract({.in = f,
              .stride = stride,
              .coefficients = coefficients.data(),
              .lo_count = lo_count,
              .hi_begin = begin,
              .hi_end = end,
              .sums = sums.data()});
    BabyBearExt<kD> part{};
    for (size_t lo = 0; lo < lo_count; ++lo) {
      BabyBearExt<kD> sum{};
      for (size_t k = 0; k < kD; ++k) sum.c[k] = BabyBear::FromMontgomery(sums[k * lo_count + lo]);
      part += sum * lo_table[lo];
    }
    const std::lock_guard<std::mutex> lock(mutex);
    total += part;
  });
  return total;
}

// Adds up what kernel(begin, end, &sums) gives for chunks of [0, half).
template <int kD, typename Kernel>
RoundValues<kD> SumChunks(size_t half, const Kernel& kernel) {
  std::vector<RoundSums> chunks((half + kPairGrain - 1) / kPairGrain);
  ParallelFor(0, half, kPairGrain,
              [&](size_t begin, size_t end) { kernel(begin, end, &chunks[begin / kPairGrain]); });
  RoundValues<kD> out{};
  for (const RoundSums& chunk : chunks) {
    out.h0 += FromWords<kD>(chunk.h0);
    out.h2 += FromWords<kD>(chunk.h2);
  }
  return out;
}

}  // namespace

template <int kDegree>
void AddWeights(const std::vector<EqTerm<kDegree>>& eqs, const std::vector<PowerTerm<kDegree>>& powers,
                uint32_t log2_size, bool overwrite, Planes w) {
  if (eqs.empty() && powers.empty()) {
    for (size_t k = 0; overwrite && k < kDegree; ++k)
      std::fill_n(w.data + k * w.stride, size_t{1} << log2_size, 0);
    return;
  }
  const WeightTables<kDegree> tables(eqs, powers, log2_size);
  const size_t hi_count = tables.hi_count(log2_size);
  ParallelFor(0, hi_count, std::max<size_t>(1, hi_count / (8 * CurrentThreads())),
              [&](size_t begin, size_t end) { tables.Apply(begin, end, overwrite, w); });
}

template <int kDegree>
BabyBearExt<kDegree> EvaluateBase(const uint32_t* f, const std::vector<BabyBearExt<kDegree>>& point) {
  return Evaluate<kDegree>(f, 0, 1, point);
}
template <int kDegree>
BabyBearExt<kDegree> EvaluateExt(Planes f, const std::vector<BabyBearExt<kDegree>>& point) {
  return Evaluate<kDegree>(f.data, f.stride, kDegree, point);
}

template <int kDegree>
RoundValues<kDegree> SumRoundBase(const uint32_t* f, Planes w, size_t half) {
  return SumChunks<kDegree>(half, [&](size_t begin, size_t end, RoundSums* sums) {
    Kernels<kDegree>().round_base(f, w, half, begin, end, sums);
  });
}
template <int kDegree>
RoundValues<kDegree> SumRoundExt(Planes f, Planes w, size_t half) {
  return SumChunks<kDegree>(half, [&](size_t begin, size_t end, RoundSums* sums) {
    Kernels<kDegree>().round_ext(f, w, half, begin, end, sums);
  });
}

template <int kDegree>
void FoldBaseVector(const uint32_t* in, size_t half, const BabyBearExt<kDegree>& r, Planes out) {
  uint32_t words[kDegree];
  ToWordArray(r, words);
  ParallelFor(0, half, kPairGrain, [&](size_t begin, size_t end) {
    Kernels<kDegree>().fold_base(in, out, words, half, begin, end);
  });
}
template <int kDegree>
void FoldExtVector(Planes in, size_t half, const BabyBearExt<kDegree>& r, Planes out) {
  uint32_t words[kDegree];
  ToWordArray(r, words);
  ParallelFor(0, half, kPairGrain, [&](size_t begin, size_t end) {
    Kernels<kDegree>().fold_ext(in, out, words, half, begin, end);
  });
}

#define PROOFMILL_INSTANTIATE(D)                                                                         \
  template void AddWeights<D>(const std::vector<EqTerm<D>>&, const std::vector<PowerTerm<D>>&, uint32_t, \
                              bool, Planes);                                                             \
  template BabyBearExt<D> EvaluateBase<D>(const uint32_t*, const std::vector<BabyBearExt<D>>&);          \
  template BabyBearExt<D> EvaluateExt<D>(Planes, const std::vector<BabyBearExt<D>>&);                    \
  template RoundValues<D> SumRoundBase<D>(const uint32_t*, Planes, size_t);                              \
  template RoundValues<D> SumRoundExt<D>(Planes, Planes, size_t);                                        \
  template void FoldBaseVector<D>(const uint32_t*, size_t, const BabyBearExt<D>&, Planes);               \
  template void FoldExtVector<D>(Planes, size_t, const BabyBearExt<D>&, Planes)
PROOFMILL_INSTANTIATE(4);
PROOFMILL_INSTANTIATE(5);
#undef PROOFMILL_INSTANTIATE

}  // namespace proofmill::kernels
