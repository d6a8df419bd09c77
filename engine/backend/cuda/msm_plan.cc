#include "engine/backend/cuda/msm_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {
namespace {

using kernels::MsmShape;

// Best windows by log2 of the number of bases, uniform scalars, one H200 (CUDA 13.0, 2026-12-01, `bench msm
// --window_bits`). Those of G1 and G2 are the same, within 2 %. G1: 2^12 0.26 ms, 2^13 0.32 ms, 2^16 0.49 ms,
// 2^18 1.15 ms, 2^20 3.44 ms, 2^22 11.9 ms. From 11 to 14 bits the buckets are too few to fill the device and
// too many to be summed in no time, so that up to 2^15 bases take smaller windows than a count of additions
// would give them.
constexpr std::array<uint8_t, 25> kWindowBitsByLog2 = {4,  4,  4,  4,  4,  5,  5,  6,  6,  7,  8,  8, 10,
                                                       10, 10, 10, 15, 15, 17, 17, 17, 19, 20, 20, 20};

// Smaller windows than the best by this much are looked at where not every multiple is resident.
constexpr uint32_t kWindowBitsLess = 8;

// The model of ../shared/performance.md, "Floors": additions of points to buckets, then two full additions a
// bucket, then the sort. Rates of one H200: mixed additions a second, products a second, entries sorted.
constexpr double kG1AddsPerSecond = 5.91e9;
constexpr double kG2AddsPerSecond = 1.89e9;
constexpr double kG2AffineAddsPerSecond = 3.1e9;
constexpr double kProductsPerSecond = 61.2e9;
constexpr double kG1ProductsPerFullAdd = 14;
constexpr double kG2ProductsPerFullAdd = 40;
constexpr double kEntriesSortedPerSecond = 50e9;
// Launches and the wait for the length of a list, for every chunk but the first.
constexpr double kSecondsPerChunk = 1e-4;

// Bases of a chunk are at least so many: smaller ones save nothing. And at most so many chunks keep the
// lengths of their lists and all parts below kResultBytesMax.
constexpr uint32_t kChunkBasesMin = 256;
constexpr uint32_t kChunksMax = 32;
static_assert(kBaseSetCount * kChunksMax * sizeof(uint32_t) +
                  kernels::kMsmPartsMax *
                      ((kBaseSetCount - 1) * sizeof(kernels::G1Xyzz) + sizeof(kernels::G2Xyzz)) <=
              kResultBytesMax);

bool IsG2(BaseSetId id) { return id == BaseSetId::kB2; }

size_t PointBytes(BaseSetId id) { return IsG2(id) ? sizeof(kernels::G2Affine) : sizeof(kernels::G1Affine); }

double AddsPerSecond(BaseSetId id, const MsmShape& shape) {
  if (!IsG2(id)) return kG1AddsPerSecond;
  return shape.affine == kernels::MsmAffine::kNever ? kG2AddsPerSecond : kG2AffineAddsPerSecond;
}

double ModelSeconds(BaseSetId id, const MsmShape& shape) {
  const double entries = static_cast<double>(shape.windows()) * shape.bases;
  const double chunk_entries = entries / shape.chunks;
  const double buckets = shape.buckets();
  // A chunk begins each of its buckets with what is in it.
  const double begun = (shape.chunks - 1) * std::min(buckets, chunk_entries);
  return (entries + begun) / AddsPerSecond(id, shape) +
         buckets * 2 * (IsG2(id) ? kG2ProductsPerFullAdd : kG1ProductsPerFullAdd) / kProductsPerSecond +
         entries / kEntriesSortedPerSecond + (shape.chunks - 1) * kSecondsPerChunk;
}

// Entries are counted in 32 bits and name a multiple in 31.
bool CanBeNumbered(const MsmShape& shape) {
  return shape.entries_max() < (uint64_t{1} << 32) &&
         uint64_t{shape.tables} * shape.bases < (uint64_t{1} << 31) && shape.sets() <= kernels::kMsmSetsMax;
}

// `shape` in all numbers of chunks, and in G2 without affine additions too, which are faster and take more
// memory.
void AddVariants(BaseSetId id, MsmShape shape, std::vector<MsmShape>& shapes) {
  for (shape.chunks = 1; shape.chunks <= kChunksMax; shape.chunks *= 2) {
    if (shape.chunks > 1 && shape.chunk_bases() < kChunkBasesMin) break;
    if (!CanBeNumbered(shape)) continue;
    shape.affine = kernels::MsmAffine::kWhereFaster;
    shapes.push_back(shape);
    if (!IsG2(id)) continue;
    shape.affine = kernels::MsmAffine::kNever;
    shapes.push_back(shape);
  }
}

// Every shape that is worth a look, the one with the measured window and all multiples first.
std::vector<MsmShape> Candidates(BaseSetId id, uint32_t bases) {
  const uint32_t best = WindowBits(bases);
  const uint32_t least =
      std::max(kernels::kMsmWindowBitsMin, best > kWindowBitsLess ? best - kWindowBitsLess : 0);
  std::vector<MsmShape> shapes;
  for (uint32_t window = best; window >= least; --window) {
    MsmShape shape{.bases = bases, .window_bits = window, .tables = 1};
    uint32_t last = 0;
    for (uint32_t sets = 1; sets <= shape.windows(); ++sets) {
      shape.tables = (shape.windows() + sets - 1) / sets;
      if (shape.tables != std::exchange(last, shape.tables)) AddVariants(id, shape, shapes);
    }
  }
  return shapes;
}

// Those of `options` that no other beats in both time and size, fastest first.
template <typename Size>
std::vector<MsmOption> FastestToSmallest(std::vector<MsmOption> options, Size size) {
  std::sort(options.begin(), options.end(), [&](const MsmOption& a, const MsmOption& b) {
    return std::pair(a.seconds, size(a)) < std::pair(b.seconds, size(b));
  });
  std::vector<MsmOption> kept;
  for (const MsmOption& option : options) {
    if (kept.empty() || size(option) < size(kept.back())) kept.push_back(option);
  }
  return kept;
}

}  // namespace

