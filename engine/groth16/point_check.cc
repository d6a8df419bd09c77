#include "engine/groth16/point_check.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "kernels/cpu/curve_check.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fq;
using kernels::Fq2;
using kernels::U256;

constexpr size_t kPointsPerChunk = 1024;
constexpr size_t kNone = ~size_t{0};

bool IsCanonical(const Fq& x) { return Fq::IsCanonical(x.montgomery()); }
bool IsCanonical(const Fq2& x) { return IsCanonical(x.c0) && IsCanonical(x.c1); }

std::string FieldText(const Fq& x) {
  const U256 v = IsCanonical(x) ? x.ToPlain() : x.montgomery();
  return absl::StrFormat("0x%016x%016x%016x%016x", v.limb[3], v.limb[2], v.limb[1], v.limb[0]);
}
std::string FieldText(const Fq2& x) { return absl::StrCat(FieldText(x.c0), " + ", FieldText(x.c1), " u"); }

template <typename F>
bool IsFine(const Affine<F>* points, size_t n, InfinityRule rule) {
  const auto is_infinity = [](const Affine<F>& p) { return p.IsInfinity(); };
  if (rule == InfinityRule::kRefused && std::any_of(points, points + n, is_infinity)) return false;
  return kernels::AllOnCurve(points, n);
}

}  // namespace

template <typename F>
std::optional<absl::string_view> PointFault(const Affine<F>& p, InfinityRule rule) {
  if (!IsCanonical(p.x) || !IsCanonical(p.y)) return "a coordinate of q or more";
  if (p.IsInfinity()) {
    if (rule == InfinityRule::kRefused) return "infinity";
    return std::nullopt;
  }
  if (!kernels::IsOnCurve(p)) return "a point that is not on the curve";
  return std::nullopt;
}

template <typename F>
std::optional<size_t> FirstFaultyPoint(const Affine<F>* points, size_t n, InfinityRule rule) {
  // The minimum over all chunks does not depend on their order, so relaxed order is enough; the join of the
  // loop makes it visible here.
  std::atomic<size_t> first{kNone};
  kernels::ParallelFor(0, n, kPointsPerChunk, [&](size_t begin, size_t end) {
    if (IsFine(points + begin, end - begin, rule)) return;
    for (size_t i = begin; i < end && i < first.load(std::memory_order_relaxed); ++i) {
      if (!PointFault(points[i], rule).has_value()) continue;
      size_t seen = first.load(std::memory_order_relaxed);
      while (i < seen && !first.compare_exchange_weak(seen, i, std::memory_order_relaxed)) {
      }
      return;
    }
  });
  const size_t found = first.load(std::memory_order_relaxed);
  if (found == kNone) return std::nullopt;
  return found;
}

template <typename F>
std::string PointText(const Affine<F>& p) {
  return absl::StrCat("x = ", FieldText(p.x));
}

template std::optional<absl::string_view> PointFault(const Affine<Fq>&, InfinityRule);
template std::optional<absl::string_view> PointFault(const Affine<Fq2>&, InfinityRule);
template std::optional<size_t> FirstFaultyPoint(const Affine<Fq>*, size_t, InfinityRule);
template std::optional<size_t> FirstFaultyPoint(const Affine<Fq2>*, size_t, InfinityRule);
template std::string PointText(const Affine<Fq>&);
template std::string PointText(const Affine<Fq2>&);

}  // namespace proofmill::engine
