#include "engine/groth16/synth.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "engine/formats/file.h"
#include "engine/formats/r1cs.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/blame.h"
#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

using kernels::U256;

SynthOptions Options(uint32_t log2_domain, SynthProfile profile, uint32_t n_public = 1, uint64_t seed = 5) {
  return {.log2_domain = log2_domain,
          .profile = profile,
          .seed = seed,
          .n_public = n_public,
          .progress = nullptr};
}
constexpr SynthProfile kProfiles[] = {SynthProfile::kDense, SynthProfile::kBits};

absl::Span<const U256> SpanOf(const Witness& witness) {
  return {witness.values.data(), witness.values.size()};
}

// Shares of a system and a witness, in percent.
struct Shape {
  double zeros, ones, b_unused;
  double coefficients_a_constraint;
};
Shape ShapeOf(const SynthOptions& options) {
  const R1cs r1cs = *SynthR1cs(options);
  const Witness witness = *SynthWitness(options, 9);
  const double wires = r1cs.n_wires;
  const auto share = [&](uint64_t x) {
    return 100.0 *
           static_cast<double>(std::count(witness.values.begin(), witness.values.end(), U256{{x, 0, 0, 0}})) /
           wires;
  };
  const std::set<uint32_t> in_b(r1cs.b.wires.begin(), r1cs.b.wires.end());
  return {share(0), share(1), 100.0 * (wires - static_cast<double>(in_b.size())) / wires,
          static_cast<double>(r1cs.a.wires.size() + r1cs.b.wires.size()) / r1cs.n_constraints};
}

TEST(SynthTest, TheDenseProfileHasItsShape) {
  for (uint32_t log2_domain : {10u, 14u}) {
    const Shape shape = ShapeOf(Options(log2_domain, SynthProfile::kDense));
    EXPECT_EQ(shape.zeros, 0);
    EXPECT_LE(shape.ones, 0.1) << "the constant wire";
    EXPECT_LE(shape.b_unused, 1);
    EXPECT_GE(shape.coefficients_a_constraint, 3);
    EXPECT_LE(shape.coefficients_a_constraint, 4);
  }
}

TEST(SynthTest, TheBitsProfileHasItsShape) {
  for (uint32_t log2_domain : {12u, 15u}) {
    const Shape shape = ShapeOf(Options(log2_domain, SynthProfile::kBits));
    EXPECT_NEAR(shape.zeros, 45, 3);
    EXPECT_NEAR(shape.ones, 45, 3);
    EXPECT_NEAR(100 - shape.zeros - shape.ones, 10, 0.5);
    EXPECT_NEAR(shape.b_unused, 33.3, 1);
    EXPECT_GE(shape.coefficients_a_constraint, 3);
    EXPECT_LE(shape.coefficients_a_constraint, 4);
  }
}

TEST(SynthTest, EveryConstraintHasThreeOrFourCoefficientsAndTheDomainIsExact) {
  for (SynthProfile profile : kProfiles) {
    const auto system = SynthConstraints(Options(10, profile, 3));
    ASSERT_OK(system);
    EXPECT_EQ((*system)->n_constraints(), 1024u - 3 - 1);
    EXPECT_GE((*system)->n_wires(), 973u);
    ConstraintRow row;
    for (uint32_t i = 0; i < (*system)->n_constraints(); ++i) {
      (*system)->Row(i, row);
      EXPECT_GE(row.a.size() + row.b.size(), 3u);
      EXPECT_LE(row.a.size() + row.b.size(), 4u);
    }
  }
}

TEST(SynthTest, WitnessesOfEverySizeSatisfyTheirCircuits) {
  for (SynthProfile profile : kProfiles) {
    for (uint32_t log2_domain = 1; log2_domain <= 11; ++log2_domain) {
      for (uint32_t n_public : {0u, 1u, 7u}) {
        if ((1u << log2_domain) < n_public + 1) continue;
        const SynthOptions options = Options(log2_domain, profile, n_public);
        const auto failing = FirstFailingConstraint(*SynthR1cs(options), SpanOf(*SynthWitness(options, 3)));
        ASSERT_OK(failing);
        EXPECT_FALSE(failing->has_value()) << log2_domain << " " << n_public << " constraint " << **failing;
      }
    }
  }
}

TEST(SynthTest, OtherWitnessSeedsGiveOtherWitnessesAndOtherPublicSignals) {
  for (SynthProfile profile : kProfiles) {
    const SynthOptions options = Options(6, profile, 2);
    std::set<std::vector<uint64_t>> signals;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const Witness witness = *SynthWitness(options, seed);
      signals.insert({witness.values[1].limb[0], witness.values[2].limb[0]});
    }
    EXPECT_EQ(signals.size(), 50u);
  }
}

