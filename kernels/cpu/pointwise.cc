#include "kernels/cpu/pointwise.h"

#include "kernels/cpu/parallel.h"
#include "kernels/field/arithmetic.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kGrain = 4096;  // 10 to 100 us of work; a multiple of eight

// The functions on lanes, or null ones where elements are done one by one.
struct LaneFunctions {
  void (*multiply)(const Fr* a, const Fr* b, Fr* out, size_t n) = nullptr;
  void (*multiply_subtract)(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n) = nullptr;
};
LaneFunctions ChooseLaneFunctions() {
#if defined(__x86_64__)
  if (CurrentArithmetic() == Arithmetic::kIfma) return {ifma::PointwiseMul, ifma::PointwiseMulSubToPlain};
  if (CurrentArithmetic() == Arithmetic::kFma) return {fma::PointwiseMul, fma::PointwiseMulSubToPlain};
#endif
  return {};
}

// in_lanes(begin, n) for whole groups of eight elements if `has_lanes`, each(i) for the others.
template <typename InLanes, typename Each>
void ForEach(size_t n, bool has_lanes, const InLanes& in_lanes, const Each& each) {
  ParallelFor(0, n, kGrain, [&](size_t begin, size_t end) {
    if (has_lanes) {
      const size_t grouped = (end - begin) / 8 * 8;
      in_lanes(begin, grouped);
      begin += grouped;
    }
    for (size_t i = begin; i < end; ++i) each(i);
  });
}

}  // namespace

void PointwiseMul(const Fr* a, const Fr* b, Fr* out, size_t n) {
  const auto multiply = ChooseLaneFunctions().multiply;
  ForEach(
      n, multiply != nullptr, [&](size_t i, size_t count) { multiply(a + i, b + i, out + i, count); },
      [&](size_t i) { out[i] = a[i] * b[i]; });
}

void PointwiseMulSubToPlain(const Fr* a, const Fr* b, const Fr* c, Fr* out, size_t n) {
  const auto multiply_subtract = ChooseLaneFunctions().multiply_subtract;
  ForEach(
      n, multiply_subtract != nullptr,
      [&](size_t i, size_t count) { multiply_subtract(a + i, b + i, c + i, out + i, count); },
      [&](size_t i) { out[i] = Fr::FromMontgomery((a[i] * b[i] - c[i]).ToPlain()); });
}

}  // namespace proofmill::kernels
