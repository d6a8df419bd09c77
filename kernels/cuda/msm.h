// Multi-scalar multiplication over G1 and G2 on a device: sum of scalar[i] * base[i].
//
// Plain C++: host code that includes this file needs no CUDA compiler. Nothing here allocates; callers hand
// in memory whose sizes the functions below give. All launchers only enqueue on `stream` and return the
// launch error; an error inside a kernel shows at the next synchronisation. REQUIRES everywhere: the current
// device owns `stream` and the memory.
//
// Method (Pippenger with signed digits, Brickell et al. fixed-base tables): a scalar is cut in `windows`
// digits of `window_bits` bits in [-2^(c-1) + 1, 2^(c-1)]. Digit j of base i adds the resident multiple
// 2^(c*sets*(j / sets)) * P_i to the bucket |digit| of set j mod sets. The list of (bucket, multiple) is
// sorted by bucket. Where it is long for its buckets, groups of neighbouring entries are first summed by
// batched affine additions (msm_affine.cuh). What is left is cut in equal slices, one a team of lanes (one
// lane in G1, two in G2: element_lanes.cuh), so that a witness that puts most of its terms in one bucket
// costs no more than a uniform one; partial sums of buckets that cross slices are merged afterwards. The
// weighted sum of a set's buckets is taken by row and column sums of a two-level index, then by bits of the
// index, and sets are joined to at most kMsmPartsMax parts: no serial chain is longer than about 75 point
// operations, or 20 where every multiple is resident. Equal, opposite and infinite operands give exact
// results throughout.
//
// Where memory is short the bases are taken in chunks, one after the other, which add to the same buckets:
// the list is only as long as that of one chunk.
//
// A batch is several MSMs over the same bases, as of proofs of one circuit: one list, in which each MSM has
// bucket sets of its own, so that small MSMs together fill a device that each leaves idle.

#ifndef PROOFMILL_KERNELS_CUDA_MSM_H_
#define PROOFMILL_KERNELS_CUDA_MSM_H_

#include <cuda_runtime_api.h>
#include <vector_types.h>

#include <cstddef>
#include <cstdint>

#include "kernels/curve/bn254.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// Windows are at least this wide, so that a scalar has at most kMsmSetsMax of them.
inline constexpr uint32_t kMsmWindowBitsMin = 4;
inline constexpr uint32_t kMsmSetsMax = 64;
// What a device leaves to the host to join. The host doubles 15 times as fast as one thread of a device, and
// four points of each of the five sums of a proof stay below 4 KiB.
inline constexpr uint32_t kMsmPartsMax = 4;

// Entries of one bucket that batched affine additions join to one point.
inline constexpr uint32_t kGroupEntries = 8;
// Whether they do: where that is faster, never (the workspace is smaller), or always. For G2 only: in G1,
// where an addition has a third of the products for the same memory accesses, XYZZ coordinates are faster at
// all sizes.
enum class MsmAffine : uint8_t { kWhereFaster, kNever, kAlways };

// Whether the list of digits is of fixed length, with a place for every digit, zeros included: they are
// sorted to the end, and the host need not learn how many there are. Where lists are short, never, or always.
// Short ones have at most kMsmPaddedEntriesMax entries, as 2^16 bases in windows of 15 bits: sorting so many
// zeros takes about as long as the host takes to learn a length and to enqueue what comes next.
enum class MsmPadding : uint8_t { kWhereShort, kNever, kAlways };
inline constexpr uint32_t kMsmPaddedEntriesMax = uint32_t{5} << 18;

// How one base set is summed. REQUIRES: kMsmWindowBitsMin <= window_bits <= 24, 1 <= tables, tables * bases <
// 2^31, entries_max() < 2^32, 1 <= chunks, 1 <= batch, buckets() < 2^31.
struct MsmShape {
  uint32_t bases = 0;        // points of the set, none at infinity
  uint32_t window_bits = 0;  // c
  uint32_t tables = 1;       // resident multiples a base, the base itself included
  MsmAffine affine = MsmAffine::kWhereFaster;
  uint32_t chunks = 1;  // in which the bases are summed
  MsmPadding padding = MsmPadding::kWhereShort;
  uint32_t batch = 1;  // MSMs at a time, each with scalars of its own

