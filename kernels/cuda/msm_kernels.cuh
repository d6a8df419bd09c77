// Device code of the MSM, a template over the coordinate field. Included by one translation unit per group.

#ifndef PROOFMILL_KERNELS_CUDA_MSM_KERNELS_CUH_
#define PROOFMILL_KERNELS_CUDA_MSM_KERNELS_CUH_

#include <cstdint>

#include "kernels/cuda/block_inverse.cuh"
#include "kernels/cuda/element_lanes.cuh"
#include "kernels/cuda/msm.h"
#include "kernels/cuda/msm_affine.cuh"
#include "kernels/cuda/wide.cuh"

namespace proofmill::kernels::device {

constexpr uint32_t kAccumulateThreads = 128;
constexpr int kAccumulateBlocks = 4;  // of a processor: 128 registers a thread
constexpr uint32_t kSliceWaves =
    2;  // slices a team slot of the device: the later ones even out what the first left unequal
constexpr uint32_t kSliceEntriesMin = 4;
constexpr uint32_t kSliceEntriesWanted = 96;
constexpr uint32_t kMergeThreads = 128;
constexpr uint32_t kSumThreads = 128;
// A bucket over up to so many slices is merged by one team, by one warp, and over more by kLargeBucketParts
// blocks.
constexpr uint32_t kSmallBucketSlices = 16;
constexpr uint32_t kMediumBucketSlices = 512;
constexpr uint32_t kLargeBucketParts = 16;
constexpr uint32_t kBitSumsMax = 32;

// How a list sorted by bucket is cut, one slice a team.
struct Slicing {
  const uint32_t* entries;  // of the list
  uint32_t slices_max;

  // Entries a slice. Two waves of slices even out unequal ones; short slices are not worth it, since every
  // border may cost an addition.
  __device__ uint32_t Length() const {
    const auto divide = [](uint32_t a, uint32_t b) { return (a + b - 1) / b; };
    const uint32_t one_wave = divide(*entries, slices_max / kSliceWaves);
    const uint32_t wanted = one_wave < kSliceEntriesWanted ? one_wave : kSliceEntriesWanted;
    const uint32_t least = wanted > kSliceEntriesMin ? wanted : kSliceEntriesMin;
    const uint32_t two_waves = divide(*entries, slices_max);
    return two_waves > least ? two_waves : least;
  }
};

// Buckets that MergeBuckets leaves to others. counts: medium, large.
struct BucketLists {
  uint32_t* medium;
  uint32_t* large;
  uint32_t* counts;
};

// Points in shared memory, those of kThreads threads, piece by piece, so that neighbouring threads meet
// different banks. E is what a lane has of an element.
template <typename E, uint32_t kThreads>
struct SharedPoints {
  uint4 pieces[sizeof(Xyzz<E>) / sizeof(uint4)][kThreads];

  __device__ Xyzz<E> Load(uint32_t thread) const { return LoadPieces<Xyzz<E>>(&pieces[0][thread], kThreads); }
  __device__ void Store(uint32_t thread, const Xyzz<E>& point) {
    StorePieces(&pieces[0][thread], kThreads, point);
  }
};
template <typename F, uint32_t kThreads>
using SharedPointsOf = SharedPoints<ElementOf<F>, kThreads>;

// The sum of one point a team over a block of kSumThreads; the first team gets it. Not unrolled, like all
// loops of full additions: a kernel of one addition's code stays in the instruction caches.
template <typename F>
__device__ Xyzz<ElementOf<F>> BlockSum(Xyzz<ElementOf<F>> sum, SharedPointsOf<F, kSumThreads / 2>& shared) {
#pragma unroll 1
  for (uint32_t half = kSumThreads / 2; half >= kTeamLanes<F>; half /= 2) {
    if (threadIdx.x >= half && threadIdx.x < 2 * half) shared.Store(threadIdx.x - half, sum);
    __syncthreads();
    if (threadIdx.x < half) sum += shared.Load(threadIdx.x);
    __syncthreads();
  }
  return sum;
}

// A point of a list on its way to a sum: negated only when it is added, so that the load can go on meanwhile.
template <typename F>
struct Term {
  Affine<ElementOf<F>> point;
  bool negative;

