#include "engine/groth16/prover.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/groth16/verifier.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/engine/groth16/faulty_backend.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

ProveOptions Fixed(const Fr& r, const Fr& s) {
  ProveOptions options;
  options.fixed_blinding = Blinding{r, s};
  return options;
}

// Keeps what it hears and raises a flag when a given stage ends.
class Recorder final : public StageSink {
 public:
  explicit Recorder(CancellationToken* token = nullptr, Stage cancel_after = Stage::kUpload)
      : token_(token), cancel_after_(cancel_after) {}
  void OnStage(std::string_view stage, std::chrono::nanoseconds duration) override {
    EXPECT_GE(duration.count(), 0);
    stages_.emplace_back(stage);
    if (token_ != nullptr && stage == StageName(cancel_after_)) token_->Cancel();
  }
  const std::vector<std::string>& stages() const { return stages_; }
  bool Heard(Stage stage) const { return std::count(stages_.begin(), stages_.end(), StageName(stage)) > 0; }

 private:
  CancellationToken* const token_;
  const Stage cancel_after_;
  std::vector<std::string> stages_;
};

TEST(ProverTest, EdgeCircuitsProveAndVerify) {
  for (const TestCircuit& circuit : EdgeCircuits()) {
    SCOPED_TRACE(circuit.name);
    const Bench bench = BenchOf(circuit);
    ASSERT_NE(bench.resident, nullptr);

    const auto proof = Prove(*bench.backend, *bench.resident, bench.span());

    ASSERT_OK(proof);
    EXPECT_TRUE(*Verify(bench.key->vk(), PublicSignals(*bench.key, bench.span()), *proof));
  }
}

TEST(ProverTest, EdgeCircuitsHaveTheShapesTheyAreThereFor) {
  const auto key = [](const TestCircuit& circuit) { return BenchOf(circuit).key; };
  EXPECT_EQ(key(DomainTwo())->domain_size(), 2u);
  EXPECT_EQ(key(DomainTwo())->n_public(), 0u);
  EXPECT_EQ(key(OnlyTheConstantWire())->c().size(), 0u);
  EXPECT_EQ(key(Squarings(1))->domain_size(), 4u);
  EXPECT_EQ(key(Squarings(6))->domain_size(), 8u);
  EXPECT_EQ(key(AllPublic())->c().size(), 0u);
  EXPECT_EQ(key(NoConstraint())->b1().size(), 0u);
  EXPECT_EQ(key(NoConstraint())->b2().size(), 0u);
  EXPECT_EQ(key(WiresFarAboveDomain())->domain_size(), 8u);
  EXPECT_EQ(key(WiresFarBelowDomain())->domain_size(), 256u);
}

TEST(ProverTest, SameBlindingGivesTheSameProofForAnyNumberOfThreads) {
  for (const char* name : {"bound_eq", "unused"}) {
    std::vector<Groth16Proof> proofs;
    for (size_t threads : {1u, 2u, 3u, 8u}) {
      const Bench bench = BenchOfCase(CasePath(name, ""), threads);
      const auto proof =
          Prove(*bench.backend, *bench.resident, bench.span(), Fixed(FieldElement(5), FieldElement(-7)));
      ASSERT_OK(proof);
      proofs.push_back(*proof);
    }
    for (const Groth16Proof& proof : proofs) EXPECT_EQ(proof, proofs[0]) << name;
  }
}

TEST(ProverTest, FreshBlindingGivesAnotherProofEveryTime) {
  const Bench bench = BenchOf(AllPublic());
  const auto first = Prove(*bench.backend, *bench.resident, bench.span());
  const auto second = Prove(*bench.backend, *bench.resident, bench.span());
  ASSERT_OK(first);
  ASSERT_OK(second);
  EXPECT_NE(first->a, second->a);
  EXPECT_NE(first->b, second->b);
  EXPECT_NE(first->c, second->c);
}

TEST(ProverTest, DrawnBlindingIsSpreadOverTheWholeField) {
  std::set<uint64_t> low_words;
  std::map<bool, int> upper_half;
  for (int i = 0; i < 200; ++i) {
    Blinding blinding;
    ASSERT_OK(DrawBlinding(blinding));
    for (const Fr& x : {blinding.r, blinding.s}) {
      low_words.insert(x.ToPlain().limb[0]);
      ++upper_half[x.ToPlain().limb[3] >= Fr::kModulus.limb[3] / 2];
    }
  }
  EXPECT_EQ(low_words.size(), 400u);
  EXPECT_GT(upper_half[true], 120);  // 200 expected; less by 8 standard deviations
  EXPECT_GT(upper_half[false], 120);
}

TEST(ProverTest, PublicSignalsAreTheFirstWires) {
  const Bench bench = BenchOf(Squarings(2));
  EXPECT_EQ(PublicSignals(*bench.key, bench.span()), std::vector<Fr>{Fr::FromPlain(bench.witness[1])});
  EXPECT_TRUE(PublicSignals(*BenchOf(DomainTwo()).key, bench.span()).empty());
}

class WitnessTest : public testing::Test {
 protected:
  absl::StatusOr<Groth16Proof> TryProve() { return Prove(*bench_.backend, *bench_.resident, bench_.span()); }
  void ExpectRefused(ErrorReason reason, const std::string& part) {
    const auto proof = TryProve();
    ExpectError(proof, absl::StatusCode::kInvalidArgument, part);
    EXPECT_EQ(GetReason(proof.status()), reason);
  }
  Bench bench_ = BenchOf(Squarings(2));
};

