#include "kernels/field/arithmetic.h"

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>

#include "kernels/field/montgomery_x86.h"
#endif

namespace proofmill::kernels {

#if defined(__x86_64__)
namespace x86 {
constinit std::atomic<bool> adx_chosen{false};
}
#endif

namespace {

// Relaxed: the choice guards no data. It only changes while nothing else computes.
constinit std::atomic<Arithmetic> current{Arithmetic::kPortable};

#if defined(__x86_64__)

constexpr bool HasAll(uint64_t word, uint64_t bits) { return (word & bits) == bits; }

// Bits of CPUID leaf 7, EBX (Intel SDM volume 2, CPUID).
constexpr uint32_t kAvx2 = 1u << 5, kBmi2 = 1u << 8, kAdx = 1u << 19;
constexpr uint32_t kAvx512 = 1u << 16 | 1u << 17 | 1u << 21 | 1u << 30 | 1u << 31;  // F, DQ, IFMA, BW, VL

uint32_t Leaf7Ebx() {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 ? ebx : 0;
}

// Whether the CPU has FMA, and the operating system keeps all of `states` (bits of XCR0) over a switch of
// threads.
bool HasFmaAndStates(uint64_t states) {
  constexpr uint32_t kFma = 1u << 12, kOsXsave = 1u << 27;
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || !HasAll(ecx, kFma | kOsXsave)) return false;
  __asm__("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
  return HasAll(uint64_t{edx} << 32 | eax, states);
}
constexpr uint64_t kAvxStates = 0x6;      // XMM, upper halves of YMM
constexpr uint64_t kAvx512States = 0xe6;  // these, mask registers, upper halves of ZMM0-15, ZMM16-31

bool HasAdx() { return HasAll(Leaf7Ebx(), kBmi2 | kAdx); }
bool HasFma() { return HasAdx() && HasAll(Leaf7Ebx(), kAvx2) && HasFmaAndStates(kAvxStates); }
bool HasIfma() { return HasFma() && HasAll(Leaf7Ebx(), kAvx512) && HasFmaAndStates(kAvx512States); }

#else

bool HasAdx() { return false; }
bool HasFma() { return false; }
bool HasIfma() { return false; }

#endif

[[maybe_unused]] const bool chosen_at_start = [] {
  SetArithmetic(SupportedArithmetics().back());
  return true;
}();

}  // namespace

const char* ArithmeticName(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kPortable:
      return "portable";
    case Arithmetic::kAdx:
      return "adx";
    case Arithmetic::kFma:
      return "fma";
    case Arithmetic::kIfma:
      return "ifma";
  }
  return "unknown";
}

bool Supported(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::kPortable:
      return true;
    case Arithmetic::kAdx:
      return HasAdx();
    case Arithmetic::kFma:
      return HasFma();
    case Arithmetic::kIfma:
      return HasIfma();
  }
  return false;
}

std::vector<Arithmetic> SupportedArithmetics() {
  std::vector<Arithmetic> out;
  for (const Arithmetic arithmetic : kAllArithmetics) {
    if (Supported(arithmetic)) out.push_back(arithmetic);
  }
  return out;
}

Arithmetic CurrentArithmetic() { return current.load(std::memory_order_relaxed); }

void SetArithmetic(Arithmetic arithmetic) {
  current.store(arithmetic, std::memory_order_relaxed);
#if defined(__x86_64__)
  x86::adx_chosen.store(arithmetic != Arithmetic::kPortable, std::memory_order_relaxed);
#endif
}

}  // namespace proofmill::kernels
