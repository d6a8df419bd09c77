// Field arithmetic on one thread. "Latency" feeds each result to the next operation; "Throughput" runs eight
// independent chains, and its time is that of one operation.

#include "benchmark/benchmark.h"
#include "kernels/curve/tower.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename F>
void FieldMulLatency(benchmark::State& state) {
  Random random(1);
  F x = Elements<F>::Uniform(random);
  const F y = Elements<F>::Uniform(random);
  for (auto _ : state) benchmark::DoNotOptimize(x = x * y);
}

template <typename F>
void FieldMulThroughput(benchmark::State& state) {
  constexpr int kChains = 8;
  Random random(1);
  F x[kChains];
  for (F& chain : x) chain = Elements<F>::Uniform(random);
  const F y = Elements<F>::Uniform(random);
  for (auto _ : state) {
    for (F& chain : x) chain = chain * y;
    benchmark::DoNotOptimize(x);
  }
  state.counters["seconds/op"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kChains,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <typename F>
void FieldSquare(benchmark::State& state) {
  Random random(1);
  F x = Elements<F>::Uniform(random);
  for (auto _ : state) benchmark::DoNotOptimize(x = x.Square());
}

template <typename F>
void FieldAdd(benchmark::State& state) {
  Random random(1);
  F x = Elements<F>::Uniform(random);
  const F y = Elements<F>::Uniform(random);
  for (auto _ : state) benchmark::DoNotOptimize(x = x + y);
}

template <typename F>
void FieldInverse(benchmark::State& state) {
  Random random(1);
  F x = Elements<F>::Uniform(random);
  for (auto _ : state) benchmark::DoNotOptimize(x = x.Inverse());
}

BENCHMARK(FieldMulLatency<Fr>)->Name("Field/Fr/mul_latency");
BENCHMARK(FieldMulThroughput<Fr>)->Name("Field/Fr/mul_throughput");
BENCHMARK(FieldMulLatency<Fq>)->Name("Field/Fq/mul_latency");
BENCHMARK(FieldMulThroughput<Fq>)->Name("Field/Fq/mul_throughput");
BENCHMARK(FieldSquare<Fq>)->Name("Field/Fq/square");
BENCHMARK(FieldAdd<Fq>)->Name("Field/Fq/add");
BENCHMARK(FieldInverse<Fq>)->Name("Field/Fq/inverse");
BENCHMARK(FieldMulLatency<Fq2>)->Name("Field/Fq2/mul_latency");
BENCHMARK(FieldSquare<Fq2>)->Name("Field/Fq2/square");
BENCHMARK(FieldMulLatency<Fq12>)->Name("Field/Fq12/mul_latency");
BENCHMARK(FieldSquare<Fq12>)->Name("Field/Fq12/square");

}  // namespace
}  // namespace proofmill::kernels
