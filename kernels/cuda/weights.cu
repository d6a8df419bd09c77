// Weights of sumcheck.h: sums over products of a table over the low half of an index and one over the high
// half.

#include "kernels/cuda/babybear.cuh"
#include "kernels/cuda/eq.cuh"
#include "kernels/cuda/sumcheck.h"

namespace proofmill::kernels {
namespace {

using device::EqAt;
using device::Ext;
using device::Factor;
using device::LoadExt;
using device::LoadPlanes;
using device::Reduce;
using device::Shorten;
using device::StoreExt;

constexpr uint32_t kThreads = 256;

// The tables of a set of terms in one piece of memory.
struct Tables {
  uint32_t* eq_lo;     // [term][coefficient][lo]
  uint32_t* eq_hi;     // [term][hi][coefficient]
  uint32_t* power_lo;  // [term][lo]
  uint32_t* power_hi;  // [term][hi][coefficient]
  uint32_t lo_bits, hi_bits;
};
template <int kD>
Tables MakeTables(uint32_t* memory, size_t eqs, size_t powers, uint32_t log2_size) {
  Tables out;
  out.lo_bits = LoBits(log2_size);
  out.hi_bits = HiBits(log2_size);
  out.eq_lo = memory;
  out.eq_hi = out.eq_lo + (eqs * kD << out.lo_bits);
  out.power_lo = out.eq_hi + (eqs * kD << out.hi_bits);
  out.power_hi = out.power_lo + (powers << out.lo_bits);
  return out;
}

template <int kD>
__device__ __forceinline__ void FillEqTable(const Tables& tables, const EqTerms& terms, uint32_t t,
                                            uint32_t i) {
  const uint32_t lo_count = 1u << tables.lo_bits, hi_count = 1u << tables.hi_bits;
  const uint32_t* const point = terms.points + uint64_t{t} * (tables.lo_bits + tables.hi_bits) * kD;
  if (i < lo_count) {
    device::StorePlanes(tables.eq_lo + uint64_t{t} * kD * lo_count, lo_count, i,
                        EqAt<kD>(point + tables.hi_bits * kD, tables.lo_bits, i));
  }
  if (i < hi_count) {
    StoreExt(tables.eq_hi + (uint64_t{t} * hi_count + i) * kD,
             EqAt<kD>(point, tables.hi_bits, i) * LoadExt<kD>(terms.coefficients + uint64_t{t} * kD));
  }
}

template <int kD>
__device__ __forceinline__ void FillPowerTable(const Tables& tables, const PowerTerms& terms, uint32_t t,
                                               uint32_t i) {
  const uint32_t lo_count = 1u << tables.lo_bits, hi_count = 1u << tables.hi_bits;
  const uint64_t position = t < *terms.position_count ? terms.positions[t] : 0;
  constexpr uint64_t kOrder = uint64_t{1} << kBabyBearTwoAdicity;  // of the generator, or a multiple
  if (i < lo_count)
    tables.power_lo[uint64_t{t} * lo_count + i] = device::Power(terms.generator, position * i % kOrder);
  if (i < hi_count) {
    const uint32_t power = device::Power(terms.generator, ((position * i) << tables.lo_bits) % kOrder);
    StoreExt(tables.power_hi + (uint64_t{t} * hi_count + i) * kD,
             device::Scale(LoadExt<kD>(terms.coefficients + uint64_t{t} * kD), power));
  }
}

// blockIdx.y picks the term.
template <int kD>
__global__ void __launch_bounds__(kThreads) FillTables(Tables tables, EqTerms eqs, PowerTerms powers) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (blockIdx.y < eqs.count) {
    FillEqTable<kD>(tables, eqs, blockIdx.y, i);
  } else {
    FillPowerTable<kD>(tables, powers, blockIdx.y - eqs.count, i);
  }
}

// One low index a thread, kRows high ones; the factors of the high table are shared by the block.
constexpr uint32_t kRows = 4;
constexpr uint32_t kTermTile = 16;

template <int kD>
__global__ void __launch_bounds__(kThreads)
    AddWeights(Tables tables, uint32_t eqs, uint32_t powers, bool overwrite, DevicePlanes w) {
  __shared__ Factor<kD> eq_factors[kTermTile][kRows];
  __shared__ Ext<kD> power_factors[kTermTile][kRows];
  const uint32_t lo_count = 1u << tables.lo_bits, hi_count = 1u << tables.hi_bits;
  const uint32_t lo = blockIdx.x * kThreads + threadIdx.x, first_hi = blockIdx.y * kRows;
  uint64_t sums[kRows][kD] = {};
  for (uint32_t first = 0; first < eqs; first += kTermTile) {
    const uint32_t here = min(kTermTile, eqs - first);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < here * kRows; i += kThreads) {
      const uint32_t t = i / kRows, hi = min(first_hi + i % kRows, hi_count - 1);
      eq_factors[t][i % kRows] =
          device::MakeFactor(LoadExt<kD>(tables.eq_hi + (uint64_t{first + t} * hi_count + hi) * kD));
    }
    __syncthreads();
    if (lo >= lo_count) continue;
    for (uint32_t t = 0; t < here; ++t) {
      const Ext<kD> low = LoadPlanes<kD>(tables.eq_lo + uint64_t{first + t} * kD * lo_count, lo_count, lo);
#pragma unroll
      for (uint32_t row = 0; row < kRows; ++row) {
#pragma unroll
        for (int k = 0; k < kD; ++k) {
          uint64_t& sum = sums[row][k];
#pragma unroll
          for (int i = 0; i < kD; ++i) {
            sum += uint64_t{low.c[i]} * FactorWord(eq_factors[t][row], k, i);
            if (i % 2 == 1 || i + 1 == kD) sum = Shorten(sum);
          }
        }
      }
    }
  }
  for (uint32_t first = 0; first < powers; first += kTermTile) {
    const uint32_t here = min(kTermTile, powers - first);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < here * kRows; i += kThreads) {
      const uint32_t t = i / kRows, hi = min(first_hi + i % kRows, hi_count - 1);
      power_factors[t][i % kRows] = LoadExt<kD>(tables.power_hi + (uint64_t{first + t} * hi_count + hi) * kD);
    }
    __syncthreads();
    if (lo >= lo_count) continue;
#pragma unroll 2
    for (uint32_t t = 0; t < here; ++t) {
      const uint32_t low = tables.power_lo[uint64_t{first + t} * lo_count + lo];
#pragma unroll
      for (uint32_t row = 0; row < kRows; ++row) {
#pragma unroll
        for (int k = 0; k < kD; ++k)
          sums[row][k] = Shorten(sums[row][k] + uint64_t{low} * power_factors[t][row].c[k]);
      }
    }
  }
  if (lo >= lo_count) return;
