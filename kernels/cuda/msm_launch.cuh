// Host side of the MSM, a template over the coordinate field. Included by one translation unit per group,
// which instantiates it.

#ifndef PROOFMILL_KERNELS_CUDA_MSM_LAUNCH_CUH_
#define PROOFMILL_KERNELS_CUDA_MSM_LAUNCH_CUH_

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/msm.h"
#include "kernels/cuda/msm_kernels.cuh"
#include "kernels/cuda/msm_sort.h"

#define PROOFMILL_RETURN_IF_CUDA_ERROR(expr)                                                          \
  do {                                                                                                \
    if (cudaError_t proofmill_error = (expr); proofmill_error != cudaSuccess) return proofmill_error; \
  } while (false)

namespace proofmill::kernels {
namespace device {

// Groups that a team of SumGroups takes at a time, at most: more share an inversion, and take more scratch.
constexpr uint32_t kAffineBatchMax = 32;
// Affine additions win where a bucket has so many entries on average, so that few groups are short, and a
// thread so many groups.
constexpr uint32_t kAffineBucketEntriesMin = 32;
constexpr uint32_t kAffineTeamGroupsMin = 6;

struct LineBits {
  uint32_t row_bits;
  uint32_t column_bits;
};
inline LineBits SplitBucketNumber(const MsmShape& shape) {
  const uint32_t bits = shape.window_bits - 1;
  return {bits / 2, bits - bits / 2};
}

// Hands out parts of one block of memory, each 256-byte aligned; with a null block it only counts.
class Cutter {
 public:
  explicit Cutter(void* memory) : memory_(static_cast<char*>(memory)) {}
  template <typename T>
  void Take(T*& part, uint64_t count) {
    if (memory_ != nullptr) part = reinterpret_cast<T*>(memory_ + used_);
    used_ += (count * sizeof(T) + 255) / 256 * 256;
  }
  size_t used() const { return used_; }

