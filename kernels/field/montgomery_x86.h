// Modular arithmetic of four-limb integers for x86-64 hosts, without branches on values.
//
// Sums and differences are baseline x86-64. The product with MULX, ADCX and ADOX is for CPUs that have BMI2
// and ADX; since it is inline assembly, no other code in a unit that includes this can end up with such
// instructions.
//
// GCC 12 turns the portable carry arithmetic into 128-bit vector moves that read limbs just written one by
// one; each such read stalls. With these sums a G1 mixed addition takes 149 ns in place of 720 (GCC 12.2 -O3,
// AMD EPYC Zen 5, 2026-11; clang 14: 166 in place of 202).
//
// Included by montgomery.h alone. Params as there; integers in and out are below p unless said.

#ifndef PROOFMILL_KERNELS_FIELD_MONTGOMERY_X86_H_
#define PROOFMILL_KERNELS_FIELD_MONTGOMERY_X86_H_

#include <atomic>
#include <cstdint>

#include "kernels/field/limbs.h"

namespace proofmill::kernels::x86 {

// Whether products use MulModAdx(): set by SetArithmetic() (arithmetic.h). A flag rather than two instances
// of all code that multiplies: the branch is always predicted.
extern std::atomic<bool> adx_chosen;
inline bool AdxChosen() { return adx_chosen.load(std::memory_order_relaxed); }

// x or x - p, whichever is in [0, p). REQUIRES: x < 2p.
template <typename Params>
inline U256 ReduceOnce(const U256& x) {
  static constexpr U256 p = Params::kModulus;
  uint64_t r0 = x.limb[0], r1 = x.limb[1], r2 = x.limb[2], r3 = x.limb[3];
  __asm__(
      "subq %[p0], %[r0]\n\t"
      "sbbq %[p1], %[r1]\n\t"
      "sbbq %[p2], %[r2]\n\t"
      "sbbq %[p3], %[r3]\n\t"
      "cmovcq %[x0], %[r0]\n\t"
      "cmovcq %[x1], %[r1]\n\t"
      "cmovcq %[x2], %[r2]\n\t"
      "cmovcq %[x3], %[r3]"
      : [r0] "+&r"(r0), [r1] "+&r"(r1), [r2] "+&r"(r2), [r3] "+&r"(r3)
      : [x0] "rm"(x.limb[0]), [x1] "rm"(x.limb[1]), [x2] "rm"(x.limb[2]), [x3] "rm"(x.limb[3]),
        [p0] "m"(p.limb[0]), [p1] "m"(p.limb[1]), [p2] "m"(p.limb[2]), [p3] "m"(p.limb[3])
      : "cc");
  return {{r0, r1, r2, r3}};
}

// a + b mod p.
template <typename Params>
inline U256 AddMod(const U256& a, const U256& b) {
  uint64_t s0 = a.limb[0], s1 = a.limb[1], s2 = a.limb[2], s3 = a.limb[3];
  __asm__(
      "addq %[b0], %[s0]\n\t"
      "adcq %[b1], %[s1]\n\t"
      "adcq %[b2], %[s2]\n\t"
      "adcq %[b3], %[s3]"  // below 2^255: no carry
      : [s0] "+&r"(s0), [s1] "+&r"(s1), [s2] "+&r"(s2), [s3] "+&r"(s3)
      : [b0] "rm"(b.limb[0]), [b1] "rm"(b.limb[1]), [b2] "rm"(b.limb[2]), [b3] "rm"(b.limb[3])
      : "cc");
  return ReduceOnce<Params>({{s0, s1, s2, s3}});
}

// a - b mod p.
template <typename Params>
inline U256 SubMod(const U256& a, const U256& b) {
  static constexpr U256 p = Params::kModulus;
  uint64_t d0 = a.limb[0], d1 = a.limb[1], d2 = a.limb[2], d3 = a.limb[3];
  uint64_t p0 = p.limb[0], p1 = p.limb[1], p2 = p.limb[2], p3 = p.limb[3];
  uint64_t mask;
  __asm__(
      "subq %[b0], %[d0]\n\t"
      "sbbq %[b1], %[d1]\n\t"
      "sbbq %[b2], %[d2]\n\t"
      "sbbq %[b3], %[d3]\n\t"
      "sbbq %[mask], %[mask]\n\t"  // all ones after a borrow
      "andq %[mask], %[p0]\n\t"
      "andq %[mask], %[p1]\n\t"
      "andq %[mask], %[p2]\n\t"
      "andq %[mask], %[p3]\n\t"
      "addq %[p0], %[d0]\n\t"
      "adcq %[p1], %[d1]\n\t"
      "adcq %[p2], %[d2]\n\t"
      "adcq %[p3], %[d3]"
      : [d0] "+&r"(d0), [d1] "+&r"(d1), [d2] "+&r"(d2), [d3] "+&r"(d3), [p0] "+&r"(p0), [p1] "+&r"(p1),
        [p2] "+&r"(p2), [p3] "+&r"(p3), [mask] "=&r"(mask)
      : [b0] "rm"(b.limb[0]), [b1] "rm"(b.limb[1]), [b2] "rm"(b.limb[2]), [b3] "rm"(b.limb[3])
      : "cc");
  return {{d0, d1, d2, d3}};
}

// One word of the multiplier, which rdx holds: t (five words) = t (four) + a * rdx. The low halves of the
// partial products go into one carry chain, the high halves into another (Ozturk, Guilford, Gopal, Feghali:
// New instructions supporting large integer arithmetic on Intel architecture processors, 2012).
#define PROOFMILL_ADX_MULTIPLY                                                      \
  "xorl %k[low], %k[low]\n\t" /* clears both carries */                             \
  "mulxq %[a0], %[low], %[high]\n\tadcxq %[low], %[t0]\n\tadoxq %[high], %[t1]\n\t" \
  "mulxq %[a1], %[low], %[high]\n\tadcxq %[low], %[t1]\n\tadoxq %[high], %[t2]\n\t" \
  "mulxq %[a2], %[low], %[high]\n\tadcxq %[low], %[t2]\n\tadoxq %[high], %[t3]\n\t" \
  "mulxq %[a3], %[low], %[t4]\n\tadcxq %[low], %[t3]\n\t"                           \
  "movl $0, %k[low]\n\tadoxq %[low], %[t4]\n\tadcxq %[low], %[t4]\n\t"
// t (four words) = (t (five) + m * p) / 2^64 with the m that makes the division exact; the words move down on
// the way. There is no fifth word: t stays below 2p.
#define PROOFMILL_ADX_REDUCE                                                           \
  "movq %[t0], %%rdx\n\timulq %[negative_inverse], %%rdx\n\txorl %k[low], %k[low]\n\t" \
  "mulxq %[p0], %[low], %[high]\n\tadcxq %[t0], %[low]\n\tmovq %[high], %[t0]\n\t"     \
  "adcxq %[t1], %[t0]\n\tmulxq %[p1], %[low], %[t1]\n\tadoxq %[low], %[t0]\n\t"        \
  "adcxq %[t2], %[t1]\n\tmulxq %[p2], %[low], %[t2]\n\tadoxq %[low], %[t1]\n\t"        \
  "adcxq %[t3], %[t2]\n\tmulxq %[p3], %[low], %[t3]\n\tadoxq %[low], %[t2]\n\t"        \
  "movl $0, %k[low]\n\tadcxq %[low], %[t3]\n\tadoxq %[t4], %[t3]\n\t"

// a * b * 2^-256 mod p, the method of MontgomeryField's product. REQUIRES: the CPU has BMI2 and ADX.
template <typename Params>
inline U256 MulModAdx(const U256& a, const U256& b) {
  static constexpr U256 p = Params::kModulus;
  static constexpr uint64_t negative_inverse = Params::kNegInverse;
  uint64_t t0, t1, t2, t3, t4, low, high;
  __asm__(
      "movq %[b0], %%rdx\n\t"
      "mulxq %[a0], %[t0], %[t1]\n\t"
      "mulxq %[a1], %[low], %[t2]\n\taddq %[low], %[t1]\n\t"
      "mulxq %[a2], %[low], %[t3]\n\tadcq %[low], %[t2]\n\t"
      "mulxq %[a3], %[low], %[t4]\n\tadcq %[low], %[t3]\n\tadcq $0, %[t4]\n\t"  //
      PROOFMILL_ADX_REDUCE                                                      //
      "movq %[b1], %%rdx\n\t" PROOFMILL_ADX_MULTIPLY PROOFMILL_ADX_REDUCE       //
      "movq %[b2], %%rdx\n\t" PROOFMILL_ADX_MULTIPLY PROOFMILL_ADX_REDUCE       //
      "movq %[b3], %%rdx\n\t" PROOFMILL_ADX_MULTIPLY PROOFMILL_ADX_REDUCE
      : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4), [low] "=&r"(low),
        [high] "=&r"(high)
      : [a0] "m"(a.limb[0]), [a1] "m"(a.limb[1]), [a2] "m"(a.limb[2]), [a3] "m"(a.limb[3]),
        [b0] "m"(b.limb[0]), [b1] "m"(b.limb[1]), [b2] "m"(b.limb[2]), [b3] "m"(b.limb[3]),
        [p0] "m"(p.limb[0]), [p1] "m"(p.limb[1]), [p2] "m"(p.limb[2]), [p3] "m"(p.limb[3]),
        [negative_inverse] "m"(negative_inverse)
      : "rdx", "cc");
  return ReduceOnce<Params>({{t0, t1, t2, t3}});
}

#undef PROOFMILL_ADX_MULTIPLY
#undef PROOFMILL_ADX_REDUCE

}  // namespace proofmill::kernels::x86

#endif  // PROOFMILL_KERNELS_FIELD_MONTGOMERY_X86_H_
