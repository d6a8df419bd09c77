#include "engine/dispatch/device_runner.h"

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/backend/cpu/cpu_backend.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/verifier.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/dispatch/circuit_folder.h"
#include "tests/engine/dispatch/fakes.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/groth16/faulty_backend.h"

namespace proofmill::engine {
namespace {

using Fault = FaultyBackend::Fault;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StageCounter final : public StageSink {
 public:
  void OnStage(std::string_view, std::chrono::nanoseconds) override { ++stages; }
  int stages = 0;
};

class Groth16RunnerTest : public testing::Test {
 protected:
  // mul3 with what is asked for.
  Circuit Load(bool with_canary, bool with_r1cs) {
    Circuit circuit;
    circuit.id = "mul3";
    auto key = LoadProvingKey(CasePath("mul3", "circuit.zkey"));
    EXPECT_TRUE(key.ok()) << key.status();
    circuit.key = *key;
    circuit.version = "v1";
    if (with_canary) circuit.canary = std::make_shared<const Witness>(CaseWitness("mul3"));
    if (with_r1cs) circuit.r1cs_path = CasePath("mul3", "circuit.r1cs");
    return circuit;
  }
  static std::unique_ptr<DeviceRunner> RunnerWith(std::function<Fault(int)> fault) {
    return std::make_unique<DeviceRunner>(std::make_unique<FaultyBackend>(std::move(fault)));
  }
  // A witness of mul3 with its last, private, value changed.
  static Witness BadWitness() {
    Witness witness = CaseWitness("mul3");
    witness.values[witness.values.size() - 1].limb[0] ^= 1;
    return witness;
  }
  // "proved" or "failed" for each canary that was tried since the last call.
  static std::vector<std::string> Canaries(DeviceRunner& runner) {
    std::vector<std::string> outcomes;
    for (const CanaryResult& canary : runner.TakeCanaryResults()) {
      EXPECT_EQ(canary.circuit, "mul3");
      outcomes.emplace_back(canary.proved ? "proved" : "failed");
    }
    return outcomes;
  }
  RunOutcome Prove(DeviceRunner& runner, const Circuit& circuit, const ProofInput& witness) {
    return runner.Run(circuit, witness, {cancel_, stages_});
  }

  CancellationToken cancel_;
  StageCounter stages_;
};

TEST_F(Groth16RunnerTest, MakesProofsThatVerify) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}));
  const Circuit circuit = Load(true, false);
  ASSERT_TRUE(runner.Install(circuit).ok());

  const RunOutcome outcome = Prove(runner, circuit, CaseWitness("mul3"));

  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  const auto& output = std::get<Groth16Output>(outcome.output);
  EXPECT_TRUE(*Verify(circuit.key->vk(), output.public_signals, output.proof));
  EXPECT_EQ(outcome.verdict, std::nullopt);
  EXPECT_FALSE(outcome.fault.has_value());
  EXPECT_GT(stages_.stages, 5);
  EXPECT_EQ(runner.info().device, "cpu");
  EXPECT_EQ(runner.info().backend, "cpu");
  EXPECT_GT(runner.Memory()[0].bytes, 0u);
}

TEST_F(Groth16RunnerTest, ACircuitThatIsNotInstalledIsOurFault) {
  DeviceRunner runner(MakeCpuBackend({.threads = 1}));
  const Circuit circuit = Load(false, false);
  EXPECT_EQ(GetReason(Prove(runner, circuit, CaseWitness("mul3")).status), ErrorReason::kInternal);

  ASSERT_TRUE(runner.Install(circuit).ok());
  runner.Remove(circuit);
  runner.Remove(circuit);
  EXPECT_EQ(GetReason(Prove(runner, circuit, CaseWitness("mul3")).status), ErrorReason::kInternal);
  EXPECT_EQ(runner.Memory()[0].bytes, 0u);
}

TEST_F(Groth16RunnerTest, ABadWitnessIsBlamedWithAGoodCanary) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}));
  const Circuit circuit = Load(true, false);
  ASSERT_TRUE(runner.Install(circuit).ok());

  const RunOutcome outcome = Prove(runner, circuit, BadWitness());

  EXPECT_TRUE(absl::IsInvalidArgument(outcome.status));
  EXPECT_EQ(GetReason(outcome.status), ErrorReason::kWitnessUnsatisfied);
  EXPECT_EQ(outcome.verdict, BlameVerdict::kWitness);
  EXPECT_FALSE(outcome.fault.has_value());
}

