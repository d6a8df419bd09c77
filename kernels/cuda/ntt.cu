#include "kernels/cuda/ntt.h"

#include <algorithm>

#include "kernels/cuda/wide.cuh"
#include "kernels/field/bn254_fr.h"

namespace proofmill::kernels {
namespace {

using device::LoadWide;
using device::StoreWide;

// Small tiles and many blocks a processor: while some wait for values or at a barrier others multiply. A
// transform of 2^20 with tiles of 2^10 takes 5 % longer, of 2^9 3 %.
constexpr uint32_t kTileBits = 8;
constexpr uint32_t kTile = 1 << kTileBits;
constexpr uint32_t kThreads = kTile / 4;  // a thread holds four values: two levels between exchanges
constexpr uint32_t kColumnBitsMin = 2;    // 4 neighbouring values, 128 bytes, in every strided access

// A tile in shared memory as two planes of 16-byte halves, so that neighbouring threads meet different banks.
struct SharedTile {
  uint4 pieces[2 * kTile];

  // Eight threads that access 16 bytes each in one go must meet eight different quarters of the banks, that
  // is places that differ modulo 8. Those of a step are numbered by three bits of e: 0 to 2, or 0, 1 and 4,
  // or 0, 3 and 4, or 2 to 4. With bit 3 joined into bit 1 and bit 4 into bits 0 and 2 they stay apart in all
  // cases.
  static __device__ uint32_t Place(uint32_t e) {
    return e ^ ((e >> 2) & 2) ^ ((e >> 2) & 4) ^ ((e >> 4) & 1);
  }
  __device__ Fr Load(uint32_t e) const { return device::LoadPieces<Fr>(pieces + Place(e), kTile); }
  __device__ void Store(uint32_t e, const Fr& value) { device::StorePieces(pieces + Place(e), kTile, value); }
  // Piece p of the tile as it lies in global memory, element by element.
  __device__ uint4& Piece(uint32_t p) { return pieces[(p & 1) * kTile + Place(p >> 1)]; }
};

// Levels [level, level + row_bits) of a transform of 2^log2_n values, counted by the distance 2^level of a
// butterfly's two values. A tile is 2^row_bits rows that lie 2^level apart, times 2^(tile_bits - row_bits)
// neighbouring columns. Contiguous when level is 0.
struct Pass {
  uint32_t log2_n;
  uint32_t level;
  uint32_t row_bits;
  uint32_t tile_bits;

