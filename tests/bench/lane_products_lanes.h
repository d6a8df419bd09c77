// Makes the LaneProducts of the instruction set that the including translation unit is compiled for.

#ifndef PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_LANES_H_
#define PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_LANES_H_

#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/lanes52.h"
#include "tests/bench/lane_products.h"

namespace proofmill::kernels::PROOFMILL_LANES52 {
namespace {  // NOLINT(google-build-namespaces): of one unit for each instruction set

template <typename Params, typename Step>
[[gnu::noinline]] void Repeat(U256* x, size_t steps, const Step& step) {
  constexpr size_t kChains = kLaneElements / kLanes;
  Tight<Params, 2> chains[kChains];
  for (size_t i = 0; i < kChains; ++i) chains[i] = Relax<2>(Load<Params>(x + i * kLanes));
  for (size_t n = 0; n < steps; ++n) {
    for (Tight<Params, 2>& chain : chains) chain = Tighten(step(chain));
  }
  for (size_t i = 0; i < kChains; ++i) Store(x + i * kLanes, Canonical(chains[i]));
}

template <typename Params>
void MultiplyLanes(const U256* y, U256* x, size_t steps) {
  const auto factor = LoadFrom<Params>([&](size_t) { return y; });
  Repeat<Params>(x, steps, [&](const auto& chain) { return chain * factor; });
}
void SquareFqLanes(const U256* /*y*/, U256* x, size_t steps) {
  Repeat<FqParams>(x, steps, [](const auto& chain) { return Square(chain); });
}

}  // namespace
}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_TESTS_BENCH_LANE_PRODUCTS_LANES_H_
