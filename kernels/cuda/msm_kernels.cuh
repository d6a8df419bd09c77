// Device code of the MSM, a template over the coordinate field. Included by one translation unit per group.

#ifndef PROOFMILL_KERNELS_CUDA_MSM_KERNELS_CUH_
#define PROOFMILL_KERNELS_CUDA_MSM_KERNELS_CUH_

#include <cstdint>

#include "kernels/cuda/block_inverse.cuh"
#include "kernels/cuda/element_lanes.cuh"
#include "kernels/cuda/msm.h"
#include "kernels/cuda/msm_affine.cuh"
#include "kernels/cuda/point_lanes.cuh"
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
// A bucket over few slices is merged by one team, which takes 4 us a slice on an H200 (7 in G2); over up to
// kMediumBucketSlices by one block, sooner but with more work in all; over more by kLargeBucketParts blocks.
// Where there are hardly more buckets than blocks, fewer slices are few.
constexpr uint32_t kSmallBucketSlicesLeast = 8;
constexpr uint32_t kSmallBucketSlicesMost = 16;
constexpr uint32_t kLargeBucketParts = 16;
// Points that a block of kSumThreads adds up at a time. A block adds up to 16 rounds of them one after the
// other, and a few more as a tree.
template <typename F>
inline constexpr uint32_t kSumPoints = kSumThreads / kPointLanes<F>;
template <typename F>
inline constexpr uint32_t kMediumBucketSlices = 16 * kSumPoints<F>;
constexpr uint32_t kBitSumsMax = 32;
constexpr uint32_t kMediumBlocks = 528;  // the loops take any number of buckets
constexpr uint32_t kLargeBlocks = 32;

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

// The sum of the first kPoints points of a warp, a power of two; the first point of the warp gets it. Not
// unrolled, like all loops of full additions: a kernel of one addition's code stays in the instruction
// caches.
template <typename F, uint32_t kPoints = kWarpPoints<F>>
__device__ SplitPoint<F> WarpSum(SplitPoint<F> sum) {
#pragma unroll 1
  for (uint32_t half = kPoints / 2; half > 0; half /= 2) sum += sum.FromLanesOn(half * kPointLanes<F>);
  return sum;
}

// A point in shared memory, which takes no type with a constructor.
template <typename F>
struct SharedPoint {
  uint4 pieces[sizeof(Xyzz<F>) / sizeof(uint4)];

  __device__ Xyzz<F>* get() { return reinterpret_cast<Xyzz<F>*>(pieces); }
};

// The sum of the points of a block of kSumThreads; its first point gets it.
template <typename F>
__device__ SplitPoint<F> BlockSum(SplitPoint<F> sum, SharedPoint<F> (&shared)[kSumThreads / 32]) {
  constexpr uint32_t kWarps = kSumThreads / 32;
  static_assert(kWarps <= kWarpPoints<F>);
  sum = WarpSum<F>(sum);
  const uint32_t point = PointOfWarp<F>();
  if (point == 0) sum.Store(shared[threadIdx.x / 32].get());
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = SplitPoint<F>::Load(shared[point % kWarps].get());
    sum = WarpSum<F, kWarps>(sum);
  }
  __syncthreads();
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

// Where partial i is of a bucket that spans slices first, first + 1, ...
template <typename F>
__device__ const Xyzz<F>* PartialPlace(const Xyzz<F>* partials, uint32_t first_slice, uint32_t i) {
  return i == 0 ? &partials[2 * first_slice + 1] : &partials[2 * (first_slice + i)];
}