  __device__ uint32_t column_bits() const { return tile_bits - row_bits; }
  // Global place of tile element e = row * columns + column.
  __device__ uint32_t Place(uint32_t tile, uint32_t e) const {
    const uint32_t column = e & ((1u << column_bits()) - 1);
    const uint32_t row = e >> column_bits();
    const uint32_t tiles_per_group_bits = level - column_bits();
    const uint32_t group = tile >> tiles_per_group_bits;
    const uint32_t first_column = (tile & ((1u << tiles_per_group_bits) - 1)) << column_bits();
    return (group << (level + row_bits)) + (row << level) + first_column + column;
  }
};

// The twiddle of a butterfly: w^offset with w of order 2^(level+1), offset < 2^level.
__device__ __forceinline__ Fr Twiddle(const Fr* roots, uint32_t level, uint32_t offset) {
  return LoadWide(roots + (1u << level) + offset);
}
// (u - v) * w^-offset. Powers of the inverse root come from the same table: w^-e = -w^(2^level - e).
__device__ __forceinline__ Fr DifferenceTimesInverseTwiddle(const Fr& u, const Fr& v, const Fr* roots,
                                                            uint32_t level, uint32_t offset) {
  if (offset == 0) return u - v;
  return (v - u) * Twiddle(roots, level, (1u << level) - offset);
}

// The four tile elements that a thread works on when its lower level joins elements 2^bit apart (in tile
// numbering): e, e + 2^bit, e + 2*2^bit, e + 3*2^bit.
__device__ __forceinline__ uint32_t FirstOfFour(uint32_t thread, uint32_t bit) {
  return ((thread >> bit) << (bit + 2)) | (thread & ((1u << bit) - 1));
}
// The two elements of butterfly k where only one level is done.
__device__ __forceinline__ uint32_t FirstOfTwo(uint32_t k, uint32_t bit) {
  return ((k >> bit) << (bit + 1)) | (k & ((1u << bit) - 1));
}

// Where the levels of a tile take their values from and leave them: Load(e) and Store(slot, e, value) for
// tile element e. A thread's stores have slots 0 to 3, the same ones for the same elements in every transform
// with the same pass.
struct InShared {
  SharedTile& shared;
  __device__ Fr Load(uint32_t e) const { return shared.Load(e); }
  __device__ void Store(uint32_t, uint32_t e, const Fr& value) const { shared.Store(e, value); }
};
struct InGlobal {
  const Pass& pass;
  uint32_t tile;
  Fr* values;
  __device__ Fr Load(uint32_t e) const { return LoadWide(values + pass.Place(tile, e)); }
  __device__ void Store(uint32_t, uint32_t e, const Fr& value) const {
    StoreWide(values + pass.Place(tile, e), value);
  }
};
// Multiplies by coset[place] on the way.
struct InSharedTimesCoset {
  SharedTile& shared;
  const Pass& pass;
  uint32_t tile;
  const Fr* coset;
  __device__ void Store(uint32_t, uint32_t e, const Fr& value) const {
    shared.Store(e, value * LoadWide(coset + pass.Place(tile, e)));
  }
};

// Tile levels from `row_bits` down to 0, decimation in frequency with the inverse root. The first step reads
// from `in`, the last writes to `out`, those between exchange in shared memory. Ends with a barrier.
template <typename In, typename Out>
__device__ __forceinline__ void InverseLevels(SharedTile& shared, const Fr* roots, const Pass& pass,
                                              uint32_t tile, const In& in, const Out& out) {
  const uint32_t active = (1u << pass.tile_bits) >> 2;
  const InShared between{shared};
  uint32_t left = pass.row_bits;
  while (left >= 2) {
    const bool first = left == pass.row_bits;
    left -= 2;
    const bool last = left == 0;
    const uint32_t bit = pass.column_bits() + left;
    if (threadIdx.x < active) {
      const uint32_t e = FirstOfFour(threadIdx.x, bit);
      const uint32_t level = pass.level + left;
      const uint32_t offset = pass.Place(tile, e) & ((1u << level) - 1);
      Fr x[4];
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) x[k] = first ? in.Load(e + (k << bit)) : between.Load(e + (k << bit));
      const Fr y0 = x[0] + x[2];
      const Fr y1 = x[1] + x[3];
      const Fr y2 = DifferenceTimesInverseTwiddle(x[0], x[2], roots, level + 1, offset);
      const Fr y3 = DifferenceTimesInverseTwiddle(x[1], x[3], roots, level + 1, offset + (1u << level));
      x[0] = y0 + y1;
      x[1] = DifferenceTimesInverseTwiddle(y0, y1, roots, level, offset);
      x[2] = y2 + y3;
      x[3] = DifferenceTimesInverseTwiddle(y2, y3, roots, level, offset);
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        if (last) {
          out.Store(k, e + (k << bit), x[k]);
        } else {
          between.Store(k, e + (k << bit), x[k]);
        }
      }
    }
    __syncthreads();
  }
  if (left == 1) {
    const bool first = pass.row_bits == 1;
    const uint32_t bit = pass.column_bits();
    for (uint32_t k = threadIdx.x; k < (1u << (pass.tile_bits - 1)); k += kThreads) {
      const uint32_t e = FirstOfTwo(k, bit);
      const uint32_t offset = pass.Place(tile, e) & ((1u << pass.level) - 1);
      const Fr u = first ? in.Load(e) : between.Load(e);
      const Fr v = first ? in.Load(e + (1u << bit)) : between.Load(e + (1u << bit));
      const uint32_t slot = k < kThreads ? 0 : 2;
      out.Store(slot, e, u + v);
      out.Store(slot + 1, e + (1u << bit), DifferenceTimesInverseTwiddle(u, v, roots, pass.level, offset));
    }
    __syncthreads();
  }
}

