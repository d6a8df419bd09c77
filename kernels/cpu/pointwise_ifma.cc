// Element-wise operations on eight elements at a time. Compiled for AVX-512 IFMA (montgomery_ifma.h says what
// that asks of this file). Elements are the integers of Fr, times 2^256.

#include <cstddef>

#include "kernels/cpu/pointwise.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/montgomery_ifma.h"

namespace proofmill::kernels::ifma {
namespace {

static_assert(sizeof(Fr) == sizeof(U256), "an Fr is its one member");
U256* Integers(Fr* x) { return reinterpret_cast<U256*>(x); }
const U256* Integers(const Fr* x) { return reinterpret_cast<const U256*>(x); }

}  // namespace

// 16*a * b / 2^260 = a * b / 2^256.
void PointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n) {
  for (size_t i = 0; i < n; i += kLanes) {
    Store(Integers(out + i),
          Canonical(Times16(Load<FrParams>(Integers(a + i))) * Load<FrParams>(Integers(b + i))));
  }
}

// a * b / 2^512 - c / 2^256 = (2^8 * (a * b / 2^260) - 2^4 * c) / 2^260, with one reduction for both terms.
void PointwiseMulSubToPlain(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n) {
  constexpr Digits multiple = MultipleOfModulus<FrParams>(16);
  for (size_t i = 0; i < n; i += kLanes) {
    const auto product = Tighten(Load<FrParams>(Integers(a + i)) * Load<FrParams>(Integers(b + i)));
    const auto subtrahend = Load<FrParams>(Integers(c + i));
    Wide<FrParams, 1, 1> sum;
    for (int j = 0; j < kLimbs; ++j) {
      const Vector difference =
          _mm512_sub_epi64(_mm512_slli_epi64(product.limb[j], 8), _mm512_slli_epi64(subtrahend.limb[j], 4));
      sum.limb[j] = _mm512_add_epi64(difference, Broadcast(multiple.limb[j]));
      sum.limb[kLimbs + j] = _mm512_setzero_si512();
    }
    // Below 2^8 * 2p + 16p, with limbs below 2^61: Reduce() has room for that, and only its own terms stay.
    Store(Integers(out + i), Canonical(Reduce(sum)));
  }
}

}  // namespace proofmill::kernels::ifma