TEST_F(Groth16RunnerTest, WithTheConstraintsTheFailingOneIsNamed) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}));
  const Circuit circuit = Load(true, true);
  ASSERT_TRUE(runner.Install(circuit).ok());

  for (int i = 0; i < 2; ++i) {  // read, then kept
    const RunOutcome outcome = Prove(runner, circuit, BadWitness());
    EXPECT_NE(outcome.status.message().find("constraint"), std::string::npos) << outcome.status;
  }
}

TEST_F(Groth16RunnerTest, ConstraintsThatCannotBeReadOnlyCostTheName) {
  for (const char* path :
       {"tests/vectors/cases/unused/circuit.r1cs", "tests/vectors/cases/mul3/circuit.zkey", "missing"}) {
    DeviceRunner runner(MakeCpuBackend({.threads = 2}));
    Circuit circuit = Load(true, false);
    circuit.r1cs_path = path;
    ASSERT_TRUE(runner.Install(circuit).ok());
    EXPECT_EQ(GetReason(Prove(runner, circuit, BadWitness()).status), ErrorReason::kWitnessUnsatisfied)
        << path;
  }
}

TEST_F(Groth16RunnerTest, ConstraintsAboveTheBoundAreNotRead) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}), {.r1cs_bytes_max = 10});
  const Circuit circuit = Load(true, true);
  ASSERT_TRUE(runner.Install(circuit).ok());

  const RunOutcome outcome = Prove(runner, circuit, BadWitness());

  EXPECT_EQ(GetReason(outcome.status), ErrorReason::kWitnessUnsatisfied);
}

TEST_F(Groth16RunnerTest, ADeviceThatSpoilsTheCanaryTooIsBlamed) {
  // The canary at Install() is good; then the device goes bad.
  const auto runner = RunnerWith([](int proof) { return proof == 0 ? Fault::kNone : Fault::kWrongSum; });
  const Circuit circuit = Load(true, false);
  ASSERT_TRUE(runner->Install(circuit).ok());

  const RunOutcome outcome = Prove(*runner, circuit, CaseWitness("mul3"));

  EXPECT_TRUE(absl::IsInternal(outcome.status));
  EXPECT_EQ(GetReason(outcome.status), ErrorReason::kSelfCheckFailed);
  EXPECT_EQ(outcome.verdict, BlameVerdict::kDevice);
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_EQ(outcome.fault->error_class, DeviceErrorClass::kSelfCheck);
}

TEST_F(Groth16RunnerTest, WithoutACanaryTheConstraintsJudge) {
  const auto runner = RunnerWith([](int) { return Fault::kWrongSum; });
  const Circuit circuit = Load(false, true);
  ASSERT_TRUE(runner->Install(circuit).ok());

  EXPECT_EQ(Prove(*runner, circuit, CaseWitness("mul3")).verdict, BlameVerdict::kDevice);
  EXPECT_EQ(Prove(*runner, circuit, BadWitness()).verdict, BlameVerdict::kWitness);
}

TEST_F(Groth16RunnerTest, ADeviceErrorIsAFaultWithoutAVerdict) {
  const auto runner = RunnerWith([](int) { return Fault::kError; });
  const Circuit circuit = Load(false, false);
  ASSERT_TRUE(runner->Install(circuit).ok());

  const RunOutcome outcome = Prove(*runner, circuit, CaseWitness("mul3"));

  EXPECT_EQ(GetReason(outcome.status), ErrorReason::kDeviceFault);
  EXPECT_EQ(outcome.verdict, std::nullopt);
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_EQ(outcome.fault->error_class, DeviceErrorClass::kLaunch);
  EXPECT_FALSE(outcome.fault->lost);
}

TEST_F(Groth16RunnerTest, ALostDeviceIsReportedAsLostFromItsFirstError) {
  const auto runner = RunnerWith([](int) { return Fault::kLost; });
  const Circuit circuit = Load(false, false);
  ASSERT_TRUE(runner->Install(circuit).ok());

  const RunOutcome outcome = Prove(*runner, circuit, CaseWitness("mul3"));

  EXPECT_EQ(GetReason(outcome.status), ErrorReason::kDeviceFault);
  ASSERT_TRUE(outcome.fault.has_value());
  EXPECT_EQ(outcome.fault->error_class, DeviceErrorClass::kSticky);
  EXPECT_TRUE(outcome.fault->lost);
}

