// Recoding of scalars in signed digits, and the sort by bucket. Independent of the group.

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "kernels/cuda/msm.h"
#include "kernels/cuda/msm_sort.h"

namespace proofmill::kernels {
namespace {

constexpr uint32_t kThreadsPerBlock = 256;
constexpr uint32_t kNegativeBit = uint32_t{1} << 31;

// Calls visit(set, table, |digit|, negative) for every digit of a scalar, the zero ones too, so that the
// lanes of a warp stay together.
template <typename Visit>
__device__ __forceinline__ void VisitDigits(const MsmShape& shape, U256 rest, Visit visit) {
  const uint32_t c = shape.window_bits;
  const uint32_t mask = (uint32_t{1} << c) - 1;
  const uint32_t half = uint32_t{1} << (c - 1);
  const uint32_t sets = shape.sets();
  uint32_t carry = 0;
  uint32_t set = 0;
  uint32_t table = 0;
  for (uint32_t j = 0; j < shape.windows(); ++j) {
    const uint32_t digit = (static_cast<uint32_t>(rest.limb[0]) & mask) + carry;
    rest.limb[0] = (rest.limb[0] >> c) | (rest.limb[1] << (64 - c));
    rest.limb[1] = (rest.limb[1] >> c) | (rest.limb[2] << (64 - c));
    rest.limb[2] = (rest.limb[2] >> c) | (rest.limb[3] << (64 - c));
    rest.limb[3] >>= c;
    carry = digit > half ? 1 : 0;
    visit(set, table, carry != 0 ? (uint32_t{1} << c) - digit : digit, carry != 0);
    if (++set == sets) {
      set = 0;
      ++table;
    }
  }
}

__device__ __forceinline__ U256 ScalarOf(const MsmScalars& scalars, uint32_t base) {
  return scalars
      .values[blockIdx.y * scalars.stride + (scalars.index == nullptr ? base : scalars.index[base])];
}

// Bucket sets before those of this block's MSM.
__device__ __forceinline__ uint32_t FirstSet(const MsmShape& shape) { return blockIdx.y * shape.sets(); }

__device__ __forceinline__ uint32_t ValueOf(const MsmShape& shape, uint32_t base, uint32_t table,
                                            bool negative) {
  return (table * shape.bases + base) | (negative ? kNegativeBit : 0);
}

// REQUIRES: all lanes take part.
__device__ uint32_t SumOfWarp(uint32_t x) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xffffffffu, x);
#else
  for (int lanes = 16; lanes > 0; lanes /= 2) x += __shfl_xor_sync(0xffffffffu, x, lanes);
  return x;
#endif
}

// One thread recodes one scalar of MSM blockIdx.y twice: first it counts its nonzero digits, so that the
// block reserves room with one atomic addition, then it writes them. A warp writes window by window, its
// nonzero digits side by side. Entries of a block are together but in no order; the sort comes after.
__global__ void __launch_bounds__(kThreadsPerBlock)
    RecodeScalars(MsmShape shape, uint32_t first, uint32_t end, MsmScalars scalars, MsmEntries entries,
                  uint32_t* entry_count) {
  __shared__ uint32_t block_count;
  __shared__ uint32_t block_begin;
  const uint32_t i = first + blockIdx.x * kThreadsPerBlock + threadIdx.x;
  const uint32_t lane = threadIdx.x % 32;
  if (threadIdx.x == 0) block_count = 0;
  __syncthreads();

  U256 scalar;
  if (i < end) scalar = ScalarOf(scalars, i);
  uint32_t count = 0;
  VisitDigits(shape, scalar,
              [&](uint32_t, uint32_t, uint32_t magnitude, bool) { count += magnitude != 0 ? 1 : 0; });
  const uint32_t warp_count = SumOfWarp(count);
  uint32_t place = 0;
  if (lane == 0 && warp_count != 0) place = atomicAdd(&block_count, warp_count);
  __syncthreads();
  if (threadIdx.x == 0) block_begin = block_count != 0 ? atomicAdd(entry_count, block_count) : 0;
  __syncthreads();
  place = __shfl_sync(0xffffffffu, place, 0) + block_begin;
  VisitDigits(shape, scalar, [&](uint32_t set, uint32_t table, uint32_t magnitude, bool negative) {
    const uint32_t nonzero = __ballot_sync(0xffffffffu, magnitude != 0);
    if (magnitude != 0) {
      const uint32_t at = place + __popc(nonzero & ((1u << lane) - 1));
      entries.keys[at] = (FirstSet(shape) + set) * shape.set_buckets() + magnitude - 1;
      entries.values[at] = ValueOf(shape, i, table, negative);
    }
    place += __popc(nonzero);
  });
}

