#include "engine/dispatch/whir_runner.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/backend/whir_backend.h"
#include "engine/base/error_reason.h"
#include "engine/dispatch/device_runner.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/verifier.h"
#include "gtest/gtest.h"
#include "tests/engine/groth16/faulty_backend.h"
#include "tests/engine/whir/cases.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;

class StageNames final : public StageSink {
 public:
  void OnStage(std::string_view stage, std::chrono::nanoseconds) override { names.emplace_back(stage); }
  std::vector<std::string> names;
};

// A device that proves on the CPU and spoils what it is told to.
class SpoilingDevice final : public WhirDevice {
 public:
  SpoilingDevice(const WhirConfig& config, const bool& spoil) : prover_(config), spoil_(spoil) {}
  absl::StatusOr<WhirProof> Prove(absl::Span<const BabyBear> polynomial, absl::Span<const WhirClaim> claims,
                                  const WhirProveOptions& options) override {
    absl::StatusOr<WhirProof> proof = prover_.Prove(polynomial, claims, options);
    if (proof.ok() && spoil_) proof->final_polynomial[0] += BabyBear::One();
    return proof;
  }
  absl::StatusOr<WhirElements> Evaluate(absl::Span<const BabyBear> polynomial,
                                        absl::Span<const WhirClaim> claims) override {
    WhirElements out;
    for (const WhirClaim& claim : claims) {
      const WhirElements value = prover_.Evaluate(polynomial, claim.point);
      out.insert(out.end(), value.begin(), value.end());
    }
    return out;
  }
  size_t device_bytes() const override { return 1; }

 private:
  const WhirProver prover_;
  const bool& spoil_;
};

class SpoilingBackend final : public FaultyBackend, public WhirBackend {
 public:
  SpoilingBackend() : FaultyBackend([](int) { return FaultyBackend::Fault::kNone; }) {}
  WhirBackend* whir() override { return this; }
  absl::StatusOr<std::unique_ptr<WhirDevice>> LoadWhir(std::shared_ptr<const WhirConfig> config) override {
    return std::make_unique<SpoilingDevice>(*config, spoil);
  }
  bool spoil = false;
};

class WhirRunnerTest : public testing::Test {
 protected:
  WhirRunnerTest() : made_(MakeWhirCase(SmallStrict())) {
    circuit_.id = "poly";
    circuit_.system = ProofSystem::kWhir;
    circuit_.version = "v1";
    circuit_.whir = std::make_shared<const WhirConfig>(made_.config);
  }
  WhirInput Input(bool with_values) const {
    WhirInput input{.polynomial = SecretBuffer<BabyBear>(made_.polynomial.size()), .claims = made_.claims};
    std::copy(made_.polynomial.begin(), made_.polynomial.end(), input.polynomial.begin());
    if (!with_values) {
      for (WhirClaim& claim : input.claims) claim.value.clear();
    }
    return input;
  }
  RunOutcome Run(DeviceRunner& runner, WhirInput input) {
    return runner.Run(circuit_, ProofInput(std::move(input)), {cancel_, stages_});
  }

  const WhirCase made_;
  Circuit circuit_;
  CancellationToken cancel_;
  StageNames stages_;
};

TEST_F(WhirRunnerTest, MakesTheProofWithValuesGivenOrNot) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}));
  ASSERT_TRUE(runner.Install(circuit_).ok());
  EXPECT_GT(runner.Memory()[0].bytes, 0u);
  const std::vector<CanaryResult> canaries = runner.TakeCanaryResults();
  ASSERT_EQ(canaries.size(), 1u);
  EXPECT_EQ(canaries[0].circuit, "poly");
  EXPECT_TRUE(canaries[0].proved);
  for (const bool with_values : {true, false}) {
    const RunOutcome outcome = Run(runner, Input(with_values));
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    const auto& output = std::get<WhirOutput>(outcome.output);
    EXPECT_EQ(output.commitment, made_.proof.commitment);
    EXPECT_EQ(output.claims, made_.claims);
    EXPECT_EQ(output.proof, EncodeWhirProof(made_.config, made_.proof));
    EXPECT_TRUE(VerifyWhirBytes(made_.config, output.claims, output.proof).valid);
    EXPECT_FALSE(outcome.verdict.has_value());
    EXPECT_FALSE(outcome.fault.has_value());
  }
}

TEST_F(WhirRunnerTest, TellsTheStagesAndTheRounds) {
  DeviceRunner runner(MakeCpuBackend({.threads = 1}));
  ASSERT_TRUE(runner.Install(circuit_).ok());
  ASSERT_TRUE(Run(runner, Input(false)).status.ok());
  std::vector<std::string> expected = {"evaluate"};
  for (size_t i = 0; i < made_.config.rounds.size(); ++i) expected.push_back(WhirRoundStage(i));
  for (const char* const stage : {"commit", "sumcheck", "pow", "open", "self_check"})
    expected.emplace_back(stage);
  EXPECT_EQ(stages_.names, expected);
}

