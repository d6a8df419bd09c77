// Multi-scalar multiplication by kinds of scalars that witnesses have, and multiples of one base.

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "kernels/cpu/msm.h"
#include "kernels/field/bn254_fr.h"
#include "tests/bench/threads.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

size_t Size(const benchmark::State& state) { return size_t{1} << state.range(0); }

enum class Profile { kUniform, kBits, kOneValue };

// kBits is the witness of a typical circuit: 45 % zeros, 45 % ones, 10 % of full size. kOneValue sends every
// term to the same bucket.
std::vector<U256> MakeScalars(Profile profile, size_t n) {
  Random random(1);
  std::vector<U256> out(n, RandomBelow<FrParams>(random));
  if (profile == Profile::kOneValue) return out;
  for (U256& scalar : out) {
    const uint64_t percent = random() % 100;
    const bool bit = profile == Profile::kBits && percent < 90;
    scalar = bit ? U256{{percent & 1, 0, 0, 0}} : RandomBelow<FrParams>(random);
  }
  return out;
}

template <typename F>
std::vector<Affine<F>> MakeBases(size_t n) {
  Random random(2);
  std::vector<Fr> multiples(n);
  for (Fr& k : multiples) k = Elements<Fr>::Uniform(random);
  std::vector<Affine<F>> out(n);
  FixedBaseTable<F>(Generator<F>::kValue).Multiply(multiples.data(), out.data(), n);
  return out;
}

template <typename F, Profile kProfile>
void MsmBench(benchmark::State& state) {
  const size_t n = Size(state);
  const std::vector<Affine<F>> bases = MakeBases<F>(n);
  const std::vector<U256> scalars = MakeScalars(kProfile, n);
  RunInArena(state, [&] { benchmark::DoNotOptimize(Msm<F>(bases.data(), scalars.data(), nullptr, n)); });
}

template <typename F>
void FixedBaseBench(benchmark::State& state) {
  const size_t n = Size(state);
  Random random(3);
  std::vector<Fr> scalars(n);
  for (Fr& scalar : scalars) scalar = Elements<Fr>::Uniform(random);
  const FixedBaseTable<F> table(Generator<F>::kValue);
  std::vector<Affine<F>> out(n);
  RunInArena(state, [&] { table.Multiply(scalars.data(), out.data(), n); });
}

void Sizes(benchmark::internal::Benchmark* bench) { SizesAndThreads(bench, {12, 14, 16, 18, 20}); }
void FewSizes(benchmark::internal::Benchmark* bench) { SizesAndThreads(bench, {12, 16}); }

BENCHMARK(MsmBench<Fq, Profile::kUniform>)->Name("Msm/G1/uniform")->Apply(Sizes);
BENCHMARK(MsmBench<Fq, Profile::kBits>)->Name("Msm/G1/bits")->Apply(Sizes);
BENCHMARK(MsmBench<Fq, Profile::kOneValue>)->Name("Msm/G1/one_value")->Apply(FewSizes);
BENCHMARK(MsmBench<Fq2, Profile::kUniform>)->Name("Msm/G2/uniform")->Apply(Sizes);
BENCHMARK(MsmBench<Fq2, Profile::kBits>)->Name("Msm/G2/bits")->Apply(Sizes);
BENCHMARK(FixedBaseBench<Fq>)->Name("FixedBase/G1")->Apply(FewSizes);
BENCHMARK(FixedBaseBench<Fq2>)->Name("FixedBase/G2")->Apply(FewSizes);

}  // namespace
}  // namespace proofmill::kernels