  __device__ Affine<ElementOf<F>> Value() const { return negative ? -point : point; }
};

// The list that LaunchMsmDigits and the sort make: entry i adds a multiple to bucket keys[i].
template <typename F>
struct SortedEntries {
  const uint32_t* keys;
  const uint32_t* values;
  const Affine<F>* tables;

  __device__ Term<F> operator[](uint32_t i) const {
    const uint32_t value = values[i];
    return {LoadPoint(&tables[value & kValueMask]), value > kValueMask};
  }
};

// The list of group sums: entry i adds sums[i] to bucket keys[i].
template <typename F>
struct GroupSums {
  const uint32_t* keys;
  const Affine<F>* sums;

  __device__ Term<F> operator[](uint32_t i) const { return {LoadPoint(&sums[i]), false}; }
};

// Team s adds up slice s of a list sorted by bucket, one mixed addition an entry. A
// bucket that lies within the slice is final. Of a bucket that began in an earlier slice the sum goes to
// partials[2s], of one that began here and goes on, to partials[2s + 1]. A bucket that begins here begins
// with what is in it already where `add_to_buckets` says so. The next point is fetched before the current one
// is added, to hide the latency of the gather.
template <typename F, typename List>
__global__ void __launch_bounds__(kAccumulateThreads, kAccumulateBlocks)
    AccumulateSlices(List list, Slicing slicing, bool add_to_buckets, Xyzz<F>* buckets, Xyzz<F>* partials) {
  using E = ElementOf<F>;
  const uint32_t s = (blockIdx.x * kAccumulateThreads + threadIdx.x) / kTeamLanes<F>;
  const uint32_t entries = *slicing.entries;
  const uint32_t slice = slicing.Length();
  const uint64_t begin = uint64_t{s} * slice;
  if (begin >= entries) return;
  const uint32_t end = static_cast<uint32_t>(begin + slice < entries ? begin + slice : entries);

  uint32_t key = list.keys[begin];
  bool began_earlier = begin > 0 && list.keys[begin - 1] == key;
  Xyzz<E> sum = add_to_buckets && !began_earlier ? LoadPoint(&buckets[key]) : Xyzz<E>::Infinity();
  Term<F> next = list[static_cast<uint32_t>(begin)];
  for (uint32_t i = static_cast<uint32_t>(begin); i < end; ++i) {
    const uint32_t current_key = list.keys[i];
    const Affine<E> current = next.Value();
    if (i + 1 < end) next = list[i + 1];
    if (current_key != key) {
      StorePoint(began_earlier ? &partials[2 * s] : &buckets[key], sum);
      began_earlier = false;
      key = current_key;
      sum = add_to_buckets ? LoadPoint(&buckets[key]) : Xyzz<E>::Infinity();
    }
    sum += current;
  }
  const bool goes_on = end < entries && list.keys[end] == key;
  StorePoint(began_earlier ? &partials[2 * s] : (goes_on ? &partials[2 * s + 1] : &buckets[key]), sum);
}

// Partial i of a bucket that spans slices first, first + 1, ...
template <typename F>
__device__ Xyzz<ElementOf<F>> Partial(const Xyzz<F>* partials, uint32_t first_slice, uint32_t i) {
  return LoadPoint(i == 0 ? &partials[2 * first_slice + 1] : &partials[2 * (first_slice + i)]);
}

// One team a bucket: joins the partial sums of a bucket over a few slices, and lists the buckets over more
// for the kernels below.
template <typename F>
__global__ void __launch_bounds__(kMergeThreads)
    MergeBuckets(const uint32_t* bucket_begin, const uint32_t* bucket_end, uint32_t bucket_count,
                 Slicing slicing, const Xyzz<F>* partials, Xyzz<F>* buckets, BucketLists lists) {
  const uint32_t b = (blockIdx.x * kMergeThreads + threadIdx.x) / kTeamLanes<F>;
  if (b >= bucket_count || bucket_begin[b] == bucket_end[b]) return;
  const uint32_t slice = slicing.Length();
  const uint32_t first = bucket_begin[b] / slice;
  const uint32_t count = (bucket_end[b] - 1) / slice - first + 1;
  if (count == 1) return;
  if (count > kSmallBucketSlices) {
    const bool large = count > kMediumBucketSlices;
    if (LaneOfTeam<F>() == 0)
      (large ? lists.large : lists.medium)[atomicAdd(&lists.counts[large ? 1 : 0], 1)] = b;
    return;
  }
  Xyzz<ElementOf<F>> sum = Partial(partials, first, 0);
#pragma unroll 1
  for (uint32_t i = 1; i < count; ++i) sum += Partial(partials, first, i);
  StorePoint(&buckets[b], sum);
}

// The sum of one point a team over a warp; its first team gets it. `shared` is this warp's own.
template <typename F>
__device__ Xyzz<ElementOf<F>> WarpSum(Xyzz<ElementOf<F>> sum, SharedPointsOf<F, 16>& shared) {
  const uint32_t lane = threadIdx.x % 32;
#pragma unroll 1
  for (uint32_t half = 16; half >= kTeamLanes<F>; half /= 2) {
    if (lane >= half && lane < 2 * half) shared.Store(lane - half, sum);
    __syncwarp();
    if (lane < half) sum += shared.Load(lane);
    __syncwarp();
  }
  return sum;
}

// Teams of a warp, and this one among them.
template <typename F>
inline constexpr uint32_t kWarpTeams = 32 / kTeamLanes<F>;
template <typename F>
__device__ __forceinline__ uint32_t TeamOfWarp() {
  return threadIdx.x % 32 / kTeamLanes<F>;
}

// One warp a medium bucket.
template <typename F>
__global__ void __launch_bounds__(kMergeThreads)
    SumMediumBuckets(const uint32_t* bucket_begin, const uint32_t* bucket_end, Slicing slicing,
                     const Xyzz<F>* partials, BucketLists lists, Xyzz<F>* buckets) {
  __shared__ SharedPointsOf<F, 16> shared[kMergeThreads / 32];
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t team = TeamOfWarp<F>();
  const uint32_t slice = slicing.Length();
  for (uint32_t m = blockIdx.x * (kMergeThreads / 32) + warp; m < lists.counts[0];
       m += gridDim.x * (kMergeThreads / 32)) {
    const uint32_t b = lists.medium[m];
    const uint32_t first = bucket_begin[b] / slice;
    const uint32_t count = (bucket_end[b] - 1) / slice - first + 1;
    auto sum = Xyzz<ElementOf<F>>::Infinity();
#pragma unroll 1
    for (uint32_t i = team; i < count; i += kWarpTeams<F>) sum += Partial(partials, first, i);
    sum = WarpSum<F>(sum, shared[warp]);
    if (team == 0) StorePoint(&buckets[b], sum);
  }
}

// Block (x, part) adds up every kLargeBucketParts-th run of partials of large buckets x, x + gridDim.x, ...,
// one a team.
template <typename F>
__global__ void __launch_bounds__(kSumThreads)
    SumLargeBucketParts(const uint32_t* bucket_begin, const uint32_t* bucket_end, Slicing slicing,
                        const Xyzz<F>* partials, BucketLists lists, Xyzz<F>* large_partials) {
  constexpr uint32_t kTeams = kSumThreads / kTeamLanes<F>;
  __shared__ SharedPointsOf<F, kSumThreads / 2> shared;
  const uint32_t team = threadIdx.x / kTeamLanes<F>;
  const uint32_t slice = slicing.Length();
  for (uint32_t l = blockIdx.x; l < lists.counts[1]; l += gridDim.x) {
    const uint32_t b = lists.large[l];
    const uint32_t first = bucket_begin[b] / slice;
    const uint32_t count = (bucket_end[b] - 1) / slice - first + 1;
    auto sum = Xyzz<ElementOf<F>>::Infinity();
#pragma unroll 1
    for (uint32_t i = blockIdx.y * kTeams + team; i < count; i += kLargeBucketParts * kTeams)
      sum += Partial(partials, first, i);
    sum = BlockSum<F>(sum, shared);
    if (team == 0) StorePoint(&large_partials[l * kLargeBucketParts + blockIdx.y], sum);
  }
}

// One warp a large bucket: joins its parts.
template <typename F>
__global__ void __launch_bounds__(kMergeThreads)
    JoinLargeBuckets(BucketLists lists, const Xyzz<F>* large_partials, Xyzz<F>* buckets) {
  static_assert(kLargeBucketParts <= kWarpTeams<F>);
  __shared__ SharedPointsOf<F, 16> shared[kMergeThreads / 32];
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t team = TeamOfWarp<F>();
  for (uint32_t l = blockIdx.x * (kMergeThreads / 32) + warp; l < lists.counts[1];
       l += gridDim.x * (kMergeThreads / 32)) {
    auto sum = team < kLargeBucketParts ? LoadPoint(&large_partials[l * kLargeBucketParts + team])
                                        : Xyzz<ElementOf<F>>::Infinity();
    sum = WarpSum<F>(sum, shared[warp]);
    if (team == 0) StorePoint(&buckets[lists.large[l]], sum);
  }
}

// Bucket number b = row * 2^column_bits + column. One warp a line of set blockIdx.y: the first 2^row_bits
// lines are rows, the others columns. A product takes its warp's pipe for as long whether one lane works or
// all do, so teams add up what they can before the tree.
template <typename F>
__global__ void __launch_bounds__(kSumThreads)
    SumLines(const Xyzz<F>* buckets, uint32_t row_bits, uint32_t column_bits, Xyzz<F>* line_sums) {
  __shared__ SharedPointsOf<F, 16> shared[kSumThreads / 32];
  const uint32_t rows = uint32_t{1} << row_bits;
  const uint32_t columns = uint32_t{1} << column_bits;
  const uint32_t warp = threadIdx.x / 32;
  const uint32_t team = TeamOfWarp<F>();
  const uint32_t line = blockIdx.x * (kSumThreads / 32) + warp;
  if (line >= rows + columns) return;
  const Xyzz<F>* set = buckets + uint64_t{blockIdx.y} * rows * columns;
  const bool is_row = line < rows;
  const Xyzz<F>* first = is_row ? set + uint64_t{line} * columns : set + (line - rows);
  const uint32_t count = is_row ? columns : rows;
  const uint32_t step = is_row ? 1 : columns;
  auto sum = Xyzz<ElementOf<F>>::Infinity();
#pragma unroll 1
  for (uint32_t i = team; i < count; i += kWarpTeams<F>) sum += LoadPoint(&first[uint64_t{i} * step]);
  sum = WarpSum<F>(sum, shared[warp]);
  if (team == 0) StorePoint(&line_sums[blockIdx.y * (rows + columns) + line], sum);
}

// Bucket b has weight b + 1 = row * 2^column_bits + column + 1. Block k of set blockIdx.y sums the rows whose
// number has bit k (k < row_bits), or the columns with bit k - row_bits, or, last, all columns.
template <typename F>
__global__ void __launch_bounds__(kSumThreads)
    SumBits(const Xyzz<F>* line_sums, uint32_t row_bits, uint32_t column_bits, Xyzz<F>* bit_sums) {
  __shared__ SharedPointsOf<F, kSumThreads / 2> shared;
  const uint32_t rows = uint32_t{1} << row_bits;
  const uint32_t columns = uint32_t{1} << column_bits;
  const Xyzz<F>* lines = line_sums + blockIdx.y * (rows + columns);
  const uint32_t k = blockIdx.x;
  const bool of_rows = k < row_bits;
  const bool all = k == row_bits + column_bits;
  const uint32_t bit = of_rows ? k : k - row_bits;
  const uint32_t count = (of_rows ? rows : columns) / (all ? 1 : 2);
  const uint32_t team = threadIdx.x / kTeamLanes<F>;
  auto sum = Xyzz<ElementOf<F>>::Infinity();
#pragma unroll 1
  for (uint32_t i = team; i < count; i += kSumThreads / kTeamLanes<F>) {
    // The i-th number that has the bit.
    const uint32_t number = all ? i : ((i >> bit) << (bit + 1)) | (1u << bit) | (i & ((1u << bit) - 1));
    sum += LoadPoint(&lines[of_rows ? number : rows + number]);
  }
  sum = BlockSum<F>(sum, shared);
  if (team == 0) StorePoint(&bit_sums[blockIdx.y * kBitSumsMax + k], sum);
}

// One block of kJoinTeams teams a set: team k doubles the sum of the buckets whose number has bit k to its
// weight in its part, which is bits_of_part bits of the number, a power of two, then the teams of each part
// are added up. Part 0 gets the sum of all buckets besides. With 32 bits a part is the set.
constexpr uint32_t kJoinTeams = 32;
static_assert(kBitSumsMax <= kJoinTeams && kMsmSetsMax / kMsmPartsMax <= kJoinTeams);
template <typename F>
__global__ void __launch_bounds__(kJoinTeams* kTeamLanes<F>)
    JoinBits(const Xyzz<F>* bit_sums, uint32_t row_bits, uint32_t column_bits, uint32_t bits_of_part,
             Xyzz<F>* result) {
  constexpr uint32_t kLanes = kTeamLanes<F>;
  __shared__ SharedPointsOf<F, kJoinTeams * kLanes> shared;
  const uint32_t k = threadIdx.x / kLanes;
  const uint32_t bits = row_bits + column_bits;
  const uint32_t parts_of_set = (bits + bits_of_part - 1) / bits_of_part;
  const Xyzz<F>* sums = bit_sums + blockIdx.x * kBitSumsMax;
  auto sum = Xyzz<ElementOf<F>>::Infinity();
  if (k < bits) sum = LoadPoint(&sums[k < column_bits ? row_bits + k : k - column_bits]);
#pragma unroll 1
  for (uint32_t i = 0; i < k % bits_of_part; ++i) sum = sum.Double();
  if (k == bits) sum = LoadPoint(&sums[bits]);
#pragma unroll 1
  for (uint32_t half = bits_of_part / 2;; half /= 2) {
    // The last round, of half 0, adds the sum of all buckets to part 0.
    shared.Store(threadIdx.x, sum);
    __syncthreads();
    const bool last = half == 0;
    const uint32_t from = last ? bits : k + half;
    if (last ? k == 0 : k < bits && k % bits_of_part < half && from < bits)
      sum += shared.Load(from * kLanes + LaneOfTeam<F>());
    __syncthreads();
    if (last) break;
  }
  if (k < bits && k % bits_of_part == 0)
    StorePoint(&result[blockIdx.x * parts_of_set + k / bits_of_part], sum);
}

// One block a part of MSM blockIdx.y, of up to kJoinTeams sets, each 2^window_bits times as heavy as the one
// before: team k doubles the sum of set k of the part to its weight, then the teams are added up.
template <typename F>
__global__ void __launch_bounds__(kJoinTeams* kTeamLanes<F>)
    JoinSets(const Xyzz<F>* set_sums, uint32_t sets, uint32_t sets_of_part, uint32_t window_bits,
             Xyzz<F>* result) {
  constexpr uint32_t kLanes = kTeamLanes<F>;
  __shared__ SharedPointsOf<F, kJoinTeams * kLanes> shared;
  const uint32_t k = threadIdx.x / kLanes;
  const uint32_t set = blockIdx.x * sets_of_part + k;
  auto sum = Xyzz<ElementOf<F>>::Infinity();
  const bool present = k < sets_of_part && set < sets;
  if (present) sum = LoadPoint(&set_sums[blockIdx.y * sets + set]);
#pragma unroll 1
  for (uint32_t i = 0; present && i < k * window_bits; ++i) sum = sum.Double();
#pragma unroll 1
  for (uint32_t half = kJoinTeams / 2; half > 0; half /= 2) {
    shared.Store(threadIdx.x, sum);
    __syncthreads();
    if (k < half) sum += shared.Load(threadIdx.x + half * kLanes);
    __syncthreads();
  }
  if (k == 0) StorePoint(&result[blockIdx.y * gridDim.x + blockIdx.x], sum);
}

// next[i] = 2^doublings * previous[i], one thread a point; the block's ZZZ are inverted together.
template <typename F>
__global__ void __launch_bounds__(kSumThreads)
    TableStep(const Affine<F>* previous, Affine<F>* next, uint32_t n, uint32_t doublings) {
  __shared__ InverseTree<F, kSumThreads> tree;
  const uint32_t i = blockIdx.x * kSumThreads + threadIdx.x;
  Xyzz<F> p = Xyzz<F>::FromAffine(i < n ? previous[i] : previous[0]);
  for (uint32_t k = 0; k < doublings; ++k) p = p.Double();
  const F zzz_inverse = BlockInverse(p.zzz, tree);
  if (i >= n) return;
  next[i] = {p.x * (p.zz * zzz_inverse).Square(), p.y * zzz_inverse};
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_MSM_KERNELS_CUH_
