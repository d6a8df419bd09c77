#include "engine/backend/cuda/proof_run.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cuda/gather.h"
#include "kernels/cuda/msm.h"
#include "kernels/cuda/ntt.h"

namespace proofmill::engine {
namespace {

using kernels::U256;

constexpr size_t kUploadChunk = size_t{1} << 17;  // values: 4 MiB, 80 us on the bus
constexpr size_t kCopyGrain = size_t{1} << 14;    // values: 512 KiB a core

constexpr std::array<Stage, kBaseSetCount> kMsmStages = {Stage::kMsmA, Stage::kMsmB1, Stage::kMsmB2,
                                                         Stage::kMsmC, Stage::kMsmH};
constexpr std::array<BaseSetId, 4> kWitnessSets = {BaseSetId::kB2, BaseSetId::kA, BaseSetId::kB1,
                                                   BaseSetId::kC};

constexpr size_t Index(BaseSetId id) { return static_cast<size_t>(id); }

}  // namespace

absl::StatusOr<WorkerResources> WorkerResources::Make(CudaCalls& calls) {
  WorkerResources resources;
  int least = 0;
  int greatest = 0;
  PROOFMILL_RETURN_IF_ERROR(calls.Call("cudaDeviceGetStreamPriorityRange",
                                       [&] { return cudaDeviceGetStreamPriorityRange(&least, &greatest); }));
  // The way to H's scalars is short and all of H waits for it; then A and B2 go first, since the host has
  // most to do with them.
  PROOFMILL_ASSIGN_OR_RETURN(resources.main, Stream::Make(calls, greatest));
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    const bool early = set == Index(BaseSetId::kA) || set == Index(BaseSetId::kB2);
    PROOFMILL_ASSIGN_OR_RETURN(resources.sets[set], Stream::Make(calls, early ? greatest + 1 : least));
  }
  PROOFMILL_ASSIGN_OR_RETURN(resources.uploaded, Event::Make(calls));
  for (WorkerResources::Span& span : resources.stages) {
    PROOFMILL_ASSIGN_OR_RETURN(span.begin, Event::Make(calls));
    PROOFMILL_ASSIGN_OR_RETURN(span.end, Event::Make(calls));
  }
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    PROOFMILL_ASSIGN_OR_RETURN(resources.digits_ready[set], Event::Make(calls));
    PROOFMILL_ASSIGN_OR_RETURN(resources.sum_ready[set], Event::Make(calls));
  }
  PROOFMILL_ASSIGN_OR_RETURN(resources.results, PinnedBuffer<HostResults>::Make(calls, 1));
  return resources;
}

absl::Status ProofRun::Record(const Event& event, cudaStream_t stream) {
  return calls_.Call("cudaEventRecord", [&] { return cudaEventRecord(event.get(), stream); });
}

absl::Status ProofRun::Wait(const Event& event) {
  PROOFMILL_RETURN_IF_ERROR(
      calls_.Call("cudaEventSynchronize", [&] { return cudaEventSynchronize(event.get()); }));
  return CheckWanted();
}

absl::Status ProofRun::Begin(Stage stage, cudaStream_t stream) {
  return Record(resources_.stages[static_cast<size_t>(stage)].begin, stream);
}

absl::Status ProofRun::End(Stage stage, cudaStream_t stream) {
  return Record(resources_.stages[static_cast<size_t>(stage)].end, stream);
}

// Fills page-locked memory and copies it up in chunks, so that the bus runs while the next chunk is filled.
absl::Status ProofRun::Upload(absl::Span<const U256> witness) {
  const cudaStream_t main = resources_.main.get();
  PROOFMILL_RETURN_IF_ERROR(Begin(Stage::kUpload, main));
  for (size_t begin = 0; begin < witness.size(); begin += kUploadChunk) {
    const size_t count = std::min(kUploadChunk, witness.size() - begin);
    U256* staged = resources_.staging.data() + begin;
    staged_ = begin + count;
    kernels::ParallelFor(0, count, kCopyGrain, [&](size_t from, size_t to) {
      std::memcpy(staged + from, witness.data() + begin + from, (to - from) * sizeof(U256));
    });
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("witness upload", [&] {
      return cudaMemcpyAsync(scratch_.witness + begin, staged, count * sizeof(U256), cudaMemcpyHostToDevice,
                             main);
    }));
    calls_.CountHostToDevice(count * sizeof(U256));
  }
  PROOFMILL_RETURN_IF_ERROR(End(Stage::kUpload, main));
  return Record(resources_.uploaded, main);
}

