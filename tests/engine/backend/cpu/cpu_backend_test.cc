#include "engine/backend/cpu/cpu_backend.h"

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::U256;
using kernels::Xyzz;

template <typename F>
Xyzz<F> NaiveSum(const BaseSet<F>& set, const std::vector<U256>& scalars) {
  Xyzz<F> sum = Xyzz<F>::Infinity();
  for (size_t i = 0; i < set.size(); ++i) {
    const size_t scalar = set.first_scalar + (set.index() == nullptr ? i : set.index()[i]);
    sum += ScalarMulVartime(Xyzz<F>::FromAffine(set.bases[i]), scalars[scalar]);
  }
  return sum;
}

TEST(CpuBackendTest, HasTheNameAndKindItWasGiven) {
  EXPECT_EQ(MakeCpuBackend()->name(), "cpu");
  EXPECT_EQ(MakeCpuBackend({.threads = 1, .name = "cpu:1"})->name(), "cpu:1");
  EXPECT_EQ(MakeCpuBackend()->kind(), BackendKind::kCpu);
}

TEST(CpuBackendTest, WitnessSumsAreTheNaiveOnesAndAreToldOnceBeforeTheEnd) {
  for (const TestCircuit& circuit : EdgeCircuits()) {
    SCOPED_TRACE(circuit.name);
    const Bench bench = BenchOf(circuit);
    int calls = 0;
    std::optional<WitnessSums> told;
    ComputeContext context;
    context.on_witness_sums = [&](const WitnessSums& sums) {
      ++calls;
      told = sums;
    };

    const auto sums = bench.backend->ComputeSums(*bench.resident, bench.span(), context);

    ASSERT_OK(sums);
    ASSERT_EQ(calls, 1);
    EXPECT_EQ(told->a, sums->witness.a);
    EXPECT_EQ(told->b2, sums->witness.b2);
    EXPECT_EQ(sums->witness.a, NaiveSum(bench.key->a(), bench.witness));
    EXPECT_EQ(sums->witness.b1, NaiveSum(bench.key->b1(), bench.witness));
    EXPECT_EQ(sums->witness.b2, NaiveSum(bench.key->b2(), bench.witness));
    EXPECT_EQ(sums->witness.c, NaiveSum(bench.key->c(), bench.witness));
  }
}

TEST(CpuBackendTest, AResidentKeyKnowsItsKeyAndItsBytes) {
  const Bench bench = BenchOf(Squarings(6));
  EXPECT_EQ(bench.resident->key(), bench.key);
  EXPECT_GE(bench.resident->device_bytes(), bench.key->memory_bytes());
}

TEST(CpuBackendTest, KeysOfSeveralSizesShareOneBackend) {
  const auto backend = MakeCpuBackend({.threads = 2});
  const TestCircuit circuits[] = {Squarings(2), WiresFarBelowDomain(), DomainTwo(), Squarings(6)};
  std::vector<std::unique_ptr<ResidentKey>> keys;
  for (const TestCircuit& circuit : circuits) {
    auto resident = backend->LoadKey(BenchOf(circuit).key);
    ASSERT_OK(resident);
    keys.push_back(*std::move(resident));
    for (size_t i = 0; i < keys.size(); ++i) {
      EXPECT_OK(Prove(*backend, *keys[i], circuits[i].PlainWitness())) << circuits[i].name;
    }
  }
}

TEST(CpuBackendTest, KeysMayComeAndGoWhileProofsRun) {
  const Bench bench = BenchOf(Squarings(6));
  const auto larger = BenchOf(WiresFarBelowDomain()).key;
  std::atomic<bool> stop{false};
  std::atomic<int> bad{0};
  std::thread loader([&] {
    while (!stop.load()) {
      if (!bench.backend->LoadKey(larger).ok()) ++bad;
    }
  });
  for (int i = 0; i < 20; ++i) EXPECT_OK(Prove(*bench.backend, *bench.resident, bench.span()));
  stop.store(true);
  loader.join();
  EXPECT_EQ(bad.load(), 0);
}

TEST(CpuBackendTest, ProofsFromTwoThreadsWaitForEachOther) {
  const Bench bench = BenchOf(Squarings(6));
  std::atomic<int> good{0};
  const auto prove = [&] {
    for (int i = 0; i < 10; ++i) good += Prove(*bench.backend, *bench.resident, bench.span()).ok();
  };
  std::thread other(prove);
  prove();
  other.join();
  EXPECT_EQ(good.load(), 20);
}

TEST(CpuBackendTest, AnExpiredDeadlineStopsTheSumsAndTellsNothing) {
  const Bench bench = BenchOf(Squarings(6));
  const CancellationToken token(std::chrono::steady_clock::now() - std::chrono::seconds(1));
  ComputeContext context;
  context.cancel = &token;
  context.on_witness_sums = [](const WitnessSums&) { FAIL() << "sums of a proof that nobody wants"; };
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(bench.backend->ComputeSums(*bench.resident, bench.span(), context).status()));
}

}  // namespace
}  // namespace proofmill::engine
