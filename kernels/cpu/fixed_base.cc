#include <algorithm>

#include "kernels/cpu/batch_add.h"
#include "kernels/cpu/msm.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/signed_digits.h"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kWindowBits =
    10;  // 26 windows of 512 multiples: 832 KiB of G1 points, within one L2 cache
constexpr uint32_t kScalarBits = 254;
constexpr size_t kBatch = 1024;  // sums that share an inversion

}  // namespace

template <typename F>
SignedDigits FixedBaseTable<F>::Digits() {
  return SignedDigits(kWindowBits, kScalarBits);
}

template <typename F>
FixedBaseTable<F>::FixedBaseTable(const Affine<F>& base) {
  const SignedDigits digits = Digits();
  const size_t digit_max = digits.digit_max();
  std::vector<Xyzz<F>> bases(digits.windows());  // 2^(w * kWindowBits) * base
  bases[0] = Xyzz<F>::FromAffine(base);
  for (size_t w = 1; w < bases.size(); ++w) {
    bases[w] = bases[w - 1];
    for (uint32_t i = 0; i < kWindowBits; ++i) bases[w] = bases[w].Double();
  }
  multiples_.resize(bases.size() * digit_max);
  ParallelFor(0, bases.size(), 1, [&](size_t begin, size_t end) {
    std::vector<Xyzz<F>> row(digit_max);
    for (size_t w = begin; w < end; ++w) {
      for (size_t d = 0; d < digit_max; ++d) row[d] = d == 0 ? bases[w] : row[d - 1] + bases[w];
      BatchToAffine(row.data(), &multiples_[w * digit_max], digit_max);
    }
  });
}

// A batch of sums grows window by window; sum i stands at points[i] and the multiple that it is to take at
// points[kBatch + i].
template <typename F>
void FixedBaseTable<F>::Multiply(const Fr* scalars, Affine<F>* out, size_t n) const {
  const SignedDigits digits = Digits();
  ParallelFor(0, n, kBatch, [&](size_t begin, size_t end) {
    const size_t count = end - begin;
    SecretScratch<U256> plain(count);
    SecretScratch<Affine<F>> points(2 * kBatch);
    SecretScratch<PointPair> pairs(count);
    PairAdder<F> adder(count);
    for (size_t i = 0; i < count; ++i) plain[i] = scalars[begin + i].ToPlain();
    for (uint32_t w = 0; w < digits.windows(); ++w) {
      const Affine<F>* const row = &multiples_[w * size_t{digits.digit_max()}];
      size_t pair_count = 0;
      for (size_t i = 0; i < count; ++i) {
        const int32_t digit = digits.Digit(plain[i], w);
        if (digit == 0) continue;
        points[kBatch + i] = digit > 0 ? row[digit - 1] : -row[-digit - 1];
        pairs[pair_count++] = {static_cast<uint32_t>(i), static_cast<uint32_t>(kBatch + i)};
      }
      adder.Add(points.data(), pairs.data(), pair_count);
    }
    std::copy(points.data(), points.data() + count, out + begin);
  });
}

template class FixedBaseTable<Fq>;
template class FixedBaseTable<Fq2>;

}  // namespace proofmill::kernels
