// Proofs that are checked together: what one equation for all must find, and who waits for whom.

#include "engine/groth16/proof_checks.h"

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/verifier.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/engine/groth16/faulty_backend.h"
#include "tests/engine/groth16/twist_points.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Xyzz;

struct Statement {
  std::vector<Fr> signals;
  Groth16Proof proof;
};

G1Affine Sum(const G1Affine& a, const G1Affine& b) { return (G1Xyzz::FromAffine(a) + b).ToAffine(); }

// A key and as many proofs of one statement.
class Proofs {
 public:
  explicit Proofs(const Bench& bench, size_t count) : bench_(bench), prepared_(bench.key->vk()) {
    for (size_t i = 0; i < count; ++i) {
      const auto proof = Prove(*bench.backend, *bench.resident, bench.span());
      EXPECT_OK(proof);
      statements_.push_back({PublicSignals(*bench.key, bench.span()), proof.ok() ? *proof : Groth16Proof{}});
    }
  }

  const VerificationKey& vk() const { return bench_.key->vk(); }
  const PreparedPairings& prepared() const { return prepared_; }
  Statement& operator[](size_t i) { return statements_[i]; }
  size_t size() const { return statements_.size(); }

  std::optional<BatchedProof> ForBatch(size_t i) const {
    if (!IsOnCurves(statements_[i].proof)) return std::nullopt;
    return BatchedProof{statements_[i].proof, statements_[i].signals};
  }
  // Of all; the same with tables as without.
  bool Together() const {
    std::vector<BatchedProof> batch;
    for (size_t i = 0; i < statements_.size(); ++i) batch.push_back(ForBatch(i).value());
    const auto without = VerifyTogether(vk(), nullptr, batch);
    const KeyTables tables(vk(), kernels::kG1Generator);
    const auto with = VerifyTogether(vk(), &tables, batch);
    EXPECT_OK(without);
    EXPECT_OK(with);
    EXPECT_EQ(*with, *without);
    return *with;
  }
  bool Alone(size_t i) const { return *Verify(vk(), statements_[i].signals, statements_[i].proof); }

 private:
  const Bench& bench_;
  const PreparedPairings prepared_;
  std::vector<Statement> statements_;
};

class VerifyTogetherTest : public testing::Test {
 protected:
  const Bench bench_ = BenchOfCase("tests/vectors/cases/sj-mul3");
};

TEST_F(VerifyTogetherTest, AcceptsAnyNumberOfGoodProofs) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, kProofBatchMax}) {
    EXPECT_TRUE(Proofs(bench_, count).Together()) << count;
  }
}

TEST_F(VerifyTogetherTest, FindsAWrongProofAtEveryPlace) {
  Proofs proofs(bench_, 5);
  for (size_t i = 0; i < proofs.size(); ++i) {
    const Statement good = proofs[i];
    proofs[i].proof.a = -good.proof.a;
    EXPECT_FALSE(proofs.Together()) << "A of " << i;
    proofs[i] = good;
    proofs[i].proof.b = -good.proof.b;
    EXPECT_FALSE(proofs.Together()) << "B of " << i;
    proofs[i] = good;
    proofs[i].proof.c = Sum(good.proof.c, kernels::kG1Generator);
    EXPECT_FALSE(proofs.Together()) << "C of " << i;
    proofs[i] = good;
    proofs[i].signals[0] += Fr::One();
    EXPECT_FALSE(proofs.Together()) << "a signal of " << i;
    proofs[i] = good;
  }
  EXPECT_TRUE(proofs.Together());
}

// The product of both equations holds: only the random powers tell them apart.
TEST_F(VerifyTogetherTest, FindsTwoWrongProofsWhoseFaultsCancelOut) {
  Proofs proofs(bench_, 4);
  proofs[1].proof.c = Sum(proofs[1].proof.c, kernels::kG1Generator);
  proofs[3].proof.c = Sum(proofs[3].proof.c, -kernels::kG1Generator);

  for (int i = 0; i < 10; ++i) EXPECT_FALSE(proofs.Together());
}

TEST_F(VerifyTogetherTest, FindsSwappedSignalsWhoseSumIsRight) {
  Proofs proofs(bench_, 2);
  proofs[0].signals[1] += Fr::One();
  proofs[1].signals[1] -= Fr::One();

  EXPECT_FALSE(proofs.Together());
}

TEST_F(VerifyTogetherTest, PointsOffTheirCurvesComeIntoNoBatch) {
  Proofs proofs(bench_, 2);
  proofs[0].proof.a.y += kernels::Fq::One();
  proofs[1].proof.c.y += kernels::Fq::One();

  for (size_t i = 0; i < proofs.size(); ++i) EXPECT_FALSE(proofs.ForBatch(i).has_value()) << i;
}

