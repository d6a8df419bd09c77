// Rounds of sumcheck in few launches on a device against the same steps one by one. Without a GPU every test
// is skipped, and says so.

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/cuda/grind.h"
#include "kernels/cuda/sumcheck.h"
#include "kernels/cuda/transcript.h"
#include "kernels/field/small_rng.h"
#include "tests/kernels/cuda/device_vector.h"

namespace proofmill::kernels {
namespace {

const Poseidon2Constants<16>& Constants() { return Poseidon2Width16(Poseidon2Set::kGrainLfsr); }

std::vector<uint32_t> RandomWords(SmallRng& rng, size_t n) {
  std::vector<uint32_t> out(n);
  for (uint32_t& word : out) word = rng.NextBabyBear().montgomery();
  return out;
}

// A transcript before a round, and what the round writes.
template <int kD>
class Round {
 public:
  Round(const DeviceSponge& sponge, const std::vector<uint32_t>& sum)
      : sponge_(std::vector<DeviceSponge>{sponge}),
        found_(std::vector<NonceResult>(1)),
        arrived_(std::vector<uint32_t>{0}),
        partials_(PartialSumWords(kD)),
        sum_(sum),
        out_(std::vector<uint32_t>(3 * kD + 1)) {}

  SumcheckStep<kD> Step(uint32_t bits, uint32_t search_bits) const {
    return {.partials = partials_.data(),
            .partial_count = 0,
            .evaluations = out_.data(),
            .pow = {bits > 0 ? found_.data() : nullptr, out_.data() + 3 * kD, search_bits, kBabyBearP},
            .sum = sum_.data(),
            .challenge = out_.data() + 2 * kD};
  }
  DeviceSponge* sponge() const { return sponge_.data(); }
  NonceResult* found() const { return found_.data(); }
  uint32_t* partials() const { return partials_.data(); }
  uint32_t* arrived() const { return arrived_.data(); }

  // Everything that a later step may read.
  std::vector<uint32_t> Words() const {
    std::vector<uint32_t> words = out_.Download();
    const std::vector<uint32_t> sum = sum_.Download();
    words.insert(words.end(), sum.begin(), sum.end());
    const DeviceSponge sponge = sponge_.Download()[0];
    words.insert(words.end(), sponge.state, sponge.state + 16);
    words.insert(words.end(), {sponge.input_count, sponge.output_count, sponge.failed});
    const NonceResult found = found_.Download()[0];
    words.insert(words.end(), {found.best, found.next, found.blocks, arrived_.Download()[0]});
    return words;
  }

 private:
  const DeviceVector<DeviceSponge> sponge_;
  const DeviceVector<NonceResult> found_;
  const DeviceVector<uint32_t> arrived_, partials_, sum_, out_;
};

class CudaWhirRoundTest : public GpuTest {};

template <int kD>
void CheckRound(uint32_t log2_size, uint32_t bits, bool extension) {
  SCOPED_TRACE(testing::Message() << kD << " " << log2_size << " " << bits << " " << extension);
  SmallRng rng(100 * log2_size + bits);
  const size_t size = size_t{1} << log2_size, half = size / 2;
  const DeviceVector<uint32_t> f(RandomWords(rng, kD * size)), w(RandomWords(rng, kD * size));
  const DeviceVectorView view = {f.data(), size, extension};
  const DevicePlanes weights = {w.data(), size};
  DeviceSponge sponge{};
  for (uint32_t& word : sponge.state) word = rng.NextBabyBear().montgomery();
  sponge.input_count = (log2_size + bits) % 8;
  const std::vector<uint32_t> sum = RandomWords(rng, kD);

  const Round<kD> apart(sponge, sum);
  SumcheckStep<kD> step = apart.Step(bits, 0);
  ASSERT_EQ(LaunchRoundSums<kD>(Constants(), view, weights, half, apart.partials(), &step.partial_count, {},
                                nullptr),
            cudaSuccess);
  if (bits == 0) {
    ASSERT_EQ(LaunchSumcheckRound<kD>(Constants(), apart.sponge(), step, nullptr), cudaSuccess);
  } else {
    ASSERT_EQ(LaunchSumcheckObserve<kD>(Constants(), apart.sponge(), step, nullptr), cudaSuccess);
    ASSERT_EQ(LaunchGrind(Constants(), apart.sponge(), bits, kBabyBearP, apart.found(), nullptr),
              cudaSuccess);
    ASSERT_EQ(LaunchSumcheckChallenge<kD>(Constants(), apart.sponge(), step, nullptr), cudaSuccess);
    const Round<kD> together(sponge, sum);
    step = together.Step(bits, bits);
    ASSERT_EQ(LaunchRoundSums<kD>(Constants(), view, weights, half, together.partials(), &step.partial_count,
                                  {}, nullptr),
              cudaSuccess);
    ASSERT_EQ(LaunchSumcheckRound<kD>(Constants(), together.sponge(), step, nullptr), cudaSuccess);
    EXPECT_EQ(together.Words(), apart.Words());
  }
  if (bits <= kBlockSearchBitsMax) {
    const Round<kD> whole(sponge, sum);
    uint32_t count = 0;
    const RoundEnd<kD> end = {whole.sponge(), whole.Step(bits, bits), whole.arrived()};
    ASSERT_EQ(LaunchRoundSums<kD>(Constants(), view, weights, half, whole.partials(), &count, end, nullptr),
              cudaSuccess);
    EXPECT_EQ(whole.Words(), apart.Words());
  }
}
TEST_F(CudaWhirRoundTest, ARoundIsTheSameInOneLaunchAndInMany) {
  for (const uint32_t log2_size : {1, 4, 9, 10, 13}) {
    for (const uint32_t bits : {0, 1, 2, 5, 6, 7, 10, 15}) {
      CheckRound<4>(log2_size, bits, bits % 2 == 0);
      CheckRound<5>(log2_size, bits, log2_size % 2 == 0);
    }
  }
}

}  // namespace
}  // namespace proofmill::kernels
