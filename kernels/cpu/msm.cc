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
      : points_(points_max, kUninitialised),
        adder_(points_max / 2),
        pairs_(points_max / 2, kUninitialised),
        runs_(points_max / 2, kUninitialised) {}

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
      adder_.Add(points_.data(), pairs_.data(), pair_count);
      run_count_ = kept;
    }
  }

 private:
  struct Run {
    uint32_t begin;
    uint32_t count;
  };
  SecretScratch<Affine<F>> points_;
  PairAdder<F> adder_;
  SecretScratch<PointPair> pairs_;
  SecretScratch<Run> runs_;
  size_t run_count_ = 0;
};

// The sums of all buckets of a group of windows.
template <typename F>
class BucketSums {
 public:
  BucketSums(const Affine<F>* bases, const MsmBuckets& buckets)
      : bases_(bases), buckets_(buckets), sums_(buckets.buckets(), kUninitialised) {
    const size_t entries = buckets.entry_count();
    const size_t wanted = entries / (8 * CurrentThreads());
    const size_t slice = std::clamp(wanted, kSliceEntriesMin, kSliceEntriesMax<F>);
    const size_t slices = (entries + slice - 1) / slice;
    if (slices == 0) std::fill_n(sums_.data(), buckets.buckets(), Affine<F>::Infinity());
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

  // The sum of bucket b at place b.
  Affine<F>* points() { return sums_.data(); }

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
    // Empty buckets between two slices belong to the one before them, or to the first.
    const size_t place_begin = begin == 0 ? 0 : first;
    const size_t place_end =
        end == buckets_.entry_count() ? buckets_.buckets() : buckets_.BucketOf(static_cast<uint32_t>(end));
    for (size_t b = place_begin; b < std::max(place_end, last + 1); ++b) {
      if (buckets_.begin(b) == buckets_.end(b)) {
        sums_[b] = Affine<F>::Infinity();
        continue;
      }
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
  SecretScratch<Affine<F>> sums_;
};

// How the buckets of a group of windows are cut into parts of one window each, and parts into tasks.
struct ReductionPlan {
  // Each of the log2(buckets) batches of a task costs an inversion, as much as some 60 additions.
  static constexpr size_t kTaskBucketsMin = 1024;
  static constexpr size_t kTaskBucketsMax = 16384;

  // REQUIRES: digit_max is a power of two, windows > 0.
  ReductionPlan(size_t digit_max, size_t windows) {
    const size_t buckets = windows * digit_max;
    const size_t task_buckets =
        std::clamp(buckets / (2 * CurrentThreads()), kTaskBucketsMin, kTaskBucketsMax);
    const size_t tasks = (buckets + task_buckets - 1) / task_buckets;
    buckets_in_part = std::min(digit_max, std::bit_floor(task_buckets));
    parts_in_window = digit_max / buckets_in_part;
    parts = windows * parts_in_window;
    parts_in_task = (parts + tasks - 1) / tasks;
  }

  size_t buckets_in_part;  // a power of two
  size_t parts_in_window;
  size_t parts;
  size_t parts_in_task;
};

// From the sums of buckets to the sums of windows, over the former. A sum of d * (bucket d) is a sum of 2^l *
// (the sum of the buckets whose number has bit l), and all those sums over the bits of a part share their
// partial sums: two additions a bucket, in as many batches as there are bits.
template <typename F>
class WindowReducer {
 public:
  WindowReducer(const ReductionPlan& plan, Affine<F>* points) : plan_(plan), points_(points) {}

  // sums_of_windows[w] = the sum of (d + 1) * (bucket d of window w).
  void Reduce(Xyzz<F>* sums_of_windows) {
    ParallelFor(0, plan_.parts, plan_.parts_in_task, [&](size_t begin, size_t end) { SumParts(begin, end); });
    ParallelFor(0, plan_.parts / plan_.parts_in_window, 1, [&](size_t begin, size_t end) {
      for (size_t w = begin; w < end; ++w) sums_of_windows[w] = SumOfWindow(w);
    });
  }

 private:
  // Place 0 of a part becomes the sum of its buckets, place 2^l that of those whose number has bit l; other
  // places become garbage. Before the step of size s, place 0 of each s places holds their sum, and place 2^l
  // < s the sum of those that have bit l.
  void SumParts(size_t part_begin, size_t part_end) {
    const size_t begin = part_begin * plan_.buckets_in_part;
    const size_t end = part_end * plan_.buckets_in_part;
    PairAdder<F> adder((end - begin) / 2);
    SecretScratch<PointPair> pairs((end - begin) / 2, kUninitialised);
    for (size_t s = 1; s < plan_.buckets_in_part; s *= 2) {
      size_t count = 0;
      const auto add = [&](size_t place) {
        if (NeedsAddition(place, place + s)) {
          pairs[count++] = {static_cast<uint32_t>(place), static_cast<uint32_t>(place + s)};
        }
      };
      for (size_t first = begin; first < end; first += 2 * s) {
        add(first);  // and place s keeps the sum of those that have bit log2(s)
        for (size_t bit = 1; bit < s; bit *= 2) add(first + bit);
      }
      adder.Add(points_, pairs.data(), count);
    }
  }

  // Does additions that only copy, or nothing, at once.
  bool NeedsAddition(size_t target, size_t other) {
    if (points_[other].IsInfinity()) return false;
    if (!points_[target].IsInfinity()) return true;
    points_[target] = points_[other];
    return false;
  }

  // Bucket d counts (d + 1) times, and the number of its part is the upper bits of d.
  Xyzz<F> SumOfWindow(size_t window) const {
    const size_t parts = plan_.parts_in_window;
    const Affine<F>* const first = points_ + window * parts * plan_.buckets_in_part;
    const auto at = [&](size_t part, size_t place) -> const Affine<F>& {
      return first[part * plan_.buckets_in_part + place];
    };
    Xyzz<F> all = Xyzz<F>::Infinity(), weighted = Xyzz<F>::Infinity();
    for (size_t part = parts; part-- > 0;) {
      weighted += all;
      all += at(part, 0);
    }
    for (size_t bit = plan_.buckets_in_part / 2; bit > 0; bit /= 2) {
      weighted = weighted.Double();
      for (size_t part = 0; part < parts; ++part) weighted += at(part, bit);
    }
    return weighted + all;
  }

  const ReductionPlan& plan_;
  Affine<F>* const points_;
};

// sums[w] = the sum of window w, for all windows of `digits`.
template <typename F>
void SumWindows(const Affine<F>* bases, const MsmScalars& scalars, const MsmTerms& terms,
                const SignedDigits& digits, Xyzz<F>* sums) {
  const WindowFields fields(scalars, terms, digits);
  for (uint32_t begin = 0; begin < digits.windows();) {
    const uint32_t end = MsmBuckets::GroupEnd(terms, digits, begin);
    const MsmBuckets buckets(fields, terms, begin, end);
    const ReductionPlan plan(digits.digit_max(), end - begin);
    BucketSums<F> bucket_sums(bases, buckets);
    WindowReducer<F>(plan, bucket_sums.points()).Reduce(&sums[begin]);
    begin = end;
  }
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
  SecretScratch<Xyzz<F>> sums(digits.windows(), kUninitialised);
  SumWindows(bases, scalars, terms, digits, sums.data());
  Xyzz<F> out = Xyzz<F>::Infinity();
  for (size_t w = sums.size(); w-- > 0;) {
    for (uint32_t i = 0; i < digits.window_bits(); ++i) out = out.Double();
    out += sums[w];
  }
  return out;
}

template <typename F>
std::vector<Xyzz<F>> MsmWindowSums(const Affine<F>* bases, const U256* scalars_plain, size_t n,
                                   uint32_t window_bits, uint32_t scalar_bits) {
  const MsmScalars scalars{scalars_plain, nullptr, n};
  const SignedDigits digits(window_bits, scalar_bits);
  std::vector<Xyzz<F>> sums(digits.windows());
  SumWindows(bases, scalars, MsmTerms(scalars), digits, sums.data());
  return sums;
}

template Xyzz<Fq> Msm(const Affine<Fq>*, const U256*, const uint32_t*, size_t, const MsmOptions&);
template Xyzz<Fq2> Msm(const Affine<Fq2>*, const U256*, const uint32_t*, size_t, const MsmOptions&);
template std::vector<Xyzz<Fq2>> MsmWindowSums(const Affine<Fq2>*, const U256*, size_t, uint32_t, uint32_t);

}  // namespace proofmill::kernels