TEST_F(Groth16RunnerTest, ACanaryThatCannotBeProvedKeepsTheCircuitOut) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}));
  Circuit circuit = Load(true, false);
  circuit.canary = std::make_shared<const Witness>(BadWitness());

  const absl::Status status = runner.Install(circuit);

  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(GetReason(status), ErrorReason::kWitnessUnsatisfied);
  EXPECT_EQ(runner.Memory()[0].bytes, 0u);
}

TEST_F(Groth16RunnerTest, TheConstraintThatABadCanaryBreaksIsNamed) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}));
  Circuit circuit = Load(false, true);
  ASSERT_TRUE(runner.Install(circuit).ok());
  const RunOutcome request = Prove(runner, circuit, BadWitness());
  circuit.canary = std::make_shared<const Witness>(BadWitness());

  const absl::Status status = runner.Install(circuit);

  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_EQ(GetReason(status), ErrorReason::kWitnessUnsatisfied);
  const auto constraint = [](const absl::Status& error) {
    const std::string text(error.message());
    const size_t begin = text.find("constraint ");
    return begin == std::string::npos ? "none: " + text
                                      : text.substr(begin, text.find(" of the", begin) - begin);
  };
  EXPECT_EQ(constraint(status), constraint(request.status)) << "as a request with that witness is answered";
  EXPECT_THAT(constraint(status), ::testing::MatchesRegex("constraint [0-9]+"));
}

TEST_F(Groth16RunnerTest, ACanaryThatSatisfiesItsConstraintsIsNotBlamed) {
  const auto runner = RunnerWith([](int) { return Fault::kWrongSum; });

  const absl::Status status = runner->Install(Load(true, true));

  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("satisfies every constraint"));
}

TEST_F(Groth16RunnerTest, EveryCanaryThatIsTriedIsTold) {
  // The second canary, which a bad witness calls for, is good; the third, which a bad sum calls for, is not.
  const auto runner = RunnerWith([](int proof) { return proof < 3 ? Fault::kNone : Fault::kWrongSum; });
  const Circuit circuit = Load(true, false);

  ASSERT_TRUE(runner->Install(circuit).ok());
  EXPECT_THAT(Canaries(*runner), ElementsAre("proved"));
  EXPECT_EQ(Prove(*runner, circuit, BadWitness()).verdict, BlameVerdict::kWitness);
  EXPECT_THAT(Canaries(*runner), ElementsAre("proved"));
  EXPECT_EQ(Prove(*runner, circuit, CaseWitness("mul3")).verdict, BlameVerdict::kDevice);
  EXPECT_THAT(Canaries(*runner), ElementsAre("failed"));
  EXPECT_FALSE(runner->Install(circuit).ok());
  EXPECT_THAT(Canaries(*runner), ElementsAre("failed"));
}

TEST_F(Groth16RunnerTest, NoCanaryIsToldWhereNoneIsTried) {
  const auto runner = RunnerWith([](int) { return Fault::kWrongSum; });
  const Circuit circuit = Load(false, true);
  ASSERT_TRUE(runner->Install(circuit).ok());

  EXPECT_EQ(Prove(*runner, circuit, CaseWitness("mul3")).verdict, BlameVerdict::kDevice);

  EXPECT_THAT(Canaries(*runner), IsEmpty());
}

TEST_F(Groth16RunnerTest, AnIdleDeviceProvesTheCanaryOfACircuit) {
  // The first at Install(), the second good, then a wrong sum and a failed call.
  const Fault faults[] = {Fault::kNone, Fault::kNone, Fault::kWrongSum, Fault::kError};
  const auto runner = RunnerWith([&](int proof) { return faults[proof]; });
  const Circuit circuit = Load(true, false);
  EXPECT_FALSE(runner->HasCanary(circuit)) << "not installed";
  ASSERT_TRUE(runner->Install(circuit).ok());
  ASSERT_TRUE(runner->HasCanary(circuit));

  const RunOutcome good = runner->ProveCanary(circuit, {cancel_, stages_});
  EXPECT_TRUE(good.status.ok()) << good.status;
  EXPECT_GT(stages_.stages, 5);
  const RunOutcome wrong = runner->ProveCanary(circuit, {cancel_, stages_});
  EXPECT_EQ(GetReason(wrong.status), ErrorReason::kSelfCheckFailed) << wrong.status;
  EXPECT_EQ(wrong.verdict, BlameVerdict::kDevice) << "the canary has been proved before";
  ASSERT_TRUE(wrong.fault.has_value());
  EXPECT_EQ(wrong.fault->error_class, DeviceErrorClass::kSelfCheck);
  const RunOutcome failed = runner->ProveCanary(circuit, {cancel_, stages_});
  ASSERT_TRUE(failed.fault.has_value());
  EXPECT_EQ(failed.fault->error_class, DeviceErrorClass::kLaunch);
  EXPECT_THAT(Canaries(*runner), ElementsAre("proved", "proved", "failed", "failed"));

  cancel_.Cancel();
  const RunOutcome cancelled = runner->ProveCanary(circuit, {cancel_, stages_});
  EXPECT_TRUE(absl::IsCancelled(cancelled.status)) << cancelled.status;
  EXPECT_FALSE(cancelled.fault.has_value());
  EXPECT_THAT(Canaries(*runner), IsEmpty()) << "it says nothing";
}

