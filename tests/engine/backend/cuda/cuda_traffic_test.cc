// What proofs move over the bus and take of memory, as CUPTI sees it: activity records of the driver, in
// which none of our own counters has a part. Without a GPU every test is skipped, and says so.

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "tests/engine/backend/cuda/least_memory.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kOverheadBytesMax = 4096;  // a proof, beside its witness

struct Traffic {
  uint64_t host_to_device_bytes = 0;
  uint64_t device_to_host_bytes = 0;
  uint64_t copies = 0;
  uint64_t allocations = 0;
};

// CUPTI's callbacks take no argument of ours, so what they fill is global. They run on a thread of CUPTI.
struct Counters {
  std::atomic<uint64_t> host_to_device_bytes{0};
  std::atomic<uint64_t> device_to_host_bytes{0};
  std::atomic<uint64_t> copies{0};
  std::atomic<uint64_t> allocations{0};
  std::atomic<uint64_t> dropped{0};
};
Counters g_counters;

void Count(const CUpti_Activity& record) {
  // Later versions of both records begin as these do.
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy&>(record);
    ++g_counters.copies;
    if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) g_counters.host_to_device_bytes += copy.bytes;
    if (copy.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH) g_counters.device_to_host_bytes += copy.bytes;
  }
  if (record.kind == CUPTI_ACTIVITY_KIND_MEMORY2) {
    const auto& memory = reinterpret_cast<const CUpti_ActivityMemory2&>(record);
    if (memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION) {
      ++g_counters.allocations;
    }
  }
}

void CUPTIAPI OnBufferRequested(uint8_t** buffer, size_t* size, size_t* records_max) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *records_max = 0;  // as many as fit
}

void CUPTIAPI OnBufferCompleted(CUcontext context, uint32_t stream, uint8_t* buffer, size_t, size_t bytes) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) Count(*record);
  size_t dropped = 0;
  if (cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS) {
    g_counters.dropped += dropped;
  }
  std::free(buffer);  // NOLINT(cppcoreguidelines-no-malloc): from aligned_alloc
}

class CudaTrafficTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CountCudaDevices().ok()) GTEST_SKIP() << "skipped: no GPU";
    ASSERT_EQ(cuptiActivityRegisterCallbacks(OnBufferRequested, OnBufferCompleted), CUPTI_SUCCESS);
    ASSERT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), CUPTI_SUCCESS);
    ASSERT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2), CUPTI_SUCCESS);
    auto backend = MakeCudaBackend();
    ASSERT_OK(backend);
    gpu_ = *std::move(backend);
  }

  static Traffic Now() {
    EXPECT_EQ(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), CUPTI_SUCCESS);
    return {.host_to_device_bytes = g_counters.host_to_device_bytes,
            .device_to_host_bytes = g_counters.device_to_host_bytes,
            .copies = g_counters.copies,
            .allocations = g_counters.allocations};
  }

  // Proves `count` times and compares what CUPTI saw with what is promised, and with our own counters.
  void Check(ResidentKey& key, absl::Span<const kernels::U256> witness, uint64_t count) {
    ASSERT_OK(Prove(*gpu_, key, witness));  // loads kernels
    const Traffic before = Now();
    const DeviceUsage counted_before = gpu_->stats();

    for (uint64_t i = 0; i < count; ++i) ASSERT_OK(Prove(*gpu_, key, witness));

    const Traffic after = Now();
    const DeviceUsage counted = gpu_->stats();
    EXPECT_EQ(g_counters.dropped, 0U);
    const uint64_t up = after.host_to_device_bytes - before.host_to_device_bytes;
    const uint64_t down = after.device_to_host_bytes - before.device_to_host_bytes;
    const uint64_t witness_bytes = witness.size() * sizeof(kernels::U256);
    EXPECT_GE(up, count * witness_bytes) << "CUPTI must see at least the witnesses";
    EXPECT_LE(up, count * (witness_bytes + kOverheadBytesMax));
    EXPECT_GT(down, 0U);
    EXPECT_LE(down, count * kOverheadBytesMax);
    EXPECT_EQ(after.allocations, before.allocations);
    EXPECT_EQ(up, counted.host_to_device_bytes - counted_before.host_to_device_bytes);
    EXPECT_EQ(down, counted.device_to_host_bytes - counted_before.device_to_host_bytes);
    EXPECT_EQ(counted.allocations, counted_before.allocations);
    RecordProperty("bytes_up_a_proof", std::to_string(up / count));
    RecordProperty("bytes_down_a_proof", std::to_string(down / count));
    printf("%llu proofs of %zu wires: %llu bytes up, %llu down, %llu copies, %llu allocations\n",
           static_cast<unsigned long long>(count), witness.size(), static_cast<unsigned long long>(up),
           static_cast<unsigned long long>(down),
           static_cast<unsigned long long>(after.copies - before.copies),
           static_cast<unsigned long long>(after.allocations - before.allocations));
  }

  std::unique_ptr<CudaBackend> gpu_;
};

TEST_F(CudaTrafficTest, LoadingAKeyIsSeen) {
  const Bench bench = BenchOf(Squarings(6));
  const Traffic before = Now();
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  const Traffic after = Now();

  // The control: what proofs must not do, CUPTI sees when it is done.
  EXPECT_GT(after.allocations, before.allocations);
  EXPECT_GT(after.host_to_device_bytes, before.host_to_device_bytes);
}

TEST_F(CudaTrafficTest, AThousandProofsMoveTheirWitnessesAndAllocateNothing) {
  const Bench bench = BenchOf(WiresFarAboveDomain());
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  Check(**resident, bench.span(), 1000);
}

TEST_F(CudaTrafficTest, ProofsOfALargerCircuitDoTheSame) {
  const Bench bench = BenchOfSynth(16, SynthProfile::kDense);
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  Check(**resident, bench.span(), 100);
}

TEST_F(CudaTrafficTest, ProofsInTheLeastMemoryDoTheSame) {
  const Bench bench = BenchOfSynth(14, SynthProfile::kDense);
  gpu_ = BackendWithLimit(LeastMemoryFor(bench.key));
  auto resident = gpu_->LoadKey(bench.key);
  ASSERT_OK(resident);
  ASSERT_NE(gpu_->DescribePlan(**resident).find("chunks"), std::string::npos);
  Check(**resident, bench.span(), 20);
}

}  // namespace
}  // namespace proofmill::engine
