// The main() of test programs that proofmill_test(... EACH_ARITHMETIC) makes: runs all tests once under every
// arithmetic that this CPU has, the portable one first. With --gtest_filter, --gtest_repeat and so on as
// usual.

#include <cstdio>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/arithmetic.h"

namespace proofmill::kernels {
namespace {

// Iteration i of the test program runs under arithmetic number i, from the first again after the last.
class ArithmeticOfIteration final : public testing::EmptyTestEventListener {
 public:
  void OnTestIterationStart(const testing::UnitTest& /*unit_test*/, int iteration) override {
    const Arithmetic arithmetic = arithmetics_[static_cast<size_t>(iteration) % arithmetics_.size()];
    SetArithmetic(arithmetic);
    std::printf("arithmetic: %s\n", ArithmeticName(arithmetic));
  }
  size_t count() const { return arithmetics_.size(); }

 private:
  const std::vector<Arithmetic> arithmetics_ = SupportedArithmetics();
};

}  // namespace
}  // namespace proofmill::kernels

int main(int argc, char** argv) {
  auto* const listener = new proofmill::kernels::ArithmeticOfIteration;
  GTEST_FLAG_SET(repeat, static_cast<int>(listener->count()));
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(listener);  // owns it from here on
  return RUN_ALL_TESTS();
}