// Tile levels from 0 up to `row_bits`, decimation in time with the root. As above.
template <typename In, typename Out>
__device__ __forceinline__ void ForwardLevels(SharedTile& shared, const Fr* roots, const Pass& pass,
                                              uint32_t tile, const In& in, const Out& out) {
  const uint32_t active = (1u << pass.tile_bits) >> 2;
  const InShared between{shared};
  uint32_t done = 0;
  if (pass.row_bits % 2 == 1) {
    const bool last = pass.row_bits == 1;
    const uint32_t bit = pass.column_bits();
#pragma unroll
    for (uint32_t step = 0; step < 2; ++step) {
      const uint32_t k = threadIdx.x + step * kThreads;
      if (k >= (1u << (pass.tile_bits - 1))) break;
      const uint32_t e = FirstOfTwo(k, bit);
      const uint32_t offset = pass.Place(tile, e) & ((1u << pass.level) - 1);
      const Fr u = in.Load(e);
      const Fr v = in.Load(e + (1u << bit)) * Twiddle(roots, pass.level, offset);
      if (last) {
        out.Store(2 * step, e, u + v);
        out.Store(2 * step + 1, e + (1u << bit), u - v);
      } else {
        between.Store(2 * step, e, u + v);
        between.Store(2 * step + 1, e + (1u << bit), u - v);
      }
    }
    __syncthreads();
    done = 1;
  }
  for (; done < pass.row_bits; done += 2) {
    const bool first = done == 0;
    const bool last = done + 2 == pass.row_bits;
    const uint32_t bit = pass.column_bits() + done;
    if (threadIdx.x < active) {
      const uint32_t e = FirstOfFour(threadIdx.x, bit);
      const uint32_t level = pass.level + done;
      const uint32_t offset = pass.Place(tile, e) & ((1u << level) - 1);
      const Fr w = Twiddle(roots, level, offset);
      Fr x[4];
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) x[k] = first ? in.Load(e + (k << bit)) : between.Load(e + (k << bit));
      x[1] *= w;
      x[3] *= w;
      const Fr y0 = x[0] + x[1];
      const Fr y1 = x[0] - x[1];
      const Fr y2 = (x[2] + x[3]) * Twiddle(roots, level + 1, offset);
      const Fr y3 = (x[2] - x[3]) * Twiddle(roots, level + 1, offset + (1u << level));
      x[0] = y0 + y2;
      x[1] = y1 + y3;
      x[2] = y0 - y2;
      x[3] = y1 - y3;
#pragma unroll
      for (uint32_t k = 0; k < 4; ++k) {
        if (last) {
          out.Store(k, e + (k << bit), x[k]);
        } else {
          between.Store(k, e + (k << bit), x[k]);
        }
      }
    }
    __syncthreads();
  }
}

// A contiguous tile from and to global memory, neighbouring threads at neighbouring pieces.
__device__ __forceinline__ void LoadTile(const Fr* values, uint32_t tile_bits, SharedTile& shared) {
  const auto* const pieces = reinterpret_cast<const uint4*>(values);
  for (uint32_t p = threadIdx.x; p < (2u << tile_bits); p += kThreads) shared.Piece(p) = pieces[p];
  __syncthreads();
}
__device__ __forceinline__ void StoreTile(SharedTile& shared, uint32_t tile_bits, Fr* values) {
  auto* const pieces = reinterpret_cast<uint4*>(values);
  for (uint32_t p = threadIdx.x; p < (2u << tile_bits); p += kThreads) pieces[p] = shared.Piece(p);
}

// One block a tile, blockIdx.y picks the vector. 8 KiB of shared memory; every value is read and written
// once. The inverse ends with, and the transform forward begins with, a contiguous pass.
enum class PassKind { kInverse, kInverseLast, kForwardFirst, kForward, kInverseCosetForward };
template <PassKind kKind>
__global__ void __launch_bounds__(kThreads, 12)
    TransformPass(Pass pass, const Fr* roots, const Fr* coset, Fr* vectors) {
  __shared__ SharedTile shared;
  const uint32_t tile = blockIdx.x;
  Fr* const values = vectors + (uint64_t{blockIdx.y} << pass.log2_n);
  const InGlobal global{pass, tile, values};
  const InShared in_shared{shared};
  if constexpr (kKind == PassKind::kInverse) InverseLevels(shared, roots, pass, tile, global, global);
  if constexpr (kKind == PassKind::kInverseLast) {
    InverseLevels(shared, roots, pass, tile, global, in_shared);
    StoreTile(shared, pass.tile_bits, values + (uint64_t{tile} << pass.tile_bits));
  }
  if constexpr (kKind == PassKind::kForwardFirst) {
    LoadTile(values + (uint64_t{tile} << pass.tile_bits), pass.tile_bits, shared);
    ForwardLevels(shared, roots, pass, tile, in_shared, global);
  }
  if constexpr (kKind == PassKind::kForward) ForwardLevels(shared, roots, pass, tile, global, global);
  if constexpr (kKind == PassKind::kInverseCosetForward) {
    InverseLevels(shared, roots, pass, tile, global, InSharedTimesCoset{shared, pass, tile, coset});
    ForwardLevels(shared, roots, pass, tile, in_shared, global);
  }
}

