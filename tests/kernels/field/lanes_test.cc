// The eight-lane arithmetic against MontgomeryField, on edge values and random ones, where the CPU has it.

#include <vector>

#include "gtest/gtest.h"
#include "kernels/field/arithmetic.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"
#include "tests/kernels/elements.h"
#include "tests/kernels/field/lane_ops.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kLanes = 8;

template <typename Params>
class LanesTest {
 public:
  using F = MontgomeryField<Params>;

  LanesTest() : integers_(EdgeIntegers<Params>()) {
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
      for (size_t begin = 0; begin < n; begin += kLanes) {
        U256 a[kLanes], b[kLanes];
        for (size_t i = 0; i < kLanes; ++i) {
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
    for (size_t i = 0; i < kLanes; ++i) {
      EXPECT_EQ(F::FromMontgomery(out[i]), expected(i)) << what << " in lane " << i;
    }
  }

  void CheckProducts(const U256* a, const U256* b) {
    const auto x = [&](size_t i) { return F::FromMontgomery(a[i]); };
    const auto y = [&](size_t i) { return F::FromMontgomery(b[i]); };
    U256 out[kLanes];
    ops_.multiply(a, b, out);
    Expect(out, "product", [&](size_t i) { return x(i) * y(i); });
    for (const uint32_t bound : {1u, 9u, 84u}) {
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
    U256 out[kLanes];
    ops_.add(a, b, out);
    Expect(out, "sum", [&](size_t i) { return x(i) + y(i); });
    ops_.subtract(a, b, out);
    Expect(out, "difference", [&](size_t i) { return x(i) - y(i); });
    ops_.negate(a, out);
    Expect(out, "negative", [&](size_t i) { return -x(i); });
  }
  void CheckMasks(const U256* a, const U256* b) {
    uint32_t equal = 0, zero = 0;
    for (uint32_t i = 0; i < kLanes; ++i) {
      equal |= static_cast<uint32_t>(a[i] == b[i]) << i;
      zero |= static_cast<uint32_t>(a[i].IsZero()) << i;
    }
    EXPECT_EQ(ops_.equal(a, b), equal);
    EXPECT_EQ(ops_.equal(a, a), 0xffu);
    EXPECT_EQ(ops_.is_zero(a), zero);
    constexpr uint32_t kMask = 0b10110010;
    U256 out[kLanes];
    ops_.select(kMask, a, b, out);
    for (size_t i = 0; i < kLanes; ++i)
      EXPECT_EQ(out[i], ((kMask >> i) & 1) != 0 ? a[i] : b[i]) << "lane " << i;
  }
  void CheckReduction() {
    for (uint32_t multiple = 0; multiple < 84; ++multiple) {
      for (size_t begin = 0; begin + kLanes <= integers_.size(); begin += kLanes) {
        U256 out[kLanes];
        ops_.reduce(&integers_[begin], multiple, out);
        for (size_t i = 0; i < kLanes; ++i) ASSERT_EQ(out[i], integers_[begin + i]) << multiple << " times p";
      }
    }
  }
  void CheckStrides() {
    for (const size_t stride : {size_t{1}, size_t{3}, size_t{5}}) {
      std::vector<U256> out(stride * kLanes);
      ops_.copy(integers_.data(), stride, out.data());
      for (size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i], i % stride == 0 ? integers_[i] : U256()) << "place " << i << ", stride " << stride;
      }
    }
  }

  const LaneOps& ops_ = IfmaLaneOps<Params>();
  std::vector<U256> integers_;
};

// The functions that this CPU can run, by field: no entry on a CPU without AVX-512 IFMA.
TEST(LanesTest, EightLanesAgreeWithTheFieldOnEdgeAndRandomValues) {
  for (const Arithmetic arithmetic : SupportedArithmetics()) {
    if (arithmetic != Arithmetic::kIfma) continue;
    LanesTest<FqParams>().Run();
    LanesTest<FrParams>().Run();
  }
}

}  // namespace
}  // namespace proofmill::kernels
