// Element-wise operations on four elements at a time. Compiled for AVX2 and FMA (montgomery_fma.h says what
// that asks of this file). Elements are the integers of Fr, times 2^256.

#include <cstddef>

#include "kernels/cpu/pointwise.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/montgomery_fma.h"

namespace proofmill::kernels::fma {
namespace {

static_assert(sizeof(Fr) == sizeof(U256), "an Fr is its one member");
U256* Integers(Fr* x) { return reinterpret_cast<U256*>(x); }
const U256* Integers(const Fr* x) { return reinterpret_cast<const U256*>(x); }

// 16*a * b / 2^260 = a * b / 2^256.
[[gnu::noinline]] void Multiply(const Fr* a, const Fr* b, Fr* out, size_t n) {
  for (size_t i = 0; i < n; i += kLanes) {
    Store(Integers(out + i),
          Canonical(Times16(Load<FrParams>(Integers(a + i))) * Load<FrParams>(Integers(b + i))));
  }
}

// a * b / 2^512 - c / 2^256 = (2^8 * (a * b / 2^260) - 2^4 * c) / 2^260, with one reduction for both terms.
[[gnu::noinline]] void MultiplySubtractToPlain(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n) {
  const auto two_to_8 = PowerOfTwo<FrParams, 8>();
  const auto two_to_4 = PowerOfTwo<FrParams, 4>();
  for (size_t i = 0; i < n; i += kLanes) {
    const auto product = Tighten(Load<FrParams>(Integers(a + i)) * Load<FrParams>(Integers(b + i)));
    const auto minus_c = Tighten(Negate(Load<FrParams>(Integers(c + i))));
    Store(Integers(out + i), Canonical(SumOfProducts(product, two_to_8, minus_c, two_to_4)));
  }
}

}  // namespace

void PointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n) {
  const RoundTowardZero rounding;
  Multiply(a, b, out, n);
}
void PointwiseMulSubToPlain(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n) {
  const RoundTowardZero rounding;
  MultiplySubtractToPlain(a, b, c, out, n);
}

}  // namespace proofmill::kernels::fma
