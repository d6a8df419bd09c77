// The parts of the MSM that know no group, shared by its G1 and G2 translation units. Not for use outside
// kernels/cuda.

#ifndef PROOFMILL_KERNELS_CUDA_MSM_SORT_H_
#define PROOFMILL_KERNELS_CUDA_MSM_SORT_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/msm.h"

namespace proofmill::kernels {

// A list of bucket numbers and what is to be added there, in device memory.
struct MsmEntries {
  uint32_t* keys;
  uint32_t* values;
};

// See LaunchMsmDigits. `count` is one counter in device memory, set to zero first; not written where
// shape.is_padded(). There the list has batch * windows() * bases_of(chunk) entries, and those of zero digits
// have the key buckets().
cudaError_t LaunchRecodeScalars(const MsmShape& shape, uint32_t chunk, const MsmScalars& scalars,
                                const MsmEntries& entries, uint32_t* count, cudaStream_t stream);

// Scratch bytes of LaunchMsmSort for the longest list of `shape`.
cudaError_t MsmSortTempBytes(const MsmShape& shape, size_t* bytes);

// Sorts `entries` pairs by key, radix sort over the bits that bucket numbers use. The passes go from `list`
// to `spare` and back; `sorted` becomes the one that they end in, and the other may be overwritten.
cudaError_t LaunchMsmSort(const MsmShape& shape, const MsmEntries& list, const MsmEntries& spare,
                          uint32_t entries, void* temp, size_t temp_bytes, cudaStream_t stream,
                          MsmEntries* sorted);

// begin[k] and end[k] become the first place of bucket k in the sorted list and the one after its last;
// buckets without entries are not written. `count` becomes the number of entries before those of key
// buckets() and above. REQUIRES: entries > 0.
cudaError_t LaunchFindBuckets(const uint32_t* keys_sorted, uint32_t entries, uint32_t buckets,
                              uint32_t* begin, uint32_t* end, uint32_t* count, cudaStream_t stream);

// Where the groups of each bucket go, and what the groups are made of.
struct MsmGroups {
  uint32_t* begin;  // buckets: number of the bucket's first group
  uint32_t* end;    // buckets: one after its last
  uint32_t* keys;   // groups: the bucket
  uint2* ranges;    // groups: first entry in the sorted list, number of entries
  uint32_t* count;  // 1: all groups
};

// Cuts the sorted entries of every bucket in groups of kGroupEntries, the last one shorter, numbered by
// bucket. `temp` as for LaunchMsmSort. `entries` bounds *count. REQUIRES: entries > 0; count, bucket_begin
// and bucket_end as LaunchFindBuckets leaves them, both of the latter 0 for buckets without entries.
cudaError_t LaunchMsmGroups(const MsmShape& shape, const uint32_t* keys_sorted, uint32_t entries,
                            const uint32_t* count, const uint32_t* bucket_begin, const uint32_t* bucket_end,
                            const MsmGroups& groups, void* temp, size_t temp_bytes, cudaStream_t stream);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CUDA_MSM_SORT_H_
