// The inner loops over BabyBear vectors on one thread, in a version for each instruction set that a CPU may
// have: AVX-512 under Arithmetic::kIfma, AVX2 under kFma, and under kAdx where the CPU has it, portable C++
// otherwise. Results are the same bit by bit.
//
// Words are Montgomery forms, fully reduced. A digest is eight words. Vectors of extension elements are
// planes: all coefficients of X^0, then all of X^1, and so on; plane i of a vector at `data` begins at data +
// i * stride.
//
// Thread safety: pure functions of their arguments.

#ifndef PROOFMILL_KERNELS_CPU_BABYBEAR_KERNELS_H_
#define PROOFMILL_KERNELS_CPU_BABYBEAR_KERNELS_H_

#include <cstddef>
#include <cstdint>

namespace proofmill::kernels {

// The round constants of Poseidon2 of width 16, each as c - p modulo 2^32: a sum with an element is then in
// (-p, p).
struct Poseidon2Words {
  uint32_t initial[4][16];
  uint32_t partial[13];
  uint32_t terminal[4][16];
};

// Rows of `width` words, stored by columns; row i is at place (bits of i reversed) of each column.
struct ColumnMatrix {
  const uint32_t* data;
  size_t width;
  uint32_t log2_height;
};

// Twiddles of a transform: see babybear_ntt.h.
struct BabyBearNttTables {
  const uint32_t* blocks;  // [b] = g_(l+1)^(l bits of b reversed), for any l with b < 2^l
  const uint32_t* tails;   // for each group of lanes^2 elements: (lanes - 1) vectors
};

// Planes of an extension vector.
struct Planes {
  uint32_t* data;
  size_t stride;
};

// The sums of one sumcheck round: h(0) and h(2), coefficient by coefficient.
inline constexpr int kExtDegreeMax = 5;
struct RoundSums {
  uint32_t h0[kExtDegreeMax];
  uint32_t h2[kExtDegreeMax];
};

// out[k][lo] (+)= sum over p < planes of in[p][lo] * coefficients[hi][k][p], for hi in [hi_begin, hi_end) and
// all lo < lo_count; out[k] of hi is out.data + k * out.stride + hi * lo_count.
struct ExpandTask {
  Planes out;
  const uint32_t* in;  // planes of lo_count words, one after the other
  size_t planes;
  const uint32_t* coefficients;
  size_t lo_count;
  size_t hi_begin, hi_end;
  bool accumulate;
};

// sums[k][lo] += sum over hi and i < planes of in[i][hi][lo] * coefficients[hi][k][i]; in[i] of hi is
// in + i * stride + hi * lo_count, sums[k] is sums + k * lo_count.
struct ContractTask {
  const uint32_t* in;
  size_t stride;
  const uint32_t* coefficients;
  size_t lo_count;
  size_t hi_begin, hi_end;
  uint32_t* sums;
};

// One degree of the extension. Sums of a sumcheck round over pairs (i, i + half) for i in [begin, end):
//   h(0) = sum f_lo w_lo,  h(2) = sum (2 f_hi - f_lo) (2 w_hi - w_lo).
struct ExtKernels {
  void (*expand)(const ExpandTask& task);
  void (*contract_base)(const ContractTask& task);  // in: one plane of base elements
  void (*contract_ext)(const ContractTask& task);
  // f: base elements, or an extension vector.
  void (*round_base)(const uint32_t* f, Planes w, size_t half, size_t begin, size_t end, RoundSums* sums);
  void (*round_ext)(Planes f, Planes w, size_t half, size_t begin, size_t end, RoundSums* sums);
  // out[i] = in[i] + r * (in[i + half] - in[i]) for i in [begin, end); `out` may be `in`. r: the
  // coefficients.
  void (*fold_base)(const uint32_t* in, Planes out, const uint32_t* r, size_t half, size_t begin, size_t end);
  void (*fold_ext)(Planes in, Planes out, const uint32_t* r, size_t half, size_t begin, size_t end);
};

inline constexpr uint32_t kNoNonce = ~uint32_t{0};

struct BabyBearKernels {
  const char* name;
  size_t lanes;
  // Permutes `lanes` states, word i of state l at states[i * lanes + l], `times` times.
  void (*permute)(const Poseidon2Words& constants, uint32_t* states, size_t times);
  // The leaf digests of rows c + j * 2^log2_height / lanes, for j < lanes and c in [begin, end).
  // REQUIRES: 2^log2_height >= lanes.
  void (*hash_rows)(const Poseidon2Words& constants, const ColumnMatrix& matrix, size_t begin, size_t end,
                    uint32_t* digests);
  // out[i] = the node over in[2i] and in[2i + 1]. REQUIRES: n is a multiple of `lanes`.
  void (*compress)(const Poseidon2Words& constants, const uint32_t* in, uint32_t* out, size_t n);
  // The least nonce w in [begin, end) for which word 7 of the permuted state, w being word `position`, has
  // the canonical bits `mask` zero; kNoNonce if there is none. REQUIRES: begin < end <= p.
  uint32_t (*search_nonce)(const Poseidon2Words& constants, const uint32_t* state, size_t position,
                           uint32_t mask, uint32_t begin, uint32_t end);
  // Transforms block `block` of 2^log2_size elements in place, natural order in and bit-reversed order out.
  // REQUIRES: 2^log2_size >= lanes^2.
  void (*ntt_block)(const BabyBearNttTables& tables, uint32_t* data, uint32_t log2_size, size_t block);
  // Only its first three layers, of elements [begin, end) of each eighth. REQUIRES: both are multiples of
  // `lanes`.
  void (*ntt_three_layers)(const BabyBearNttTables& tables, uint32_t* data, uint32_t log2_size, size_t block,
                           size_t begin, size_t end);
  // Makes `tails` out of `blocks`, vectors of groups [begin, end).
  void (*ntt_tails)(const uint32_t* blocks, uint32_t* tails, size_t begin, size_t end);
  ExtKernels ext4, ext5;

  const ExtKernels& ext(int degree) const { return degree == 4 ? ext4 : ext5; }
};

// The kernels of the current arithmetic.
const BabyBearKernels& CurrentBabyBearKernels();

namespace portable {
extern const BabyBearKernels kKernels;
}
// Only in builds for x86-64, and only for CPUs that have the instructions.
namespace avx2 {
extern const BabyBearKernels kKernels;
}
namespace avx512 {
extern const BabyBearKernels kKernels;
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_BABYBEAR_KERNELS_H_