  // Digits a scalar: 254 bits and a carry.
  PROOFMILL_HD constexpr uint32_t windows() const { return (255 + window_bits - 1) / window_bits; }
  // Bucket sets of an MSM; the sets' sums have weights 2^(c*g). Those of MSM m come after those of m - 1.
  PROOFMILL_HD constexpr uint32_t sets() const { return (windows() + tables - 1) / tables; }
  PROOFMILL_HD constexpr uint32_t set_buckets() const { return uint32_t{1} << (window_bits - 1); }
  PROOFMILL_HD constexpr uint32_t all_sets() const { return batch * sets(); }
  PROOFMILL_HD constexpr uint32_t buckets() const { return all_sets() * set_buckets(); }
  // Chunk k is bases [k * chunk_bases(), k * chunk_bases() + bases_of(k)).
  PROOFMILL_HD constexpr uint32_t chunk_bases() const { return (bases + chunks - 1) / chunks; }
  PROOFMILL_HD constexpr uint32_t bases_of(uint32_t chunk) const {
    const uint64_t first = uint64_t{chunk} * chunk_bases();
    if (first >= bases) return 0;
    return bases - first < chunk_bases() ? static_cast<uint32_t>(bases - first) : chunk_bases();
  }
  // The MSM is the sum of 2^(part_bits() * i) * part i. A part is made of neighbouring bucket sets, or, where
  // there is one set only, of so many bits of the buckets' numbers.
  PROOFMILL_HD constexpr uint32_t sets_of_part() const { return (sets() + kMsmPartsMax - 1) / kMsmPartsMax; }
  PROOFMILL_HD constexpr uint32_t number_bits_of_part() const {
    return window_bits - 1 <= 4 * kMsmPartsMax ? 4 : 8;
  }
  PROOFMILL_HD constexpr uint32_t parts() const {
    return sets() == 1 ? (window_bits - 1 + number_bits_of_part() - 1) / number_bits_of_part()
                       : (sets() + sets_of_part() - 1) / sets_of_part();
  }
  PROOFMILL_HD constexpr uint32_t part_bits() const {
    return sets() == 1 ? number_bits_of_part() : window_bits * sets_of_part();
  }
  // Of one chunk of all MSMs.
  PROOFMILL_HD constexpr uint64_t entries_max() const { return uint64_t{batch} * windows() * chunk_bases(); }
  PROOFMILL_HD constexpr bool is_padded() const {
    if (padding != MsmPadding::kWhereShort) return padding == MsmPadding::kAlways;
    return entries_max() <= kMsmPaddedEntriesMax;
  }
  // Groups that so many entries can make: every bucket may end in a short one.
  PROOFMILL_HD constexpr uint64_t groups(uint64_t entries) const {
    const uint64_t used_buckets = entries < buckets() ? entries : buckets();
    return (entries + used_buckets * (kGroupEntries - 1)) / kGroupEntries;
  }
};

// Device memory of one MSM in flight, by part. F is Fq or Fq2.
template <typename F>
struct MsmWorkspace {
  uint32_t* keys = nullptr;          // entries_max
  uint32_t* values = nullptr;        // entries_max
  uint32_t* keys_spare = nullptr;    // entries_max: what the sort moves keys and values to and fro
  uint32_t* values_spare = nullptr;  // entries_max
  // From counters to buckets the parts follow one another, so that one call sets them to zero.
  uint32_t* counters = nullptr;        // 4: entries, medium buckets, large buckets, groups
  uint32_t* bucket_begin = nullptr;    // buckets
  uint32_t* bucket_end = nullptr;      // buckets
  Xyzz<F>* buckets = nullptr;          // buckets
  uint32_t* medium_buckets = nullptr;  // as many as slices allow
  uint32_t* large_buckets = nullptr;   // as many as slices allow
  Xyzz<F>* partials = nullptr;         // two for each slice that a list can be cut in
  Xyzz<F>* large_partials = nullptr;   // 16 for each entry of large_buckets
  Xyzz<F>* line_sums = nullptr;        // all_sets * (rows + columns)
  Xyzz<F>* bit_sums = nullptr;         // all_sets * kBitSumsMax
  Xyzz<F>* set_sums = nullptr;         // all_sets
  void* sort_temp = nullptr;
  size_t sort_temp_bytes = 0;
  uint32_t slices_max = 0;