// One thread a scalar of MSM blockIdx.y: digit j of base i goes to place j * bases + i of the MSM's part of
// the chunk, zeros as the bucket after the last.
__global__ void __launch_bounds__(kThreadsPerBlock)
    RecodeScalarsPadded(MsmShape shape, uint32_t first, uint32_t end, MsmScalars scalars,
                        MsmEntries entries) {
  const uint32_t i = first + blockIdx.x * kThreadsPerBlock + threadIdx.x;
  if (i >= end) return;
  uint32_t at = blockIdx.y * shape.windows() * (end - first) + i - first;
  VisitDigits(
      shape, ScalarOf(scalars, i), [&](uint32_t set, uint32_t table, uint32_t magnitude, bool negative) {
        entries.keys[at] =
            magnitude != 0 ? (FirstSet(shape) + set) * shape.set_buckets() + magnitude - 1 : shape.buckets();
        entries.values[at] = ValueOf(shape, i, table, negative);
        at += end - first;
      });
}

// First and last place of each bucket in the sorted list; buckets without entries keep begin = end = 0. The
// thread at the last entry with a bucket, or at the first of all where none has one, tells their number.
__global__ void FindBuckets(const uint32_t* keys, uint32_t entries, uint32_t buckets, uint32_t* begin,
                            uint32_t* end, uint32_t* count) {
  const uint32_t stride = gridDim.x * blockDim.x;
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += stride) {
    const uint32_t key = keys[i];
    if (key >= buckets) {
      if (i == 0) *count = 0;
      return;
    }
    const auto place = static_cast<uint32_t>(i);
    if (i == 0 || keys[i - 1] != key) begin[key] = place;
    const uint32_t next = i + 1 < entries ? keys[i + 1] : buckets;
    if (next != key) end[key] = place + 1;
    if (next >= buckets) *count = place + 1;
  }
}

// One thread a bucket: end[b] = its number of groups, for the sum over the buckets before.
__global__ void CountGroups(const uint32_t* bucket_begin, const uint32_t* bucket_end, uint32_t buckets,
                            uint32_t* end) {
  const uint32_t b = blockIdx.x * kThreadsPerBlock + threadIdx.x;
  if (b < buckets) end[b] = (bucket_end[b] - bucket_begin[b] + kGroupEntries - 1) / kGroupEntries;
}

// One thread a bucket: counts become ends.
__global__ void EndGroups(uint32_t buckets, MsmGroups groups) {
  const uint32_t b = blockIdx.x * kThreadsPerBlock + threadIdx.x;
  if (b >= buckets) return;
  groups.end[b] += groups.begin[b];
  if (b + 1 == buckets) *groups.count = groups.end[b];
}

// One thread an entry: the first of each group describes it.
__global__ void DescribeGroups(const uint32_t* keys, const uint32_t* count, const uint32_t* bucket_begin,
                               const uint32_t* bucket_end, MsmGroups groups) {
  const uint32_t stride = gridDim.x * blockDim.x;
  const uint32_t entries = *count;
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += stride) {
    const uint32_t key = keys[i];
    const uint32_t place = static_cast<uint32_t>(i) - bucket_begin[key];
    if (place % kGroupEntries != 0) continue;
    const uint32_t group = groups.begin[key] + place / kGroupEntries;
    const uint32_t left = bucket_end[key] - static_cast<uint32_t>(i);
    groups.keys[group] = key;
    groups.ranges[group] = {static_cast<uint32_t>(i), left < kGroupEntries ? left : kGroupEntries};
  }
}

// Of the numbers of all buckets, and of the one that padding has.
int SortBits(const MsmShape& shape) {
  const uint64_t keys = uint64_t{shape.buckets()} + (shape.is_padded() ? 1 : 0);
  int bits = 1;
  while (bits < 32 && (uint64_t{1} << bits) < keys) ++bits;
  return bits;
}

}  // namespace

