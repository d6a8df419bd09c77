#include "kernels/cpu/batch_add_lanes.h"

namespace proofmill::kernels::fma {
namespace {

template <typename F>
[[gnu::noinline]] void AddRounded(Affine<F>* points, const PointPair* pairs, size_t n, void* products) {
  LaneAdder<F>(points, pairs, n, static_cast<typename LaneAdder<F>::template Lanes<2>*>(products)).Run();
}

}  // namespace

template <>
void AddPairs(Affine<Fq>* points, const PointPair* pairs, size_t n, void* products) {
  const RoundTowardZero rounding;
  AddRounded(points, pairs, n, products);
}
template <>
void AddPairs(Affine<Fq2>* points, const PointPair* pairs, size_t n, void* products) {
  const RoundTowardZero rounding;
  AddRounded(points, pairs, n, products);
}

}  // namespace proofmill::kernels::fma