size_t MsmPlan::table_bytes(size_t set) const {
  return size_t{shapes[set].tables} * shapes[set].bases * PointBytes(static_cast<BaseSetId>(set));
}

size_t MsmPlan::table_bytes() const {
  size_t sum = 0;
  for (size_t set = 0; set < kBaseSetCount; ++set) sum += table_bytes(set);
  return sum;
}

bool MsmPlan::is_full() const {
  return std::all_of(shapes.begin(), shapes.end(), [](const MsmShape& shape) { return shape.sets() == 1; });
}

MsmPlan MsmPlan::ForBatch(uint32_t proofs) const {
  MsmPlan plan = *this;
  if (proofs == 1) return plan;
  for (MsmShape& shape : plan.shapes) {
    shape.batch = proofs;
    shape.padding = kernels::MsmPadding::kAlways;
  }
  return plan;
}

uint32_t MsmPlan::BatchMax() const {
  if (in_turn || !is_full()) return 1;
  uint64_t entries = 0;
  for (const MsmShape& shape : shapes) {
    if (!shape.is_padded()) return 1;
    entries = std::max(entries, shape.entries_max());
  }
  uint32_t proofs = kBatchMax;
  while (proofs > 1 && proofs * entries > kBatchEntriesMax) proofs /= 2;
  return proofs;
}

size_t MsmPlan::result_bytes() const {
  size_t sum = 0;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    const size_t point =
        IsG2(static_cast<BaseSetId>(set)) ? sizeof(kernels::G2Xyzz) : sizeof(kernels::G1Xyzz);
    sum += shapes[set].parts() * point + shapes[set].chunks * sizeof(uint32_t);
  }
  return sum;
}

std::string MsmPlan::ToString() const {
  std::array<std::string, kBaseSetCount> lines;
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    lines[set] = absl::StrCat(kBaseSetNames[set], ": ", shapes[set].bases, " bases, ",
                              shapes[set].window_bits, "-bit windows, ", shapes[set].tables, " of ",
                              shapes[set].windows(), " multiples, ", table_bytes(set) >> 20, " MiB");
    if (shapes[set].chunks > 1) absl::StrAppend(&lines[set], ", ", shapes[set].chunks, " chunks");
  }
  return absl::StrCat(absl::StrJoin(lines, "; "), in_turn ? "; one MSM at a time" : "");
}

uint32_t WindowBits(uint32_t bases) {
  size_t log2 = 0;
  while (log2 + 1 < kWindowBitsByLog2.size() && (uint64_t{2} << log2) <= bases) ++log2;
  return kWindowBitsByLog2[log2];
}

absl::StatusOr<std::vector<MsmOption>> MsmOptions(BaseSetId id, uint32_t bases, const WorkspaceSizes& sizes) {
  std::vector<MsmOption> all;
  for (const MsmShape& shape : Candidates(id, bases)) {
    MsmOption option{.shape = shape,
                     .table_bytes = DeviceAllocationBytes(size_t{shape.tables} * bases * PointBytes(id)),
                     .workspace_bytes = 0,
                     .seconds = ModelSeconds(id, shape)};
    PROOFMILL_ASSIGN_OR_RETURN(option.workspace_bytes, sizes.BytesFor(id, shape));
    all.push_back(option);
  }
  if (all.empty()) {
    return WithReason(absl::ResourceExhaustedError(
                          absl::StrCat("cuda: base set ", kBaseSetNames[static_cast<size_t>(id)], " has ",
                                       bases, " points, more than can be numbered in 31 bits")),
                      ErrorReason::kOutOfMemory);
  }
  // The first was measured to be the fastest, whatever the model says of the others.
  for (const MsmOption& option : all)
    all.front().seconds = std::min(all.front().seconds, 0.99 * option.seconds);
  return all;
}

std::vector<MsmOption> SideBySideOptions(const std::vector<MsmOption>& options) {
  std::vector<MsmOption> whole;
  std::copy_if(options.begin(), options.end(), std::back_inserter(whole),
               [](const MsmOption& option) { return option.shape.chunks == 1; });
  return FastestToSmallest(std::move(whole), [](const MsmOption& option) { return option.bytes(); });
}

std::vector<MsmOption> InTurnOptions(const std::vector<MsmOption>& options, size_t workspace_max) {
  std::vector<MsmOption> small;
  std::copy_if(options.begin(), options.end(), std::back_inserter(small),
               [&](const MsmOption& option) { return option.workspace_bytes <= workspace_max; });
  return FastestToSmallest(std::move(small), [](const MsmOption& option) { return option.table_bytes; });
}

}  // namespace proofmill::engine
