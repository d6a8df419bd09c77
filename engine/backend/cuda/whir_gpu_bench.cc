#include "engine/backend/whir_gpu_bench.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "engine/backend/cuda/cuda_graph.h"
#include "engine/backend/cuda/gpu_timer.h"
#include "kernels/cuda/grind.h"
#include "kernels/cuda/merkle.h"
#include "kernels/cuda/sumcheck.h"
#include "kernels/field/babybear.h"

namespace proofmill::engine {
namespace {

constexpr BenchCounts kRateCounts = {.warmup = 1, .runs = 3};

double Median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

const kernels::Poseidon2Constants<16>& Constants() {
  return kernels::Poseidon2Width16(kernels::Poseidon2Set::kSmallRngSeed1);
}

// Memory of BabyBear words, all of them the same one.
absl::StatusOr<DeviceBuffer<uint32_t>> MakeWords(GpuTimer& timer, size_t count) {
  PROOFMILL_ASSIGN_OR_RETURN(DeviceBuffer<uint32_t> words,
                             DeviceBuffer<uint32_t>::Make(timer.calls(), count));
  PROOFMILL_RETURN_IF_ERROR(timer.calls().Call("cudaMemsetAsync", [&] {
    return cudaMemsetAsync(words.data(), 0x11, words.size_bytes(), timer.stream());
  }));
  return words;
}

using LaunchPermutations = cudaError_t (*)(const kernels::Poseidon2Constants<16>&, uint32_t*, uint32_t,
                                           uint32_t, cudaStream_t);
// Seconds for `count` states, `times` permutations each.
absl::StatusOr<double> TimePermutations(GpuTimer& timer, LaunchPermutations launch, uint32_t count,
                                        uint32_t times) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto states, MakeWords(timer, size_t{16} * count));
  PROOFMILL_ASSIGN_OR_RETURN(const std::vector<double> seconds, timer.Measure(kRateCounts, [&](auto stream) {
    return timer.calls().Call("permutations",
                              [&] { return launch(Constants(), states.data(), count, times, stream); });
  }));
  return Median(seconds);
}

// Nonces a second. One in 2^31 passes: a hit ends the count where it is found.
absl::StatusOr<double> MeasureNonces(GpuTimer& timer) {
  constexpr uint32_t kBits = 31, kEnd = 1u << 26;
  PROOFMILL_ASSIGN_OR_RETURN(const auto sponge, DeviceBuffer<kernels::DeviceSponge>::Make(timer.calls(), 1));
  PROOFMILL_ASSIGN_OR_RETURN(const auto result, DeviceBuffer<kernels::NonceResult>::Make(timer.calls(), 1));
  const kernels::DeviceSponge empty{};
  PROOFMILL_RETURN_IF_ERROR(timer.Upload(sponge, &empty, 1));
  PROOFMILL_ASSIGN_OR_RETURN(
      const std::vector<double> seconds, timer.Measure(kRateCounts, [&](auto stream) -> absl::Status {
        PROOFMILL_RETURN_IF_ERROR(timer.calls().Call("cudaMemsetAsync", [&] {
          return cudaMemsetAsync(result.data(), 0, result.size_bytes(), stream);
        }));
        return timer.calls().Call("LaunchGrind", [&] {
          return kernels::LaunchGrind(Constants(), sponge.data(), kBits, kEnd, result.data(), stream);
        });
      }));
  kernels::NonceResult found{};
  PROOFMILL_RETURN_IF_ERROR(timer.Download(&found, result, 1));
  const uint32_t tried = found.best == 0 ? kEnd : ~found.best + 1;
  return tried / Median(seconds);
}

// The median time of what `enqueue` puts on the stream, as a graph.
absl::StatusOr<double> TimeGraph(GpuTimer& timer, const BenchCounts& counts,
                                 const std::function<absl::Status()>& enqueue) {
  PROOFMILL_ASSIGN_OR_RETURN(const Graph graph, Graph::Capture(timer.calls(), timer.stream(), enqueue));
  PROOFMILL_ASSIGN_OR_RETURN(const std::vector<double> seconds, timer.Measure(counts, [&](auto stream) {
    return graph.Launch(timer.calls(), stream);
  }));
  return Median(seconds);
}

absl::StatusOr<GpuFusion> TimeTree(GpuTimer& timer, const BenchCounts& counts, uint32_t width,
                                   uint32_t log2_height) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto words, MakeWords(timer, size_t{width} << log2_height));
  PROOFMILL_ASSIGN_OR_RETURN(const auto tree, MakeWords(timer, kernels::MerkleTreeWords(log2_height)));
  const kernels::DeviceMatrix matrix = {words.data(), width, log2_height};
  GpuFusion out;
  PROOFMILL_ASSIGN_OR_RETURN(out.fused, TimeGraph(timer, counts, [&] {
                               return timer.calls().Call("LaunchMerkleTree", [&] {
                                 return kernels::LaunchMerkleTree(Constants(), matrix, tree.data(),
                                                                  timer.stream());
                               });
                             }));
  PROOFMILL_ASSIGN_OR_RETURN(out.unfused, TimeGraph(timer, counts, [&] {
                               return timer.calls().Call("LaunchMerkleTreeUnfused", [&] {
                                 return kernels::LaunchMerkleTreeUnfused(Constants(), matrix, tree.data(),
                                                                         timer.stream());
                               });
                             }));
  return out;
}