class SynthFilesTest : public testing::Test {
 protected:
  std::string Path(const char* name) const { return folder_.Path(name); }
  TestFolder folder_;
};

TEST_F(SynthFilesTest, TheKeyProvesTheWitnessesOfAllSeeds) {
  for (SynthProfile profile : kProfiles) {
    for (uint32_t log2_domain : {1u, 2u, 3u, 8u}) {
      const SynthOptions options = Options(log2_domain, profile);
      ASSERT_OK(Synthesize(options, Path("circuit.zkey"), Path("witness.wtns")));
      ASSERT_OK(WriteSynthWitness(options, 77, Path("other.wtns")));
      const auto key = LoadProvingKey(Path("circuit.zkey"), TestKeyOptions());
      ASSERT_OK(key);
      EXPECT_EQ((*key)->domain_size(), 1u << log2_domain);
      Bench bench = BenchOf(DomainTwo());
      const auto resident = bench.backend->LoadKey(*key);
      ASSERT_OK(resident);
      for (const char* name : {"witness.wtns", "other.wtns"}) {
        const auto file = RandomAccessFile::Open(Path(name));
        ASSERT_OK(file);
        const auto witness = ReadWtns(**file, (*key)->n_vars());
        ASSERT_OK(witness);
        EXPECT_OK(Prove(*bench.backend, **resident, SpanOf(*witness))) << name;
      }
    }
  }
}

TEST_F(SynthFilesTest, TheKeyIsTheOneOfTheSystemInMemoryAndDependsOnTheSeed) {
  const SynthOptions options = Options(7, SynthProfile::kBits, 2);
  ASSERT_OK(Synthesize(options, Path("a.zkey"), Path("a.wtns")));
  ASSERT_OK(engine::Setup(*SynthR1cs(options), {.seed = options.seed, .progress = nullptr}, Path("b.zkey")));
  ASSERT_OK(Synthesize(Options(7, SynthProfile::kBits, 2, 6), Path("c.zkey"), Path("c.wtns")));
  EXPECT_EQ(ReadBytes(Path("a.zkey")), ReadBytes(Path("b.zkey")));
  EXPECT_NE(ReadBytes(Path("a.zkey")), ReadBytes(Path("c.zkey")));
}

TEST_F(SynthFilesTest, TheConstraintSystemCanBeWrittenAndReadAgain) {
  const SynthOptions options = Options(6, SynthProfile::kDense, 3);
  const R1cs written = *SynthR1cs(options);
  ASSERT_OK(WriteR1cs(Path("circuit.r1cs"), written));
  const auto file = RandomAccessFile::Open(Path("circuit.r1cs"));
  ASSERT_OK(file);
  const auto read = ReadR1cs(**file);
  ASSERT_OK(read);
  EXPECT_EQ(read->n_public(), 3u);
  EXPECT_EQ(read->n_constraints, written.n_constraints);
  EXPECT_EQ(read->a.wires.size(), written.a.wires.size());
}

TEST(SynthErrorsTest, SizesOutsideTheBoundsAreRefused) {
  for (uint32_t log2_domain : {0u, 27u}) {
    ExpectError(SynthWitness(Options(log2_domain, SynthProfile::kDense), 0),
                absl::StatusCode::kInvalidArgument, "expected a log2 of the domain from 1 to 26");
  }
  ExpectError(SynthR1cs(Options(3, SynthProfile::kDense, 8)), absl::StatusCode::kInvalidArgument,
              "expected at most 7 public signals in a domain of 8, got 8");
  ExpectError(SynthConstraints(Options(3, SynthProfile::kBits, ~0u)), absl::StatusCode::kInvalidArgument,
              "4294967295");
  TestFolder folder;
  EXPECT_FALSE(Synthesize(Options(3, SynthProfile::kBits, 8), folder.Path("k"), folder.Path("w")).ok());
  EXPECT_TRUE(folder.List().empty());
}

TEST(SynthErrorsTest, ProfilesHaveTwoNames) {
  EXPECT_EQ(*ParseSynthProfile("dense"), SynthProfile::kDense);
  EXPECT_EQ(*ParseSynthProfile("bits"), SynthProfile::kBits);
  ExpectError(ParseSynthProfile("sparse"), absl::StatusCode::kInvalidArgument, "got \"sparse\"");
}

}  // namespace
}  // namespace proofmill::engine
