#include "engine/backend/backend.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

TEST(StageNameTest, EveryStageHasTheNameOfTheDesign) {
  const std::set<std::string> wanted = {"upload", "gather", "ntt",   "msm_a",  "msm_b1",
                                        "msm_b2", "msm_c",  "msm_h", "finish", "self_check"};
  std::set<std::string> names;
  for (size_t i = 0; i < kStageCount; ++i) names.emplace(StageName(static_cast<Stage>(i)));
  EXPECT_EQ(names, wanted);
}

}  // namespace
}  // namespace proofmill::engine