template <int kD>
absl::StatusOr<GpuFusion> TimeSumcheck(GpuTimer& timer, const BenchCounts& counts, uint32_t log2_size) {
  const size_t size = size_t{1} << log2_size, half = size / 2;
  GpuFusion out;
  if (half < 2) return out;
  PROOFMILL_ASSIGN_OR_RETURN(const auto f, MakeWords(timer, size));
  PROOFMILL_ASSIGN_OR_RETURN(const auto folded, MakeWords(timer, kD * half));
  PROOFMILL_ASSIGN_OR_RETURN(const auto w, MakeWords(timer, kD * size));
  PROOFMILL_ASSIGN_OR_RETURN(const auto partials, MakeWords(timer, kernels::PartialSumWords(kD)));
  PROOFMILL_ASSIGN_OR_RETURN(const auto challenge, MakeWords(timer, kD));
  const kernels::DeviceVectorView view = {f.data(), 0, false};
  const kernels::DevicePlanes f_out = {folded.data(), half}, w_planes = {w.data(), size};
  uint32_t partial_count = 0;
  PROOFMILL_ASSIGN_OR_RETURN(out.fused, TimeGraph(timer, counts, [&] {
                               return timer.calls().Call("LaunchFoldAndSum", [&] {
                                 return kernels::LaunchFoldAndSum<kD>(Constants(), view, f_out, w_planes,
                                                                      half, challenge.data(), partials.data(),
                                                                      &partial_count, {}, timer.stream());
                               });
                             }));
  PROOFMILL_ASSIGN_OR_RETURN(
      out.unfused, TimeGraph(timer, counts, [&]() -> absl::Status {
        PROOFMILL_RETURN_IF_ERROR(timer.calls().Call("LaunchFold", [&] {
          return kernels::LaunchFold<kD>(view, f_out, w_planes, half, challenge.data(), timer.stream());
        }));
        return timer.calls().Call("LaunchRoundSums", [&] {
          return kernels::LaunchRoundSums<kD>(Constants(), {folded.data(), half, true}, w_planes, half / 2,
                                              partials.data(), &partial_count, {}, timer.stream());
        });
      }));
  return out;
}

}  // namespace

absl::StatusOr<GpuWhirRates> MeasureWhirRatesOnGpu() {
  // Enough for every device: 64 MiB of states, and runs of some 20 ms on an H200.
  constexpr uint32_t kStates = 1u << 20, kTimes = 64, kAloneTimes = 1000;
  CudaCalls calls;
  PROOFMILL_ASSIGN_OR_RETURN(GpuTimer timer, GpuTimer::Make(calls));
  GpuWhirRates out;
  PROOFMILL_ASSIGN_OR_RETURN(const double many,
                             TimePermutations(timer, kernels::LaunchPermutations, kStates, kTimes));
  PROOFMILL_ASSIGN_OR_RETURN(const double quads,
                             TimePermutations(timer, kernels::LaunchQuadPermutations, kStates, kTimes));
  PROOFMILL_ASSIGN_OR_RETURN(out.alone_seconds,
                             TimePermutations(timer, kernels::LaunchPermutations, 1, kAloneTimes));
  PROOFMILL_ASSIGN_OR_RETURN(out.quad_alone_seconds,
                             TimePermutations(timer, kernels::LaunchQuadPermutations, 1, kAloneTimes));
  PROOFMILL_ASSIGN_OR_RETURN(out.spread_alone_seconds,
                             TimePermutations(timer, kernels::LaunchSpreadPermutations, 1, kAloneTimes));
  out.permutations = double{kStates} * kTimes / many;
  out.quad_permutations = double{kStates} * kTimes / quads;
  out.alone_seconds /= kAloneTimes;
  out.quad_alone_seconds /= kAloneTimes;
  out.spread_alone_seconds /= kAloneTimes;
  PROOFMILL_ASSIGN_OR_RETURN(out.nonces, MeasureNonces(timer));
  return out;
}

absl::StatusOr<GpuWhirFusion> TimeWhirFusionOnGpu(const WhirConfig& config, const BenchCounts& counts) {
  CudaCalls calls;
  PROOFMILL_ASSIGN_OR_RETURN(GpuTimer timer, GpuTimer::Make(calls));
  GpuWhirFusion out;
  for (size_t i = 0; i <= config.rounds.size(); ++i) {
    const uint32_t width = (i == 0 ? 1 : config.degree()) << config.parameters.folding.at(i);
    PROOFMILL_ASSIGN_OR_RETURN(const GpuFusion tree, TimeTree(timer, counts, width, config.log_height(i)));
    out.trees.fused += tree.fused;
    out.trees.unfused += tree.unfused;
  }
  const uint32_t log2_size = config.parameters.num_variables;
  PROOFMILL_ASSIGN_OR_RETURN(out.sumcheck, config.degree() == 4 ? TimeSumcheck<4>(timer, counts, log2_size)
                                                                : TimeSumcheck<5>(timer, counts, log2_size));
  return out;
}

}  // namespace proofmill::engine
