// Device code of batched affine additions, a template over the coordinate field. Included by one translation
// unit per group.
//
// An affine addition costs one inversion, two products and a squaring; Montgomery's trick turns the
// inversions of T additions into one and 3 T products, so that an addition takes 6 products where the mixed
// one of XYZZ coordinates takes 10. The sorted entries of a bucket are cut in groups of kGroupEntries, and a
// group is summed by kGroupLevels levels of pairs. A team takes up to `batch` groups at a time and inverts
// once a level for all of them, on its own: no barrier, so that the warps of a processor drift apart and
// those that wait for points leave the multipliers to the others. Below F is the coordinate field, and E what
// a lane holds of an element.

#ifndef PROOFMILL_KERNELS_CUDA_MSM_AFFINE_CUH_
#define PROOFMILL_KERNELS_CUDA_MSM_AFFINE_CUH_

#include <cstdint>

#include "kernels/cuda/element_lanes.cuh"
#include "kernels/cuda/msm.h"
#include "kernels/cuda/wide.cuh"

namespace proofmill::kernels::device {

// Cards before compute capability 8.0 cannot copy to shared memory asynchronously, and their blocks have at
// most 64 KiB of it, too little for the staging of 128 threads. LaunchGroupBuckets() decides likewise.
constexpr int kAsyncCopyMajor = 8;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool kHasAsyncCopy = false;
#else
constexpr bool kHasAsyncCopy = true;
#endif
constexpr uint32_t kAffineThreads = 128;
constexpr uint32_t kAffineThreadsBeforeAsyncCopy = 64;
static_assert(kAffineThreads % kAffineThreadsBeforeAsyncCopy == 0);
// Of a block, in the code of this architecture.
constexpr uint32_t kAffineBlockThreads = kHasAsyncCopy ? kAffineThreads : kAffineThreadsBeforeAsyncCopy;
constexpr uint32_t kGroupLevels = 3;
static_assert(kGroupEntries == 1u << kGroupLevels);
constexpr uint32_t kGroupPairs = kGroupEntries / 2;
constexpr uint32_t kNoEntry = ~uint32_t{0};  // a value is at most 2^31 - 2 and a sign
constexpr uint32_t kValueMask = (uint32_t{1} << 31) - 1;

constexpr int kAffineBlocks = 4;  // of a processor

// An element in global memory: its 16-byte pieces lie `stride` apart. Absent ones read as zero.
struct Source {
  const uint4* pieces;
  size_t stride;
  bool present;
};

// This thread's part of the scratch memory, interleaved with the other threads' so that a warp's accesses are
// side by side: batch * kGroupPairs products, then as many points.
template <typename E>
struct ThreadColumn {
  static constexpr size_t kPieces = sizeof(E) / sizeof(uint4);
  uint4* base;
  size_t threads;
  uint32_t products;

  __device__ uint4* Slot(uint32_t slot) const { return base + slot * kPieces * threads; }
  __device__ uint4* Product(uint32_t i) const { return Slot(i); }
  __device__ uint4* X(uint32_t i) const { return Slot(products + 2 * i); }
  __device__ uint4* Y(uint32_t i) const { return Slot(products + 2 * i + 1); }
  __device__ void SetPoint(uint32_t i, const Affine<E>& p) const {
    StorePieces(X(i), threads, p.x);
    StorePieces(Y(i), threads, p.y);
  }
};

// Two stages of kStagedElements elements in shared memory for every thread of the block: while a pair is
// added from one, the next pair is on its way to the other. A thread touches its own part only, so that
// waiting for its own copies is enough.
constexpr uint32_t kStagedElements = 5;  // x and y of two points, and a product
template <typename E>
class Staging {
 public:
  static constexpr size_t kPieces = sizeof(E) / sizeof(uint4);
  static constexpr size_t Bytes(uint32_t threads) { return 2 * kStagedElements * sizeof(E) * threads; }

  explicit __device__ Staging(uint4* shared) : mine_(shared + threadIdx.x) {}