 private:
  char* memory_;
  size_t used_ = 0;
};

// The most slices that Slicing cuts a list of up to so many entries in: short slices make at most one wave,
// and of the longer ones that follow none is shorter than kSliceEntriesWanted.
inline uint32_t SlicesUpTo(uint32_t entries, uint32_t slices_max) {
  const auto divide = [](uint32_t a, uint32_t b) { return (a + b - 1) / b; };
  const uint32_t longer = std::min(divide(entries, kSliceEntriesWanted), slices_max);
  return std::min(divide(entries, kSliceEntriesMin), std::max(slices_max / kSliceWaves, longer));
}

// Pieces of 16 bytes that a group takes in the columns of a team: a product and a point a pair.
template <typename F>
inline constexpr uint64_t kAffinePieces = uint64_t{3} * kGroupPairs * sizeof(F) / sizeof(uint4);
template <typename F>
inline constexpr bool kHasAffine = sizeof(F) > sizeof(Fq);

// Teams of SumGroups: what the device holds at once, and no more than have a group.
static_assert(kAffineBlocks == kAccumulateBlocks);
template <typename F>
uint32_t AffineTeams(uint64_t groups, uint32_t slices_max) {
  constexpr uint32_t kBlockTeams = kAffineThreads / kTeamLanes<F>;
  const uint64_t blocks_max = slices_max / kSliceWaves / (kAccumulateThreads / kTeamLanes<F>);
  return static_cast<uint32_t>(std::min((groups + kBlockTeams - 1) / kBlockTeams, blocks_max)) * kBlockTeams;
}
// What the code of the current device takes as a block of SumGroups.
inline cudaError_t AffineBlockThreads(uint32_t* threads) {
  int device = 0, major = 0;
  PROOFMILL_RETURN_IF_CUDA_ERROR(cudaGetDevice(&device));
  PROOFMILL_RETURN_IF_CUDA_ERROR(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  *threads = major < kAsyncCopyMajor ? kAffineThreadsBeforeAsyncCopy : kAffineThreads;
  return cudaSuccess;
}
// Groups that a team takes at a time: as many batches for all, and these equally long. At most the smaller of
// kAffineBatchMax and the groups of a team.
inline uint32_t AffineBatch(uint64_t groups, uint32_t teams) {
  const auto of_team = static_cast<uint32_t>((groups + teams - 1) / teams);
  const uint32_t batches = (of_team + kAffineBatchMax - 1) / kAffineBatchMax;
  return (of_team + batches - 1) / batches;
}
template <typename F>
bool UseAffine(const MsmShape& shape, uint64_t entries, uint32_t slices_max) {
  if (!kHasAffine<F> || entries == 0) return false;
  if (shape.affine != MsmAffine::kWhereFaster) return shape.affine == MsmAffine::kAlways;
  const uint64_t groups = shape.groups(entries);
  return entries / kAffineBucketEntriesMin >= shape.buckets() &&
         groups / kAffineTeamGroupsMin >= AffineTeams<F>(groups, slices_max);
}

template <typename F>
cudaError_t CutWorkspace(const MsmShape& shape, uint32_t slices_max, void* memory, MsmWorkspace<F>* w,
                         size_t* bytes) {
  Cutter cutter(memory);
  const LineBits lines = SplitBucketNumber(shape);
  // No slice but the last is shorter than kSliceEntriesMin. A bucket over k slices has k - 1 of them for
  // itself.
  const auto slices =
      static_cast<uint32_t>(std::min(shape.entries_max() / kSliceEntriesMin + 1, uint64_t{slices_max}));
  const uint32_t medium_max = slices / kSmallBucketSlicesLeast + 1;
  const uint32_t large_max = slices / kMediumBucketSlices<F> + 1;
  w->slices_max = slices_max;
  PROOFMILL_RETURN_IF_CUDA_ERROR(MsmSortTempBytes(shape, &w->sort_temp_bytes));
  cutter.Take(w->keys, shape.entries_max());
  cutter.Take(w->values, shape.entries_max());
  cutter.Take(w->keys_spare, shape.entries_max());
  cutter.Take(w->values_spare, shape.entries_max());
  cutter.Take(w->counters, 4);
  cutter.Take(w->bucket_begin, shape.buckets());
  cutter.Take(w->bucket_end, shape.buckets());
  cutter.Take(w->buckets, shape.buckets());
  cutter.Take(w->medium_buckets, medium_max);
  cutter.Take(w->large_buckets, large_max);
  cutter.Take(w->partials, 2 * uint64_t{slices});
  cutter.Take(w->large_partials, uint64_t{large_max} * kLargeBucketParts);
  cutter.Take(w->line_sums,
              uint64_t{shape.all_sets()} * ((1u << lines.row_bits) + (1u << lines.column_bits)));
  cutter.Take(w->bit_sums, uint64_t{shape.all_sets()} * kBitSumsMax);
  cutter.Take(w->set_sums, shape.all_sets());
  char* temp = nullptr;
  cutter.Take(temp, w->sort_temp_bytes);
  w->sort_temp = temp;
  if (UseAffine<F>(shape, shape.entries_max(), slices_max)) {
    const uint64_t groups_max = shape.groups(shape.entries_max());
    cutter.Take(w->group_begin, shape.buckets());
    cutter.Take(w->group_end, shape.buckets());
    cutter.Take(w->group_keys, groups_max);
    cutter.Take(w->group_ranges, groups_max);
    cutter.Take(w->group_sums, groups_max);
    const uint64_t teams = AffineTeams<F>(groups_max, slices_max);
    const uint64_t of_team = std::min((groups_max + teams - 1) / teams, uint64_t{kAffineBatchMax});
    cutter.Take(w->affine_scratch, teams * of_team * kAffinePieces<F>);
  }
  *bytes = cutter.used();
  return cudaSuccess;
}

}  // namespace device

template <typename F>
cudaError_t MsmSlicesMax(uint32_t* slices_max) {
  int device_id = 0;
  int processors = 0;
  int blocks = 0;
  PROOFMILL_RETURN_IF_CUDA_ERROR(cudaGetDevice(&device_id));
  PROOFMILL_RETURN_IF_CUDA_ERROR(
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device_id));
  PROOFMILL_RETURN_IF_CUDA_ERROR(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, device::AccumulateSlices<F, device::SortedEntries<F>>, device::kAccumulateThreads, 0));
  *slices_max = static_cast<uint32_t>(processors * std::max(blocks, 1)) * device::kAccumulateThreads /
                device::kTeamLanes<F> * device::kSliceWaves;
  return cudaSuccess;
}

template <typename F>
cudaError_t MsmWorkspaceBytes(const MsmShape& shape, uint32_t slices_max, size_t* bytes) {
  MsmWorkspace<F> unused;
  return device::CutWorkspace(shape, slices_max, nullptr, &unused, bytes);
}

template <typename F>
cudaError_t MsmCutWorkspace(const MsmShape& shape, uint32_t slices_max, void* memory,
                            MsmWorkspace<F>* workspace) {
  size_t unused;
  return device::CutWorkspace(shape, slices_max, memory, workspace, &unused);
}

