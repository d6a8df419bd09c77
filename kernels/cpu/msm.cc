// The bucket method with signed digits. All (window, bucket) pairs of a group of windows form one sorted list
// of entries, which is cut into slices of equal length, however the entries fall into buckets: one huge
// bucket and many tiny ones cost the same. In a slice the entries of a bucket are added in pairs, level by
// level, with one inversion a level for all buckets. A bucket that a slice border cuts leaves partial sums
// ("edges"), which are added up the same way in the end.

#include "kernels/cpu/msm.h"

#include <algorithm>
#include <bit>

#include "kernels/cpu/batch_add.h"
#include "kernels/cpu/msm_sort.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/signed_digits.h"

namespace proofmill::kernels {
namespace {

// Entries a slice. More share an inversion better (it costs about 370 products, at some 6 levels); fewer fit
// in the cache: the points of a slice take 512 KiB.
template <typename F>
constexpr size_t kSliceEntriesMax = (size_t{512} << 10) / sizeof(Affine<F>);
constexpr size_t kSliceEntriesMin = 512;

// Adds up runs of neighbouring points, all runs at the same time.
template <typename F>
class RunAdder {
 public:
  explicit RunAdder(size_t points_max)
      : points_(points_max), products_(points_max / 2), pairs_(points_max / 2), runs_(points_max / 2) {}

  Affine<F>* points() { return points_.data(); }

  // Points begin .. begin + count - 1 are a run. REQUIRES: runs do not overlap.
  void AddRun(size_t begin, size_t count) {
    if (count > 1) runs_[run_count_++] = {static_cast<uint32_t>(begin), static_cast<uint32_t>(count)};
  }

  // Replaces the first point of every run by the sum of the run; the other points of runs become garbage.
  void Sum() {
    for (uint32_t stride = 1; run_count_ > 0; stride *= 2) {
      size_t pair_count = 0;
      size_t kept = 0;
      for (size_t r = 0; r < run_count_; ++r) {
        const Run run = runs_[r];
        for (uint32_t i = 0; i + 1 < run.count; i += 2) {
          pairs_[pair_count++] = {run.begin + i * stride, run.begin + (i + 1) * stride};
        }
        // Partial sums now stand 2 * stride apart.
        if (run.count > 2) runs_[kept++] = {run.begin, (run.count + 1) / 2};
      }
      AddPairs(points_.data(), pairs_.data(), pair_count, products_.data());
      run_count_ = kept;
    }
  }

 private:
  struct Run {
    uint32_t begin;
    uint32_t count;
  };
  SecretScratch<Affine<F>> points_;
  SecretScratch<F> products_;
  SecretScratch<PointPair> pairs_;
  SecretScratch<Run> runs_;
  size_t run_count_ = 0;
};

// The sums of all buckets of a group of windows.
template <typename F>
class BucketSums {
 public:
  BucketSums(const Affine<F>* bases, const MsmBuckets& buckets)
      : bases_(bases), buckets_(buckets), sums_(buckets.buckets()) {
    const size_t entries = buckets.entry_count();
    const size_t wanted = entries / (8 * CurrentThreads());
    const size_t slice = std::clamp(wanted, kSliceEntriesMin, kSliceEntriesMax<F>);
    const size_t slices = (entries + slice - 1) / slice;
    const size_t slices_per_task = std::max<size_t>(slices / (8 * CurrentThreads()), 1);
    SecretScratch<Edge> edges(2 * slices);
    ParallelFor(0, slices, slices_per_task, [&](size_t begin, size_t end) {
      RunAdder<F> adder(slice);
      for (size_t i = begin; i < end; ++i) {
        SumSlice(i * slice, std::min((i + 1) * slice, entries), adder, &edges[2 * i]);
      }
    });
    SumEdges(edges);
  }

  const Affine<F>& operator[](size_t bucket) const { return sums_[bucket]; }

 private:
  // A partial sum of a bucket that crosses the border of a slice.
  struct Edge {
    static constexpr size_t kNone = SIZE_MAX;
    size_t bucket = kNone;
    Affine<F> sum;
  };

  // Adds up entries [begin, end). At most the first and the last bucket of the slice give an edge.
  void SumSlice(size_t begin, size_t end, RunAdder<F>& adder, Edge* edges) {
    LoadBases(begin, end, adder.points());
    const size_t first = buckets_.BucketOf(static_cast<uint32_t>(begin));
    const size_t last = buckets_.BucketOf(static_cast<uint32_t>(end - 1));
    const auto place = [&](size_t b) { return std::max<size_t>(buckets_.begin(b), begin) - begin; };
    for (size_t b = first; b <= last; ++b) {
      const size_t run_end = std::min<size_t>(buckets_.end(b), end) - begin;
      if (run_end > place(b)) adder.AddRun(place(b), run_end - place(b));
    }
    adder.Sum();
    for (size_t b = first; b <= last; ++b) {
      if (buckets_.begin(b) == buckets_.end(b)) continue;
      const Affine<F>& sum = adder.points()[place(b)];
      if (buckets_.begin(b) < begin || buckets_.end(b) > end) {
        edges[b == first ? 0 : 1] = {b, sum};
      } else {
        sums_[b] = sum;
      }
    }
  }