  // Groups: for G2, where shape.affine is kAlways or kWhereFaster and the set large enough for it.
  uint32_t* group_begin = nullptr;  // buckets
  uint32_t* group_end = nullptr;    // buckets
  uint32_t* group_keys = nullptr;   // groups(entries_max)
  uint2* group_ranges = nullptr;    // groups(entries_max): first entry, number of entries
  Affine<F>* group_sums = nullptr;  // groups(entries_max)
  uint4* affine_scratch = nullptr;  // see ThreadColumn in msm_affine.cuh
};

// The most slices that a sorted list is cut in on this device: a small multiple of the threads that it holds
// at once.
template <typename F>
cudaError_t MsmSlicesMax(uint32_t* slices_max);

// Bytes of the whole workspace for `shape`.
template <typename F>
cudaError_t MsmWorkspaceBytes(const MsmShape& shape, uint32_t slices_max, size_t* bytes);
// Cuts `memory` (256-byte aligned, of at least that size) in parts.
template <typename F>
cudaError_t MsmCutWorkspace(const MsmShape& shape, uint32_t slices_max, void* memory,
                            MsmWorkspace<F>* workspace);

// Scalars in device memory, as LaunchMsmDigits() reads them.
struct MsmScalars {
  const U256* values = nullptr;
  const uint32_t* index = nullptr;
  uint64_t stride = 0;  // not used where the batch is one MSM
};

// Writes the (bucket, multiple) list of all nonzero digits of chunk `chunk` to keys and values in any order,
// and its length to counters[0]; where shape.is_padded(), a list of all digits, and no length. scalars:
// plain, below r; scalar of base i is scalars[index[i]], or scalars[i] where index is null, in MSM m `stride`
// values after that of MSM m - 1.
template <typename F>
cudaError_t LaunchMsmDigits(const MsmShape& shape, uint32_t chunk, const MsmScalars& scalars,
                            const MsmWorkspace<F>& workspace, cudaStream_t stream);

// Sorts the list that LaunchMsmDigits made of `chunk` and adds it to the buckets, which chunk 0 empties
// first. `entries` is counters[0] as read back by the host, at most entries_max; not used where
// shape.is_padded(). tables: tables * bases points, multiple t of base i at t * bases + i. REQUIRES: the
// chunks come in order.
template <typename F>
cudaError_t LaunchMsmBuckets(const MsmShape& shape, uint32_t chunk, const Affine<F>* tables, uint32_t entries,
                             const MsmWorkspace<F>& workspace, cudaStream_t stream);

// The weighted sum of the buckets once the last chunk is in them. result: for each MSM shape.parts() points,
// for JoinMsmParts().
template <typename F>
cudaError_t LaunchMsmReduce(const MsmShape& shape, const MsmWorkspace<F>& workspace, Xyzz<F>* result,
                            cudaStream_t stream);

// An MSM from what LaunchMsmReduce wrote of it, on the host: Horner's rule from the top.
template <typename F>
Xyzz<F> JoinMsmParts(const MsmShape& shape, const Xyzz<F>* parts) {
  Xyzz<F> joined = parts[shape.parts() - 1];
  for (uint32_t i = shape.parts() - 1; i-- > 0;) {
    for (uint32_t k = 0; k < shape.part_bits(); ++k) joined = joined.Double();
    joined += parts[i];
  }
  return joined;
}

// next[i] = 2^doublings * previous[i] for i < n, in affine form. REQUIRES: no point at infinity, odd order.
template <typename F>
cudaError_t LaunchMsmTableStep(const Affine<F>* previous, Affine<F>* next, uint32_t n, uint32_t doublings,
                               cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_MSM_H_