template <typename F>
cudaError_t LaunchMsmDigits(const MsmShape& shape, uint32_t chunk, const MsmScalars& scalars,
                            const MsmWorkspace<F>& w, cudaStream_t stream) {
  return LaunchRecodeScalars(shape, chunk, scalars, {w.keys, w.values}, w.counters, stream);
}

namespace device {

// Blocks of so many threads that have so many teams.
template <typename F>
uint32_t TeamBlocks(uint32_t teams, uint32_t threads) {
  const uint32_t block_teams = threads / kTeamLanes<F>;
  return (teams + block_teams - 1) / block_teams;
}

// Buckets of the list of *count entries, and the partial sums of those that cross slices. begin and end tell
// each bucket's place in the list; entries bounds *count; add_to_buckets: the buckets have something in them.
template <typename F, typename List>
cudaError_t LaunchAccumulate(const List& list, const uint32_t* count, uint32_t entries, const uint32_t* begin,
                             const uint32_t* end, uint32_t buckets, bool add_to_buckets,
                             const MsmWorkspace<F>& w, cudaStream_t stream) {
  const Slicing slicing{count, w.slices_max};
  const uint32_t slices = SlicesUpTo(entries, w.slices_max);
  AccumulateSlices<F, List><<<TeamBlocks<F>(slices, kAccumulateThreads), kAccumulateThreads, 0, stream>>>(
      list, slicing, add_to_buckets, w.buckets, w.partials);
  const BucketLists lists{w.medium_buckets, w.large_buckets, w.counters + 1};
  const uint32_t small = buckets <= 2 * kMediumBlocks ? kSmallBucketSlicesLeast : kSmallBucketSlicesMost;
  MergeBuckets<F><<<TeamBlocks<F>(buckets, kMergeThreads), kMergeThreads, 0, stream>>>(
      begin, end, buckets, slicing, small, w.partials, w.buckets, lists);
  SumLongBuckets<F><<<kMediumBlocks + kLargeBlocks * kLargeBucketParts, kSumThreads, 0, stream>>>(
      begin, end, slicing, w.partials, lists, w.buckets, w.large_partials);
  JoinLargeBuckets<F><<<kLargeBlocks, kMergeThreads, 0, stream>>>(lists, w.large_partials, w.buckets);
  return cudaGetLastError();
}

// The same over groups of entries that are summed first.
template <typename F>
cudaError_t LaunchGroupBuckets(const MsmShape& shape, const Affine<F>* tables, const MsmEntries& sorted,
                               uint32_t entries, bool add_to_buckets, const MsmWorkspace<F>& w,
                               cudaStream_t stream) {
  const MsmGroups groups{w.group_begin, w.group_end, w.group_keys, w.group_ranges, w.counters + 3};
  PROOFMILL_RETURN_IF_CUDA_ERROR(LaunchMsmGroups(shape, sorted.keys, entries, w.counters, w.bucket_begin,
                                                 w.bucket_end, groups, w.sort_temp, w.sort_temp_bytes,
                                                 stream));
  const auto groups_max = static_cast<uint32_t>(shape.groups(entries));
  const uint32_t teams = AffineTeams<F>(groups_max, w.slices_max);
  uint32_t block = 0;
  PROOFMILL_RETURN_IF_CUDA_ERROR(AffineBlockThreads(&block));
  const size_t staging_bytes = Staging<ElementOf<F>>::Bytes(block);
  PROOFMILL_RETURN_IF_CUDA_ERROR(cudaFuncSetAttribute(
      SumGroups<F>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(staging_bytes)));
  SumGroups<F><<<teams * kTeamLanes<F> / block, block, staging_bytes, stream>>>(
      sorted.values, groups.ranges, groups.count, tables, AffineBatch(groups_max, teams), w.affine_scratch,
      w.group_sums);
  return LaunchAccumulate(GroupSums<F>{w.group_keys, w.group_sums}, groups.count, groups_max, groups.begin,
                          groups.end, shape.buckets(), add_to_buckets, w, stream);
}

}  // namespace device