// What a thread keeps of the transforms of a, b and c: a, then a*b, then h = a*b - c in plain form goes out.
struct ProductInRegisters {
  const Pass& pass;
  uint32_t tile;
  uint32_t vector;
  Fr (&held)[4];
  U256* h;
  __device__ void Store(uint32_t slot, uint32_t e, const Fr& value) const {
    if (vector == 0) {
      held[slot] = value;
    } else if (vector == 1) {
      held[slot] *= value;
    } else {
      StoreWide(h + pass.Place(tile, e), (held[slot] - value).ToPlain());
    }
  }
};

// The last forward pass of a, b and c together with h = a*b - c, of proof blockIdx.y. The vectors are not
// written back.
__global__ void __launch_bounds__(kThreads, 8)
    LastPassAndProduct(Pass pass, const Fr* roots, Fr* abc, U256* h) {
  __shared__ SharedTile shared;
  const uint64_t proof = uint64_t{3 * blockIdx.y} << pass.log2_n;
  Fr held[4];
  for (uint32_t vector = 0; vector < 3; ++vector) {
    const InGlobal global{pass, blockIdx.x, abc + proof + (uint64_t{vector} << pass.log2_n)};
    ForwardLevels(shared, roots, pass, blockIdx.x, global,
                  ProductInRegisters{pass, blockIdx.x, vector, held, h + proof});
  }
}

__global__ void __launch_bounds__(kThreads) ProductPlain(const Fr* abc, U256* h, uint32_t n) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const uint64_t a = uint64_t{3 * blockIdx.y} * n + i;
  h[a] = (abc[a] * abc[a + n] - abc[a + 2 * uint64_t{n}]).ToPlain();
}

__global__ void __launch_bounds__(kThreads) MultiplyByTable(const Fr* table, Fr* vectors, uint32_t n) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) vectors[uint64_t{blockIdx.y} * n + i] *= table[i];
}

__device__ Fr Power(const Fr& base, uint32_t exponent) {
  Fr power = Fr::One();
  Fr square = base;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power *= square;
    square = square.Square();
  }
  return power;
}

// out[i] = factor * base^e, e the bit reversal of i.
__global__ void __launch_bounds__(kThreads) ReversedPowers(Fr base, Fr factor, uint32_t log2_count, Fr* out) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= (1u << log2_count)) return;
  out[i] = factor * Power(base, log2_count == 0 ? 0 : __brev(i) >> (32 - log2_count));
}

// The twiddles of every level: out[2^level + i] = root^(i * 2^(log2_n - level - 1)) for i < 2^level, level <
// log2_n. out[0] is 1.
__global__ void __launch_bounds__(kThreads) LevelRoots(Fr root, uint32_t log2_n, Fr* out) {
  const uint32_t place = blockIdx.x * kThreads + threadIdx.x;
  if (place >= (1u << log2_n)) return;
  const uint32_t level = place == 0 ? 0 : 31 - __clz(place);
  const uint32_t i = place == 0 ? 0 : place - (1u << level);
  out[place] = Power(root, i == 0 ? 0 : i << (log2_n - level - 1));
}

uint32_t Blocks(uint32_t n) { return (n + kThreads - 1) / kThreads; }

// The passes of a transform, by level: a contiguous one of up to kTileBits levels, then strided ones of about
// equal height.
struct Plan {
  uint32_t count = 0;
  Pass passes[8];
};
Plan MakePlan(uint32_t log2_n) {
  Plan plan;
  const uint32_t first = std::min(log2_n, kTileBits);
  plan.passes[plan.count++] = {log2_n, 0, first, first};
  uint32_t level = first;
  constexpr uint32_t kRowBitsMax = kTileBits - kColumnBitsMin;
  for (uint32_t left = log2_n - first; left != 0;) {
    const uint32_t passes_left = (left + kRowBitsMax - 1) / kRowBitsMax;
    uint32_t rows = (left + passes_left - 1) / passes_left;
    if (rows % 2 == 1 && rows < std::min(left, kRowBitsMax)) ++rows;  // levels are done in pairs
    plan.passes[plan.count++] = {log2_n, level, rows, kTileBits};
    level += rows;
    left -= rows;
  }
  return plan;
}
template <PassKind kKind>
void LaunchPass(const NttTables& tables, const Pass& pass, Fr* values, uint32_t batch, cudaStream_t stream) {
  const dim3 grid(1u << (pass.log2_n - pass.tile_bits), batch);
  TransformPass<kKind><<<grid, kThreads, 0, stream>>>(pass, tables.roots, tables.coset, values);
}

}  // namespace

