#include "engine/backend/cuda/whir_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/cuda/cuda_graph.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/pinned_upload.h"
#include "engine/backend/cuda/whir_memory.h"
#include "engine/backend/cuda/whir_places.h"
#include "engine/backend/cuda/whir_run.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/whir/statement.h"
#include "engine/whir/transcript.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using Clock = std::chrono::steady_clock;

// Small enough that filling the first and copying the last, which overlap with nothing, take little.
constexpr size_t kUploadChunkBytesMin = 4096, kUploadChunkBytesMax = size_t{1} << 20;

// The times at which stages begin on the device; each lasts until the next.
class StageClock {
 public:
  StageClock(CudaCalls& calls, cudaStream_t stream) : calls_(calls), stream_(stream) {}

  absl::Status Begin(double WhirTimes::*stage) {
    if (!marks_.empty() && marks_.back().stage == stage) return absl::OkStatus();
    PROOFMILL_ASSIGN_OR_RETURN(Event event, Event::Make(calls_));
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("cudaEventRecord", [&] { return cudaEventRecord(event.get(), stream_); }));
    marks_.push_back({stage, std::move(event)});
    return absl::OkStatus();
  }
  // REQUIRES: the stream has come to the last mark.
  absl::Status AddTo(WhirTimes& times) {
    for (size_t i = 0; i + 1 < marks_.size(); ++i) {
      float milliseconds = 0;
      PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaEventElapsedTime", [&] {
        return cudaEventElapsedTime(&milliseconds, marks_[i].event.get(), marks_[i + 1].event.get());
      }));
      times.*marks_[i].stage += static_cast<double>(milliseconds) / 1000;
    }
    return absl::OkStatus();
  }

 private:
  struct Mark {
    double WhirTimes::*stage;
    Event event;
  };
  CudaCalls& calls_;
  const cudaStream_t stream_;
  std::vector<Mark> marks_;
};

kernels::DeviceSponge SpongeOf(const WhirTranscript& transcript) {
  kernels::DeviceSponge out{};
  const auto word = [](BabyBear x) { return x.montgomery(); };
  std::transform(transcript.state().begin(), transcript.state().end(), out.state, word);
  std::transform(transcript.pending().begin(), transcript.pending().end(), out.state, word);
  out.input_count = static_cast<uint32_t>(transcript.pending().size());
  out.output_count = static_cast<uint32_t>(transcript.output().size());
  return out;
}

class Device : public CudaWhirDevice {
 public:
  Device(const WhirConfig& config, int device)
      : config_(config), places_(PlaceWhirProof(config)), device_(device) {}

  absl::Status Initialise() {
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    PROOFMILL_ASSIGN_OR_RETURN(stream_, Stream::Make(calls_, 0));
    const size_t polynomial_bytes = sizeof(uint32_t) << config_.parameters.num_variables;
    PROOFMILL_ASSIGN_OR_RETURN(
        PinnedUpload upload,
        PinnedUpload::Make(calls_, std::clamp(polynomial_bytes, kUploadChunkBytesMin, kUploadChunkBytesMax)));
    upload_ = std::make_unique<PinnedUpload>(std::move(upload));
    PROOFMILL_ASSIGN_OR_RETURN(download_, PinnedBuffer<uint32_t>::Make(calls_, places_.words + 1));
    PROOFMILL_ASSIGN_OR_RETURN(round_done_, Event::Make(calls_));
    return TakeMemory(config_.parameters.num_claims);
  }

  size_t device_bytes() const override { return memory_.size_bytes(); }
  CudaCalls& calls() override { return calls_; }

