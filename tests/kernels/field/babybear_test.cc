#include "kernels/field/babybear.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "kernels/field/babybear_ext.h"
#include "kernels/field/poseidon2.h"
#include "kernels/field/small_rng.h"
#include "tests/kernels/whir_vectors.h"

namespace proofmill::kernels {
namespace {

TEST(BabyBearTest, AgreesWithIntegerArithmetic) {
  constexpr uint64_t kP = kBabyBearP;
  for (const uint64_t a :
       {uint64_t{0}, uint64_t{1}, uint64_t{2}, kP / 2, kP - 2, kP - 1, uint64_t{123456789}}) {
    for (const uint64_t b : {uint64_t{0}, uint64_t{1}, uint64_t{7}, kP / 2 + 1, kP - 1}) {
      const BabyBear x = BabyBear::FromCanonical(static_cast<uint32_t>(a));
      const BabyBear y = BabyBear::FromCanonical(static_cast<uint32_t>(b));

      EXPECT_EQ((x + y).ToCanonical(), (a + b) % kP);
      EXPECT_EQ((x - y).ToCanonical(), (a + kP - b) % kP);
      EXPECT_EQ((x * y).ToCanonical(), a * b % kP);
      EXPECT_EQ(x * x.Inverse(), x.IsZero() ? BabyBear::Zero() : BabyBear::One());
    }
  }
  EXPECT_TRUE(BabyBear::IsCanonical(kP - 1));
  EXPECT_FALSE(BabyBear::IsCanonical(kP));
}

TEST(BabyBearTest, HasTheRootsOfUnityAndStoredFormsOfTheVectors) {
  const auto file = ReadWhirVector("field.json");
  const auto& roots = file.at("two_adic_generators");
  ASSERT_EQ(roots.size(), kBabyBearTwoAdicity + 1);
  for (uint32_t i = 0; i <= kBabyBearTwoAdicity; ++i) {
    EXPECT_EQ(BabyBearRootOfUnity(i).ToCanonical(), roots[i].get<uint32_t>());
  }
  for (const auto& pair : file.at("montgomery_pairs_canonical_stored")) {
    EXPECT_EQ(BabyBear::FromCanonical(pair[0].get<uint32_t>()).montgomery(), pair[1].get<uint32_t>());
    EXPECT_EQ(BabyBear::FromMontgomery(pair[1].get<uint32_t>()).ToCanonical(), pair[0].get<uint32_t>());
  }
}

TEST(SmallRngTest, DrawsTheStreamOfTheVectors) {
  const auto file = ReadWhirVector("field.json");
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}}) {
    SmallRng rng(seed);
    for (const auto& draw : file.at("smallrng_seed" + std::to_string(seed) + "_u64")) {
      EXPECT_EQ(std::to_string(rng.NextU64()), draw.get<std::string>());
    }
  }
  SmallRng rng(0);
  for (const auto& draw : file.at("smallrng_seed0_babybear")) {
    EXPECT_EQ(rng.NextBabyBear().ToCanonical(), draw.get<uint32_t>());
  }
}

template <int kDegree>
BabyBearExt<kDegree> ToExt(const nlohmann::json& list) {
  BabyBearExt<kDegree> out{};
  const std::vector<BabyBear> elements = ToElements(list);
  EXPECT_EQ(elements.size(), size_t{kDegree});
  std::copy(elements.begin(), elements.end(), out.c);
  return out;
}

template <int kDegree>
void CheckExtension(const nlohmann::json& entries) {
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    const auto a = ToExt<kDegree>(entry.at("a")), b = ToExt<kDegree>(entry.at("b"));
    EXPECT_EQ(a * b, ToExt<kDegree>(entry.at("mul")));
    EXPECT_EQ(a.Inverse(), ToExt<kDegree>(entry.at("inv_a")));
    EXPECT_EQ(a * a.Inverse(), BabyBearExt<kDegree>::One());
    if (entry.contains("add")) {
      EXPECT_EQ(a + b, ToExt<kDegree>(entry.at("add")));
      EXPECT_EQ(a - b, ToExt<kDegree>(entry.at("sub")));
      EXPECT_EQ(a * a, ToExt<kDegree>(entry.at("sq_a")));
    }
  }
}

TEST(BabyBearExtTest, AgreesWithTheVectors) {
  const auto file = ReadWhirVector("field.json");
  CheckExtension<4>(file.at("ext4"));
  CheckExtension<5>(file.at("ext5"));
}

template <int kDegree>
void CheckFrobenius() {
  SmallRng rng(3);
  const auto x = rng.NextExt<kDegree>();
  auto power = BabyBearExt<kDegree>::One();
  for (int bit = 30; bit >= 0; --bit) {
    power *= power;
    if ((kBabyBearP >> bit & 1) != 0) power *= x;
  }
  EXPECT_EQ(x.Frobenius(), power);
}
TEST(BabyBearExtTest, FrobeniusIsTheModulusAsPower) {
  CheckFrobenius<4>();
  CheckFrobenius<5>();
}

template <int kWidth>
void CheckPermutation(const nlohmann::json& entries, const Poseidon2Constants<kWidth>& benchmark,
                      const Poseidon2Constants<kWidth>& grain) {
  ASSERT_FALSE(entries.empty());
  for (const auto& entry : entries) {
    std::vector<BabyBear> with_benchmark = ToElements(entry.at("in")), with_grain = with_benchmark;
    Poseidon2Permute(benchmark, with_benchmark.data());
    Poseidon2Permute(grain, with_grain.data());

    EXPECT_EQ(with_benchmark, ToElements(entry.at("out_benchmark")));
    EXPECT_EQ(with_grain, ToElements(entry.at("out_default")));
  }
}

TEST(Poseidon2Test, PermutesAsTheVectors) {
  const auto file = ReadWhirVector("poseidon2.json");
  CheckPermutation<16>(file.at("perm16"), Poseidon2Width16(Poseidon2Set::kSmallRngSeed1),
                       Poseidon2Width16(Poseidon2Set::kGrainLfsr));
  CheckPermutation<24>(file.at("perm24"), Poseidon2Width24(Poseidon2Set::kSmallRngSeed1),
                       Poseidon2Width24(Poseidon2Set::kGrainLfsr));
}

}  // namespace
}  // namespace proofmill::kernels
