#include "kernels/cpu/batch_add_lanes.h"

namespace proofmill::kernels::ifma {

template <>
void AddPairs(Affine<Fq>* points, const PointPair* pairs, size_t n, void* products) {
  LaneAdder<Fq>(points, pairs, n, static_cast<LaneAdder<Fq>::Lanes<2>*>(products)).Run();
}
template <>
void AddPairs(Affine<Fq2>* points, const PointPair* pairs, size_t n, void* products) {
  LaneAdder<Fq2>(points, pairs, n, static_cast<LaneAdder<Fq2>::Lanes<2>*>(products)).Run();
}

}  // namespace proofmill::kernels::ifma
