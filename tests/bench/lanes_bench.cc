// Products on eight lanes of AVX-512 IFMA, register-only, on one thread and on all: what more threads can
// give at most where they share cores. The time is that of one element, by the clock on the wall. None on a
// CPU without it.

#include <cstdint>

#include "benchmark/benchmark.h"
#include "kernels/cpu/parallel.h"
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
  const auto all = static_cast<int>(HardwareThreads());
  for (auto* const bench : {benchmark::RegisterBenchmark("Field/Fr/mul_lanes/ifma", FrMul),
                            benchmark::RegisterBenchmark("Field/Fq/mul_lanes/ifma", FqMul),
                            benchmark::RegisterBenchmark("Field/Fq/square_lanes/ifma", FqSquare)}) {
    bench->UseRealTime()->Threads(1);
    if (all > 1) bench->Threads(all);
  }
  return true;
}();

}  // namespace
}  // namespace proofmill::kernels
