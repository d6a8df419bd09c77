// Batch addition, a pair in each lane. Each lane has a running product of its own; these are inverted
// together.
//
// Factors of two. A number v in memory stands for v / 2^256, and a product of lanes divides by 2^260. With d
// and e the numbers of dx and dy, the product of e with the number 2^520 / (4 * d) is 2^260 * (e / d) / 4: a
// quarter of the slope, times 2^260. Its square divided by 2^260 is 2^260 * slope^2 / 16 = 2^256 * slope^2,
// just as memory wants it; and its product with a difference in memory's form keeps that form but for the
// quarter, which two doublings undo. So the inverses start from 2^520 / (4 * d) = 2^518 / d, which is 2^6
// times what Inverse() of the field makes of d (2^512 / d), and no further conversion is needed.

#ifndef PROOFMILL_KERNELS_CPU_BATCH_ADD_LANES_H_
#define PROOFMILL_KERNELS_CPU_BATCH_ADD_LANES_H_

#include "kernels/cpu/batch_add.h"
#include "kernels/cpu/batch_add_parts.h"
#include "kernels/cpu/coordinates_lanes.h"

namespace proofmill::kernels::PROOFMILL_LANES52 {
namespace {  // NOLINT(google-build-namespaces): of one unit for each instruction set

// Uninitialised elements: a constructor of F called here might be kept by the linker for all.
template <typename T>
struct LaneArray {
  alignas(64) unsigned char bytes[kLanes * sizeof(T)];
  T* data() { return reinterpret_cast<T*>(bytes); }
};

template <typename F>
class LaneAdder {
 public:
  using C = Coordinates<F>;
  template <uint32_t kBound>
  using Lanes = typename C::template TightLanes<kBound>;

  // REQUIRES: n > 0.
  LaneAdder(Affine<F>* points, const PointPair* pairs, size_t n, Lanes<2>* products)
      : points_(points), pairs_(pairs), groups_((n + kLanes - 1) / kLanes), products_(products) {
    // The last pairs once more, until they fill a vector: lanes of the same pair store the same sum.
    for (size_t i = 0; i < kLanes; ++i) {
      const size_t place = (groups_ - 1) * kLanes + i;
      last_[i] = pairs[place < n ? place : n - 1];
    }
  }

  void Run() {
    Lanes<2> product = Relax<2>(C::One());
    for (size_t g = 0; g < groups_; ++g) {
      products_[g] = product;
      product = Tighten(product * Denominators(LoadGroup(g)));
    }
    product = Invert(product);  // of the product of all denominators up to g
    for (size_t g = groups_; g-- > 0;) {
      const Group group = LoadGroup(g);
      const Lanes<2> inverse = Tighten(product * products_[g]);
      product = Tighten(product * Denominators(group));
      AddGroup(group, inverse);
    }
  }

 private:
  // Pairs a and b, and the lanes that the general formula does not cover, or might not.
  struct Group {
    const PointPair* pairs;
    Lanes<1> ax, bx;
    Mask rare;
  };

  Affine<F>& Target(const Group& group, size_t i) const { return points_[group.pairs[i].target]; }
  Affine<F>& Other(const Group& group, size_t i) const { return points_[group.pairs[i].other]; }

  PROOFMILL_LANES52_INLINE Group LoadGroup(size_t g) const {
    Group out;
    out.pairs = g + 1 == groups_ ? last_ : pairs_ + g * kLanes;
    out.ax = C::LoadFrom([&](size_t i) { return &Target(out, i).x; });
    out.bx = C::LoadFrom([&](size_t i) { return &Other(out, i).x; });
    // Infinity has x = 0, and so may another point: that is for the rare path to see.
    out.rare = static_cast<Mask>(IsZero(out.ax) | IsZero(out.bx) | Equal(out.ax, out.bx));
    return out;
  }

  PROOFMILL_LANES52_INLINE Lanes<2> Denominators(const Group& group) const {
    const Lanes<2> dx = Tighten(group.bx - group.ax);
    return group.rare == 0 ? dx : RareDenominators(group, dx);
  }

  [[gnu::noinline]] Lanes<2> RareDenominators(const Group& group, const Lanes<2>& dx) const {
    LaneArray<F> lanes;
    Spill(dx, lanes);
    for (size_t i = 0; i < kLanes; ++i) {
      if ((group.rare >> i & 1) != 0) SlopeDenominatorOf(Target(group, i), Other(group, i), lanes.data()[i]);
    }
    return Fill(lanes);
  }

  Lanes<2> Invert(const Lanes<2>& x) const {
    LaneArray<F> lanes;
    Spill(x, lanes);
    InvertLanes<kLanes>(lanes.data());
    return Fill(lanes);
  }

  PROOFMILL_LANES52_INLINE void AddGroup(const Group& group, const Lanes<2>& inverse) const {
    const Lanes<1> ay = C::LoadFrom([&](size_t i) { return &Target(group, i).y; });
    const Lanes<1> by = C::LoadFrom([&](size_t i) { return &Other(group, i).y; });
    const Lanes<2> quarter_slope = Tighten(Tighten(by - ay) * inverse);
    const Lanes<1> x = Canonical(Square(quarter_slope) - (group.ax + group.bx));
    const Lanes<8> slope = Tighten(Double(Double(quarter_slope)));
    const Lanes<1> y = Canonical(slope * Tighten(group.ax - x) - ay);
    if (group.rare != 0) return AddRareGroup(group, inverse, x, y);
    C::StoreTo([&](size_t i) { return &Target(group, i).x; }, x);
    C::StoreTo([&](size_t i) { return &Target(group, i).y; }, y);
  }

  // Every sum is made before the first is stored: a lane may read what another one writes.
  [[gnu::noinline]] void AddRareGroup(const Group& group, const Lanes<2>& inverse, const Lanes<1>& x,
                                      const Lanes<1>& y) const {
    LaneArray<Affine<F>> storage;
    Affine<F>* const sums = storage.data();
    C::StoreTo([&](size_t i) { return &sums[i].x; }, x);
    C::StoreTo([&](size_t i) { return &sums[i].y; }, y);
    LaneArray<F> inverses;
    Spill(inverse, inverses);
    for (size_t i = 0; i < kLanes; ++i) {
      if ((group.rare >> i & 1) != 0) AddOf(Target(group, i), Other(group, i), inverses.data()[i], sums[i]);
    }
    for (size_t i = 0; i < kLanes; ++i) Target(group, i) = sums[i];
  }

  static void Spill(const Lanes<2>& x, LaneArray<F>& lanes) {
    C::StoreTo([&](size_t i) { return lanes.data() + i; }, Canonical(x));
  }
  static Lanes<2> Fill(LaneArray<F>& lanes) {
    return Relax<2>(C::LoadFrom([&](size_t i) { return lanes.data() + i; }));
  }

  Affine<F>* const points_;
  const PointPair* const pairs_;
  const size_t groups_;
  Lanes<2>* const products_;
  PointPair last_[kLanes];
};

}  // namespace
}  // namespace proofmill::kernels::PROOFMILL_LANES52

#endif  // PROOFMILL_KERNELS_CPU_BATCH_ADD_LANES_H_
