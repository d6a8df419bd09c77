#include "kernels/cpu/pointwise.h"

#include "kernels/cpu/parallel.h"
#include "kernels/field/arithmetic.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kGrain = 4096;  // 10 to 100 us of work; a multiple of eight

bool UsesLanes() {
#if defined(__x86_64__)
  return CurrentArithmetic() == Arithmetic::kIfma;
#else
  return false;
#endif
}

// in_lanes(begin, n) for whole groups of eight elements where the CPU has eight lanes, each(i) for the
// others.
template <typename InLanes, typename Each>
void ForEach(size_t n, const InLanes& in_lanes, const Each& each) {
  ParallelFor(0, n, kGrain, [&](size_t begin, size_t end) {
    if (UsesLanes()) {
      const size_t grouped = (end - begin) / 8 * 8;
      in_lanes(begin, grouped);
      begin += grouped;
    }
    for (size_t i = begin; i < end; ++i) each(i);
  });
}

}  // namespace

void PointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n) {
  ForEach(
      n, [&](size_t i, size_t count) { ifma::PointwiseMul(a + i, b + i, out + i, count); },
      [&](size_t i) { out[i] = a[i] * b[i]; });
}

void PointwiseMulSubToPlain(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n) {
  ForEach(
      n, [&](size_t i, size_t count) { ifma::PointwiseMulSubToPlain(a + i, b + i, c + i, out + i, count); },
      [&](size_t i) { out[i] = Fr::FromMontgomery((a[i] * b[i] - c[i]).ToPlain()); });
}

#if !defined(__x86_64__)
namespace ifma {
// Never called: UsesLanes() is false.
void PointwiseMul(const Fr*, const Fr*, Fr*, size_t) {}
void PointwiseMulSubToPlain(const Fr*, const Fr*, const Fr*, Fr*, size_t) {}
}  // namespace ifma
#endif

}  // namespace proofmill::kernels
