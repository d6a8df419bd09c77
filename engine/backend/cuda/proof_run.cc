#include "engine/backend/cuda/proof_run.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/backend/cuda/streaming_copy.h"
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
constexpr size_t kCopyGrain = size_t{1} << 12;    // values: 128 KiB a core
// Values that one core copies before others would be awake, and without their looking for more work
// afterwards: 512 KiB. So much it wipes at a time too.
constexpr size_t kCopyAloneMax = size_t{1} << 14;

constexpr std::array<Stage, kBaseSetCount> kMsmStages = {Stage::kMsmA, Stage::kMsmB1, Stage::kMsmB2,
                                                         Stage::kMsmC, Stage::kMsmH};
constexpr std::array<BaseSetId, 4> kWitnessSets = {BaseSetId::kB2, BaseSetId::kA, BaseSetId::kB1,
                                                   BaseSetId::kC};

constexpr std::array<Stage, 8> kDeviceStages = {Stage::kUpload, Stage::kGather, Stage::kNtt,  Stage::kMsmA,
                                                Stage::kMsmB1,  Stage::kMsmB2,  Stage::kMsmC, Stage::kMsmH};

constexpr size_t Index(BaseSetId id) { return static_cast<size_t>(id); }

}  // namespace

absl::Status ProofRun::Record(const Event& event, cudaStream_t stream) {
  return calls_.Call("cudaEventRecord", [&] { return cudaEventRecord(event.get(), stream); });
}

absl::Status ProofRun::Wait(const Event& event) {
  PROOFMILL_RETURN_IF_ERROR(
      calls_.Call("cudaEventSynchronize", [&] { return cudaEventSynchronize(event.get()); }));
  return CheckWanted();
}

absl::Status ProofRun::Follow(cudaStream_t stream, const Event& event) {
  return calls_.Call("cudaStreamWaitEvent", [&] { return cudaStreamWaitEvent(stream, event.get(), 0); });
}

absl::Status ProofRun::Begin(Stage stage, cudaStream_t stream) {
  return Record(resources_.stages[static_cast<size_t>(stage)].begin, stream);
}

absl::Status ProofRun::End(Stage stage, cudaStream_t stream) {
  return Record(resources_.stages[static_cast<size_t>(stage)].end, stream);
}

// Fills page-locked memory and copies it up in chunks, so that the bus runs while the next chunk is filled.
// After the witness before, if there is one.
absl::Status ProofRun::Upload(absl::Span<const U256> witness) {
  for (size_t begin = 0; begin < witness.size(); begin += kUploadChunk) {
    const size_t count = std::min(kUploadChunk, witness.size() - begin);
    const size_t place = staged_;
    U256* staged = resources_.staging.data() + place;
    staged_ += count;
    kernels::ParallelFor(0, count, count <= kCopyAloneMax ? kCopyAloneMax : kCopyGrain,
                         [&](size_t from, size_t to) {
                           StreamingCopy(witness.subspan(begin + from, to - from), staged + from);
                         });
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("witness upload", [&] {
      return cudaMemcpyAsync(scratch_.witness + place, staged, count * sizeof(U256), cudaMemcpyHostToDevice,
                             resources_.main.get());
    }));
    calls_.CountHostToDevice(count * sizeof(U256));
  }
  return absl::OkStatus();
}

absl::Status ProofRun::EndUpload() {
  PROOFMILL_RETURN_IF_ERROR(End(Stage::kUpload, resources_.main.get()));
  return Record(resources_.uploaded, resources_.main.get());
}

absl::Status ProofRun::LaunchDigits(BaseSetId id, uint32_t chunk, cudaStream_t stream) {
  PROOFMILL_RETURN_IF_ERROR(binding_.LaunchDigits(id, chunk, stream));
  if (!shape(id).is_padded()) {
    PROOFMILL_RETURN_IF_ERROR(binding_.LaunchCopyOfCount(id, stream));
    calls_.CountDeviceToHost(sizeof(uint32_t));
  }
  return Record(resources_.digits_ready[Index(id)], stream);
}

