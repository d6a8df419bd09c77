// Which instructions field arithmetic on this CPU uses: one choice for the process.
//
// It is made before the first line of main() by what the CPU has. SetArithmetic() overrides it, for a flag or
// a test. Two kinds of code look at it:
//   - every product of a MontgomeryField (montgomery_x86.h): portable C++, or MULX/ADX;
//   - entry points that have versions for several lanes (NTT, MSM): they take their inner loops from a table
//   of
//     functions, one for scalars, one for AVX2 and FMA, one for AVX-512 IFMA, each in translation units of
//     its own.
// Results are the same bit by bit whichever is chosen.

#ifndef PROOFMILL_KERNELS_FIELD_ARITHMETIC_H_
#define PROOFMILL_KERNELS_FIELD_ARITHMETIC_H_

#include <vector>

namespace proofmill::kernels {

enum class Arithmetic {
  kPortable,  // C++ without assumptions
  kAdx,       // scalar products with MULX, ADCX and ADOX (BMI2 and ADX)
  kFma,       // kAdx, and AVX2 with FMA where four lanes gain
  kIfma,      // kAdx, and AVX-512 IFMA (with F, DQ, BW and VL) where eight lanes gain
};

inline constexpr Arithmetic kAllArithmetics[] = {Arithmetic::kPortable, Arithmetic::kAdx, Arithmetic::kFma,
                                                 Arithmetic::kIfma};

// "portable", "adx", "fma" or "ifma".
const char* ArithmeticName(Arithmetic arithmetic);

// Whether CPU and operating system have what it needs, and this build has the code.
bool Supported(Arithmetic arithmetic);

// All that are supported, from kPortable to the best.
std::vector<Arithmetic> SupportedArithmetics();

// Thread safety: any thread.
Arithmetic CurrentArithmetic();

// Objects that hold tables (NttDomain) keep the choice under which they were made. REQUIRES: Supported(), and
// no other thread is computing.
void SetArithmetic(Arithmetic arithmetic);

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_FIELD_ARITHMETIC_H_