absl::Status ProofRun::LaunchDigits(BaseSetId id, const U256* scalars, cudaStream_t stream) {
  const size_t set = Index(id);
  const kernels::MsmShape& shape = key_.plan().msms.shape(id);
  PROOFMILL_RETURN_IF_ERROR(Begin(kMsmStages[set], stream));
  uint32_t* counter = nullptr;
  if (id == BaseSetId::kB2) {
    const DeviceBases<kernels::Fq2>& bases = key_.b2();
    counter = scratch_.b2.counters;
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("msm digits", [&] {
      return kernels::LaunchMsmDigits<kernels::Fq2>(shape, scalars + bases.first_scalar,
                                                    bases.scalar_index.data(), scratch_.b2, stream);
    }));
  } else {
    const DeviceBases<kernels::Fq>& bases = key_.g1(id);
    counter = scratch_.g1[set].counters;
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("msm digits", [&] {
      return kernels::LaunchMsmDigits<kernels::Fq>(shape, scalars + bases.first_scalar,
                                                   bases.scalar_index.data(), scratch_.g1[set], stream);
    }));
  }
  PROOFMILL_RETURN_IF_ERROR(calls_.Call("msm digit count", [&] {
    return cudaMemcpyAsync(&resources_.results[0].entry_counts[set], counter, sizeof(uint32_t),
                           cudaMemcpyDeviceToHost, stream);
  }));
  calls_.CountDeviceToHost(sizeof(uint32_t));
  return Record(resources_.digits_ready[set], stream);
}

absl::Status ProofRun::LaunchWitnessDigits() {
  for (const BaseSetId id : kWitnessSets) {
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaStreamWaitEvent", [&] {
      return cudaStreamWaitEvent(stream(id), resources_.uploaded.get(), 0);
    }));
    PROOFMILL_RETURN_IF_ERROR(LaunchDigits(id, scratch_.witness, stream(id)));
  }
  return absl::OkStatus();
}

absl::Status ProofRun::LaunchH() {
  const cudaStream_t main = resources_.main.get();
  PROOFMILL_RETURN_IF_ERROR(Begin(Stage::kGather, main));
  PROOFMILL_RETURN_IF_ERROR(calls_.Call("gather", [&] {
    return kernels::LaunchGather(key_.a_matrix(), key_.b_matrix(), scratch_.witness,
                                 uint32_t{1} << key_.domain().log2_n, key_.long_rows().data(),
                                 static_cast<uint32_t>(key_.long_rows().size()), scratch_.abc, main);
  }));
  PROOFMILL_RETURN_IF_ERROR(End(Stage::kGather, main));
  PROOFMILL_RETURN_IF_ERROR(Begin(Stage::kNtt, main));
  PROOFMILL_RETURN_IF_ERROR(calls_.Call(
      "ntt", [&] { return kernels::LaunchComputeH(key_.domain(), scratch_.abc, scratch_.h, main); }));
  PROOFMILL_RETURN_IF_ERROR(End(Stage::kNtt, main));
  return LaunchDigits(BaseSetId::kH, scratch_.h, main);
}

absl::Status ProofRun::LaunchSum(BaseSetId id, cudaStream_t stream) {
  const size_t set = Index(id);
  const kernels::MsmShape& shape = key_.plan().msms.shape(id);
  HostResults& results = resources_.results[0];
  const uint32_t entries = results.entry_counts[set];
  size_t bytes = 0;
  void* target = nullptr;
  const void* source = nullptr;
  if (id == BaseSetId::kB2) {
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("msm", [&] {
      return kernels::LaunchMsmSum<kernels::Fq2>(shape, key_.b2().tables.data(), entries, scratch_.b2,
                                                 scratch_.b2_sums, stream);
    }));
    target = results.b2_sums.data();
    source = scratch_.b2_sums;
    bytes = shape.parts() * sizeof(kernels::G2Xyzz);
  } else {
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("msm", [&] {
      return kernels::LaunchMsmSum<kernels::Fq>(shape, key_.g1(id).tables.data(), entries, scratch_.g1[set],
                                                scratch_.g1_sums[set], stream);
    }));
    target = results.g1_sums[set].data();
    source = scratch_.g1_sums[set];
    bytes = shape.parts() * sizeof(kernels::G1Xyzz);
  }
  PROOFMILL_RETURN_IF_ERROR(calls_.Call(
      "msm result", [&] { return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToHost, stream); }));
  calls_.CountDeviceToHost(bytes);
  PROOFMILL_RETURN_IF_ERROR(End(kMsmStages[set], stream));
  return Record(resources_.sum_ready[set], stream);
}

absl::Status ProofRun::WaitAndLaunchSum(BaseSetId id, cudaStream_t stream) {
  PROOFMILL_RETURN_IF_ERROR(Wait(resources_.digits_ready[Index(id)]));
  return LaunchSum(id, stream);
}