  // Starts the copy of an element to place `element` of stage `stage`.
  __device__ void Fetch(uint32_t stage, uint32_t element, const Source& source) const {
#pragma unroll
    for (size_t i = 0; i < kPieces; ++i) {
      uint4* const to = Place(stage, element) + i * kAffineBlockThreads;
      const uint4* const from = source.pieces + i * source.stride;
      if constexpr (kHasAsyncCopy) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                         static_cast<uint32_t>(__cvta_generic_to_shared(to))),
                     "l"(from), "r"(source.present ? 16 : 0));
      } else {
        *to = source.present ? *from : uint4{};
      }
    }
  }
  // Ends the set of copies that one WaitForAllButLast counts.
  static __device__ void EndSet() {
    if constexpr (kHasAsyncCopy) asm volatile("cp.async.commit_group;");
  }
  static __device__ void WaitForAllButLast() {
    if constexpr (kHasAsyncCopy) asm volatile("cp.async.wait_group 1;" ::: "memory");
  }
  __device__ E Get(uint32_t stage, uint32_t element) const {
    return LoadPieces<E>(Place(stage, element), kAffineBlockThreads);
  }

 private:
  __device__ uint4* Place(uint32_t stage, uint32_t element) const {
    return mine_ + (stage * kStagedElements + element) * kPieces * kAffineBlockThreads;
  }

  uint4* const mine_;
};

// What the sum of two points divides by: x2 - x1, or 2 y where the points are equal, or 1 where there is
// nothing to divide (a point or the sum at infinity). y1 and y2 are called only where the x leave it open.
template <typename E, typename Y1, typename Y2>
__device__ __forceinline__ E SlopeDenominator(const E& x1, const E& x2, Y1 get_y1, Y2 get_y2) {
  const E difference = x2 - x1;
  if (!x1.IsZero() && !x2.IsZero() && !difference.IsZero()) return difference;
  const E y1 = get_y1();
  const E y2 = get_y2();
  if ((x1.IsZero() && y1.IsZero()) || (x2.IsZero() && y2.IsZero())) return E::One();
  if (!difference.IsZero()) return difference;
  return y1 == y2 && !y1.IsZero() ? y1.Double() : E::One();
}

// p + q, given the inverse of their SlopeDenominator. 2M + 1S besides.
template <typename E>
__device__ __forceinline__ Affine<E> AddAffine(const Affine<E>& p, const Affine<E>& q, const E& inverse) {
  if (p.IsInfinity()) return q;
  if (q.IsInfinity()) return p;
  E numerator = q.y - p.y;
  if (p.x == q.x) {
    if (!numerator.IsZero() || p.y.IsZero()) return Affine<E>::Infinity();
    const E square = p.x.Square();
    numerator = square.Double() + square;
  }
  const E slope = numerator * inverse;
  const E x = slope.Square() - p.x - q.x;
  return {x, slope * (p.x - x) - p.y};
}

// Two points to add: where their coordinates are, and whether y is to be negated.
struct PairSource {
  Source x1, y1, x2, y2;
  bool negative1, negative2;
};

template <typename E>
__device__ __forceinline__ E WithSign(const E& y, bool negative) {
  return negative ? -y : y;
}
template <typename E>
__device__ __forceinline__ E Read(const Source& source, bool negative) {
  return source.present ? WithSign(LoadPieces<E>(source.pieces, source.stride), negative) : E::Zero();
}

// The two points of a pair by number: entries' values at level 0, slots of the thread's column above.
struct PairNumbers {
  uint32_t first, second;
};

// What a team sums at a time: groups first, first + teams, ... of all groups. At level 0 the points are
// the groups' entries, at level l the sums of level l - 1, which lie in every 2^(l-1)-th slot of the column.
template <typename F>
struct GroupBatch {
  const uint32_t* values;
  const uint2* ranges;
  const Affine<F>* tables;
  Affine<F>* sums;
  ThreadColumn<ElementOf<F>> column;
  uint64_t first;
  uint32_t groups;
  uint32_t teams;

  __device__ const uint2* RangePlace(uint32_t group) const {
    return ranges + first + uint64_t{group} * teams;
  }

