#include "engine/groth16/lagrange.h"

#include <vector>

#include "kernels/cpu/parallel.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

// One inversion (about 380 products) a chunk is then below 1 % of its work.
constexpr size_t kChunk = 8192;

Fr Power(const Fr& base, uint64_t exponent) { return base.PowVartime(U256{{exponent, 0, 0, 0}}); }

// out[i] = scale * root_i / (tau - root_i) for root_i = root * ratio^i, with one inversion for all.
void FillChunk(const Fr& root, const Fr& ratio, const Fr& tau, const Fr& scale, Fr* out, size_t count) {
  std::vector<Fr> roots(count);
  Fr current = root;
  Fr product = Fr::One();
  for (size_t i = 0; i < count; ++i) {
    roots[i] = current;
    out[i] = product;  // of the denominators before i, until the way back
    product *= tau - current;
    current *= ratio;
  }
  Fr inverse = product.Inverse();
  for (size_t i = count; i-- > 0;) {
    out[i] = scale * roots[i] * (inverse * out[i]);
    inverse *= tau - roots[i];
  }
}

}  // namespace

void LagrangeAt(const LagrangeRange& range, const Fr& tau, const Fr& factor, Fr* out, size_t count) {
  const Fr w = kernels::FrRootOfUnity(range.log2_n);
  const Fr n = Fr::FromUint64(uint64_t{1} << range.log2_n);
  const Fr scale = factor * (Power(tau, uint64_t{1} << range.log2_n) - Fr::One()) * n.Inverse();
  const Fr ratio = Power(w, range.step);
  kernels::ParallelFor(0, count, kChunk, [&](size_t begin, size_t end) {
    FillChunk(Power(w, range.first + begin * range.step), ratio, tau, scale, out + begin, end - begin);
  });
}

}  // namespace proofmill::engine