cudaError_t LaunchRecodeScalars(const MsmShape& shape, uint32_t chunk, const MsmScalars& scalars,
                                const MsmEntries& entries, uint32_t* count, cudaStream_t stream) {
  const uint32_t bases = shape.bases_of(chunk);
  const uint32_t first = chunk * shape.chunk_bases();
  const dim3 blocks((bases + kThreadsPerBlock - 1) / kThreadsPerBlock, shape.batch);
  if (shape.is_padded()) {
    if (bases == 0) return cudaSuccess;
    RecodeScalarsPadded<<<blocks, kThreadsPerBlock, 0, stream>>>(shape, first, first + bases, scalars,
                                                                 entries);
    return cudaGetLastError();
  }
  if (cudaError_t error = cudaMemsetAsync(count, 0, sizeof(uint32_t), stream); error != cudaSuccess)
    return error;
  if (bases == 0) return cudaSuccess;
  RecodeScalars<<<blocks, kThreadsPerBlock, 0, stream>>>(shape, first, first + bases, scalars, entries,
                                                         count);
  return cudaGetLastError();
}

cudaError_t MsmSortTempBytes(const MsmShape& shape, size_t* bytes) {
  size_t sort_bytes = 0;
  size_t scan_bytes = 0;
  cub::DoubleBuffer<uint32_t> none;
  if (cudaError_t error = cub::DeviceRadixSort::SortPairs(
          nullptr, sort_bytes, none, none, static_cast<int64_t>(shape.entries_max()), 0, SortBits(shape));
      error != cudaSuccess)
    return error;
  if (cudaError_t error = cub::DeviceScan::ExclusiveSum(
          nullptr, scan_bytes, static_cast<const uint32_t*>(nullptr), static_cast<uint32_t*>(nullptr),
          static_cast<int64_t>(shape.buckets()));
      error != cudaSuccess)
    return error;
  *bytes = std::max(sort_bytes, scan_bytes);
  return cudaSuccess;
}

cudaError_t LaunchMsmSort(const MsmShape& shape, const MsmEntries& list, const MsmEntries& spare,
                          uint32_t entries, void* temp, size_t temp_bytes, cudaStream_t stream,
                          MsmEntries* sorted) {
  cub::DoubleBuffer<uint32_t> keys(list.keys, spare.keys);
  cub::DoubleBuffer<uint32_t> values(list.values, spare.values);
  if (cudaError_t error = cub::DeviceRadixSort::SortPairs(
          temp, temp_bytes, keys, values, static_cast<int64_t>(entries), 0, SortBits(shape), stream);
      error != cudaSuccess)
    return error;
  *sorted = {keys.Current(), values.Current()};
  return cudaSuccess;
}

cudaError_t LaunchFindBuckets(const uint32_t* keys_sorted, uint32_t entries, uint32_t buckets,
                              uint32_t* begin, uint32_t* end, uint32_t* count, cudaStream_t stream) {
  const uint32_t blocks = std::min<uint32_t>((entries + kThreadsPerBlock - 1) / kThreadsPerBlock, 4096);
  FindBuckets<<<blocks, kThreadsPerBlock, 0, stream>>>(keys_sorted, entries, buckets, begin, end, count);
  return cudaGetLastError();
}

cudaError_t LaunchMsmGroups(const MsmShape& shape, const uint32_t* keys_sorted, uint32_t entries,
                            const uint32_t* count, const uint32_t* bucket_begin, const uint32_t* bucket_end,
                            const MsmGroups& groups, void* temp, size_t temp_bytes, cudaStream_t stream) {
  const uint32_t buckets = shape.buckets();
  const uint32_t bucket_blocks = (buckets + kThreadsPerBlock - 1) / kThreadsPerBlock;
  CountGroups<<<bucket_blocks, kThreadsPerBlock, 0, stream>>>(bucket_begin, bucket_end, buckets, groups.end);
  if (cudaError_t error = cub::DeviceScan::ExclusiveSum(temp, temp_bytes, groups.end, groups.begin,
                                                        static_cast<int64_t>(buckets), stream);
      error != cudaSuccess)
    return error;
  EndGroups<<<bucket_blocks, kThreadsPerBlock, 0, stream>>>(buckets, groups);
  const uint32_t blocks = std::min<uint32_t>((entries + kThreadsPerBlock - 1) / kThreadsPerBlock, 8192);
  DescribeGroups<<<blocks, kThreadsPerBlock, 0, stream>>>(keys_sorted, count, bucket_begin, bucket_end,
                                                          groups);
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