TEST_F(VerifyTogetherTest, FindsAPointOutsideG2AtEveryPlace) {
  Proofs proofs(bench_, 9);
  for (size_t i = 0; i < proofs.size(); ++i) {
    const Groth16Proof good = proofs[i].proof;
    proofs[i].proof.b = (G2Xyzz::FromAffine(good.b) + PointOfOrder10069()).ToAffine();
    EXPECT_FALSE(proofs.Together()) << i;
    proofs[i].proof.a = G1Affine::Infinity();
    EXPECT_FALSE(proofs.Together()) << i << ", of no pairing";
    proofs[i].proof = good;
  }
  EXPECT_TRUE(proofs.Together());
}

TEST_F(VerifyTogetherTest, AcceptsInfinitiesWhereTheEquationHolds) {
  const Bench bench = BenchOf(OnlyTheConstantWire());
  Proofs proofs(bench, 3);
  ProveOptions options;
  options.fixed_blinding = Blinding{Fr::Zero(), Fr::Zero()};
  const auto proof = Prove(*bench.backend, *bench.resident, bench.span(), options);
  ASSERT_OK(proof);
  ASSERT_TRUE(proof->c.IsInfinity());
  proofs[1].proof = *proof;

  EXPECT_TRUE(proofs.Together());
  for (size_t i = 0; i < proofs.size(); ++i) proofs[i].proof = *proof;
  EXPECT_TRUE(proofs.Together());
}

TEST_F(VerifyTogetherTest, SumsUpManySignals) {
  TestCircuit circuit{"many", 41, 40, {}, {Fr::One()}};
  for (int64_t i = 1; i <= 40; ++i) circuit.witness.push_back(FieldElement(-i));
  const Bench bench = BenchOf(circuit);
  Proofs proofs(bench, 3);

  EXPECT_TRUE(proofs.Together());
  proofs[2].signals[39] += Fr::One();
  EXPECT_FALSE(proofs.Together());
}

// Proofs on threads of their own that come while one is being checked.
class ProofChecksTest : public testing::Test {
 protected:
  static constexpr size_t kProofs = 6;

  void TearDown() override {
    for (std::thread& thread : threads_) thread.join();
  }

  // Checks proof i as the prover does.
  bool Accepts(size_t i) {
    return checks_.Accepts(
        nullptr,
        [&] {
          ++alone_[i];
          return proofs_.Alone(i);
        },
        [&] { return proofs_.ForBatch(i); });
  }

  void ListenToChecks() {
    checks_.SetListener([this](size_t proofs) { ++told_.at(proofs); });
  }