// One team a bucket: joins the partial sums of a bucket over a few slices, and lists the buckets over more
// for the kernels below.
template <typename F>
__global__ void __launch_bounds__(kMergeThreads)
    MergeBuckets(const uint32_t* bucket_begin, const uint32_t* bucket_end, uint32_t bucket_count,
                 Slicing slicing, uint32_t small_bucket_slices, const Xyzz<F>* partials, Xyzz<F>* buckets,
                 BucketLists lists) {
  const uint32_t b = (blockIdx.x * kMergeThreads + threadIdx.x) / kTeamLanes<F>;
  if (b >= bucket_count || bucket_begin[b] == bucket_end[b]) return;
  const uint32_t slice = slicing.Length();
  const uint32_t first = bucket_begin[b] / slice;
  const uint32_t count = (bucket_end[b] - 1) / slice - first + 1;
  if (count == 1) return;
  if (count > small_bucket_slices) {
    const bool large = count > kMediumBucketSlices<F>;
    if (LaneOfTeam<F>() == 0)
      (large ? lists.large : lists.medium)[atomicAdd(&lists.counts[large ? 1 : 0], 1)] = b;
    return;
  }
  Xyzz<ElementOf<F>> sum = LoadPoint(PartialPlace(partials, first, 0));
#pragma unroll 1
  for (uint32_t i = 1; i < count; ++i) sum += LoadPoint(PartialPlace(partials, first, i));
  StorePoint(&buckets[b], sum);
}

// Part `part` of the `parts` of the sum of a bucket's partials, by one block, whose first point gets it: of
// the runs of kSumPoints partials every parts-th.
template <typename F>
__device__ SplitPoint<F> SumPartials(const Xyzz<F>* partials, uint32_t first_slice, uint32_t count,
                                     uint32_t part, uint32_t parts,
                                     SharedPoint<F> (&shared)[kSumThreads / 32]) {
  const uint32_t point = threadIdx.x / kPointLanes<F>;
  auto sum = SplitPoint<F>::Infinity();
#pragma unroll 1
  for (uint32_t i = part * kSumPoints<F>; i < count; i += parts * kSumPoints<F>) {
    const uint32_t mine = i + point;
    sum += SplitPoint<F>::LoadIf(mine < count, PartialPlace(partials, first_slice, mine));
  }
  return BlockSum<F>(sum, shared);
}

// The first kMediumBlocks blocks add up medium buckets, one each at a time; of the others, kLargeBucketParts
// a bucket add up parts of large ones.
template <typename F>
__global__ void __launch_bounds__(kSumThreads)
    SumLongBuckets(const uint32_t* bucket_begin, const uint32_t* bucket_end, Slicing slicing,
                   const Xyzz<F>* partials, BucketLists lists, Xyzz<F>* buckets, Xyzz<F>* large_partials) {
  __shared__ SharedPoint<F> shared[kSumThreads / 32];
  const uint32_t slice = slicing.Length();
  const bool is_medium = blockIdx.x < kMediumBlocks;
  const uint32_t block = is_medium ? blockIdx.x : blockIdx.x - kMediumBlocks;
  const uint32_t parts = is_medium ? 1 : kLargeBucketParts;
  const uint32_t* const list = is_medium ? lists.medium : lists.large;
  const uint32_t listed = lists.counts[is_medium ? 0 : 1];
#pragma unroll 1
  for (uint32_t l = block / parts; l < listed; l += (is_medium ? kMediumBlocks : kLargeBlocks)) {
    const uint32_t b = list[l];
    const uint32_t first = bucket_begin[b] / slice;
    const uint32_t count = (bucket_end[b] - 1) / slice - first + 1;
    const SplitPoint<F> sum = SumPartials<F>(partials, first, count, block % parts, parts, shared);
    if (threadIdx.x < kPointLanes<F>)
      sum.Store(is_medium ? &buckets[b] : &large_partials[l * kLargeBucketParts + block % parts]);
  }
}

// The sum of `count` points that lie `step` apart, by one warp, whose first point gets it.
template <typename F>
__device__ SplitPoint<F> SumOfWarp(const Xyzz<F>* first, uint32_t count, uint64_t step) {
  const uint32_t point = PointOfWarp<F>();
  auto sum = SplitPoint<F>::Infinity();
#pragma unroll 1
  for (uint32_t i = 0; i < count; i += kWarpPoints<F>) {
    sum += SplitPoint<F>::LoadIf(i + point < count, &first[(i + point) * step]);
  }
  return WarpSum<F>(sum);
}

