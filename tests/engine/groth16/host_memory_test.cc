#include "engine/groth16/host_memory.h"

#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/proving_key.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

TEST(HostMemoryTest, MemAvailableIsReadInKibibytes) {
  EXPECT_EQ(MemAvailableBytes("MemTotal:       24000 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\n"),
            2048u * 1024);
  EXPECT_FALSE(MemAvailableBytes("MemTotal: 24000 kB\n").has_value());
  EXPECT_FALSE(MemAvailableBytes("").has_value());
}

TEST(HostMemoryTest, AControlGroupLeavesItsLimitLessWhatIsTaken) {
  EXPECT_EQ(ControlGroupHeadroom("1000\n", "600\n", ""), 400u);
  EXPECT_EQ(ControlGroupHeadroom("1000\n", "600\n", "anon 500\ninactive_file 100\n"), 500u);
  EXPECT_EQ(ControlGroupHeadroom("1000\n", "1200\n", "inactive_file 5000\n"), 1000u);
  EXPECT_EQ(ControlGroupHeadroom("1000\n", "1200\n", ""), 0u);
}

TEST(HostMemoryTest, AControlGroupWithoutALimitSaysNothing) {
  EXPECT_FALSE(ControlGroupHeadroom("max\n", "600\n", "").has_value());
  EXPECT_FALSE(ControlGroupHeadroom("9223372036854771712\n", "600\n", "").has_value());
  EXPECT_FALSE(ControlGroupHeadroom("", "", "").has_value());
}

// The files of a kernel, below a folder of their own.
class FakeKernel {
 public:
  explicit FakeKernel(const std::string& groups) {
    Write("/proc/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\n");  // 8 and 4 GiB
    Write("/proc/self/cgroup", groups);
  }
  void Write(const std::string& path, const std::string& content) const {
    const std::filesystem::path file = root() + path;
    std::filesystem::create_directories(file.parent_path());
    WriteBytes(file.string(), {content.begin(), content.end()});
  }
  std::string root() const { return folder_.Path("root"); }

 private:
  TestFolder folder_;
};

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(HostMemoryTest, WithoutControlGroupsTheMachineIsTheLimit) {
  const FakeKernel kernel("0::/\n");
  const auto limit = FindHostMemoryLimit(kernel.root());
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 8 * kGiB);
  EXPECT_EQ(limit->from, kernel.root() + "/proc/meminfo");
  EXPECT_EQ(AvailableHostMemory(kernel.root()), 4 * kGiB);
  EXPECT_FALSE(FindHostMemoryLimit(kernel.root() + "/nothing").has_value());
}

// S9: a container of 3 GiB, as Docker and Kubernetes show it in version 2: in a namespace of its own.
TEST(HostMemoryTest, TheLimitOfAContainerOfVersion2Counts) {
  const FakeKernel kernel("0::/\n");
  kernel.Write("/sys/fs/cgroup/memory.max", "3221225472\n");
  kernel.Write("/sys/fs/cgroup/memory.current", "1073741824\n");
  const auto limit = FindHostMemoryLimit(kernel.root());
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 3 * kGiB);
  EXPECT_EQ(limit->from, kernel.root() + "/sys/fs/cgroup/memory.max");
  EXPECT_EQ(AvailableHostMemory(kernel.root()), 2 * kGiB);
}

TEST(HostMemoryTest, TheLimitOfAContainerOfVersion1Counts) {
  const FakeKernel kernel("9:cpu,cpuacct:/docker/abc\n5:memory:/docker/abc\n0::/docker/abc\n");
  kernel.Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  kernel.Write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1610612736\n");
  const auto limit = FindHostMemoryLimit(kernel.root());
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, 2 * kGiB);
  EXPECT_EQ(limit->from, kernel.root() + "/sys/fs/cgroup/memory/memory.limit_in_bytes");
  EXPECT_EQ(AvailableHostMemory(kernel.root()), kGiB / 2);
}

TEST(HostMemoryTest, TheTightestOfTheGroupsAboveCounts) {
  const FakeKernel kernel("0::/pods/one\n");
  kernel.Write("/sys/fs/cgroup/pods/one/memory.max", "max\n");
  kernel.Write("/sys/fs/cgroup/pods/memory.max", "1073741824\n");
  kernel.Write("/sys/fs/cgroup/memory.max", "2147483648\n");
  const auto limit = FindHostMemoryLimit(kernel.root());
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->bytes, kGiB);
  EXPECT_EQ(limit->from, kernel.root() + "/sys/fs/cgroup/pods/memory.max");
}

TEST(HostMemoryTest, AKeyThatTheContainerHasNoRoomForIsRefusedWithTheNumbers) {
  const FakeKernel kernel("0::/\n");
  kernel.Write("/sys/fs/cgroup/memory.max", "3221225472\n");
  kernel.Write("/sys/fs/cgroup/memory.current", "3221200000\n");
  KeyOptions options;
  options.memory_bytes_max = AvailableHostMemory(kernel.root());

  const absl::Status refused = LoadProvingKey(CasePath("mul3", "circuit.zkey"), options).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(GetReason(refused), ErrorReason::kOutOfMemory);
  EXPECT_TRUE(absl::StrContains(refused.message(), "25472 are available")) << refused;

  kernel.Write("/sys/fs/cgroup/memory.current", "1073741824\n");
  options.memory_bytes_max = AvailableHostMemory(kernel.root());
  EXPECT_OK(LoadProvingKey(CasePath("mul3", "circuit.zkey"), options));
}

TEST(HostMemoryTest, ThisMachineHasSome) {
  const auto available = AvailableHostMemory();
  ASSERT_TRUE(available.has_value());
  EXPECT_GT(*available, uint64_t{1} << 20);
  const auto limit = FindHostMemoryLimit();
  ASSERT_TRUE(limit.has_value());
  EXPECT_GE(limit->bytes, *available);
}

}  // namespace
}  // namespace proofmill::engine
