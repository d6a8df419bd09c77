#include "cli/kernel_inputs.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::cli {
namespace {

using kernels::U256;

TEST(KernelInputsTest, EveryProfileIsBelowRAndTheSameEachTime) {
  for (const std::string& profile : ScalarProfiles()) {
    SCOPED_TRACE(profile);
    const std::vector<U256> scalars = MakeScalars(profile, 1000);
    ASSERT_EQ(scalars.size(), 1000u);
    EXPECT_TRUE(std::all_of(scalars.begin(), scalars.end(), kernels::Fr::IsCanonical));
    EXPECT_TRUE(std::any_of(scalars.begin(), scalars.end(), [](const U256& s) { return s != U256{}; }));
    EXPECT_EQ(scalars, MakeScalars(profile, 1000));
    EXPECT_TRUE(MakeScalars(profile, 0).empty());
  }
}

TEST(KernelInputsTest, ProfilesAreSpreadAsTheirNamesSay) {
  const auto count = [](const char* profile, const auto& predicate) {
    const std::vector<U256> scalars = MakeScalars(profile, 10'000);
    return static_cast<int>(std::count_if(scalars.begin(), scalars.end(), predicate));
  };
  const auto is_zero = [](const U256& s) { return s == U256{}; };
  const auto is_bit = [](const U256& s) { return s == U256{} || s == U256{{1, 0, 0, 0}}; };
  EXPECT_EQ(count("dense", is_bit), 0);
  EXPECT_NEAR(count("bits", is_bit), 9000, 200);
  EXPECT_NEAR(count("bits", is_zero), 4500, 300);
  EXPECT_NEAR(count("bits99", is_bit), 9900, 60);
  EXPECT_EQ(count("one_nonzero", is_zero), 9999);
  EXPECT_EQ(count("ones", [](const U256& s) { return s == U256{{1, 0, 0, 0}}; }), 10'000);
  EXPECT_EQ(count("small64", [](const U256& s) { return (s.limb[1] | s.limb[2] | s.limb[3]) == 0; }), 10'000);
  EXPECT_EQ(count("power_253",
                  [](const U256& s) {
                    return s == U256{{0, 0, 0, uint64_t{1} << 61}};
                  }),
            10'000);
}

// The table of ../shared/performance.md, "Floors": columns "tables + affine" and "NTT", milliseconds.
TEST(KernelInputsTest, FloorsAreThoseOfTheTable) {
  EXPECT_NEAR(MsmFloorSeconds(false, 1 << 16) * 1e3, 0.13, 0.005);
  EXPECT_NEAR(MsmFloorSeconds(false, 1 << 20) * 1e3, 1.74, 0.005);
  EXPECT_NEAR(MsmFloorSeconds(true, 1 << 16) * 1e3, 0.39, 0.005);
  EXPECT_NEAR(MsmFloorSeconds(true, 1 << 20) * 1e3, 5.25, 0.01);
  EXPECT_NEAR(NttFloorSeconds(20) * 1e3, 0.171, 0.001);
  EXPECT_NEAR(NttFloorSeconds(24) * 1e3, 3.29, 0.01);
}

}  // namespace
}  // namespace proofmill::cli
