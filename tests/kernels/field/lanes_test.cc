// The arithmetic on lanes against MontgomeryField, on edge values and random ones, where the CPU has it.

#include <cfenv>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/arithmetic.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"
#include "tests/kernels/field/lane_ops.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kLanesMax = 8;

template <typename Params>
class LanesTest {
 public:
  using F = MontgomeryField<Params>;

  explicit LanesTest(const LaneOps& ops) : ops_(ops), lanes_(ops.lanes), integers_(EdgeIntegers<Params>()) {
    Random random(7);
    for (int i = 0; i < 40; ++i) integers_.push_back(RandomBelow<Params>(random));
  }

  void Run() {
    ForPairs([&](const U256* a, const U256* b) {
      CheckProducts(a, b);
      CheckSums(a, b);
      CheckMasks(a, b);
    });
    CheckReduction();
    CheckStrides();
  }

 private:
  // Calls check(a, b) with eight values each, so that every pair of values meets in some lane.
  template <typename Check>
  void ForPairs(const Check& check) {
    const size_t n = integers_.size();
    for (size_t shift = 0; shift < n; ++shift) {
      for (size_t begin = 0; begin < n; begin += lanes_) {
        U256 a[kLanesMax], b[kLanesMax];
        for (size_t i = 0; i < lanes_; ++i) {
          a[i] = integers_[(begin + i) % n];
          b[i] = integers_[(begin + i + shift) % n];
        }
        check(a, b);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
  template <typename Expected>
  void Expect(const U256* out, const char* what, const Expected& expected) {
    for (size_t i = 0; i < lanes_; ++i) {
      EXPECT_EQ(F::FromMontgomery(out[i]), expected(i)) << what << " in lane " << i;
    }
  }

  void CheckProducts(const U256* a, const U256* b) {
    const auto x = [&](size_t i) { return F::FromMontgomery(a[i]); };
    const auto y = [&](size_t i) { return F::FromMontgomery(b[i]); };
    U256 out[kLanesMax];
    ops_.multiply(a, b, out);
    Expect(out, "product", [&](size_t i) { return x(i) * y(i); });
    for (const uint32_t bound : {1u, 9u, ops_.product_bound_max}) {
      ops_.multiply_at_bounds(a, b, bound, out);
      Expect(out, "product at the bounds", [&](size_t i) { return x(i) * y(i); });
    }
    ops_.square(a, out);
    Expect(out, "square", [&](size_t i) { return x(i) * x(i); });
    ops_.square_at_bound(a, out);
    Expect(out, "square at the bound", [&](size_t i) { return x(i) * x(i); });
    ops_.sum_of_products(a, b, out);
    Expect(out, "sum of products", [&](size_t i) { return x(i) * y(i) + x(i) * x(i); });
    ops_.difference_of_products(a, b, out);
    Expect(out, "difference of products", [&](size_t i) { return x(i) * y(i) - x(i) * x(i); });
  }
  void CheckSums(const U256* a, const U256* b) {
    const auto x = [&](size_t i) { return F::FromMontgomery(a[i]); };
    const auto y = [&](size_t i) { return F::FromMontgomery(b[i]); };
    U256 out[kLanesMax];
    ops_.add(a, b, out);
    Expect(out, "sum", [&](size_t i) { return x(i) + y(i); });
    ops_.subtract(a, b, out);
    Expect(out, "difference", [&](size_t i) { return x(i) - y(i); });
    ops_.negate(a, out);
    Expect(out, "negative", [&](size_t i) { return -x(i); });
  }
  void CheckMasks(const U256* a, const U256* b) {
    uint32_t equal = 0, zero = 0;
    for (uint32_t i = 0; i < lanes_; ++i) {
      equal |= static_cast<uint32_t>(a[i] == b[i]) << i;
      zero |= static_cast<uint32_t>(a[i].IsZero()) << i;
    }
    EXPECT_EQ(ops_.equal(a, b), equal);
    EXPECT_EQ(ops_.equal(a, a), (1u << lanes_) - 1);
    EXPECT_EQ(ops_.is_zero(a), zero);
  }
  void CheckReduction() {
    for (uint32_t multiple = 0; multiple < 84; ++multiple) {
      for (size_t begin = 0; begin + lanes_ <= integers_.size(); begin += lanes_) {
        U256 out[kLanesMax];
        ops_.reduce(&integers_[begin], multiple, out);
        for (size_t i = 0; i < lanes_; ++i) ASSERT_EQ(out[i], integers_[begin + i]) << multiple << " times p";
      }
    }
  }
  void CheckStrides() {
    for (const size_t stride : {size_t{1}, size_t{3}, size_t{5}}) {
      std::vector<U256> out(stride * lanes_);
      ops_.copy(integers_.data(), stride, out.data());
      for (size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i], i % stride == 0 ? integers_[i] : U256()) << "place " << i << ", stride " << stride;
      }
    }
  }

  const LaneOps& ops_;
  const size_t lanes_;
  std::vector<U256> integers_;
};

void CheckLanes(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kIfma) {
    LanesTest<FqParams>(IfmaLaneOps<FqParams>()).Run();
    LanesTest<FrParams>(IfmaLaneOps<FrParams>()).Run();
  } else if (arithmetic == Arithmetic::kFma) {
    ASSERT_EQ(std::fesetround(FE_TOWARDZERO), 0);
    LanesTest<FqParams>(FmaLaneOps<FqParams>()).Run();
    LanesTest<FrParams>(FmaLaneOps<FrParams>()).Run();
    ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  }
}

// Each arithmetic with lanes that this CPU has, which may be none: the portable one and ADX work on one
// value.
TEST(LanesTest, LanesOfThisCpuAgreeWithTheFieldOnEdgeAndRandomValues) {
  for (const Arithmetic arithmetic : {Arithmetic::kFma, Arithmetic::kIfma}) {
    SCOPED_TRACE(ArithmeticName(arithmetic));
    if (Supported(arithmetic)) CheckLanes(arithmetic);
  }
}

}  // namespace
}  // namespace proofmill::kernels