TEST_F(WitnessTest, OneValueFewerIsRefusedWithBothCounts) {
  bench_.witness.pop_back();
  ExpectRefused(ErrorReason::kWitnessLength, "expected 4 values, as the circuit has wires, got 3");
}

TEST_F(WitnessTest, OneValueMoreIsRefused) {
  bench_.witness.push_back({});
  ExpectRefused(ErrorReason::kWitnessLength, "got 5");
}

TEST_F(WitnessTest, NoValuesAreRefused) {
  bench_.witness.clear();
  ExpectRefused(ErrorReason::kWitnessLength, "got 0");
}

TEST_F(WitnessTest, AValueOfRIsRefusedByItsIndex) {
  bench_.witness[3] = Fr::kModulus;
  ExpectRefused(ErrorReason::kWitnessNotCanonical, "got a larger one at index 3");
  bench_.witness[2] = U256{{~0ull, ~0ull, ~0ull, ~0ull}};
  ExpectRefused(ErrorReason::kWitnessNotCanonical, "at index 2");
}

TEST_F(WitnessTest, AConstantWireOtherThanOneIsRefused) {
  for (uint64_t first : {0u, 2u}) {
    bench_.witness[0] = U256{{first, 0, 0, 0}};
    ExpectRefused(ErrorReason::kWitnessMalformed, "to be 1, got another");
  }
}

TEST_F(WitnessTest, OneThatBreaksTheCircuitFailsTheSelfCheck) {
  bench_.witness[3].limb[0] ^= 1;
  const auto proof = TryProve();
  ExpectError(proof, absl::StatusCode::kInternal, "does not verify");
  EXPECT_EQ(GetReason(proof.status()), ErrorReason::kSelfCheckFailed);
}

TEST(ProverTest, WithoutTheSelfCheckABadProofComesOut) {
  Bench bench = BenchOf(Squarings(2));
  bench.witness[3].limb[0] ^= 1;
  ProveOptions options;
  options.self_check = false;

  const auto proof = Prove(*bench.backend, *bench.resident, bench.span(), options);

  ASSERT_OK(proof);
  EXPECT_FALSE(*Verify(bench.key->vk(), PublicSignals(*bench.key, bench.span()), *proof));
}

TEST(ProverTest, AnErrorOfTheDeviceReachesTheCaller) {
  const Bench bench = BenchOf(Squarings(2));
  FaultyBackend faulty([](int) { return FaultyBackend::Fault::kError; });
  const auto resident = faulty.LoadKey(bench.key);
  ASSERT_OK(resident);
  const auto proof = Prove(faulty, **resident, bench.span());
  EXPECT_EQ(GetReason(proof.status()), ErrorReason::kDeviceFault);
}

TEST(ProverTest, EveryStageOfTheCpuIsReportedOnce) {
  const Bench bench = BenchOf(Squarings(6));
  Recorder recorder;
  ProveOptions options;
  options.stages = &recorder;

  ASSERT_OK(Prove(*bench.backend, *bench.resident, bench.span(), options));

  std::vector<std::string> stages = recorder.stages();
  ASSERT_EQ(stages.size(), 9u);
  EXPECT_EQ(stages[7], StageName(Stage::kFinish));
  EXPECT_EQ(stages[8], StageName(Stage::kSelfCheck));
  std::sort(stages.begin(), stages.end());
  EXPECT_EQ(std::unique(stages.begin(), stages.end()), stages.end());
  EXPECT_FALSE(recorder.Heard(Stage::kUpload));
}

TEST(CancellationTest, ACancelledProofStopsAtTheNextBorderBetweenStages) {
  const Bench bench = BenchOfCase(CasePath("bound_eq", ""), 1);
  for (Stage after : {Stage::kGather, Stage::kNtt, Stage::kMsmA, Stage::kMsmB1, Stage::kMsmB2, Stage::kMsmC,
                      Stage::kMsmH, Stage::kFinish}) {
    CancellationToken token;
    Recorder recorder(&token, after);
    ProveOptions options;
    options.cancel = &token;
    options.stages = &recorder;

    const auto proof = Prove(*bench.backend, *bench.resident, bench.span(), options);

    EXPECT_TRUE(absl::IsCancelled(proof.status())) << StageName(after);
    EXPECT_EQ(recorder.stages().back(), StageName(after)) << "with one thread nothing else may have run";
    EXPECT_FALSE(recorder.Heard(Stage::kSelfCheck));
  }
  EXPECT_OK(Prove(*bench.backend, *bench.resident, bench.span())) << "the backend is as good as before";
}

TEST(CancellationTest, ACancelledTokenStopsAProofBeforeItBegins) {
  const Bench bench = BenchOf(Squarings(2));
  CancellationToken token;
  token.Cancel();
  Recorder recorder;
  ProveOptions options;
  options.cancel = &token;
  options.stages = &recorder;
  EXPECT_TRUE(absl::IsCancelled(Prove(*bench.backend, *bench.resident, bench.span(), options).status()));
  EXPECT_TRUE(recorder.stages().empty());
}

TEST(CancellationTest, APastDeadlineIsDeadlineExceeded) {
  const Bench bench = BenchOf(Squarings(2));
  CancellationToken token(std::chrono::steady_clock::now() - std::chrono::seconds(1));
  ProveOptions options;
  options.cancel = &token;
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(Prove(*bench.backend, *bench.resident, bench.span(), options).status()));
}

}  // namespace
}  // namespace proofmill::engine