template <typename F>
cudaError_t LaunchMsmBuckets(const MsmShape& shape, uint32_t chunk, const Affine<F>* tables, uint32_t entries,
                             const MsmWorkspace<F>& w, cudaStream_t stream) {
  using namespace device;  // NOLINT(google-build-using-namespace): the kernels of this file's own header
  if (shape.is_padded()) entries = shape.batch * shape.windows() * shape.bases_of(chunk);
  const uint32_t buckets = shape.buckets();
  const bool add_to_buckets = chunk != 0;
  // All zero bytes is infinity: buckets without entries stay so. The length of the list comes back below.
  const void* const end = add_to_buckets ? static_cast<const void*>(w.buckets) : w.buckets + buckets;
  const auto bytes = static_cast<size_t>(static_cast<const char*>(end) - reinterpret_cast<char*>(w.counters));
  PROOFMILL_RETURN_IF_CUDA_ERROR(cudaMemsetAsync(w.counters, 0, bytes, stream));
  if (entries == 0) return cudaSuccess;
  MsmEntries sorted{};
  PROOFMILL_RETURN_IF_CUDA_ERROR(LaunchMsmSort(shape, {w.keys, w.values}, {w.keys_spare, w.values_spare},
                                               entries, w.sort_temp, w.sort_temp_bytes, stream, &sorted));
  PROOFMILL_RETURN_IF_CUDA_ERROR(
      LaunchFindBuckets(sorted.keys, entries, buckets, w.bucket_begin, w.bucket_end, w.counters, stream));
  if constexpr (kHasAffine<F>) {
    if (UseAffine<F>(shape, entries, w.slices_max))
      return LaunchGroupBuckets(shape, tables, sorted, entries, add_to_buckets, w, stream);
  }
  return LaunchAccumulate(SortedEntries<F>{sorted.keys, sorted.values, tables}, w.counters, entries,
                          w.bucket_begin, w.bucket_end, buckets, add_to_buckets, w, stream);
}

template <typename F>
cudaError_t LaunchMsmReduce(const MsmShape& shape, const MsmWorkspace<F>& w, Xyzz<F>* result,
                            cudaStream_t stream) {
  using namespace device;  // NOLINT(google-build-using-namespace): the kernels of this file's own header
  const LineBits lines = SplitBucketNumber(shape);
  const uint32_t line_count = (1u << lines.row_bits) + (1u << lines.column_bits);
  SumLines<F><<<dim3((line_count + kSumThreads / 32 - 1) / (kSumThreads / 32), shape.all_sets()), kSumThreads,
                0, stream>>>(w.buckets, lines.row_bits, lines.column_bits, w.line_sums);
  SumBits<F><<<dim3(lines.row_bits + lines.column_bits + 1, shape.all_sets()), kSumThreads, 0, stream>>>(
      w.line_sums, lines.row_bits, lines.column_bits, w.bit_sums);
  const bool join_sets = shape.sets_of_part() > 1;
  const uint32_t bits_of_part = shape.sets() == 1 ? shape.number_bits_of_part() : 32;
  constexpr uint32_t kJoinThreads = kJoinPoints * kPointLanes<F>;
  JoinBits<F><<<shape.all_sets(), kJoinThreads, 0, stream>>>(w.bit_sums, lines.row_bits, lines.column_bits,
                                                             bits_of_part, join_sets ? w.set_sums : result);
  if (join_sets) {
    JoinSets<F><<<dim3(shape.parts(), shape.batch), kJoinThreads, 0, stream>>>(
        w.set_sums, shape.sets(), shape.sets_of_part(), shape.window_bits, result);
  }
  return cudaGetLastError();
}

template <typename F>
cudaError_t LaunchMsmTableStep(const Affine<F>* previous, Affine<F>* next, uint32_t n, uint32_t doublings,
                               cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  device::TableStep<F>
      <<<(n + device::kSumThreads - 1) / device::kSumThreads, device::kSumThreads, 0, stream>>>(
          previous, next, n, doublings);
  return cudaGetLastError();
}

#define PROOFMILL_INSTANTIATE_MSM(F)                                                                        \
  template cudaError_t MsmSlicesMax<F>(uint32_t*);                                                          \
  template cudaError_t MsmWorkspaceBytes<F>(const MsmShape&, uint32_t, size_t*);                            \
  template cudaError_t MsmCutWorkspace<F>(const MsmShape&, uint32_t, void*, MsmWorkspace<F>*);              \
  template cudaError_t LaunchMsmDigits<F>(const MsmShape&, uint32_t, const MsmScalars&,                     \
                                          const MsmWorkspace<F>&, cudaStream_t);                            \
  template cudaError_t LaunchMsmBuckets<F>(const MsmShape&, uint32_t, const Affine<F>*, uint32_t,           \
                                           const MsmWorkspace<F>&, cudaStream_t);                           \
  template cudaError_t LaunchMsmReduce<F>(const MsmShape&, const MsmWorkspace<F>&, Xyzz<F>*, cudaStream_t); \
  template cudaError_t LaunchMsmTableStep<F>(const Affine<F>*, Affine<F>*, uint32_t, uint32_t, cudaStream_t)

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_MSM_LAUNCH_CUH_