TEST_F(Groth16RunnerTest, ACircuitWithoutACanaryHasNone) {
  const auto runner = RunnerWith([](int) { return Fault::kNone; });
  const Circuit circuit = Load(false, true);
  ASSERT_TRUE(runner->Install(circuit).ok());
  EXPECT_FALSE(runner->HasCanary(circuit));
}

// Its keys are where the device can do without them.
class EvictingBackend final : public FaultyBackend {
 public:
  EvictingBackend() : FaultyBackend([](int) { return Fault::kNone; }) {}
  absl::StatusOr<std::unique_ptr<ResidentKey>> LoadKey(std::shared_ptr<const ProvingKey> key) override {
    class Evicted final : public ResidentKey {
     public:
      explicit Evicted(std::shared_ptr<const ProvingKey> key) : ResidentKey(std::move(key)) {}
      size_t device_bytes() const override { return 0; }
    };
    return std::make_unique<Evicted>(std::move(key));
  }
  absl::StatusOr<Groth16Sums> ComputeSums(ResidentKey& key, absl::Span<const kernels::U256> witness,
                                          const ComputeContext& context) override {
    const auto resident = FaultyBackend::LoadKey(key.key());
    return FaultyBackend::ComputeSums(**resident, witness, context);
  }
};

TEST_F(Groth16RunnerTest, NoKeyIsBroughtBackForACanary) {
  DeviceRunner runner(std::make_unique<EvictingBackend>());
  const Circuit circuit = Load(true, false);
  ASSERT_TRUE(runner.Install(circuit).ok());
  EXPECT_FALSE(runner.HasCanary(circuit));
}

// Points of the wrong powers of tau, say, which no check of the points alone can see.
TEST_F(Groth16RunnerTest, AKeyThatMakesNoValidProofIsKeptOutByItsCanary) {
  for (const uint32_t section : {5u, 8u, 9u}) {
    SCOPED_TRACE(section);
    Container file = Container::FromFile(CasePath("mul3", "circuit.zkey"));
    for (size_t point = 0; point < file[section].size(); point += sizeof(kernels::G1Affine)) {
      kernels::G1Affine value;
      std::memcpy(static_cast<void*>(&value), &file[section][point], sizeof(value));
      if (!value.IsInfinity()) std::memcpy(&file[section][point], &kernels::kG1Generator, sizeof(value));
    }
    const TestFolder folder;
    WriteBytes(folder.Path("circuit.zkey"), file.Serialize());
    auto key = LoadProvingKey(folder.Path("circuit.zkey"));
    ASSERT_TRUE(key.ok()) << key.status();
    DeviceRunner runner(MakeCpuBackend({.threads = 2}));
    Circuit circuit = Load(true, false);
    circuit.key = *key;

    const absl::Status status = runner.Install(circuit);

    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_NE(status.message().find("or the key"), std::string::npos) << status;
    EXPECT_EQ(runner.Memory()[0].bytes, 0u);
  }
}

TEST_F(Groth16RunnerTest, ACancelledJobIsNobodysFault) {
  DeviceRunner runner(MakeCpuBackend({.threads = 2}));
  const Circuit circuit = Load(true, false);
  ASSERT_TRUE(runner.Install(circuit).ok());
  cancel_.Cancel();

  const RunOutcome outcome = Prove(runner, circuit, CaseWitness("mul3"));

  EXPECT_TRUE(absl::IsCancelled(outcome.status));
  EXPECT_FALSE(outcome.fault.has_value());
}

