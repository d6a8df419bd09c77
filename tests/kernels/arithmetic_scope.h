// Runs a part of a test or of a benchmark under one arithmetic.

#ifndef PROOFMILL_TESTS_KERNELS_ARITHMETIC_SCOPE_H_
#define PROOFMILL_TESTS_KERNELS_ARITHMETIC_SCOPE_H_

#include "kernels/field/arithmetic.h"

namespace proofmill::kernels {

// Sets the arithmetic of the process, and the one before when it ends. REQUIRES: it is supported, and no
// other thread is computing at either time.
class ArithmeticScope {
 public:
  explicit ArithmeticScope(Arithmetic arithmetic) : before_(CurrentArithmetic()) {
    SetArithmetic(arithmetic);
  }
  ~ArithmeticScope() { SetArithmetic(before_); }
  ArithmeticScope(const ArithmeticScope&) = delete;
  ArithmeticScope& operator=(const ArithmeticScope&) = delete;

 private:
  const Arithmetic before_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_KERNELS_ARITHMETIC_SCOPE_H_