  __device__ PairSource Locate(uint32_t level, const PairNumbers& pair) const {
    if (level == 0) {
      return {Entry(pair.first, false), Entry(pair.first, true), Entry(pair.second, false),
              Entry(pair.second, true), pair.first > kValueMask, pair.second > kValueMask};
    }
    return {Slot(column.X(pair.first)),
            Slot(column.Y(pair.first)),
            Slot(column.X(pair.second)),
            Slot(column.Y(pair.second)),
            false,
            false};
  }
  // In place: a sum goes to the slot of its pair's first point, which no pair still to come reads.
  __device__ void Done(uint32_t level, uint32_t pair, const Affine<ElementOf<F>>& sum) const {
    if (level + 1 < kGroupLevels) {
      column.SetPoint(pair << level, sum);
    } else {
      StorePoint(&sums[first + uint64_t{pair} * teams], sum);
    }
  }

 private:
  __device__ Source Entry(uint32_t value, bool of_y) const {
    const Affine<F>& point = tables[value == kNoEntry ? 0 : value & kValueMask];
    const auto* const parts = reinterpret_cast<const ElementOf<F>*>(of_y ? &point.y : &point.x);
    return {reinterpret_cast<const uint4*>(parts + LaneOfTeam<F>()), 1, value != kNoEntry};
  }
  __device__ Source Slot(const uint4* pieces) const { return {pieces, column.threads, true}; }
};

// Gives the pairs of a level in order, up (step 1) or down (step -1). The range of a group is loaded while
// the one before is walked.
template <typename F>
class PairWalk {
 public:
  __device__ PairWalk(const GroupBatch<F>& batch, uint32_t level, int step)
      : batch_(batch), level_(level), step_(step) {
    if (level == 0) next_ = *batch.RangePlace(step > 0 ? 0 : batch.groups - 1);
  }
  __device__ PairNumbers operator()(uint32_t pair) {
    if (level_ > 0) return {(2 * pair) << (level_ - 1), (2 * pair + 1) << (level_ - 1)};
    const uint32_t of_group = pair % kGroupPairs;
    const bool begins = of_group == (step_ > 0 ? 0 : kGroupPairs - 1);
    if (begins) range_ = next_;
    const uint32_t following = pair / kGroupPairs + static_cast<uint32_t>(step_);
    LoadIf(begins && following < batch_.groups, batch_.RangePlace(following), next_);
    return {Value(2 * of_group), Value(2 * of_group + 1)};
  }

 private:
  // In place: a copy of what was loaded would wait for it.
  static __device__ void LoadIf(bool wanted, const uint2* place, uint2& out) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.v2.u32 {%0, %1}, [%3]; }"
                 : "+r"(out.x), "+r"(out.y)
                 : "r"(wanted ? 1 : 0), "l"(place));
  }
  __device__ uint32_t Value(uint32_t i) const {
    return i < range_.y ? batch_.values[range_.x + i] : kNoEntry;
  }

  const GroupBatch<F>& batch_;
  const uint32_t level_;
  const int step_;
  uint2 range_{};
  uint2 next_{};
};