// The cpu backend as one that has device memory and tells of it.
class TellingBackend final : public Groth16Backend {
 public:
  const std::string& name() const override { return name_; }
  BackendKind kind() const override { return BackendKind::kCuda; }
  std::string_view gpu_uuid() const override { return "GPU-1"; }
  size_t proofs_in_flight() const override { return 2; }
  std::optional<DeviceUsage> usage() const override {
    DeviceUsage usage;
    usage.key_bytes = 1;
    usage.scratch_bytes = 2;
    usage.free_bytes = 3;
    usage.limit_bytes = 4;
    usage.host_to_device_bytes = 5;
    usage.device_to_host_bytes = 6;
    usage.allocations = 7;
    usage.key_evictions = 8;
    usage.key_reloads = 9;
    usage.batches = 10;
    usage.batched_proofs = 11;
    return usage;
  }
  std::vector<KeyEvent> TakeKeyEvents() override { return std::exchange(events, {}); }
  absl::StatusOr<std::unique_ptr<ResidentKey>> LoadKey(std::shared_ptr<const ProvingKey> key) override {
    return cpu_->LoadKey(std::move(key));
  }
  absl::StatusOr<Groth16Sums> ComputeSums(ResidentKey& key, absl::Span<const kernels::U256> witness,
                                          const ComputeContext& context) override {
    return cpu_->ComputeSums(key, witness, context);
  }

  std::vector<KeyEvent> events;

 private:
  const std::string name_ = "cuda:0";
  const std::unique_ptr<Groth16Backend> cpu_ = MakeCpuBackend({.threads = 1});
};

// Writes down what it hears of a device, one line each.
class DeviceListener final : public Observer {
 public:
  void OnDeviceMemory(const DeviceInfo& device, DeviceMemoryKind kind, uint64_t bytes) override {
    lines.push_back(
        absl::StrCat(std::string(device.gpu_uuid), " ", std::string(DeviceMemoryKindName(kind)), " ", bytes));
  }
  void OnDeviceCounts(const DeviceInfo&, const DeviceCounts& counts) override {
    lines.push_back(absl::StrCat(counts.host_to_device_bytes, " ", counts.device_to_host_bytes, " ",
                                 counts.allocations, " ", counts.key_evictions, " ", counts.key_reloads, " ",
                                 counts.batches, " ", counts.batched_proofs));
  }
  void OnKeyChange(const DeviceInfo&, const KeyChangeInfo& change) override {
    lines.push_back(absl::StrCat(std::string(change.circuit), " ", std::string(KeyChangeName(change.change)),
                                 " ", change.bytes, " ", std::string(change.plan)));
  }
  void OnCanary(const DeviceInfo& device, std::string_view circuit, bool proved) override {
    lines.push_back(
        absl::StrCat(std::string(device.gpu_uuid), " canary ", std::string(circuit), " ", proved));
  }
  std::vector<std::string> lines;
};

TEST_F(Groth16RunnerTest, WhatADeviceTellsIsReportedWithTheNamesOfCircuits) {
  auto owned = std::make_unique<TellingBackend>();
  TellingBackend& backend = *owned;
  DeviceRunner runner(std::move(owned));
  const Circuit circuit = Load(true, false);
  ASSERT_TRUE(runner.Install(circuit).ok());
  backend.events = {{.kind = KeyEvent::Kind::kEvicted, .key = circuit.key, .bytes = 10, .plan = ""},
                    {.kind = KeyEvent::Kind::kReloaded, .key = circuit.key, .bytes = 9, .plan = "a plan"}};
  DeviceListener listener;

  ReportDevice(runner, listener);
  ReportDevice(runner, listener);

  const std::vector<std::string> state = {"GPU-1 keys 1", "GPU-1 scratch 2", "GPU-1 free 3", "GPU-1 limit 4",
                                          "5 6 7 8 9 10 11"};
  std::vector<std::string> expected = {"mul3 evicted 10 ", "mul3 reloaded 9 a plan", "GPU-1 canary mul3 1"};
  expected.insert(expected.end(), state.begin(), state.end());
  expected.insert(expected.end(), state.begin(), state.end());
  EXPECT_EQ(listener.lines, expected);
  EXPECT_EQ(runner.jobs_in_flight(), 2u);
}

TEST_F(Groth16RunnerTest, EachBackendGetsARunner) {
  std::vector<std::unique_ptr<Groth16Backend>> backends;
  backends.push_back(MakeCpuBackend({.threads = 1, .name = "cpu:0"}));
  backends.push_back(MakeCpuBackend({.threads = 1, .name = "cpu:1"}));

  const auto runners = MakeDeviceRunners(std::move(backends));

  ASSERT_EQ(runners.size(), 2u);
  EXPECT_EQ(runners[1]->info().device, "cpu:1");
}

}  // namespace
}  // namespace proofmill::engine