  absl::StatusOr<WhirProof> Prove(absl::Span<const BabyBear> polynomial, absl::Span<const WhirClaim> claims,
                                  const WhirProveOptions& options) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    PROOFMILL_ASSIGN_OR_RETURN(const DeviceGuard guard, DeviceGuard::Make(calls_, device_));
    const Clock::time_point begin = Clock::now();
    if (claims.size() > memory_.claims()) PROOFMILL_RETURN_IF_ERROR(TakeMemory(claims.size()));
    const bool stages = options.times != nullptr && options.stage_times;
    StageClock clock(calls_, stream_.get());
    const absl::Status run = Run(polynomial, claims, options, stages ? &clock : nullptr);
    const absl::Status wiped = memory_.Wipe(calls_, stream_.get());
    if (!run.ok()) {
      // Nothing of this proof may still be at work when the caller takes the polynomial away.
      static_cast<void>(cudaStreamSynchronize(stream_.get()));
      static_cast<void>(WipeUploads());
      return run;
    }
    PROOFMILL_RETURN_IF_ERROR(wiped);
    if (options.times != nullptr) {
      *options.times = WhirTimes();
      if (stages) PROOFMILL_RETURN_IF_ERROR(clock.AddTo(*options.times));
      options.times->total = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    if (download_[places_.words] != 0) return NoNonce(options);
    WhirProof proof = ReadWhirProof(config_, places_, download_.data());
    if (options.times != nullptr) options.times->nonces = WhirNoncesTried(config_, proof);
    return proof;
  }

 private:
  absl::Status TakeMemory(size_t claims) {
    graphs_.clear();  // they hold the old places
    memory_ = WhirMemory();
    PROOFMILL_ASSIGN_OR_RETURN(memory_, WhirMemory::Make(calls_, config_, places_, claims, stream_.get()));
    PROOFMILL_ASSIGN_OR_RETURN(PinnedUpload head,
                               PinnedUpload::Make(calls_, memory_.head_words(claims) * sizeof(uint32_t)));
    head_ = std::make_unique<PinnedUpload>(std::move(head));
    return absl::OkStatus();
  }

