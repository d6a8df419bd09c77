#include "kernels/cuda/gather.h"

#include "kernels/cuda/wide.cuh"
#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {
namespace {

using device::LoadWide;
using device::StoreWide;

constexpr uint32_t kThreads = 128;
constexpr uint32_t kWarp = 32;

__device__ Fr Term(const DeviceCsr& m, const U256* witness, uint32_t k) {
  return LoadWide(m.values + k) * Fr::FromMontgomery(LoadWide(witness + m.columns[k]));
}

// Writes a, b and a*b of one row of the proof blockIdx.y.
__device__ void StoreRow(Fr* abc, uint32_t n, uint32_t row, const Fr& a, const Fr& b) {
  Fr* const place = abc + uint64_t{3 * blockIdx.y} * n + row;
  StoreWide(place, a);
  StoreWide(place + n, b);
  StoreWide(place + 2 * uint64_t{n}, a * b);
}

// One thread a row of A and B: most rows are short and ragged (mean 1 to 4 terms), so neighbouring threads
// read neighbouring terms.
__device__ void GatherShortRow(const DeviceCsr& a, const DeviceCsr& b, const U256* witness, uint32_t n,
                               uint32_t row, Fr* abc) {
  if (row >= n) return;
  const uint32_t a_end = a.row_offsets[row + 1];
  const uint32_t b_end = b.row_offsets[row + 1];
  uint32_t ka = a.row_offsets[row];
  uint32_t kb = b.row_offsets[row];
  if (a_end - ka + (b_end - kb) > kGatherShortRowTerms) return;
  Fr sum_a;
  Fr sum_b;
  for (; ka < a_end; ++ka) sum_a += Term(a, witness, ka);
  for (; kb < b_end; ++kb) sum_b += Term(b, witness, kb);
  StoreRow(abc, n, row, sum_a, sum_b);
}

__device__ Fr WarpSum(Fr sum) {
  for (uint32_t half = kWarp / 2; half > 0; half /= 2) {
    U256 other;
    for (int i = 0; i < 4; ++i) other.limb[i] = __shfl_down_sync(0xffffffffu, sum.montgomery().limb[i], half);
    sum += Fr::FromMontgomery(other);
  }
  return sum;
}

// One warp a row.
__device__ void GatherLongRow(const DeviceCsr& a, const DeviceCsr& b, const U256* witness, uint32_t n,
                              uint32_t row, Fr* abc) {
  const uint32_t lane = threadIdx.x % kWarp;
  Fr sum_a;
  Fr sum_b;
  for (uint32_t k = a.row_offsets[row] + lane; k < a.row_offsets[row + 1]; k += kWarp)
    sum_a += Term(a, witness, k);
  for (uint32_t k = b.row_offsets[row] + lane; k < b.row_offsets[row + 1]; k += kWarp)
    sum_b += Term(b, witness, k);
  sum_a = WarpSum(sum_a);
  sum_b = WarpSum(sum_b);
  if (lane == 0) StoreRow(abc, n, row, sum_a, sum_b);
}

// The first long_blocks blocks take the long rows, which take longest, the others the short ones.
__global__ void __launch_bounds__(kThreads)
    GatherRows(DeviceCsr a, DeviceCsr b, DeviceWitnesses witnesses, uint32_t n, const uint32_t* long_rows,
               uint32_t long_row_count, uint32_t long_blocks, Fr* abc) {
  const U256* const witness = witnesses.values + uint64_t{blockIdx.y} * witnesses.wires;
  if (blockIdx.x >= long_blocks)
    return GatherShortRow(a, b, witness, n, (blockIdx.x - long_blocks) * kThreads + threadIdx.x, abc);
  const uint32_t r = (blockIdx.x * kThreads + threadIdx.x) / kWarp;
  if (r < long_row_count) GatherLongRow(a, b, witness, n, long_rows[r], abc);
}

}  // namespace

cudaError_t LaunchGather(const DeviceCsr& a, const DeviceCsr& b, const DeviceWitnesses& witnesses, uint32_t n,
                         const uint32_t* long_rows, uint32_t long_row_count, Fr* abc, cudaStream_t stream) {
  if (n == 0) return cudaSuccess;
  constexpr uint32_t kWarps = kThreads / kWarp;
  const uint32_t long_blocks = (long_row_count + kWarps - 1) / kWarps;
  const uint32_t short_blocks = (n + kThreads - 1) / kThreads;
  GatherRows<<<dim3(long_blocks + short_blocks, witnesses.count), kThreads, 0, stream>>>(
      a, b, witnesses, n, long_rows, long_row_count, long_blocks, abc);
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
