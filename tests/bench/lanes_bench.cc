// Products on eight lanes of AVX-512 IFMA and on four of AVX2 and FMA, register-only, on one thread and on
// all: what more threads can give at most where they share cores. The time is that of one element, by the
// clock on the wall. None on a CPU without them.

#include <cstdint>
#include <string>

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

template <typename Params>
void MeasureLanes(benchmark::State& state, void (*run)(const U256* y, U256* x, size_t steps)) {
  Random random(1);
  U256 x[kLaneElements];
  for (U256& element : x) element = RandomBelow<Params>(random);
  const U256 y = RandomBelow<Params>(random);
  for (auto _ : state) {
    run(&y, x, kSteps);
    benchmark::DoNotOptimize(x);
  }
  state.counters["seconds/op"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kSteps * kLaneElements,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void Register(const std::string& name, const LaneProducts& products) {
  const auto all = static_cast<int>(HardwareThreads());
  const auto fq_mul = [products](benchmark::State& state) {
    MeasureLanes<FqParams>(state, products.multiply_fq);
  };
  const auto fq_square = [products](benchmark::State& state) {
    MeasureLanes<FqParams>(state, products.square_fq);
  };
  const auto fr_mul = [products](benchmark::State& state) {
    MeasureLanes<FrParams>(state, products.multiply_fr);
  };
  for (auto* const bench :
       {benchmark::RegisterBenchmark(("Field/Fr/mul_lanes/" + name).c_str(), fr_mul),
        benchmark::RegisterBenchmark(("Field/Fq/mul_lanes/" + name).c_str(), fq_mul),
        benchmark::RegisterBenchmark(("Field/Fq/square_lanes/" + name).c_str(), fq_square)}) {
    bench->UseRealTime()->Threads(1);
    if (all > 1) bench->Threads(all);
  }
}

[[maybe_unused]] const bool registered = [] {
  if (Supported(Arithmetic::kFma)) Register("fma", fma::kLaneProducts);
  if (Supported(Arithmetic::kIfma)) Register("ifma", ifma::kLaneProducts);
  return true;
}();

}  // namespace
}  // namespace proofmill::kernels
