// Group operations and the pairing on one thread.

#include "benchmark/benchmark.h"
#include "kernels/curve/bn254.h"
#include "kernels/curve/pairing.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

template <typename F>
void CurveMixedAdd(benchmark::State& state) {
  Xyzz<F> p = Xyzz<F>::FromAffine(Multiple<F>(5));
  const Affine<F> q = Multiple<F>(123456789);
  for (auto _ : state) benchmark::DoNotOptimize(p += q);
}

template <typename F>
void CurveAdd(benchmark::State& state) {
  Xyzz<F> p = Xyzz<F>::FromAffine(Multiple<F>(5));
  const Xyzz<F> q = Xyzz<F>::FromAffine(Multiple<F>(123456789)).Double();
  for (auto _ : state) benchmark::DoNotOptimize(p += q);
}

template <typename F>
void CurveDouble(benchmark::State& state) {
  Xyzz<F> p = Xyzz<F>::FromAffine(Multiple<F>(5));
  for (auto _ : state) benchmark::DoNotOptimize(p = p.Double());
}

template <typename F>
void CurveScalarMul(benchmark::State& state) {
  Random random(1);
  const U256 scalar = RandomBelow<FrParams>(random);
  const Xyzz<F> p = Xyzz<F>::FromAffine(Multiple<F>(5));
  for (auto _ : state) benchmark::DoNotOptimize(ScalarMulVartime(p, scalar));
}

void CurvePairing(benchmark::State& state) {
  const G1Affine p = Multiple<Fq>(5);
  const G2Affine q = Multiple<Fq2>(7);
  for (auto _ : state) benchmark::DoNotOptimize(Pairing(p, q));
}

// The check of a Groth16 verifier.
void CurvePairingProductOfFour(benchmark::State& state) {
  PairingTerm terms[4];
  for (uint64_t i = 0; i < 4; ++i) terms[i] = {Multiple<Fq>(5 + i), Multiple<Fq2>(7 + i)};
  for (auto _ : state) benchmark::DoNotOptimize(PairingProductIsOne(terms, 4));
}

void CurveG2SubgroupCheck(benchmark::State& state) {
  const G2Affine q = Multiple<Fq2>(7);
  for (auto _ : state) benchmark::DoNotOptimize(IsInG2Subgroup(q));
}

BENCHMARK(CurveMixedAdd<Fq>)->Name("Curve/G1/mixed_add");
BENCHMARK(CurveAdd<Fq>)->Name("Curve/G1/add");
BENCHMARK(CurveDouble<Fq>)->Name("Curve/G1/double");
BENCHMARK(CurveScalarMul<Fq>)->Name("Curve/G1/scalar_mul");
BENCHMARK(CurveMixedAdd<Fq2>)->Name("Curve/G2/mixed_add");
BENCHMARK(CurveAdd<Fq2>)->Name("Curve/G2/add");
BENCHMARK(CurveDouble<Fq2>)->Name("Curve/G2/double");
BENCHMARK(CurveScalarMul<Fq2>)->Name("Curve/G2/scalar_mul");
BENCHMARK(CurveG2SubgroupCheck)->Name("Curve/G2/subgroup_check");
BENCHMARK(CurvePairing)->Name("Curve/pairing")->Unit(benchmark::kMicrosecond);
BENCHMARK(CurvePairingProductOfFour)->Name("Curve/pairing_product_of_4")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace proofmill::kernels
