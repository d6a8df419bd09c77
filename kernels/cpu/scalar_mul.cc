#include "kernels/cpu/scalar_mul.h"

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/signed_digits.h"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kWindowBits = 5;
constexpr uint32_t kScalarBits = 254;
constexpr uint32_t kDigitMax = 1 << (kWindowBits - 1);

// The digits of a scalar, wiped at the end.
class Recoded {
 public:
  explicit Recoded(const Fr& scalar) : words_(2) {
    words_[0] = scalar.ToPlain();
    words_[1] = digits_.Recode(words_[0]);
  }
  uint32_t windows() const { return digits_.windows(); }
  int32_t Digit(uint32_t window) const { return digits_.DigitOfRecoded(words_[1], window); }

 private:
  const SignedDigits digits_{kWindowBits, kScalarBits};
  SecretScratch<U256> words_;
};

// digit times the point of which `multiples` holds 1, ..., kDigitMax times, added to `sum`.
template <typename F, typename Point>
void AddMultiple(Xyzz<F>& sum, const Point* multiples, int32_t digit) {
  if (digit > 0) sum += multiples[digit - 1];
  if (digit < 0) sum += -multiples[-digit - 1];
}

}  // namespace

template <typename F>
Xyzz<F> ScalarMul(const Xyzz<F>& p, const Fr& scalar) {
  SecretScratch<Xyzz<F>> multiples(kDigitMax);  // the point may be secret as well
  multiples[0] = p;
  for (uint32_t i = 1; i < kDigitMax; ++i) {
    multiples[i] = i % 2 == 1 ? multiples[i / 2].Double() : multiples[i - 1] + p;
  }
  const Recoded digits(scalar);
  Xyzz<F> sum = Xyzz<F>::Infinity();
  for (uint32_t w = digits.windows(); w-- > 0;) {
    for (uint32_t i = 0; i < kWindowBits; ++i) sum = sum.Double();
    AddMultiple(sum, multiples.data(), digits.Digit(w));
  }
  return sum;
}

template <typename F>
WindowTable<F>::WindowTable(const Affine<F>& base) {
  const uint32_t windows = SignedDigits(kWindowBits, kScalarBits).windows();
  std::vector<Xyzz<F>> multiples(size_t{windows} * kDigitMax);
  Xyzz<F> first = Xyzz<F>::FromAffine(base);
  for (uint32_t w = 0; w < windows; ++w) {
    Xyzz<F>* const row = &multiples[size_t{w} * kDigitMax];
    row[0] = first;
    for (uint32_t i = 1; i < kDigitMax; ++i) row[i] = i % 2 == 1 ? row[i / 2].Double() : row[i - 1] + first;
    first = row[kDigitMax - 1].Double();
  }
  multiples_.resize(multiples.size());
  BatchToAffine(multiples.data(), multiples_.data(), multiples.size());
}

template <typename F>
Xyzz<F> WindowTable<F>::Times(const Fr& scalar) const {
  const Recoded digits(scalar);
  Xyzz<F> sum = Xyzz<F>::Infinity();
  for (uint32_t w = 0; w < digits.windows(); ++w) {
    AddMultiple(sum, &multiples_[size_t{w} * kDigitMax], digits.Digit(w));
  }
  return sum;
}

template Xyzz<Fq> ScalarMul(const Xyzz<Fq>&, const Fr&);
template Xyzz<Fq2> ScalarMul(const Xyzz<Fq2>&, const Fr&);
template class WindowTable<Fq>;
template class WindowTable<Fq2>;

}  // namespace proofmill::kernels