#pragma unroll
  for (uint32_t row = 0; row < kRows; ++row) {
    if (first_hi + row >= hi_count) break;
    const uint64_t place = (uint64_t{first_hi + row} << tables.lo_bits) + lo;
    Ext<kD> value;
#pragma unroll
    for (int k = 0; k < kD; ++k) value.c[k] = Reduce(sums[row][k]);
    if (!overwrite) value = value + LoadPlanes<kD>(w.data, w.stride, place);
    device::StorePlanes(w.data, w.stride, place, value);
  }
}

uint32_t Blocks(uint64_t n) { return static_cast<uint32_t>((n + kThreads - 1) / kThreads); }

}  // namespace

template <int kDegree>
cudaError_t LaunchAddWeights(const EqTerms& eqs, const PowerTerms& powers, uint32_t log2_size, bool overwrite,
                             uint32_t* tables, DevicePlanes w, cudaStream_t stream) {
  const Tables parts = MakeTables<kDegree>(tables, eqs.count, powers.count, log2_size);
  const uint32_t lo_count = 1u << parts.lo_bits, hi_count = 1u << parts.hi_bits;
  const uint32_t terms = eqs.count + powers.count;
  if (terms != 0)
    FillTables<kDegree><<<dim3(Blocks(lo_count), terms), kThreads, 0, stream>>>(parts, eqs, powers);
  const dim3 grid(Blocks(lo_count), (hi_count + kRows - 1) / kRows);
  AddWeights<kDegree><<<grid, kThreads, 0, stream>>>(parts, eqs.count, powers.count, overwrite, w);
  return cudaGetLastError();
}

template cudaError_t LaunchAddWeights<4>(const EqTerms&, const PowerTerms&, uint32_t, bool, uint32_t*,
                                         DevicePlanes, cudaStream_t);
template cudaError_t LaunchAddWeights<5>(const EqTerms&, const PowerTerms&, uint32_t, bool, uint32_t*,
                                         DevicePlanes, cudaStream_t);

}  // namespace proofmill::kernels
