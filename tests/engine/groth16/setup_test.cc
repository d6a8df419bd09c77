#include "engine/groth16/setup.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/zkey.h"
#include "engine/groth16/key_audit.h"
#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/engine/groth16/setup_keys.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Affine;
using kernels::G2Xyzz;

G1Affine Times1(const Fr& x) {
  return ScalarMulVartime(G1Xyzz::FromAffine(kernels::kG1Generator), x.ToPlain()).ToAffine();
}
G2Affine Times2(const Fr& x) {
  return ScalarMulVartime(G2Xyzz::FromAffine(kernels::kG2Generator), x.ToPlain()).ToAffine();
}

// L_j of the 2^log2_n-th roots of unity at tau, from the definition.
Fr Lagrange(uint32_t log2_n, uint64_t j, const Fr& tau) {
  const auto root = [&](uint64_t k) { return kernels::FrRootOfUnity(log2_n).PowVartime({{k, 0, 0, 0}}); };
  Fr out = Fr::One();
  for (uint64_t k = 0; k < uint64_t{1} << log2_n; ++k) {
    if (k != j) out *= (tau - root(k)) * (root(j) - root(k)).Inverse();
  }
  return out;
}

class SetupKeyTest : public testing::Test {
 protected:
  static Zkey Read(const Bytes& bytes) {
    auto zkey = ReadZkey(SourceOf(bytes));
    EXPECT_OK(zkey);
    return *std::move(zkey);
  }
  // Of a matrix of the circuit, with the extra rows in A.
  Fr WireAt(std::vector<Term> Constraint::*terms, uint32_t wire, bool is_a) const {
    Fr sum;
    for (size_t i = 0; i < circuit_.constraints.size(); ++i) {
      for (const Term& term : circuit_.constraints[i].*terms) {
        if (term.wire == wire) sum += FieldElement(term.factor) * Lagrange(3, i, trapdoor_.tau);
      }
    }
    if (is_a && wire <= circuit_.n_public)
      sum += Lagrange(3, circuit_.constraints.size() + wire, trapdoor_.tau);
    return sum;
  }

  const TestCircuit circuit_ = AllPublicAndPrivate();
  const Bytes bytes_ = MakeKeyBytes(circuit_, 7);
  const Zkey zkey_ = Read(bytes_);
  const Trapdoor trapdoor_ = TrapdoorFromSeed(7);

 private:
  // 4 constraints, 1 public signal: domain 8 with spare rows.
  static TestCircuit AllPublicAndPrivate() { return Squarings(4); }
};

TEST_F(SetupKeyTest, TheHeaderHoldsTheTrapdoorInTheExponent) {
  const ZkeyHeader& header = zkey_.header;
  EXPECT_EQ(header.n_vars, circuit_.n_wires);
  EXPECT_EQ(header.n_public, 1u);
  EXPECT_EQ(header.domain_size, 8u);
  EXPECT_EQ(header.alpha1, Times1(trapdoor_.alpha));
  EXPECT_EQ(header.beta1, Times1(trapdoor_.beta));
  EXPECT_EQ(header.beta2, Times2(trapdoor_.beta));
  EXPECT_EQ(header.gamma2, kernels::kG2Generator);
  EXPECT_EQ(header.delta1, Times1(trapdoor_.delta));
  EXPECT_EQ(header.delta2, Times2(trapdoor_.delta));
  EXPECT_NE(header.delta2, header.gamma2);
}

TEST_F(SetupKeyTest, WirePointsAreTheQapAtTau) {
  const Fr delta_inverse = trapdoor_.delta.Inverse();
  for (uint32_t s = 0; s < circuit_.n_wires; ++s) {
    const Fr a = WireAt(&Constraint::a, s, true);
    const Fr b = WireAt(&Constraint::b, s, false);
    const Fr linear = trapdoor_.beta * a + trapdoor_.alpha * b + WireAt(&Constraint::c, s, false);
    EXPECT_EQ(zkey_.a[s], Times1(a)) << s;
    EXPECT_EQ(zkey_.b1[s], Times1(b)) << s;
    EXPECT_EQ(zkey_.b2[s], Times2(b)) << s;
    if (s <= circuit_.n_public) {
      EXPECT_EQ(zkey_.ic[s], Times1(linear)) << s;
    } else {
      EXPECT_EQ(zkey_.c[s - 2], Times1(linear * delta_inverse)) << s;
    }
  }
}

