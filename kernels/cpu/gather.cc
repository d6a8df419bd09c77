#include "kernels/cpu/gather.h"

#include <vector>

#include "kernels/cpu/parallel.h"

namespace proofmill::kernels {
namespace {

constexpr uint64_t kTermsPerChunk = 4096;  // some 80 us of products

// The sum of terms [begin, end).
Fr SumTerms(const CsrView& matrix, const U256* witness_plain, uint64_t begin, uint64_t end) {
  Fr sum;
  for (uint64_t j = begin; j < end; ++j) {
    sum += matrix.values[j] * Fr::FromMontgomery(witness_plain[matrix.columns[j]]);
  }
  return sum;
}

// The same for a row so long that all threads share it.
Fr SumLongRow(const CsrView& matrix, const U256* witness_plain, uint64_t begin, uint64_t end) {
  std::vector<Fr> partial((end - begin - 1) / kTermsPerChunk + 1);
  ParallelFor(begin, end, kTermsPerChunk, [&](size_t chunk_begin, size_t chunk_end) {
    partial[(chunk_begin - begin) / kTermsPerChunk] = SumTerms(matrix, witness_plain, chunk_begin, chunk_end);
  });
  Fr sum;
  for (const Fr& part : partial) sum += part;
  return sum;
}

}  // namespace

// A chunk of work is a stretch of kTermsPerChunk units, where row i begins at unit row_offsets[i] + i: a term
// costs one unit and a row one more, so that long rows and long runs of empty rows both balance.
void GatherRows(const CsrView& matrix, const U256* witness_plain, Fr* out) {
  const uint64_t units = matrix.row_offsets[matrix.rows] + matrix.rows;
  const auto first_row_from = [&](uint64_t unit) {
    size_t low = 0;
    size_t high = matrix.rows;
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (matrix.row_offsets[middle] + middle < unit) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  ParallelFor(0, units, kTermsPerChunk, [&](size_t unit_begin, size_t unit_end) {
    const size_t row_end = first_row_from(unit_end);
    for (size_t i = first_row_from(unit_begin); i < row_end; ++i) {
      const uint64_t begin = matrix.row_offsets[i];
      const uint64_t end = matrix.row_offsets[i + 1];
      out[i] = end - begin > 2 * kTermsPerChunk ? SumLongRow(matrix, witness_plain, begin, end)
                                                : SumTerms(matrix, witness_plain, begin, end);
    }
  });
}

}  // namespace proofmill::kernels
