#include "kernels/cpu/scalar_mul.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cpu/signed_digits.h"
#include "kernels/curve/non_adjacent_form.h"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kWindowBits = 5;
constexpr uint32_t kScalarBits = 254;
constexpr uint32_t kDigitMax = 1 << (kWindowBits - 1);

// Values of a secret on the stack, wiped at the end: threads that may not throw work with them, so nothing is
// allocated.
template <typename T, size_t kCount>
class Secrets {
 public:
  Secrets() = default;
  ~Secrets() {
    std::memset(static_cast<void*>(values_), 0, sizeof(values_));
    __asm__ volatile("" : : "r"(values_) : "memory");  // the compiler may not drop the wipe
  }
  Secrets(const Secrets&) = delete;
  Secrets& operator=(const Secrets&) = delete;

  T* data() { return values_; }
  T& operator[](size_t i) { return values_[i]; }
  const T& operator[](size_t i) const { return values_[i]; }

 private:
  T values_[kCount];
};

// The digits of a scalar.
class Recoded {
 public:
  explicit Recoded(const Fr& scalar) {
    words_[0] = scalar.ToPlain();
    words_[1] = digits_.Recode(words_[0]);
  }
  uint32_t windows() const { return digits_.windows(); }
  int32_t Digit(uint32_t window) const { return digits_.DigitOfRecoded(words_[1], window); }

 private:
  const SignedDigits digits_{kWindowBits, kScalarBits};
  Secrets<U256, 2> words_;
};

// digit times the point of which `multiples` holds 1, ..., kDigitMax times, added to `sum`.
template <typename F, typename Point>
void AddMultiple(Xyzz<F>& sum, const Point* multiples, int32_t digit) {
  if (digit > 0) sum += multiples[digit - 1];
  if (digit < 0) sum += -multiples[-digit - 1];
}

constexpr Fr kLambda = Fr::FromPlain(
    U256{{0x8b17ea66b99c90ddull, 0x5bfc41088d8daaa7ull, 0xb3c4d79d41a91758ull, 0x0000000000000000ull}});
// The cube root of one in Fq for which (kBeta * x, y) is kLambda times (x, y) in G1.
constexpr Fq kBeta = Fq::FromPlain(
    U256{{0x5763473177fffffeull, 0xd4f263f1acdb5c4full, 0x59e26bcea0d48bacull, 0x0000000000000000ull}});
static_assert(kLambda != Fr::One() && kLambda * kLambda * kLambda == Fr::One());
static_assert(kBeta != Fq::One() && kBeta * kBeta * kBeta == Fq::One());

// One term of a sum of multiples by public scalars.
class FewTerm {
 public:
  FewTerm() = default;
  FewTerm(const G1Affine& point, const SplitScalar& scalar)
      : low_(scalar.low, kWidth), high_(scalar.high, kWidth) {
    odd_multiples_[0] = G1Xyzz::FromAffine(point);
    const G1Xyzz twice = odd_multiples_[0].Double();
    for (size_t i = 1; i < odd_multiples_.size(); ++i) odd_multiples_[i] = odd_multiples_[i - 1] + twice;
    for (size_t i = 0; i < odd_multiples_.size(); ++i) {
      times_lambda_[i] = odd_multiples_[i];
      times_lambda_[i].x *= kBeta;
    }
  }
  int length() const { return std::max(low_.length, high_.length); }
  void AddTo(int place, G1Xyzz& sum) const {
    AddDigit(low_, odd_multiples_, place, sum);
    AddDigit(high_, times_lambda_, place, sum);
  }

 private:
  static constexpr int kWidth = 4;
  using OddMultiples = std::array<G1Xyzz, 4>;  // 1, 3, 5, 7

  static void AddDigit(const NonAdjacentForm& digits, const OddMultiples& multiples, int place, G1Xyzz& sum) {
    const int8_t digit = place < digits.length ? digits.digit[place] : int8_t{0};
    if (digit > 0) sum += multiples[static_cast<size_t>(digit / 2)];
    if (digit < 0) sum += -multiples[static_cast<size_t>(-digit / 2)];
  }

  NonAdjacentForm low_;
  NonAdjacentForm high_;
  OddMultiples odd_multiples_;
  OddMultiples times_lambda_;
};

G1Xyzz SumOf(const FewTerm* terms, size_t n) {
  int length = 0;
  for (size_t i = 0; i < n; ++i) length = std::max(length, terms[i].length());
  G1Xyzz sum = G1Xyzz::Infinity();
  for (int place = length - 1; place >= 0; --place) {
    sum = sum.Double();
    for (size_t i = 0; i < n; ++i) terms[i].AddTo(place, sum);
  }
  return sum;
}

}  // namespace

Fr SplitScalar::ToFr() const { return Fr::FromUint64(low) + Fr::FromUint64(high) * kLambda; }

G1Xyzz SumOfFew(const G1Affine* points, const SplitScalar* scalars, size_t n) {
  std::array<FewTerm, kFewPointsMax> terms;
  for (size_t i = 0; i < n; ++i) terms[i] = FewTerm(points[i], scalars[i]);
  return SumOf(terms.data(), n);
}

void MultiplyEach(const G1Affine* points, const SplitScalar* scalars, size_t n, G1Affine* out) {
  std::array<G1Xyzz, kFewPointsMax> multiples;
  for (size_t i = 0; i < n; ++i) {
    const FewTerm term(points[i], scalars[i]);
    multiples[i] = SumOf(&term, 1);
  }
  BatchToAffine(multiples.data(), out, n);
}

template <typename F>
Xyzz<F> ScalarMul(const Xyzz<F>& p, const Fr& scalar) {
  Secrets<Xyzz<F>, kDigitMax> multiples;  // the point may be secret as well
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