// One warp a large bucket: joins its parts.
template <typename F>
__global__ void __launch_bounds__(kMergeThreads)
    JoinLargeBuckets(BucketLists lists, const Xyzz<F>* large_partials, Xyzz<F>* buckets) {
  const uint32_t warp = threadIdx.x / 32;
#pragma unroll 1
  for (uint32_t l = blockIdx.x * (kMergeThreads / 32) + warp; l < lists.counts[1];
       l += gridDim.x * (kMergeThreads / 32)) {
    const SplitPoint<F> sum = SumOfWarp<F>(&large_partials[l * kLargeBucketParts], kLargeBucketParts, 1);
    if (PointOfWarp<F>() == 0) sum.Store(&buckets[lists.large[l]]);
  }
}

// Bucket number b = row * 2^column_bits + column. One warp a line of set blockIdx.y: the first 2^row_bits
// lines are rows, the others columns.
template <typename F>
__global__ void __launch_bounds__(kSumThreads)
    SumLines(const Xyzz<F>* buckets, uint32_t row_bits, uint32_t column_bits, Xyzz<F>* line_sums) {
  const uint32_t rows = uint32_t{1} << row_bits;
  const uint32_t columns = uint32_t{1} << column_bits;
  const uint32_t line = blockIdx.x * (kSumThreads / 32) + threadIdx.x / 32;
  if (line >= rows + columns) return;
  const Xyzz<F>* set = buckets + uint64_t{blockIdx.y} * rows * columns;
  const bool is_row = line < rows;
  const Xyzz<F>* first = is_row ? set + uint64_t{line} * columns : set + (line - rows);
  const SplitPoint<F> sum = SumOfWarp<F>(first, is_row ? columns : rows, is_row ? 1 : columns);
  if (PointOfWarp<F>() == 0) sum.Store(&line_sums[blockIdx.y * (rows + columns) + line]);
}

// Bucket b has weight b + 1 = row * 2^column_bits + column + 1. Block k of set blockIdx.y sums the rows whose
// number has bit k (k < row_bits), or the columns with bit k - row_bits, or, last, all columns.
template <typename F>
__global__ void __launch_bounds__(kSumThreads)
    SumBits(const Xyzz<F>* line_sums, uint32_t row_bits, uint32_t column_bits, Xyzz<F>* bit_sums) {
  __shared__ SharedPoint<F> shared[kSumThreads / 32];
  const uint32_t rows = uint32_t{1} << row_bits;
  const uint32_t columns = uint32_t{1} << column_bits;
  const Xyzz<F>* lines = line_sums + blockIdx.y * (rows + columns);
  const uint32_t k = blockIdx.x;
  const bool of_rows = k < row_bits;
  const bool all = k == row_bits + column_bits;
  const uint32_t bit = of_rows ? k : k - row_bits;
  const uint32_t count = (of_rows ? rows : columns) / (all ? 1 : 2);
  const uint32_t point = threadIdx.x / kPointLanes<F>;
  auto sum = SplitPoint<F>::Infinity();
#pragma unroll 1
  for (uint32_t begin = 0; begin < count; begin += kSumPoints<F>) {
    const uint32_t i = begin + point;
    // The i-th number that has the bit.
    const uint32_t number = all ? i : ((i >> bit) << (bit + 1)) | (1u << bit) | (i & ((1u << bit) - 1));
    sum += SplitPoint<F>::LoadIf(i < count, &lines[of_rows ? number : rows + number]);
  }
  sum = BlockSum<F>(sum, shared);
  if (point == 0) sum.Store(&bit_sums[blockIdx.y * kBitSumsMax + k]);
}