TEST_F(WhirRunnerTest, ACircuitThatIsNotInstalledIsOurFault) {
  DeviceRunner runner(MakeCpuBackend({.threads = 1}));
  EXPECT_EQ(GetReason(Run(runner, Input(true)).status), ErrorReason::kInternal);
  ASSERT_TRUE(runner.Install(circuit_).ok());
  runner.Remove(circuit_);
  runner.Remove(circuit_);
  EXPECT_EQ(GetReason(Run(runner, Input(true)).status), ErrorReason::kInternal);
  EXPECT_EQ(runner.Memory()[0].bytes, 0u);
}

TEST_F(WhirRunnerTest, AValueThatThePolynomialDoesNotHaveIsTheClientsError) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}));
  ASSERT_TRUE(runner.Install(circuit_).ok());
  WhirInput input = Input(true);
  input.claims[0].value[4] += BabyBear::One();

  const RunOutcome outcome = Run(runner, std::move(input));

  EXPECT_TRUE(absl::IsInvalidArgument(outcome.status)) << outcome.status;
  EXPECT_EQ(GetReason(outcome.status), ErrorReason::kWitnessUnsatisfied);
  EXPECT_EQ(outcome.verdict, BlameVerdict::kWitness);
  EXPECT_FALSE(outcome.fault.has_value());
}

TEST_F(WhirRunnerTest, ADeviceThatMakesWrongProofsIsBlamed) {
  auto owned = std::make_unique<SpoilingBackend>();
  SpoilingBackend& backend = *owned;
  DeviceRunner runner(std::move(owned));
  ASSERT_TRUE(runner.Install(circuit_).ok());
  backend.spoil = true;
  for (const bool with_values : {true, false}) {
    const RunOutcome outcome = Run(runner, Input(with_values));
    EXPECT_EQ(GetReason(outcome.status), ErrorReason::kSelfCheckFailed) << outcome.status;
    EXPECT_EQ(outcome.verdict, BlameVerdict::kDevice);
    ASSERT_TRUE(outcome.fault.has_value());
    EXPECT_EQ(outcome.fault->error_class, DeviceErrorClass::kSelfCheck);
  }
}

TEST_F(WhirRunnerTest, AnIdleDeviceProvesTheKnownPolynomial) {
  auto owned = std::make_unique<SpoilingBackend>();
  SpoilingBackend& backend = *owned;
  DeviceRunner runner(std::move(owned));
  EXPECT_FALSE(runner.HasCanary(circuit_)) << "not installed";
  ASSERT_TRUE(runner.Install(circuit_).ok());
  ASSERT_TRUE(runner.HasCanary(circuit_));
  EXPECT_TRUE(runner.ProveCanary(circuit_, {cancel_, stages_}).status.ok());
  EXPECT_FALSE(stages_.names.empty());
  backend.spoil = true;
  const RunOutcome outcome = runner.ProveCanary(circuit_, {cancel_, stages_});
  EXPECT_EQ(GetReason(outcome.status), ErrorReason::kSelfCheckFailed) << outcome.status;
  EXPECT_EQ(outcome.verdict, BlameVerdict::kDevice);
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_EQ(outcome.fault->error_class, DeviceErrorClass::kSelfCheck);
  const std::vector<CanaryResult> canaries = runner.TakeCanaryResults();
  ASSERT_EQ(canaries.size(), 3u);
  EXPECT_TRUE(canaries[1].proved);
  EXPECT_FALSE(canaries[2].proved);

  cancel_.Cancel();
  EXPECT_TRUE(absl::IsCancelled(runner.ProveCanary(circuit_, {cancel_, stages_}).status));
  EXPECT_TRUE(runner.TakeCanaryResults().empty());
}

TEST_F(WhirRunnerTest, ADeviceThatIsBadAtTheStartKeepsTheCircuitOut) {
  auto owned = std::make_unique<SpoilingBackend>();
  owned->spoil = true;
  DeviceRunner runner(std::move(owned));
  const absl::Status status = runner.Install(circuit_);
  EXPECT_EQ(GetReason(status), ErrorReason::kSelfCheckFailed) << status;
  const std::vector<CanaryResult> canaries = runner.TakeCanaryResults();
  ASSERT_EQ(canaries.size(), 1u);
  EXPECT_FALSE(canaries[0].proved);
  EXPECT_EQ(GetReason(Run(runner, Input(true)).status), ErrorReason::kInternal);
}

TEST_F(WhirRunnerTest, ADeviceWithoutWhirSaysSo) {
  DeviceRunner runner(std::make_unique<FaultyBackend>([](int) { return FaultyBackend::Fault::kNone; }));
  EXPECT_EQ(GetReason(runner.Install(circuit_)), ErrorReason::kNotSupported);
}

TEST_F(WhirRunnerTest, ACancelledJobIsNobodysFault) {
  DeviceRunner runner(MakeCpuBackend({.threads = 1}));
  ASSERT_TRUE(runner.Install(circuit_).ok());
  cancel_.Cancel();
  const RunOutcome outcome = Run(runner, Input(false));
  EXPECT_TRUE(absl::IsCancelled(outcome.status)) << outcome.status;
  EXPECT_FALSE(outcome.fault.has_value());
  EXPECT_FALSE(outcome.verdict.has_value());
}

}  // namespace
}  // namespace proofmill::engine