absl::Status ProofRun::LaunchGraph(BaseSetId id) {
  if (id == BaseSetId::kH) PROOFMILL_RETURN_IF_ERROR(Follow(stream(id), resources_.digits_ready[Index(id)]));
  PROOFMILL_RETURN_IF_ERROR(binding_.graph(id).Launch(calls_, stream(id)));
  return EndMsm(id);
}

absl::Status ProofRun::BeginMsm(BaseSetId id, cudaStream_t stream) {
  const bool by_graph = !binding_.graph(id).empty();
  PROOFMILL_RETURN_IF_ERROR(Begin(kMsmStages[Index(id)], stream));
  // H's go ahead on the main stream.
  if (!by_graph || id == BaseSetId::kH) PROOFMILL_RETURN_IF_ERROR(LaunchDigits(id, 0, stream));
  return by_graph ? LaunchGraph(id) : absl::OkStatus();
}

absl::Status ProofRun::BeginWitnessMsm(BaseSetId id) {
  if (!in_turn()) PROOFMILL_RETURN_IF_ERROR(Follow(stream(id), resources_.uploaded));
  return BeginMsm(id, stream(id));
}

absl::Status ProofRun::LaunchH() {
  const cudaStream_t main = resources_.main.get();
  PROOFMILL_RETURN_IF_ERROR(Begin(Stage::kGather, main));
  PROOFMILL_RETURN_IF_ERROR(calls_.Call("gather", [&] {
    return kernels::LaunchGather(key_.a_matrix(), key_.b_matrix(), binding_.witnesses(),
                                 uint32_t{1} << key_.domain().log2_n, key_.long_rows().data(),
                                 static_cast<uint32_t>(key_.long_rows().size()), scratch_.abc, main);
  }));
  PROOFMILL_RETURN_IF_ERROR(End(Stage::kGather, main));
  PROOFMILL_RETURN_IF_ERROR(Begin(Stage::kNtt, main));
  PROOFMILL_RETURN_IF_ERROR(calls_.Call("ntt", [&] {
    return kernels::LaunchComputeH(key_.domain(), scratch_.abc, scratch_.h, binding_.plan().batch(), main);
  }));
  PROOFMILL_RETURN_IF_ERROR(End(Stage::kNtt, main));
  return BeginMsm(BaseSetId::kH, main);
}

absl::Status ProofRun::LaunchSum(BaseSetId id) {
  if (!binding_.graph(id).empty()) return absl::OkStatus();  // it went with the beginning
  const size_t set = Index(id);
  const Event& digits_ready = resources_.digits_ready[set];
  for (uint32_t chunk = 0; chunk < shape(id).chunks; ++chunk) {
    if (chunk != 0) PROOFMILL_RETURN_IF_ERROR(LaunchDigits(id, chunk, stream(id)));
    PROOFMILL_RETURN_IF_ERROR(shape(id).is_padded() ? Follow(stream(id), digits_ready) : Wait(digits_ready));
    PROOFMILL_RETURN_IF_ERROR(
        binding_.LaunchBuckets(id, chunk, resources_.results[0].entry_counts[set], stream(id)));
  }
  PROOFMILL_RETURN_IF_ERROR(binding_.LaunchResult(id, stream(id)));
  return EndMsm(id);
}

absl::Status ProofRun::EndMsm(BaseSetId id) {
  calls_.CountDeviceToHost(binding_.ResultBytes(id));
  PROOFMILL_RETURN_IF_ERROR(End(kMsmStages[Index(id)], stream(id)));
  return Record(resources_.sum_ready[Index(id)], stream(id));
}

absl::Status ProofRun::WaitForSum(BaseSetId id) { return Wait(resources_.sum_ready[Index(id)]); }

