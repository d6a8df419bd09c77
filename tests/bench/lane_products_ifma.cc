#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/montgomery_ifma.h"
#include "tests/bench/lane_products.h"

namespace proofmill::kernels {
namespace ifma {
namespace {

template <typename Params, typename Step>
void Repeat(U256* x, size_t steps, const Step& step) {
  Tight<Params, 2> chains[kLaneChains];
  for (size_t i = 0; i < kLaneChains; ++i) chains[i] = Relax<2>(Load<Params>(x + i * kLanes));
  for (size_t n = 0; n < steps; ++n) {
    for (Tight<Params, 2>& chain : chains) chain = Tighten(step(chain));
  }
  for (size_t i = 0; i < kLaneChains; ++i) Store(x + i * kLanes, Canonical(chains[i]));
}

}  // namespace
}  // namespace ifma

void MultiplyFqLanes(const U256* y, U256* x, size_t steps) {
  const auto factor = ifma::LoadFrom<FqParams>([&](size_t) { return y; });
  ifma::Repeat<FqParams>(x, steps, [&](const auto& chain) { return chain * factor; });
}
void SquareFqLanes(U256* x, size_t steps) {
  ifma::Repeat<FqParams>(x, steps, [](const auto& chain) { return ifma::Square(chain); });
}
void MultiplyFrLanes(const U256* y, U256* x, size_t steps) {
  const auto factor = ifma::LoadFrom<FrParams>([&](size_t) { return y; });
  ifma::Repeat<FrParams>(x, steps, [&](const auto& chain) { return chain * factor; });
}

}  // namespace proofmill::kernels