TEST_F(SetupKeyTest, HIsTheOddLagrangeBasisOfTheDomainOfTwiceTheSize) {
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(zkey_.h[i], Times1(Lagrange(4, 2 * i + 1, trapdoor_.tau) * trapdoor_.delta.Inverse())) << i;
  }
}

TEST_F(SetupKeyTest, CoefficientsAreInTheOrderOfSnarkjsWithTheExtraRows) {
  const kernels::U256 one_r2 = kernels::FrParams::kR2;
  std::vector<std::array<uint32_t, 3>> places;
  for (const ZkeyCoefficient& record : zkey_.coefficients) {
    places.push_back({record.matrix, record.constraint, record.signal});
    EXPECT_EQ(std::memcmp(record.value, &one_r2, 32), 0) << "every coefficient here is 1, stored as R^2";
  }
  using Place = std::array<uint32_t, 3>;
  EXPECT_EQ(places, (std::vector<Place>{{0, 0, 1},
                                        {1, 0, 1},
                                        {0, 1, 2},
                                        {1, 1, 2},
                                        {0, 2, 3},
                                        {1, 2, 3},
                                        {0, 3, 4},
                                        {1, 3, 4},
                                        {0, 4, 0},
                                        {0, 5, 1}}));
}

TEST_F(SetupKeyTest, SectionsAscendAndTheContributionSaysWhatTheKeyIs) {
  std::vector<uint32_t> ids;
  for (const auto& section : Container::Parse(bytes_).sections) ids.push_back(section.id);
  EXPECT_EQ(ids, (std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  ASSERT_EQ(zkey_.contributions.size(), 1u);
  EXPECT_EQ(zkey_.contributions[0].name, "proofmill insecure test setup");
  EXPECT_EQ(zkey_.contributions[0].delta_after, zkey_.header.delta1);
  EXPECT_TRUE(IsInsecureTestSetup(zkey_));
}

TEST(SetupTest, SameSeedGivesTheSameFileAndAnotherSeedAnotherKey) {
  EXPECT_EQ(MakeKeyBytes(OddTerms(), 3), MakeKeyBytes(OddTerms(), 3));
  EXPECT_NE(MakeKeyBytes(OddTerms(), 3), MakeKeyBytes(OddTerms(), 4));
}

TEST(SetupTest, TheKeyIsTheSameInChunksOfAnySize) {
  for (const TestCircuit& circuit : EdgeCircuits()) {
    const R1cs r1cs = circuit.ToR1cs();
    const Bytes whole = SetupBytes(R1csConstraints(r1cs), {.seed = 9});
    for (const size_t chunk : {1u, 2u, 7u}) {
      EXPECT_EQ(SetupBytes(R1csConstraints(r1cs), {.seed = 9, .chunk = chunk}), whole)
          << circuit.name << ", chunk " << chunk;
    }
  }
}

// Counts what it passes on to the CPU, and fails at the call that it is told.
class CountingMultiplier final : public FixedBaseMultiplier {
 public:
  explicit CountingMultiplier(size_t fail_at) : fail_at_(fail_at) {}
  std::string_view name() const override { return "counting"; }
  absl::Status Multiply(absl::Span<const Fr> scalars, G1Affine* out) override {
    return Pass(scalars, out, g1_points);
  }
  absl::Status Multiply(absl::Span<const Fr> scalars, G2Affine* out) override {
    return Pass(scalars, out, g2_points);
  }
  size_t calls = 0, g1_points = 0, g2_points = 0;

 private:
  template <typename Point>
  absl::Status Pass(absl::Span<const Fr> scalars, Point* out, size_t& points) {
    if (calls++ == fail_at_) return absl::InternalError("the device is gone");
    points += scalars.size();
    return cpu_->Multiply(scalars, out);
  }
  const size_t fail_at_;
  const std::unique_ptr<FixedBaseMultiplier> cpu_ = MakeCpuFixedBaseMultiplier();
};

TEST(SetupTest, EveryPointComesFromTheMultiplierAndItsErrorsEndTheSetup) {
  const R1cs r1cs = Squarings(4).ToR1cs();  // 6 wires, one public, domain 8
  CountingMultiplier good(~size_t{0});
  const SetupOptions options = {.seed = 7, .multiplier = &good, .chunk = 4};
  EXPECT_EQ(SetupBytes(R1csConstraints(r1cs), options), MakeKeyBytes(Squarings(4), 7));
  EXPECT_EQ(good.g1_points, 2u + 6 + 6 + 4 + 8) << "IC, A, B1, C, H";
  EXPECT_EQ(good.g2_points, 6u) << "B2";

  for (size_t call = 0; call < good.calls; ++call) {
    TestFolder folder;
    CountingMultiplier bad(call);
    ExpectError(engine::Setup(r1cs, {.seed = 7, .multiplier = &bad, .chunk = 4}, folder.Path("key.zkey")),
                absl::StatusCode::kInternal, "the device is gone");
    EXPECT_TRUE(folder.List().empty()) << call;
  }
}

TEST(SetupTest, TheDomainIsTheOneOfSnarkjs) {
  EXPECT_EQ(SetupDomainLog2(0, 0), 1u);
  EXPECT_EQ(SetupDomainLog2(1, 0), 1u);
  EXPECT_EQ(SetupDomainLog2(1, 1), 2u);
  EXPECT_EQ(SetupDomainLog2(1022, 1), 10u);
  EXPECT_EQ(SetupDomainLog2(1023, 1), 11u);
  EXPECT_EQ(SetupDomainLog2((uint64_t{1} << 27) - 1, 0), 27u);
}

TEST(SetupTest, TrapdoorsAreNotDegenerate) {
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
    const Trapdoor t = TrapdoorFromSeed(seed);
    for (const Fr& x : {t.tau, t.alpha, t.beta, t.delta}) EXPECT_FALSE(x.IsZero());
    EXPECT_NE(t.delta, Fr::One());
    EXPECT_NE(t.tau.PowVartime({{uint64_t{1} << 28, 0, 0, 0}}), Fr::One());
  }
  EXPECT_NE(TrapdoorFromSeed(0).tau, TrapdoorFromSeed(1).tau);
}

// A system that is only counts.
class HugeSystem final : public ConstraintSystem {
 public:
  uint32_t n_wires() const override { return 10; }
  uint32_t n_public() const override { return 1; }
  uint32_t n_constraints() const override { return (uint32_t{1} << 27) - 1; }
  void Row(uint32_t, ConstraintRow&) const override { FAIL() << "too large to begin with"; }
};

TEST(SetupTest, ASystemBeyondTheLargestDomainIsRefusedBeforeAnyWork) {
  TestFolder folder;
  ExpectError(engine::Setup(HugeSystem(), {}, folder.Path("key.zkey")), absl::StatusCode::kInvalidArgument,
              "expected at most 2^27 constraints and public signals, got 134217729");
  EXPECT_TRUE(folder.List().empty());
}

TEST(SetupTest, AFileThatCannotBeWrittenIsAnError) {
  EXPECT_FALSE(engine::Setup(DomainTwo().ToR1cs(), {}, "/nowhere/at/all/key.zkey").ok());
}

TEST(SetupTest, ProgressIsToldByStepAndNeverBeyondOne) {
  TestFolder folder;
  std::vector<std::string> steps;
  const ProgressFunction progress = [&](std::string_view step, double done) {
    steps.emplace_back(step);
    EXPECT_GE(done, 0);
    EXPECT_LE(done, 1);
  };
  ASSERT_OK(engine::Setup(DomainTwo().ToR1cs(), {.seed = 1, .progress = progress}, folder.Path("key.zkey")));
  EXPECT_EQ(steps.front(), "evaluating the constraints");
  EXPECT_EQ(steps.back(), "section 9: H");
}

}  // namespace
}  // namespace proofmill::engine