absl::Status ProofRun::WaitForSum(BaseSetId id) { return Wait(resources_.sum_ready[Index(id)]); }

absl::Status ProofRun::ReportStages() {
  if (context_.stages == nullptr) return absl::OkStatus();
  for (const Stage stage : {Stage::kUpload, Stage::kGather, Stage::kNtt, Stage::kMsmA, Stage::kMsmB1,
                            Stage::kMsmB2, Stage::kMsmC, Stage::kMsmH}) {
    const WorkerResources::Span& span = resources_.stages[static_cast<size_t>(stage)];
    float milliseconds = 0;
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaEventElapsedTime", [&] {
      return cudaEventElapsedTime(&milliseconds, span.begin.get(), span.end.get());
    }));
    context_.stages->OnStage(stage, std::chrono::nanoseconds(static_cast<int64_t>(milliseconds * 1e6F)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Groth16Sums> ProofRun::Run(absl::Span<const U256> witness) {
  PROOFMILL_RETURN_IF_ERROR(Upload(witness));
  PROOFMILL_RETURN_IF_ERROR(LaunchWitnessDigits());
  PROOFMILL_RETURN_IF_ERROR(LaunchH());
  for (const BaseSetId id : kWitnessSets) PROOFMILL_RETURN_IF_ERROR(WaitAndLaunchSum(id, stream(id)));
  PROOFMILL_RETURN_IF_ERROR(WaitAndLaunchSum(BaseSetId::kH, stream(BaseSetId::kH)));
  WipeStaging();  // the witness is up, and the host has nothing else to do

  Groth16Sums sums;
  const ScopedWipe wipe(sums);
  const MsmPlan& plan = key_.plan().msms;
  const HostResults& results = resources_.results[0];
  const auto wait_and_join = [&](BaseSetId id, kernels::G1Xyzz& sum) -> absl::Status {
    PROOFMILL_RETURN_IF_ERROR(WaitForSum(id));
    sum = kernels::JoinMsmParts(plan.shape(id), results.g1_sums[Index(id)].data());
    return absl::OkStatus();
  };
  PROOFMILL_RETURN_IF_ERROR(wait_and_join(BaseSetId::kA, sums.witness.a));
  PROOFMILL_RETURN_IF_ERROR(WaitForSum(BaseSetId::kB2));
  sums.witness.b2 = kernels::JoinMsmParts(plan.shape(BaseSetId::kB2), results.b2_sums.data());
  if (context_.on_a_and_b2) context_.on_a_and_b2(sums.witness.a, sums.witness.b2);
  PROOFMILL_RETURN_IF_ERROR(wait_and_join(BaseSetId::kB1, sums.witness.b1));
  PROOFMILL_RETURN_IF_ERROR(wait_and_join(BaseSetId::kC, sums.witness.c));
  if (context_.on_witness_sums) context_.on_witness_sums(sums.witness);
  PROOFMILL_RETURN_IF_ERROR(wait_and_join(BaseSetId::kH, sums.h));
  PROOFMILL_RETURN_IF_ERROR(ReportStages());
  return sums;
}

void ProofRun::WipeStaging() {
  if (staged_ == 0) return;
  kernels::ParallelFor(0, staged_, kCopyGrain, [&](size_t begin, size_t end) {
    WipeMemory(resources_.staging.data() + begin, (end - begin) * sizeof(U256));
  });
  staged_ = 0;
}

ProofRun::~ProofRun() {
  if (wiped_) return;
  WipeDevice().IgnoreError();
  // On one thread: nothing here may throw.
  WipeMemory(resources_.staging.data(), staged_ * sizeof(U256));
  WipeMemory(resources_.results.data(), sizeof(HostResults));
}

absl::Status ProofRun::Wipe() {
  absl::Status status = WipeDevice();
  WipeStaging();
  WipeMemory(resources_.results.data(), sizeof(HostResults));
  wiped_ = true;
  return status;
}

absl::Status ProofRun::WipeDevice() {
  // The streams may still read or write: wait for all before the first byte is overwritten.
  absl::Status status;
  const auto keep_first = [&status](absl::Status next) {
    if (status.ok()) status = std::move(next);
  };
  const auto synchronize = [&](const Stream& stream) {
    keep_first(calls_.Call("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream.get()); }));
  };
  for (const Stream& stream : resources_.sets) synchronize(stream);
  synchronize(resources_.main);
  // The next proof starts on the main stream, so it comes after this.
  keep_first(calls_.Call(
      "wipe", [&] { return cudaMemsetAsync(scratch_.witness, 0, scratch_.bytes, resources_.main.get()); }));
  return status;
}

}  // namespace proofmill::engine
