#include "engine/backend/cuda/streaming_copy.h"

#include <cstddef>
#include <cstdint>

#include "gtest/gtest.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {
namespace {

using kernels::U256;

constexpr size_t kCountMax = 299;

// Values lie 8 bytes from a multiple of 16.
struct alignas(16) Source {
  uint64_t before;
  U256 values[kCountMax];
};

TEST(StreamingCopyTest, CopiesWhatIsAskedForAndNothingElse) {
  Source source{};
  uint64_t word = 1;
  for (U256& value : source.values) {
    for (uint64_t& limb : value.limb) limb = word *= 0x9e3779b97f4a7c15u;
  }
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, kCountMax}) {
    alignas(16) U256 to[kCountMax + 2] = {};
    StreamingCopy({source.values, count}, to + 1);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(to[1 + i], source.values[i]) << i << " of " << count;
    EXPECT_EQ(to[0], U256{}) << count;
    EXPECT_EQ(to[1 + count], U256{}) << count;
  }
}

}  // namespace
}  // namespace proofmill::engine
