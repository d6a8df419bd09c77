#include "engine/backend/cuda/msm_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/error_reason.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {
namespace {

// Best windows by log2 of the number of bases, uniform scalars, one H200 (CUDA 13.0, 2026-11-30): 2^10 0.26
// ms, 2^13 0.36 ms, 2^16 0.59 ms, 2^18 1.33 ms, 2^20 4.1 ms with G1.
constexpr std::array<uint8_t, 25> kWindowBitsByLog2 = {4,  4,  4,  4,  4,  5,  5,  6,  6,  7,  8,  8, 9,
                                                       10, 11, 13, 15, 15, 16, 16, 17, 17, 18, 18, 19};

size_t PointBytes(size_t set) {
  return static_cast<BaseSetId>(set) == BaseSetId::kB2 ? sizeof(kernels::G2Affine)
                                                       : sizeof(kernels::G1Affine);
}

}  // namespace

size_t MsmPlan::table_bytes(size_t set) const {
  return size_t{shapes[set].tables} * shapes[set].bases * PointBytes(set);
}

size_t MsmPlan::table_bytes() const {
  size_t sum = 0;
  for (size_t set = 0; set < kBaseSetCount; ++set) sum += table_bytes(set);
  return sum;
}

std::string MsmPlan::ToString() const {
  std::array<std::string, kBaseSetCount> lines;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    lines[set] = absl::StrCat(kBaseSetNames[set], ": ", shapes[set].bases, " bases, ",
                              shapes[set].window_bits, "-bit windows, ", shapes[set].tables, " of ",
                              shapes[set].windows(), " multiples, ", table_bytes(set) >> 20, " MiB");
  }
  return absl::StrJoin(lines, "; ");
}

uint32_t WindowBits(uint32_t bases) {
  size_t log2 = 0;
  while (log2 + 1 < kWindowBitsByLog2.size() && (uint64_t{2} << log2) <= bases) ++log2;
  return kWindowBitsByLog2[log2];
}

absl::StatusOr<MsmPlan> PlanMsms(const BaseCounts& counts, size_t table_bytes_max) {
  MsmPlan plan;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    kernels::MsmShape& shape = plan.shapes[set];
    shape.bases = counts[set];
    shape.window_bits = WindowBits(counts[set]);
    shape.tables = shape.windows();
    // Entries number a multiple in 31 bits.
    while (shape.tables > 1 && uint64_t{shape.tables} * shape.bases >= (uint64_t{1} << 31))
      shape.tables = (shape.tables + 1) / 2;
  }
  while (plan.table_bytes() > table_bytes_max) {
    size_t largest = kBaseSetCount;
    for (size_t set = 0; set < kBaseSetCount; ++set) {
      if (plan.shapes[set].tables == 1) continue;
      if (largest == kBaseSetCount || plan.table_bytes(set) > plan.table_bytes(largest)) largest = set;
    }
    if (largest == kBaseSetCount) {
      return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                            "cuda: the key's points need ", plan.table_bytes(),
                            " bytes of device memory, of which ", table_bytes_max, " are there")),
                        ErrorReason::kOutOfMemory);
    }
    plan.shapes[largest].tables = (plan.shapes[largest].tables + 1) / 2;
  }
  return plan;
}

}  // namespace proofmill::engine
