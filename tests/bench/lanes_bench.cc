// Products on eight lanes of AVX-512 IFMA, on one thread; the time is that of one element. None on a CPU
// without it.

#include <cstdint>

#include "benchmark/benchmark.h"
#include "kernels/field/arithmetic.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "tests/bench/lane_products.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kSteps = 1000;

template <typename Params, typename Run>
void MeasureLanes(benchmark::State& state, const Run& run) {
  Random random(1);
  U256 x[kLaneElements];
  for (U256& element : x) element = RandomBelow<Params>(random);
  const U256 y = RandomBelow<Params>(random);
  for (auto _ : state) {
    run(&y, x);
    benchmark::DoNotOptimize(x);
  }
  state.counters["seconds/op"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kSteps * kLaneElements,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void FqMul(benchmark::State& state) {
  MeasureLanes<FqParams>(state, [](const U256* y, U256* x) { MultiplyFqLanes(y, x, kSteps); });
}
void FqSquare(benchmark::State& state) {
  MeasureLanes<FqParams>(state, [](const U256*, U256* x) { SquareFqLanes(x, kSteps); });
}
void FrMul(benchmark::State& state) {
  MeasureLanes<FrParams>(state, [](const U256* y, U256* x) { MultiplyFrLanes(y, x, kSteps); });
}

[[maybe_unused]] const bool registered = [] {
  if (!Supported(Arithmetic::kIfma)) return false;
  benchmark::RegisterBenchmark("Field/Fr/mul_lanes/ifma", FrMul);
  benchmark::RegisterBenchmark("Field/Fq/mul_lanes/ifma", FqMul);
  benchmark::RegisterBenchmark("Field/Fq/square_lanes/ifma", FqSquare);
  return true;
}();

}  // namespace
}  // namespace proofmill::kernels