absl::StatusOr<StageTimes> ProofRun::ReadStageTimes() {
  StageTimes times{};
  for (const Stage stage : kDeviceStages) {
    const WorkerResources::Span& span = resources_.stages[static_cast<size_t>(stage)];
    float milliseconds = 0;
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaEventElapsedTime", [&] {
      return cudaEventElapsedTime(&milliseconds, span.begin.get(), span.end.get());
    }));
    times[static_cast<size_t>(stage)] = std::chrono::nanoseconds(static_cast<int64_t>(milliseconds * 1e6F));
  }
  return times;
}

void ReportStages(const StageTimes& times, StageSink* sink) {
  if (sink == nullptr) return;
  for (const Stage stage : kDeviceStages) sink->OnStage(StageName(stage), times[static_cast<size_t>(stage)]);
}

Groth16Sums JoinSums(const MsmPlan& plan, const SumParts& parts) {
  const auto g1 = [&](BaseSetId id) {
    return kernels::JoinMsmParts(plan.shape(id), parts.g1[Index(id)].data());
  };
  Groth16Sums sums;
  sums.witness.a = g1(BaseSetId::kA);
  sums.witness.b1 = g1(BaseSetId::kB1);
  sums.witness.b2 = kernels::JoinMsmParts(plan.shape(BaseSetId::kB2), parts.b2.data());
  sums.witness.c = g1(BaseSetId::kC);
  sums.h = g1(BaseSetId::kH);
  return sums;
}

absl::Status ProofRun::WaitAndJoin(BaseSetId id, kernels::G1Xyzz& sum) {
  PROOFMILL_RETURN_IF_ERROR(WaitForSum(id));
  sum = kernels::JoinMsmParts(shape(id), resources_.results[0].g1_sums[Index(id)].data());
  return absl::OkStatus();
}

absl::Status ProofRun::JoinWitnessSums(WitnessSums& sums, const ComputeContext& context) {
  PROOFMILL_RETURN_IF_ERROR(WaitAndJoin(BaseSetId::kA, sums.a));
  PROOFMILL_RETURN_IF_ERROR(WaitForSum(BaseSetId::kB2));
  sums.b2 = kernels::JoinMsmParts(shape(BaseSetId::kB2), resources_.results[0].b2_sums.data());
  PROOFMILL_RETURN_IF_ERROR(WaitAndJoin(BaseSetId::kB1, sums.b1));
  if (context.on_a_and_b) context.on_a_and_b(sums.a, sums.b1, sums.b2);
  PROOFMILL_RETURN_IF_ERROR(WaitAndJoin(BaseSetId::kC, sums.c));
  if (context.on_witness_sums) context.on_witness_sums(sums);
  return absl::OkStatus();
}

absl::Status ProofRun::Launch() {
  if (in_turn()) {
    for (const BaseSetId id : kWitnessSets) {
      PROOFMILL_RETURN_IF_ERROR(BeginWitnessMsm(id));
      PROOFMILL_RETURN_IF_ERROR(LaunchSum(id));
    }
    return LaunchH();
  }
  PROOFMILL_RETURN_IF_ERROR(BeginWitnessMsm(BaseSetId::kB2));
  PROOFMILL_RETURN_IF_ERROR(LaunchH());
  PROOFMILL_RETURN_IF_ERROR(BeginWitnessMsm(BaseSetId::kA));
  PROOFMILL_RETURN_IF_ERROR(BeginWitnessMsm(BaseSetId::kB1));
  PROOFMILL_RETURN_IF_ERROR(BeginWitnessMsm(BaseSetId::kC));
  for (const BaseSetId id : kWitnessSets) PROOFMILL_RETURN_IF_ERROR(LaunchSum(id));
  return LaunchSum(BaseSetId::kH);
}