  // points[i] = the base of entry begin + i, with its sign.
  void LoadBases(size_t begin, size_t end, Affine<F>* points) const {
    constexpr size_t kAhead = 16;
    const MsmBuckets::Entry* const entries = buckets_.entries();
    for (size_t i = begin; i < end; ++i) {
      if (i + kAhead < end) __builtin_prefetch(&bases_[entries[i + kAhead].base()]);
      const Affine<F>& base = bases_[entries[i].base()];
      points[i - begin] = entries[i].negative() ? -base : base;
    }
  }

  // Edges come in the order of their buckets, so those of one bucket are a run.
  void SumEdges(const SecretScratch<Edge>& edges) {
    RunAdder<F> adder(edges.size());
    SecretScratch<size_t> bucket_of_point(edges.size());
    size_t n = 0;
    for (size_t i = 0; i < edges.size(); ++i) {
      if (edges[i].bucket == Edge::kNone) continue;
      adder.points()[n] = edges[i].sum;
      bucket_of_point[n++] = edges[i].bucket;
    }
    const auto for_each_run = [&](const auto& visit) {
      for (size_t begin = 0, end = 0; begin < n; begin = end) {
        while (end < n && bucket_of_point[end] == bucket_of_point[begin]) ++end;
        visit(begin, end - begin);
      }
    };
    for_each_run([&](size_t begin, size_t count) { adder.AddRun(begin, count); });
    adder.Sum();
    for_each_run([&](size_t begin, size_t) { sums_[bucket_of_point[begin]] = adder.points()[begin]; });
  }

  const Affine<F>* const bases_;
  const MsmBuckets& buckets_;
  SecretScratch<Affine<F>> sums_;  // infinity where nothing was added
};

// k * p for a small k.
template <typename F>
Xyzz<F> MulSmallVartime(const Xyzz<F>& p, size_t k) {
  Xyzz<F> out = Xyzz<F>::Infinity();
  for (size_t bit = std::bit_floor(k); bit != 0; bit >>= 1) {
    out = out.Double();
    if ((k & bit) != 0) out += p;
  }
  return out;
}

// The sum of (d + 1) * sums[first + d] over d in [begin, end).
template <typename F>
Xyzz<F> WeightedSum(const BucketSums<F>& sums, size_t first, size_t begin, size_t end) {
  Xyzz<F> running = Xyzz<F>::Infinity();
  Xyzz<F> weighted = Xyzz<F>::Infinity();
  for (size_t d = end; d-- > begin;) {
    running += sums[first + d];
    weighted += running;
  }
  return weighted + MulSmallVartime(running, begin);
}

// sums_of_windows[w] = the sum of d * (bucket d of window w), in parallel over windows and parts of windows.
template <typename F>
void ReduceWindows(const BucketSums<F>& sums, size_t digit_max, size_t windows, Xyzz<F>* sums_of_windows) {
  constexpr size_t kPartMin = 256;  // a part costs some 20 additions more, for its offset
  const size_t parts_wanted = 8 * CurrentThreads() / windows + 1;
  const size_t part = std::max(kPartMin, (digit_max + parts_wanted - 1) / parts_wanted);
  const size_t parts = (digit_max + part - 1) / part;
  SecretScratch<Xyzz<F>> partial(windows * parts);
  ParallelFor(0, partial.size(), 1, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t d = i % parts * part;
      partial[i] = WeightedSum(sums, i / parts * digit_max, d, std::min(d + part, digit_max));
    }
  });
  for (size_t i = 0; i < partial.size(); ++i) sums_of_windows[i / parts] += partial[i];
}

}  // namespace

template <typename F>
Xyzz<F> Msm(const Affine<F>* bases, const U256* scalars_plain, const uint32_t* index, size_t n,
            const MsmOptions& options) {
  const MsmScalars scalars{scalars_plain, index, n};
  const MsmTerms terms(scalars);
  if (terms.scalar_bits() == 0) return Xyzz<F>::Infinity();
  const SignedDigits digits(options.window_bits != 0 ? options.window_bits : ChooseWindowBits(terms),
                            terms.scalar_bits());
  SecretScratch<Xyzz<F>> sums_of_windows(digits.windows());
  for (uint32_t begin = 0; begin < digits.windows();) {
    const uint32_t end = MsmBuckets::GroupEnd(terms, digits, begin);
    const MsmBuckets buckets(scalars, terms, digits, begin, end);
    const BucketSums<F> sums(bases, buckets);
    ReduceWindows(sums, digits.digit_max(), end - begin, &sums_of_windows[begin]);
    begin = end;
  }
  Xyzz<F> out = Xyzz<F>::Infinity();
  for (size_t w = sums_of_windows.size(); w-- > 0;) {
    for (uint32_t i = 0; i < digits.window_bits(); ++i) out = out.Double();
    out += sums_of_windows[w];
  }
  return out;
}

template Xyzz<Fq> Msm(const Affine<Fq>*, const U256*, const uint32_t*, size_t, const MsmOptions&);
template Xyzz<Fq2> Msm(const Affine<Fq2>*, const U256*, const uint32_t*, size_t, const MsmOptions&);

}  // namespace proofmill::kernels
