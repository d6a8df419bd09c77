// Field arithmetic on one thread. "Latency" feeds each result to the next operation; "Throughput" runs eight
// independent chains, and its time is that of one operation.

#include "benchmark/benchmark.h"
#include "kernels/curve/tower.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fq2.h"
#include "kernels/field/bn254_fr.h"
#include "tests/bench/paths.h"
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

[[maybe_unused]] const bool registered[] = {
    RegisterForEachArithmetic("Field/Fr/mul_latency", FieldMulLatency<Fr>),
    RegisterForEachArithmetic("Field/Fr/mul_throughput", FieldMulThroughput<Fr>),
    RegisterForEachArithmetic("Field/Fq/mul_latency", FieldMulLatency<Fq>),
    RegisterForEachArithmetic("Field/Fq/mul_throughput", FieldMulThroughput<Fq>),
    RegisterForEachArithmetic("Field/Fq/square", FieldSquare<Fq>),
    RegisterForEachArithmetic("Field/Fq/add", FieldAdd<Fq>),
    RegisterForEachArithmetic("Field/Fq/inverse", FieldInverse<Fq>),
    RegisterForEachArithmetic("Field/Fq2/mul_latency", FieldMulLatency<Fq2>),
    RegisterForEachArithmetic("Field/Fq2/square", FieldSquare<Fq2>),
    RegisterForEachArithmetic("Field/Fq12/mul_latency", FieldMulLatency<Fq12>),
    RegisterForEachArithmetic("Field/Fq12/square", FieldSquare<Fq12>),
};

}  // namespace
}  // namespace proofmill::kernels