// Level `level` of a batch. One body for all levels: it is long, and instruction caches are small.
template <typename F>
__device__ __forceinline__ void AddPairs(const GroupBatch<F>& batch, uint32_t level,
                                         const Staging<ElementOf<F>>& staging) {
  using E = ElementOf<F>;
  const uint32_t pairs = batch.groups * (kGroupPairs >> level);
  const ThreadColumn<E>& column = batch.column;
  __threadfence();  // the copies read what this thread has written
  const auto fetch_x = [&](uint32_t i, const PairNumbers& numbers) {
    const PairSource pair = batch.Locate(level, numbers);
    staging.Fetch(i % 2, 0, pair.x1);
    staging.Fetch(i % 2, 2, pair.x2);
  };
  const auto fetch_all = [&](uint32_t i, const PairNumbers& numbers) {
    const PairSource pair = batch.Locate(level, numbers);
    staging.Fetch(i % 2, 0, pair.x1);
    staging.Fetch(i % 2, 1, pair.y1);
    staging.Fetch(i % 2, 2, pair.x2);
    staging.Fetch(i % 2, 3, pair.y2);
    staging.Fetch(i % 2, 4, {column.Product(i), column.threads, true});
  };

  // Products of the denominators before each pair.
  PairWalk<F> walk_up(batch, level, 1);
  PairNumbers current = walk_up(0);
  PairNumbers next = current;
  if (pairs > 1) next = walk_up(1);
  E product = E::One();
  fetch_x(0, current);
  staging.EndSet();
  for (uint32_t i = 0; i < pairs; ++i) {
    if (i + 1 < pairs) fetch_x(i + 1, next);
    staging.EndSet();
    PairNumbers after = next;
    if (i + 2 < pairs) after = walk_up(i + 2);
    staging.WaitForAllButLast();
    const PairSource pair = batch.Locate(level, current);
    StorePieces(column.Product(i), column.threads, product);
    product *= SlopeDenominator(
        staging.Get(i % 2, 0), staging.Get(i % 2, 2), [&] { return Read<E>(pair.y1, pair.negative1); },
        [&] { return Read<E>(pair.y2, pair.negative2); });
    current = next;
    next = after;
  }
  __threadfence();

  // Backwards: `inverse` is that of the product of the denominators up to the pair.
  PairWalk<F> walk_down(batch, level, -1);
  current = walk_down(pairs - 1);
  next = current;
  if (pairs > 1) next = walk_down(pairs - 2);
  fetch_all(pairs - 1, current);
  staging.EndSet();
  E inverse = product.Inverse();
  for (uint32_t i = pairs; i-- > 0;) {
    if (i > 0) fetch_all(i - 1, next);
    staging.EndSet();
    PairNumbers after = next;
    if (i > 1) after = walk_down(i - 2);
    staging.WaitForAllButLast();
    const bool of_entries = level == 0;
    const Affine<E> p{staging.Get(i % 2, 0),
                      WithSign(staging.Get(i % 2, 1), of_entries && current.first > kValueMask)};
    const Affine<E> q{staging.Get(i % 2, 2),
                      WithSign(staging.Get(i % 2, 3), of_entries && current.second > kValueMask)};
    const E inverse_of_pair = inverse * staging.Get(i % 2, 4);
    inverse *= SlopeDenominator(
        p.x, q.x, [&] { return p.y; }, [&] { return q.y; });
    batch.Done(level, i, AddAffine(p, q, inverse_of_pair));
    current = next;
    next = after;
  }
}

// sums[g] = the sum of group g's entries, for all groups; a team takes every so many-th.
template <typename F>
__global__ void __launch_bounds__(kAffineBlockThreads, kAffineBlocks)
    SumGroups(const uint32_t* values, const uint2* ranges, const uint32_t* group_count,
              const Affine<F>* tables, uint32_t batch, uint4* scratch, Affine<F>* sums) {
  extern __shared__ uint4 shared[];
  const Staging<ElementOf<F>> staging(shared);
  const uint32_t threads = gridDim.x * kAffineBlockThreads;
  const uint32_t thread = blockIdx.x * kAffineBlockThreads + threadIdx.x;
  const uint32_t teams = threads / kTeamLanes<F>;
  const uint32_t groups = *group_count;
  for (uint64_t first = thread / kTeamLanes<F>; first < groups; first += uint64_t{batch} * teams) {
    const auto left = static_cast<uint32_t>((groups - first + teams - 1) / teams);
    const GroupBatch<F> work{values,
                             ranges,
                             tables,
                             sums,
                             {scratch + thread, threads, batch * kGroupPairs},
                             first,
                             left < batch ? left : batch,
                             teams};
#pragma unroll 1
    for (uint32_t level = 0; level < kGroupLevels; ++level) AddPairs(work, level, staging);
  }
}

}  // namespace proofmill::kernels::device

#endif  // PROOFMILL_KERNELS_CUDA_MSM_AFFINE_CUH_
