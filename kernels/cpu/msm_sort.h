// The scalar side of a multi-scalar multiplication: which terms are not zero, how long their scalars are, and
// which bucket each digit sends its base to. Used by msm.cc alone.
//
// Everything here depends on the witness and is wiped when freed.

#ifndef PROOFMILL_KERNELS_CPU_MSM_SORT_H_
#define PROOFMILL_KERNELS_CPU_MSM_SORT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/signed_digits.h"
#include "kernels/field/limbs.h"

namespace proofmill::kernels {

// Scalar i of n is scalars[index[i]], or scalars[i] without an index. Owns nothing.
struct MsmScalars {
  const U256* scalars;
  const uint32_t* index;
  size_t n;

  const U256& operator[](size_t i) const { return scalars[index == nullptr ? i : index[i]]; }
};

// The terms that are not zero, longest scalars first, so that the terms that a window must look at are a
// prefix: a witness is mostly bits, which only window 0 has to see.
class MsmTerms {
 public:
  static constexpr uint32_t kBitsMax = 255;

  // REQUIRES: scalars.n < 2^31, every scalar below 2^255; another one ends the process.
  explicit MsmTerms(const MsmScalars& scalars);

  // The number of scalars that are not zero.
  size_t count() const { return CountAtLeast(1); }
  // The length of the longest scalar in bits; 0 when all are zero.
  uint32_t scalar_bits() const { return scalar_bits_; }
  // How many scalars have at least `bits` bits, bits > 0.
  size_t CountAtLeast(uint32_t bits) const { return bits > kBitsMax ? 0 : count_at_least_[bits]; }
  // How many terms can have a digit other than zero in the window that begins at `bit`.
  size_t CountInWindow(uint32_t bit) const { return CountAtLeast(bit <= 1 ? 1 : bit - 1); }
  // The j-th term in the order above.
  uint32_t operator[](size_t j) const { return order_[j]; }

 private:
  std::array<uint32_t, kBitsMax + 1> count_at_least_{};
  uint32_t scalar_bits_ = 0;
  SecretScratch<uint32_t> order_;
};

// The window size that makes the fewest products in the field.
uint32_t ChooseWindowBits(const MsmTerms& terms);

// The digits of all terms, window by window: two bytes each, where a scalar has 32 to be read for each
// window.
class WindowFields {
 public:
  static constexpr uint32_t kWindowBitsMax = 16;

  // REQUIRES: digits.window_bits() <= kWindowBitsMax.
  WindowFields(const MsmScalars& scalars, const MsmTerms& terms, const SignedDigits& digits);

  // SignedDigits::FieldOfRecoded() of the j-th term at place j, for the first terms.CountInWindow() terms.
  const uint16_t* OfWindow(uint32_t w) const { return fields_.data() + begins_[w]; }
  const SignedDigits& digits() const { return digits_; }

 private:
  const SignedDigits& digits_;
  std::array<size_t, MsmTerms::kBitsMax + 2> begins_;
  SecretScratch<uint16_t> fields_;
};

// Terms sorted into the buckets of windows [window_begin, window_end). Bucket number (w - window_begin) *
// digit_max + d - 1 holds the terms whose digit in window w is d or -d.
class MsmBuckets {
 public:
  MsmBuckets(const WindowFields& fields, const MsmTerms& terms, uint32_t window_begin, uint32_t window_end);

  // A term in a bucket: the number of its base, and whether its digit is negative.
  struct Entry {
    uint32_t code;
    uint32_t base() const { return code >> 1; }
    bool negative() const { return (code & 1) != 0; }
  };
  // Bucket b holds entries begin(b) .. end(b) - 1.
  size_t buckets() const { return ends_.size(); }
  uint32_t begin(size_t b) const { return b == 0 ? 0 : ends_[b - 1]; }
  uint32_t end(size_t b) const { return ends_[b]; }
  size_t entry_count() const { return buckets() == 0 ? 0 : ends_[buckets() - 1]; }
  const Entry* entries() const { return entries_.data(); }
  // The bucket of entry i.
  size_t BucketOf(uint32_t i) const;

  // The last window of a group that begins at `window_begin`, plus one: as many as fit in memory bounds.
  static uint32_t GroupEnd(const MsmTerms& terms, const SignedDigits& digits, uint32_t window_begin);

 private:
  SecretScratch<uint32_t> ends_;
  SecretScratch<Entry> entries_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_MSM_SORT_H_