// A point doubled so often. Points of a warp wait for the one that is doubled most.
template <typename F>
__device__ SplitPoint<F> DoubledTimes(SplitPoint<F> point, uint32_t times) {
#pragma unroll 1
  for (uint32_t i = 0; __any_sync(kAllLanes, i < times); ++i)
    point = SplitPoint<F>::Select(i < times, point.Double(), point);
  return point;
}

// One block of kJoinPoints points a set: point k is the sum of the buckets whose number has bit k, doubled to
// its weight in its part, which is bits_of_part bits of the number, a power of two; then the points of each
// part are added up. Part 0 gets the sum of all buckets besides. With 32 bits a part is the set.
constexpr uint32_t kJoinPoints = 32;
static_assert(kBitSumsMax <= kJoinPoints && kMsmSetsMax / kMsmPartsMax <= kJoinPoints);
template <typename F>
__global__ void __launch_bounds__(kJoinPoints* kPointLanes<F>)
    JoinBits(const Xyzz<F>* bit_sums, uint32_t row_bits, uint32_t column_bits, uint32_t bits_of_part,
             Xyzz<F>* result) {
  __shared__ SharedPoint<F> shared[kJoinPoints];
  const uint32_t k = threadIdx.x / kPointLanes<F>;
  const uint32_t bits = row_bits + column_bits;
  const uint32_t parts_of_set = (bits + bits_of_part - 1) / bits_of_part;
  const Xyzz<F>* sums = bit_sums + blockIdx.x * kBitSumsMax;
  auto sum = SplitPoint<F>::LoadIf(k <= bits, &sums[k == bits         ? bits
                                                    : k < column_bits ? row_bits + k
                                                                      : k - column_bits]);
  sum = DoubledTimes<F>(sum, k < bits ? k % bits_of_part : 0);
#pragma unroll 1
  for (uint32_t half = bits_of_part / 2;; half /= 2) {
    // The last round, of half 0, adds the sum of all buckets to part 0.
    sum.Store(shared[k].get());
    __syncthreads();
    const bool last = half == 0;
    const uint32_t from = last ? bits : k + half;
    const bool adds = last ? k == 0 : k < bits && k % bits_of_part < half && from < bits;
    if (__any_sync(kAllLanes, adds)) {
      const auto other = SplitPoint<F>::Load(shared[adds ? from : k].get());
      sum = SplitPoint<F>::Select(adds, sum + other, sum);
    }
    __syncthreads();
    if (last) break;
  }
  if (k < bits && k % bits_of_part == 0) sum.Store(&result[blockIdx.x * parts_of_set + k / bits_of_part]);
}

// One block a part of MSM blockIdx.y, of up to kJoinPoints sets, each 2^window_bits times as heavy as the one
// before: point k is the sum of set k of the part, doubled to its weight; then the points are added up.
template <typename F>
__global__ void __launch_bounds__(kJoinPoints* kPointLanes<F>)
    JoinSets(const Xyzz<F>* set_sums, uint32_t sets, uint32_t sets_of_part, uint32_t window_bits,
             Xyzz<F>* result) {
  __shared__ SharedPoint<F> shared[kJoinPoints];
  const uint32_t k = threadIdx.x / kPointLanes<F>;
  const uint32_t set = blockIdx.x * sets_of_part + k;
  const bool present = k < sets_of_part && set < sets;
  auto sum = SplitPoint<F>::LoadIf(present, &set_sums[blockIdx.y * sets + set]);
  sum = DoubledTimes<F>(sum, present ? k * window_bits : 0);
  sum = WarpSum<F>(sum);
  if (PointOfWarp<F>() == 0) sum.Store(shared[threadIdx.x / 32].get());
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = SumOfWarp<F>(shared[0].get(), kJoinPoints / kWarpPoints<F>, 1);
  if (k == 0) sum.Store(&result[blockIdx.y * gridDim.x + blockIdx.x]);
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
