#include "kernels/cpu/msm_sort.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/cpu/parallel.h"

namespace proofmill::kernels {
namespace {

constexpr size_t kTermsPerChunk = size_t{1} << 14;
// Bounds on the entries of one group of windows: 256 MiB, or more if threads would be idle; always 32 bits.
constexpr size_t kGroupEntries = size_t{1} << 26;
constexpr size_t kGroupEntriesMax = size_t{1} << 31;

// Products in the field of an affine addition with shared inversion, and what a bucket costs in the end, two
// such additions with no sorting before them, as measured against that.
constexpr size_t kProductsPerEntry = 6;
constexpr size_t kProductsPerBucket = 9;
constexpr size_t kProductsPerWindow = 500;  // sorting and set-up of a window, measured as about 8 us

using LengthCounts = std::array<uint32_t, MsmTerms::kBitsMax + 1>;

// The number of terms in a group of windows, from above.
size_t EntriesOf(const MsmTerms& terms, uint32_t window_bits, uint32_t window_begin, uint32_t window_end) {
  size_t entries = 0;
  for (uint32_t w = window_begin; w < window_end; ++w) entries += terms.CountInWindow(w * window_bits);
  return entries;
}

}  // namespace

// A counting sort by length, stable, chunk by chunk.
MsmTerms::MsmTerms(const MsmScalars& scalars) : order_(scalars.n, kUninitialised) {
  const size_t n = scalars.n;
  SecretScratch<uint8_t> lengths(n);
  SecretScratch<LengthCounts> places((n + kTermsPerChunk - 1) / kTermsPerChunk);
  ParallelFor(0, n, kTermsPerChunk, [&](size_t begin, size_t end) {
    LengthCounts& counts = places[begin / kTermsPerChunk];
    counts.fill(0);
    for (size_t i = begin; i < end; ++i) {
      const uint32_t length = BitLength(scalars[i]);
      if (length > kBitsMax) std::abort();  // a bug of the caller, never of its input
      lengths[i] = static_cast<uint8_t>(length);
      ++counts[length];
    }
  });
  uint32_t place = 0;
  for (uint32_t length = kBitsMax; length > 0; --length) {
    for (size_t chunk = 0; chunk < places.size(); ++chunk) {
      const uint32_t count = places[chunk][length];
      places[chunk][length] = place;
      place += count;
    }
    count_at_least_[length] = place;
    if (scalar_bits_ == 0 && place > 0) scalar_bits_ = length;
  }
  ParallelFor(0, n, kTermsPerChunk, [&](size_t begin, size_t end) {
    LengthCounts& next = places[begin / kTermsPerChunk];
    for (size_t i = begin; i < end; ++i) {
      if (lengths[i] != 0) order_[next[lengths[i]]++] = static_cast<uint32_t>(i);
    }
  });
}

uint32_t ChooseWindowBits(const MsmTerms& terms) {
  uint32_t best = 2;
  size_t best_cost = SIZE_MAX;
  for (uint32_t c = 2; c <= WindowFields::kWindowBitsMax; ++c) {
    const uint32_t windows = terms.scalar_bits() / c + 1;
    const size_t cost = EntriesOf(terms, c, 0, windows) * kProductsPerEntry +
                        windows * ((size_t{1} << (c - 1)) * kProductsPerBucket + kProductsPerWindow);
    if (cost < best_cost) {
      best_cost = cost;
      best = c;
    }
  }
  return best;
}

uint32_t MsmBuckets::GroupEnd(const MsmTerms& terms, const SignedDigits& digits, uint32_t window_begin) {
  const size_t first = EntriesOf(terms, digits.window_bits(), window_begin, window_begin + 1);
  const size_t bound = std::min(std::max(kGroupEntries, first * CurrentThreads()), kGroupEntriesMax);
  uint32_t window_end = window_begin + 1;
  size_t entries = first;
  while (window_end < digits.windows()) {
    entries += EntriesOf(terms, digits.window_bits(), window_end, window_end + 1);
    if (entries > bound) break;
    ++window_end;
  }
  return window_end;
}

WindowFields::WindowFields(const MsmScalars& scalars, const MsmTerms& terms, const SignedDigits& digits)
    : digits_(digits), fields_(EntriesOf(terms, digits.window_bits(), 0, digits.windows()), kUninitialised) {
  if (digits.window_bits() > kWindowBitsMax) std::abort();  // a bug of the caller, never of its input
  begins_[0] = 0;
  for (uint32_t w = 0; w < digits.windows(); ++w) {
    begins_[w + 1] = begins_[w] + terms.CountInWindow(w * digits.window_bits());
  }
  ParallelFor(0, terms.count(), kTermsPerChunk, [&](size_t begin, size_t end) {
    for (size_t j = begin; j < end; ++j) {
      const U256 recoded = digits.Recode(scalars[terms[j]]);
      for (uint32_t w = 0; w < digits.windows() && j < begins_[w + 1] - begins_[w]; ++w) {
        fields_[begins_[w] + j] = static_cast<uint16_t>(digits.FieldOfRecoded(recoded, w));
      }
    }
  });
}

// A counting sort by bucket: count, turn counts into first places, place. A window is one task; in the end
// the running place of each bucket is its end.
MsmBuckets::MsmBuckets(const WindowFields& fields, const MsmTerms& terms, uint32_t window_begin,
                       uint32_t window_end)
    : ends_(size_t{window_end - window_begin} * fields.digits().digit_max(), kUninitialised),
      entries_(EntriesOf(terms, fields.digits().window_bits(), window_begin, window_end), kUninitialised) {
  const uint32_t digit_max = fields.digits().digit_max();
  const auto for_each_digit = [&](size_t w, const auto& visit) {
    const uint32_t window = static_cast<uint32_t>(w);
    uint32_t* const buckets = ends_.data() + size_t{window - window_begin} * digit_max;
    const size_t candidates = terms.CountInWindow(window * fields.digits().window_bits());
    const uint16_t* const of_window = fields.OfWindow(window);
    for (size_t j = 0; j < candidates; ++j) {
      const int32_t digit = fields.digits().DigitOfField(of_window[j], window);
      if (digit == 0) continue;
      const uint32_t negative = digit < 0;
      visit(buckets[(negative != 0 ? -digit : digit) - 1], terms[j] << 1 | negative);
    }
  };
  ParallelFor(window_begin, window_end, 1, [&](size_t begin, size_t end) {
    uint32_t* const buckets = ends_.data() + (begin - window_begin) * digit_max;
    std::fill(buckets, buckets + (end - begin) * digit_max, 0);
    for (size_t w = begin; w < end; ++w) {
      for_each_digit(w, [](uint32_t& count, uint32_t) { ++count; });
    }
  });
  uint32_t place = 0;
  for (size_t b = 0; b < ends_.size(); ++b) {
    const uint32_t count = ends_[b];
    ends_[b] = place;
    place += count;
  }
  ParallelFor(window_begin, window_end, 1, [&](size_t begin, size_t end) {
    for (size_t w = begin; w < end; ++w) {
      for_each_digit(w, [this](uint32_t& next, uint32_t code) { entries_[next++].code = code; });
    }
  });
}

size_t MsmBuckets::BucketOf(uint32_t i) const {
  const uint32_t* const first = ends_.data();
  return static_cast<size_t>(std::upper_bound(first, first + ends_.size(), i) - first);
}

}  // namespace proofmill::kernels