cudaError_t LaunchNttTables(const NttTables& tables, cudaStream_t stream) {
  const uint32_t m = tables.log2_n;
  const Fr shift = m == kFrTwoAdicity ? Fr::FromUint64(25) : FrRootOfUnity(m + 1);
  const Fr n_inverse = Fr::FromUint64(uint64_t{1} << m).Inverse();
  LevelRoots<<<Blocks(1u << m), kThreads, 0, stream>>>(FrRootOfUnity(m), m, tables.roots);
  ReversedPowers<<<Blocks(1u << m), kThreads, 0, stream>>>(shift, n_inverse, m, tables.coset);
  return cudaGetLastError();
}

cudaError_t LaunchNttInverse(const NttTables& tables, Fr* values, uint32_t batch, cudaStream_t stream) {
  const Plan plan = MakePlan(tables.log2_n);
  for (uint32_t p = plan.count; p-- > 1;)
    LaunchPass<PassKind::kInverse>(tables, plan.passes[p], values, batch, stream);
  LaunchPass<PassKind::kInverseLast>(tables, plan.passes[0], values, batch, stream);
  return cudaGetLastError();
}

cudaError_t LaunchNttForward(const NttTables& tables, Fr* values, uint32_t batch, cudaStream_t stream) {
  const Plan plan = MakePlan(tables.log2_n);
  LaunchPass<PassKind::kForwardFirst>(tables, plan.passes[0], values, batch, stream);
  for (uint32_t p = 1; p < plan.count; ++p)
    LaunchPass<PassKind::kForward>(tables, plan.passes[p], values, batch, stream);
  return cudaGetLastError();
}

cudaError_t LaunchNttCoset(const NttTables& tables, Fr* values, uint32_t batch, cudaStream_t stream) {
  const uint32_t n = 1u << tables.log2_n;
  MultiplyByTable<<<dim3(Blocks(n), batch), kThreads, 0, stream>>>(tables.coset, values, n);
  return cudaGetLastError();
}

cudaError_t LaunchComputeH(const NttTables& tables, Fr* abc, U256* h, uint32_t batch, cudaStream_t stream) {
  const Plan plan = MakePlan(tables.log2_n);
  for (uint32_t p = plan.count; p-- > 1;)
    LaunchPass<PassKind::kInverse>(tables, plan.passes[p], abc, 3 * batch, stream);
  LaunchPass<PassKind::kInverseCosetForward>(tables, plan.passes[0], abc, 3 * batch, stream);
  if (plan.count == 1) {
    const uint32_t n = 1u << tables.log2_n;
    ProductPlain<<<dim3(Blocks(n), batch), kThreads, 0, stream>>>(abc, h, n);
    return cudaGetLastError();
  }
  for (uint32_t p = 1; p + 1 < plan.count; ++p)
    LaunchPass<PassKind::kForward>(tables, plan.passes[p], abc, 3 * batch, stream);
  const Pass& last = plan.passes[plan.count - 1];
  LastPassAndProduct<<<dim3(1u << (last.log2_n - last.tile_bits), batch), kThreads, 0, stream>>>(
      last, tables.roots, abc, h);
  return cudaGetLastError();
}

cudaError_t LaunchComputeHUnfused(const NttTables& tables, Fr* abc, U256* h, cudaStream_t stream) {
  const uint32_t n = 1u << tables.log2_n;
  if (cudaError_t error = LaunchNttInverse(tables, abc, 3, stream); error != cudaSuccess) return error;
  if (cudaError_t error = LaunchNttCoset(tables, abc, 3, stream); error != cudaSuccess) return error;
  if (cudaError_t error = LaunchNttForward(tables, abc, 3, stream); error != cudaSuccess) return error;
  ProductPlain<<<Blocks(n), kThreads, 0, stream>>>(abc, h, n);
  return cudaGetLastError();
}

}  // namespace proofmill::kernels
