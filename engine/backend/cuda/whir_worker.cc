#include "engine/backend/cuda/whir_worker.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/whir/statement.h"
#include "engine/whir/transcript.h"
#include "kernels/cuda/evaluate.h"

namespace proofmill::engine {

// The times at which stages begin on the device; each lasts until the next.
class WhirStageClock {
 public:
  WhirStageClock(CudaCalls& calls, cudaStream_t stream) : calls_(calls), stream_(stream) {}

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

namespace {

using kernels::BabyBear;

// Small enough that filling the first and copying the last, which overlap with nothing, take little; large
// enough that the threads that fill one are not woken too often.
constexpr size_t kUploadChunkBytesMin = 4096, kUploadChunkBytesMax = size_t{1} << 21;

kernels::DeviceSponge SpongeOf(const WhirTranscript& transcript) {
  kernels::DeviceSponge out{};
  const auto word = [](BabyBear x) { return x.montgomery(); };
  std::transform(transcript.state().begin(), transcript.state().end(), out.state, word);
  std::transform(transcript.pending().begin(), transcript.pending().end(), out.state, word);
  out.input_count = static_cast<uint32_t>(transcript.pending().size());
  out.output_count = static_cast<uint32_t>(transcript.output().size());
  return out;
}

// The polynomial's value at the point of claim `claim`. The sponge observes it, which means nothing: it is
// overwritten before a proof begins.
template <int kD>
absl::Status LaunchEvaluation(CudaCalls& calls, const WhirConfig& config, const WhirViews& views,
                              size_t claim, cudaStream_t stream) {
  const uint32_t variables = config.parameters.num_variables;
  uint32_t* const value = views.values + claim * kD;
  const kernels::AnswerStep step = {.point = views.points + claim * variables * kD,
                                    .value = value,
                                    .copy = value,
                                    .next_point = nullptr,
                                    .partials = views.partials,
                                    .arrived = views.arrived};
  return calls.Call("LaunchAnswer", [&] {
    return kernels::LaunchAnswer<kD>(kernels::Poseidon2Width16(config.parameters.constants), views.sponge,
                                     {views.polynomial, 0, false}, variables, step, stream);
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<WhirWorker>> WhirWorker::Make(CudaCalls& calls, const WhirConfig& config) {
  std::unique_ptr<WhirWorker> worker(new WhirWorker(calls, config));
  PROOFMILL_RETURN_IF_ERROR(worker->Initialise());
  return worker;
}

absl::Status WhirWorker::Initialise() {
  PROOFMILL_ASSIGN_OR_RETURN(stream_, Stream::Make(calls_, 0));
  const size_t polynomial_bytes = sizeof(uint32_t) << config_.parameters.num_variables;
  PROOFMILL_ASSIGN_OR_RETURN(
      PinnedUpload upload,
      PinnedUpload::Make(calls_, std::clamp(polynomial_bytes, kUploadChunkBytesMin, kUploadChunkBytesMax)));
  upload_ = std::make_unique<PinnedUpload>(std::move(upload));
  PROOFMILL_ASSIGN_OR_RETURN(round_done_, Event::Make(calls_));
  for (size_t i = 0; i < WhirParts(config_) + 2; ++i) {
    PROOFMILL_ASSIGN_OR_RETURN(Event mark, Event::Make(calls_));
    marks_.push_back(std::move(mark));
  }
  return absl::OkStatus();
}

absl::Status WhirWorker::TakeMemory(size_t claims) {
  DropMemory();
  const size_t words = std::max(places_.words + 1, claims * config_.degree());
  if (download_.size() < words) {
    PROOFMILL_ASSIGN_OR_RETURN(download_, PinnedBuffer<uint32_t>::Make(calls_, words));
  }
  PROOFMILL_ASSIGN_OR_RETURN(memory_, WhirMemory::Make(calls_, config_, places_, claims, stream_.get()));
  PROOFMILL_ASSIGN_OR_RETURN(PinnedUpload head,
                             PinnedUpload::Make(calls_, memory_.head_words(claims) * sizeof(uint32_t)));
  head_ = std::make_unique<PinnedUpload>(std::move(head));
  return absl::OkStatus();
}

void WhirWorker::DropMemory() {
  graphs_.clear();  // they hold the old places
  memory_ = WhirMemory();
}

absl::StatusOr<WhirProof> WhirWorker::Prove(absl::Span<const BabyBear> polynomial,
                                            absl::Span<const WhirClaim> claims,
                                            const WhirProveOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const bool stages = options.times != nullptr && options.stage_times;
  WhirStageClock clock(calls_, stream_.get());
  PROOFMILL_RETURN_IF_ERROR(End(Run(polynomial, claims, options, stages ? &clock : nullptr)));
  if (options.times != nullptr) {
    *options.times = WhirTimes();
    if (stages) PROOFMILL_RETURN_IF_ERROR(clock.AddTo(*options.times));
    options.times->total = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  if (options.stages != nullptr) PROOFMILL_RETURN_IF_ERROR(ReportParts(*options.stages));
  if (download_[places_.words] != 0) return NoNonce(options);
  WhirProof proof = ReadWhirProof(config_, places_, download_.data());
  if (options.times != nullptr) options.times->nonces = WhirNoncesTried(config_, proof);
  return proof;
}

absl::StatusOr<WhirElements> WhirWorker::Evaluate(absl::Span<const BabyBear> polynomial,
                                                  absl::Span<const WhirClaim> claims) {
  const size_t words = claims.size() * config_.degree();
  const auto run = [&] {
    PROOFMILL_RETURN_IF_ERROR(UploadWords(memory_.views().polynomial, polynomial));
    PROOFMILL_RETURN_IF_ERROR(EnqueueValues(claims));
    PROOFMILL_RETURN_IF_ERROR(Copy(download_.data(), memory_.views().values, words));
    PROOFMILL_RETURN_IF_ERROR(WipeUploads());
    return calls_.Call("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream_.get()); });
  };
  PROOFMILL_RETURN_IF_ERROR(End(run()));
  WhirElements values(words);
  for (size_t i = 0; i < words; ++i) values[i] = BabyBear::FromMontgomery(download_[i]);
  return values;
}

absl::Status WhirWorker::EnqueueValues(absl::Span<const WhirClaim> claims) {
  WhirElements points;
  for (const WhirClaim& claim : claims) points.insert(points.end(), claim.point.begin(), claim.point.end());
  const WhirViews& views = memory_.views();
  PROOFMILL_RETURN_IF_ERROR(UploadWords(views.points, points));
  for (size_t i = 0; i < claims.size(); ++i) {
    const auto launch = config_.degree() == 4 ? &LaunchEvaluation<4> : &LaunchEvaluation<5>;
    PROOFMILL_RETURN_IF_ERROR(launch(calls_, config_, views, i, stream_.get()));
  }
  return absl::OkStatus();
}

absl::Status WhirWorker::End(const absl::Status& run) {
  const absl::Status wiped = memory_.Wipe(calls_, stream_.get());
  if (run.ok()) return wiped;
  // Nothing of this proof may still be at work when the caller takes the polynomial away.
  static_cast<void>(cudaStreamSynchronize(stream_.get()));
  static_cast<void>(WipeUploads());
  return run;
}

absl::Status WhirWorker::Run(absl::Span<const BabyBear> polynomial, absl::Span<const WhirClaim> claims,
                             const WhirProveOptions& options, WhirStageClock* clock) {
  const auto check = [&] {
    return options.cancellation == nullptr ? absl::OkStatus() : options.cancellation->Check();
  };
  const auto begin_stage = [&](double WhirTimes::*stage) {
    return clock == nullptr ? absl::OkStatus() : clock->Begin(stage);
  };
  // A round of which the device has all work is waited for, so that a cancelled proof ends soon: the wait is
  // for the one before, so that the device always has work.
  const auto wait_for_round = [&] {
    if (options.cancellation == nullptr) return absl::OkStatus();
    PROOFMILL_RETURN_IF_ERROR(
        calls_.Call("cudaEventSynchronize", [&] { return cudaEventSynchronize(round_done_.get()); }));
    PROOFMILL_RETURN_IF_ERROR(check());
    return calls_.Call("cudaEventRecord", [&] { return cudaEventRecord(round_done_.get(), stream_.get()); });
  };
  const auto mark = [&](size_t number) {
    return options.stages == nullptr ? absl::OkStatus() : MarkPart(number);
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
  PROOFMILL_RETURN_IF_ERROR(mark(0));
  PROOFMILL_RETURN_IF_ERROR(UploadWords(memory_.views().polynomial, polynomial));
  PROOFMILL_RETURN_IF_ERROR(UploadStatement(claims));
  PROOFMILL_RETURN_IF_ERROR(mark(1));
  for (size_t part = 0; part < WhirParts(config_); ++part) {
    if (part > 0) PROOFMILL_RETURN_IF_ERROR(wait_for_round());
    PROOFMILL_RETURN_IF_ERROR(clock == nullptr ? graphs_[part].Launch(calls_, stream_.get())
                                               : EnqueueWhirPart(context, part));
    PROOFMILL_RETURN_IF_ERROR(mark(part + 2));
  }
  PROOFMILL_RETURN_IF_ERROR(Copy(download_.data(), memory_.views().proof, places_.words));
  PROOFMILL_RETURN_IF_ERROR(Copy(download_.data() + places_.words, &memory_.views().sponge->failed, 1));
  PROOFMILL_RETURN_IF_ERROR(begin_stage(nullptr));
  PROOFMILL_RETURN_IF_ERROR(WipeUploads());  // while the device works
  PROOFMILL_RETURN_IF_ERROR(
      calls_.Call("cudaStreamSynchronize", [&] { return cudaStreamSynchronize(stream_.get()); }));
  return check();
}

absl::Status WhirWorker::Record(const WhirRunContext& context) {
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

absl::Status WhirWorker::UploadWords(uint32_t* target, absl::Span<const BabyBear> words) {
  return upload_->Upload(target, words.data(), words.size() * sizeof(BabyBear), stream_.get());
}

absl::Status WhirWorker::UploadStatement(absl::Span<const WhirClaim> claims) {
  const std::vector<uint32_t> head = Head(claims);
  return head_->Upload(memory_.views().sponge, head.data(), head.size() * sizeof(uint32_t), stream_.get());
}

std::vector<uint32_t> WhirWorker::Head(absl::Span<const WhirClaim> claims) const {
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

absl::Status WhirWorker::WipeUploads() {
  absl::Status status = upload_->Wipe();
  status.Update(head_->Wipe());
  return status;
}

absl::Status WhirWorker::Copy(uint32_t* to, const uint32_t* from, size_t words) {
  calls_.CountDeviceToHost(words * sizeof(uint32_t));
  return calls_.Call("cudaMemcpyAsync", [&] {
    return cudaMemcpyAsync(to, from, words * sizeof(uint32_t), cudaMemcpyDeviceToHost, stream_.get());
  });
}

absl::Status WhirWorker::MarkPart(size_t part) {
  return calls_.Call("cudaEventRecord", [&] { return cudaEventRecord(marks_[part].get(), stream_.get()); });
}

// REQUIRES: the stream has come to the last mark.
absl::Status WhirWorker::ReportParts(StageSink& sink) const {
  for (size_t i = 0; i + 1 < marks_.size(); ++i) {
    float milliseconds = 0;
    PROOFMILL_RETURN_IF_ERROR(calls_.Call("cudaEventElapsedTime", [&] {
      return cudaEventElapsedTime(&milliseconds, marks_[i].get(), marks_[i + 1].get());
    }));
    const std::string stage = i == 0                          ? "upload"
                              : i == 1                        ? "commit"
                              : i < config_.rounds.size() + 2 ? WhirRoundStage(i - 2)
                                                              : "open";
    sink.OnStage(stage, std::chrono::nanoseconds(static_cast<int64_t>(milliseconds * 1e6F)));
  }
  return absl::OkStatus();
}

absl::Status WhirWorker::NoNonce(const WhirProveOptions& options) {
  const bool all = options.nonce_end == kernels::kBabyBearP;
  return absl::AbortedError(absl::StrCat(all ? "no nonce in the field" : "no nonce below the limit",
                                         ": expected one for each proof of work, got none for one"));
}

}  // namespace proofmill::engine
