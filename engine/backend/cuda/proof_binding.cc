#include "engine/backend/cuda/proof_binding.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;

constexpr size_t Index(BaseSetId id) { return static_cast<size_t>(id); }

}  // namespace

absl::StatusOr<std::unique_ptr<ProofBinding>> ProofBinding::Make(CudaCalls& calls, WorkerResources& resources,
                                                                 const DeviceBuffer<uint8_t>& memory,
                                                                 uint64_t generation,
                                                                 const ScratchShape& shape,
                                                                 const DeviceKey& key) {
  PROOFMILL_ASSIGN_OR_RETURN(const ProofScratch scratch, CutProofScratch(calls, shape, memory.data()));
  if (scratch.bytes > memory.size()) {
    return WithReason(
        absl::InternalError(absl::StrCat("cuda: a proof needs ", scratch.bytes, " bytes of scratch memory, ",
                                         memory.size(), " were planned")),
        ErrorReason::kInternal);
  }
  std::unique_ptr<ProofBinding> binding(new ProofBinding(calls, resources, generation, key, shape, scratch));
  if (!shape.plan.in_turn) PROOFMILL_RETURN_IF_ERROR(binding->CaptureGraphs());
  return binding;
}

absl::Status ProofBinding::CaptureGraphs() {
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    const auto id = static_cast<BaseSetId>(set);
    if (!shape(id).is_padded()) continue;
    const cudaStream_t stream = resources_.sets[set].get();
    PROOFMILL_ASSIGN_OR_RETURN(graphs_[set], Graph::Capture(calls_, stream, [&]() -> absl::Status {
                                 if (id != BaseSetId::kH)
                                   PROOFMILL_RETURN_IF_ERROR(LaunchDigits(id, 0, stream));
                                 PROOFMILL_RETURN_IF_ERROR(LaunchBuckets(id, 0, 0, stream));
                                 return LaunchResult(id, stream);
                               }));
  }
  return absl::OkStatus();
}

absl::Status ProofBinding::LaunchDigits(BaseSetId id, uint32_t chunk, cudaStream_t stream) const {
  const bool of_h = id == BaseSetId::kH;
  const kernels::U256* const values = of_h ? scratch_.h : scratch_.witness;
  const uint64_t stride = of_h ? uint64_t{3} * domain_size_ : n_vars_;
  return calls_.Call("msm digits", [&] {
    if (id == BaseSetId::kB2) {
      const DeviceBases<Fq2>& bases = key_.b2();
      return kernels::LaunchMsmDigits<Fq2>(shape(id), chunk,
                                           {values + bases.first_scalar, bases.scalar_index.data(), stride},
                                           scratch_.b2, stream);
    }
    const DeviceBases<Fq>& bases = key_.g1(id);
    return kernels::LaunchMsmDigits<Fq>(shape(id), chunk,
                                        {values + bases.first_scalar, bases.scalar_index.data(), stride},
                                        scratch_.g1[Index(id)], stream);
  });
}

absl::Status ProofBinding::LaunchCopyOfCount(BaseSetId id, cudaStream_t stream) const {
  const uint32_t* count = id == BaseSetId::kB2 ? scratch_.b2.counters : scratch_.g1[Index(id)].counters;
  return calls_.Call("msm digit count", [&] {
    return cudaMemcpyAsync(&resources_.results[0].entry_counts[Index(id)], count, sizeof(uint32_t),
                           cudaMemcpyDeviceToHost, stream);
  });
}

absl::Status ProofBinding::LaunchBuckets(BaseSetId id, uint32_t chunk, uint32_t entries,
                                         cudaStream_t stream) const {
  return calls_.Call("msm", [&] {
    return id == BaseSetId::kB2 ? kernels::LaunchMsmBuckets<Fq2>(shape(id), chunk, key_.b2().tables.data(),
                                                                 entries, scratch_.b2, stream)
                                : kernels::LaunchMsmBuckets<Fq>(shape(id), chunk, key_.g1(id).tables.data(),
                                                                entries, scratch_.g1[Index(id)], stream);
  });
}

size_t ProofBinding::ResultBytes(BaseSetId id) const {
  return size_t{plan_.batch()} * shape(id).parts() *
         (id == BaseSetId::kB2 ? sizeof(kernels::G2Xyzz) : sizeof(kernels::G1Xyzz));
}

absl::Status ProofBinding::LaunchResult(BaseSetId id, cudaStream_t stream) const {
  const size_t set = Index(id);
  HostResults& results = resources_.results[0];
  const bool g2 = id == BaseSetId::kB2;
  void* const target = g2 ? static_cast<void*>(results.b2_sums.data()) : results.g1_sums[set].data();
  const void* const source = g2 ? static_cast<const void*>(scratch_.b2_sums) : scratch_.g1_sums[set];
  PROOFMILL_RETURN_IF_ERROR(calls_.Call("msm", [&] {
    return g2 ? kernels::LaunchMsmReduce(shape(id), scratch_.b2, scratch_.b2_sums, stream)
              : kernels::LaunchMsmReduce(shape(id), scratch_.g1[set], scratch_.g1_sums[set], stream);
  }));
  return calls_.Call("msm result", [&] {
    return cudaMemcpyAsync(target, source, ResultBytes(id), cudaMemcpyDeviceToHost, stream);
  });
}

}  // namespace proofmill::engine
