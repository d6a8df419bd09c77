// Many independent additions of affine points with one inversion for all: 5 products and a square an
// addition, where XYZZ coordinates take 8 and 2. On CPUs with AVX-512 IFMA eight additions go side by side,
// four on those with AVX2 and FMA.

#ifndef PROOFMILL_KERNELS_CPU_BATCH_ADD_H_
#define PROOFMILL_KERNELS_CPU_BATCH_ADD_H_

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/scratch.h"
#include "kernels/curve/bn254.h"
#include "kernels/curve/weierstrass.h"

namespace proofmill::kernels {

// points[target] += points[other].
struct PointPair {
  uint32_t target;
  uint32_t other;
};

// Does batches of additions; owns the scratch for them, which is wiped in the end. Which instructions it uses
// is settled when it is made (field/arithmetic.h).
//
// Thread safety: one thread at a time.
template <typename F>
class PairAdder {
 public:
  explicit PairAdder(size_t pairs_max);

  // Exact for equal, opposite and infinite operands. REQUIRES: n <= pairs_max; the points are on a curve of
  // odd order; no point is in two pairs.
  void Add(Affine<F>* points, const PointPair* pairs, size_t n);

 private:
  struct alignas(64) Line {
    uint64_t words[8];
  };
  using AddFunction = void (*)(Affine<F>* points, const PointPair* pairs, size_t n, void* products);

  const AddFunction add_;
  SecretScratch<Line> products_;
};

extern template class PairAdder<Fq>;
extern template class PairAdder<Fq2>;

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_BATCH_ADD_H_
