// The times of the steps of one proof, in the order in which they were first heard of, as a table or JSON.
//
// Thread safety: OnStage() and Add() may be called from any thread; the rest only when no step runs.

#ifndef PROOFMILL_CLI_STAGE_TIMES_H_
#define PROOFMILL_CLI_STAGE_TIMES_H_

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "engine/base/mutex.h"
#include "engine/base/stage_sink.h"

namespace proofmill::cli {

class StageTimes final : public engine::StageSink {
 public:
  void OnStage(std::string_view stage, std::chrono::nanoseconds duration) override;
  void Add(absl::string_view name, double seconds);

  // Adds the time from its making to its end under `name`.
  class Scope {
   public:
    Scope(StageTimes& times, absl::string_view name) : times_(times), name_(name) {}
    ~Scope() {
      times_.Add(name_, std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    StageTimes& times_;
    const std::string name_;
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };

  // Name and seconds of each step.
  std::vector<std::pair<std::string, double>> All() const;
  std::string ToText() const;
  // {"stages_seconds": {...}, "peak_memory_bytes": N}
  std::string ToJson() const;

 private:
  mutable engine::Mutex mu_;
  std::vector<std::pair<std::string, double>> times_ ABSL_GUARDED_BY(mu_);
};

// The most memory that this process has had resident so far, in bytes.
uint64_t PeakMemoryBytes();

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_STAGE_TIMES_H_