absl::StatusOr<Groth16Sums> ProofRun::Run(absl::Span<const U256> witness, const ComputeContext& context) {
  cancel_ = context.cancel;
  PROOFMILL_RETURN_IF_ERROR(Begin(Stage::kUpload, resources_.main.get()));
  PROOFMILL_RETURN_IF_ERROR(Upload(witness));
  PROOFMILL_RETURN_IF_ERROR(EndUpload());
  PROOFMILL_RETURN_IF_ERROR(Launch());
  PROOFMILL_RETURN_IF_ERROR(Wait(resources_.uploaded));
  WipeStaging();  // the host has nothing else to do

  Groth16Sums sums;
  const ScopedWipe wipe(sums);
  PROOFMILL_RETURN_IF_ERROR(JoinWitnessSums(sums.witness, context));
  if (in_turn()) PROOFMILL_RETURN_IF_ERROR(LaunchSum(BaseSetId::kH));
  PROOFMILL_RETURN_IF_ERROR(WaitAndJoin(BaseSetId::kH, sums.h));
  // Each sum is the last of its stream, and what the main stream had to do came before that of H.
  streams_idle_ = true;
  if (context.stages != nullptr) {
    PROOFMILL_ASSIGN_OR_RETURN(const StageTimes times, ReadStageTimes());
    ReportStages(times, context.stages);
  }
  return sums;
}

absl::Status ProofRun::RunBatch(absl::Span<ProofLine::Member* const> members) {
  const auto proof = [&](size_t i) -> ProofInBatch& { return static_cast<ProofInBatch&>(*members[i]); };
  PROOFMILL_RETURN_IF_ERROR(Begin(Stage::kUpload, resources_.main.get()));
  for (size_t i = 0; i < members.size(); ++i) PROOFMILL_RETURN_IF_ERROR(Upload(proof(i).witness));
  PROOFMILL_RETURN_IF_ERROR(EndUpload());
  PROOFMILL_RETURN_IF_ERROR(Launch());
  for (const Event& sum_ready : resources_.sum_ready)
    PROOFMILL_RETURN_IF_ERROR(Follow(resources_.main.get(), sum_ready));
  PROOFMILL_RETURN_IF_ERROR(Record(resources_.batch_done, resources_.main.get()));
  PROOFMILL_RETURN_IF_ERROR(Wait(resources_.uploaded));
  WipeStaging();
  PROOFMILL_RETURN_IF_ERROR(Wait(resources_.batch_done));
  streams_idle_ = true;
  PROOFMILL_ASSIGN_OR_RETURN(const StageTimes times, ReadStageTimes());
  for (size_t i = 0; i < members.size(); ++i) {
    TakeParts(i, proof(i).parts);
    proof(i).stages = times;
    proof(i).made = true;
  }
  return absl::OkStatus();
}

void ProofRun::TakeParts(size_t proof, SumParts& out) const {
  const HostResults& results = resources_.results[0];
  for (size_t set = 0; set < kBaseSetCount; ++set) {
    const uint32_t parts = binding_.plan().shapes[set].parts();
    if (set == Index(BaseSetId::kB2)) {
      std::copy_n(results.b2_sums.begin() + proof * parts, parts, out.b2.begin());
    } else {
      std::copy_n(results.g1_sums[set].begin() + proof * parts, parts, out.g1[set].begin());
    }
  }
}

void ProofRun::WipeStaging() {
  if (staged_ == 0) return;
  kernels::ParallelFor(0, staged_, kCopyAloneMax, [&](size_t begin, size_t end) {
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
  absl::Status status;
  // A call that fails is made once more: secrets must not stay for an error that passes. The proof fails all
  // the same, with the first error.
  const auto insist = [&](std::string_view what, auto call) {
    absl::Status first = calls_.Call(what, call);
    if (!first.ok()) calls_.Call(what, call).IgnoreError();
    if (status.ok()) status = std::move(first);
  };
  const auto synchronize = [&](const Stream& stream) {
    insist("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream.get()); });
  };
  // They may still read or write: wait for all before the first byte is overwritten.
  if (!streams_idle_) {
    for (const Stream& stream : resources_.sets) synchronize(stream);
    synchronize(resources_.main);
  }
  // The next proof starts on the main stream, so it comes after this.
  insist("wipe", [&] { return cudaMemsetAsync(scratch_.witness, 0, scratch_.bytes, resources_.main.get()); });
  return status;
}

}  // namespace proofmill::engine