  // Up to the arrival of the proof's words. `clock`: null if nobody asks for stages.
  absl::Status Run(absl::Span<const BabyBear> polynomial, absl::Span<const WhirClaim> claims,
                   const WhirProveOptions& options, StageClock* clock) {
    const auto check = [&] {
      return options.cancellation == nullptr ? absl::OkStatus() : options.cancellation->Check();
    };
    const auto begin_stage = [&](double WhirTimes::*stage) {
      return clock == nullptr ? absl::OkStatus() : clock->Begin(stage);
    };
    const WhirRunContext context = {.calls = calls_,
                                    .config = config_,
                                    .places = places_,
                                    .views = memory_.views(),
                                    .stream = stream_.get(),
                                    .claims = claims.size(),
                                    .nonce_end = options.nonce_end,
                                    .stages = clock != nullptr,
                                    .begin_stage = begin_stage};
    if (clock == nullptr) PROOFMILL_RETURN_IF_ERROR(Record(context));
    PROOFMILL_RETURN_IF_ERROR(check());
    PROOFMILL_RETURN_IF_ERROR(begin_stage(&WhirTimes::upload));
    PROOFMILL_RETURN_IF_ERROR(Upload(polynomial, claims));
    for (size_t part = 0; part < WhirParts(config_); ++part) {
      if (part > 0) PROOFMILL_RETURN_IF_ERROR(WaitForRound(options, check));
      PROOFMILL_RETURN_IF_ERROR(clock == nullptr ? graphs_[part].Launch(calls_, stream_.get())
                                                 : EnqueueWhirPart(context, part));
    }
    PROOFMILL_RETURN_IF_ERROR(Copy(download_.data(), memory_.views().proof, places_.words));
    PROOFMILL_RETURN_IF_ERROR(Copy(download_.data() + places_.words, &memory_.views().sponge->failed, 1));
    PROOFMILL_RETURN_IF_ERROR(begin_stage(nullptr));
    PROOFMILL_RETURN_IF_ERROR(WipeUploads());  // while the device works
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream_.get()); }));
    return check();
  }

  // Makes the graphs for proofs like this one, one for each part, unless they are those of the last.
  absl::Status Record(const WhirRunContext& context) {
    if (!graphs_.empty() && recorded_claims_ == context.claims && recorded_end_ == context.nonce_end)
      return absl::OkStatus();
    graphs_.clear();
    std::vector<Graph> graphs;
    for (size_t part = 0; part < WhirParts(config_); ++part) {
      PROOFMILL_ASSIGN_OR_RETURN(
          Graph graph, Graph::Capture(calls_, stream_.get(), [&] { return EnqueueWhirPart(context, part); }));
      graphs.push_back(std::move(graph));
    }
    graphs_ = std::move(graphs);
    recorded_claims_ = context.claims;
    recorded_end_ = context.nonce_end;
    return absl::OkStatus();
  }

  // A round of which the device has all work is waited for, so that a cancelled proof ends soon: the wait is
  // for the one before, so that the device always has work.
  template <typename F>
  absl::Status WaitForRound(const WhirProveOptions& options, const F& check) {
    if (options.cancellation == nullptr) return absl::OkStatus();
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("cudaEventSynchronize", [&] { return cudaEventSynchronize(round_done_.get()); }));
    PROOFMILL_RETURN_IF_ERROR(check());
    return calls_.Call("cudaEventRecord", [&] { return cudaEventRecord(round_done_.get(), stream_.get()); });
  }

  absl::Status Upload(absl::Span<const BabyBear> polynomial, absl::Span<const WhirClaim> claims) {
    const WhirViews& views = memory_.views();
    PROOFMILL_RETURN_IF_ERROR(upload_->Upload(views.polynomial, polynomial.data(),
                                              polynomial.size() * sizeof(BabyBear), stream_.get()));
    const std::vector<uint32_t> head = Head(claims);
    return head_->Upload(views.sponge, head.data(), head.size() * sizeof(uint32_t), stream_.get());
  }
  // What the host writes from the sponge on, in one copy.
  std::vector<uint32_t> Head(absl::Span<const WhirClaim> claims) const {
    const WhirViews& views = memory_.views();
    const auto* const begin = reinterpret_cast<const uint32_t*>(views.sponge);
    std::vector<uint32_t> head(memory_.head_words(claims.size()));
    const kernels::DeviceSponge sponge = SpongeOf(BeginWhirTranscript(config_, claims));
    std::memcpy(head.data(), &sponge, sizeof(sponge));
    auto point = head.begin() + (views.points - begin), value = head.begin() + (views.values - begin);
    const auto word = [](BabyBear x) { return x.montgomery(); };
    for (const WhirClaim& claim : claims) {
      point = std::transform(claim.point.begin(), claim.point.end(), point, word);
      value = std::transform(claim.value.begin(), claim.value.end(), value, word);
    }
    return head;
  }

  absl::Status WipeUploads() {
    absl::Status status = upload_->Wipe();
    status.Update(head_->Wipe());
    return status;
  }

  absl::Status Copy(uint32_t* to, const uint32_t* from, size_t words) {
    calls_.CountDeviceToHost(words * sizeof(uint32_t));
    return calls_.Call("cudaMemcpyAsync", [&] {
      return cudaMemcpyAsync(to, from, words * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream_.get());
    });
  }

  absl::Status NoNonce(const WhirProveOptions& options) const {
    const bool all = options.nonce_end == kernels::kBabyBearP;
    return absl::AbortedError(absl::StrCat(all ? "no nonce in the field" : "no nonce below the limit",
                                           ": expected one for each proof of work, got none for one"));
  }

  const WhirConfig config_;
  const WhirPlaces places_;
  const int device_;
  CudaCalls calls_;
  std::mutex mutex_;
  Stream stream_;
  std::unique_ptr<PinnedUpload> upload_;  // of the polynomial
  std::unique_ptr<PinnedUpload> head_;    // of what Head() makes
  PinnedBuffer<uint32_t> download_;
  Event round_done_;
  WhirMemory memory_;
  std::vector<Graph> graphs_;  // of the parts of a proof
  size_t recorded_claims_ = 0;
  uint32_t recorded_end_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CudaWhirDevice>> MakeCudaWhirDevice(const WhirConfig& config, int device) {
  PROOFMILL_ASSIGN_OR_RETURN(const int count, CountCudaDevices());
  if (device < 0 || device >= count) {
    return WithReason(absl::FailedPreconditionError(
                          absl::StrCat("cuda: expected a device below ", count, ", got ", device)),
                      ErrorReason::kNoDevice);
  }
  auto out = std::make_unique<Device>(config, device);
  PROOFMILL_RETURN_IF_ERROR(out->Initialise());
  return out;
}

}  // namespace proofmill::engine