  // Runs Accepts() for proofs 1, 2, ... on threads, and lets go of a check that all of them found under way
  // only when they all wait.
  void CheckAllWhileOneIsChecked() {
    const bool accepted = checks_.Accepts(
        nullptr,
        [&] {
          for (size_t i = 1; i < kProofs; ++i) {
            threads_.emplace_back([this, i] { accepted_[i] = Accepts(i); });
          }
          while (checks_.counts().waiting < kProofs - 1) std::this_thread::yield();
          return true;
        },
        []() -> std::optional<BatchedProof> {
          ADD_FAILURE() << "a lone proof waits for nobody";
          return std::nullopt;
        });
    EXPECT_TRUE(accepted);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const Bench bench_ = BenchOfCase("tests/vectors/cases/sj-mul3");
  Proofs proofs_{bench_, kProofs};
  ProofChecks checks_{proofs_.vk(), proofs_.prepared()};
  std::array<std::atomic<int>, kProofs + 1> told_{};  // checks of so many proofs
  std::array<std::atomic<int>, kProofs> alone_{};
  std::array<std::atomic<bool>, kProofs> accepted_{};
  std::vector<std::thread> threads_;
};

TEST_F(ProofChecksTest, ALoneProofIsCheckedAtOnce) {
  ListenToChecks();
  for (size_t i = 0; i < kProofs; ++i) {
    EXPECT_TRUE(Accepts(i));
    EXPECT_EQ(alone_[i], 1);
    EXPECT_FALSE(checks_.in_company());
  }
  EXPECT_EQ(checks_.counts().batches, 0u);
  EXPECT_EQ(told_[1], static_cast<int>(kProofs));
}

TEST_F(ProofChecksTest, AWholeProofIsVerifiedAsVerifyDoes) {
  const auto agree = [&](const Statement& statement) {
    const auto got = checks_.Verify(statement.signals, statement.proof);
    const auto expected = Verify(proofs_.vk(), statement.signals, statement.proof);
    EXPECT_EQ(got.status(), expected.status());
    if (got.ok() && expected.ok()) {
      EXPECT_EQ(*got, *expected);
    }
    return got.ok() && *got;
  };
  const Statement good = proofs_[0];
  EXPECT_TRUE(agree(good));
  Statement bad = good;
  bad.proof.a = -bad.proof.a;
  EXPECT_FALSE(agree(bad));
  bad = good;
  bad.proof.b = (G2Xyzz::FromAffine(bad.proof.b) + PointOfOrder10069()).ToAffine();
  EXPECT_FALSE(agree(bad));
  bad = good;
  bad.signals.pop_back();
  EXPECT_FALSE(agree(bad));
  EXPECT_FALSE(agree({good.signals, Groth16Proof{}}));
}

TEST_F(ProofChecksTest, ProofsThatComeMeanwhileAreCheckedTogether) {
  ListenToChecks();
  CheckAllWhileOneIsChecked();

  for (size_t i = 1; i < kProofs; ++i) {
    EXPECT_TRUE(accepted_[i]) << i;
    EXPECT_EQ(alone_[i], 0) << i;
  }
  EXPECT_EQ(checks_.counts().batches, 1u);
  EXPECT_EQ(checks_.counts().together, kProofs - 1);
  EXPECT_EQ(told_[1], 1) << "of the one that they waited for";
  EXPECT_EQ(told_[kProofs - 1], 1);
  EXPECT_EQ(checks_.counts().waiting, 0u);
}

TEST_F(ProofChecksTest, OfABatchThatIsRefusedEachProofHasItsOwnVerdict) {
  proofs_[2].proof.c = Sum(proofs_[2].proof.c, kernels::kG1Generator);
  proofs_[4].proof.c = Sum(proofs_[4].proof.c, -kernels::kG1Generator);
  ListenToChecks();

  CheckAllWhileOneIsChecked();

  for (size_t i = 1; i < kProofs; ++i) {
    EXPECT_EQ(accepted_[i], i != 2 && i != 4) << i;
    EXPECT_EQ(alone_[i], 1) << i;
  }
  EXPECT_EQ(told_[kProofs - 1], 1);
  EXPECT_EQ(told_[1], static_cast<int>(kProofs)) << "each once more, and the one that they waited for";
}

TEST_F(ProofChecksTest, AfterACheckThatThrowsTheNextGoOn) {
  EXPECT_THROW(checks_.Accepts(
                   nullptr, []() -> bool { throw std::bad_alloc(); },
                   []() -> std::optional<BatchedProof> { return std::nullopt; }),
               std::bad_alloc);

  EXPECT_TRUE(Accepts(0));
  CheckAllWhileOneIsChecked();
  for (size_t i = 1; i < kProofs; ++i) EXPECT_TRUE(accepted_[i]) << i;
}

// More at a time than go into a batch, good ones and bad ones.
TEST_F(ProofChecksTest, UnderLoadEveryProofHasItsOwnVerdict) {
  proofs_[3].proof.a = -proofs_[3].proof.a;
  std::atomic<int> wrong{0};
  for (size_t thread = 0; thread < 2 * kProofBatchMax; ++thread) {
    threads_.emplace_back([&, thread] {
      for (size_t i = 0; i < 8; ++i) {
        const size_t number = (thread + i) % kProofs;
        if (Accepts(number) != (number != 3)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();

  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(checks_.counts().waiting, 0u);
}

// The prover's own use of them: devices with one key among them, one of which makes nothing but bad proofs.
TEST(ProofChecksOfDevicesTest, ADeviceThatMakesBadProofsFailsItsOwnAndNoOthers) {
  constexpr size_t kDevices = 6, kProofsEach = 20;
  const Bench bench = BenchOf(Squarings(6));
  std::vector<std::unique_ptr<Groth16Backend>> devices;
  std::vector<std::unique_ptr<ResidentKey>> keys;
  for (size_t i = 0; i < kDevices; ++i) {
    devices.push_back(std::make_unique<FaultyBackend>(
        [i](int) { return i == 0 ? FaultyBackend::Fault::kWrongSum : FaultyBackend::Fault::kNone; }));
    auto key = devices.back()->LoadKey(bench.key);
    ASSERT_OK(key);
    keys.push_back(*std::move(key));
  }
  std::atomic<size_t> wrong{0};
  std::vector<std::thread> threads;
  for (size_t device = 0; device < kDevices; ++device) {
    threads.emplace_back([&, device] {
      for (size_t i = 0; i < kProofsEach; ++i) {
        const auto proof = Prove(*devices[device], *keys[device], bench.span());
        const bool refused = GetReason(proof.status()) == ErrorReason::kSelfCheckFailed;
        if (refused != (device == 0) || proof.ok() == refused) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace proofmill::engine
