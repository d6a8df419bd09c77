// Sends requests on a plan and measures them: the heart of `proofmill load`.
//
// A closed loop keeps a number of requests under way; an open loop sends them at a rate whatever becomes of
// them, at random intervals (a Poisson process, as many independent clients make) or even ones. In an open
// loop a request that has to wait for a free sender is measured from when it should have been sent: what a
// service does to the requests behind a slow one is part of its latency ("coordinated omission" leaves that
// out).
//
// Thread safety: Run() starts threads of its own and joins them; `send` is called by all of them.

#ifndef PROOFMILL_CLI_LOAD_RUN_H_
#define PROOFMILL_CLI_LOAD_RUN_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace proofmill::cli {

// One step of a plan.
struct LoadStep {
  double rate = 0;         // requests a second; 0: a closed loop
  bool even = false;       // even intervals instead of random ones
  uint64_t under_way = 1;  // requests at a time: the closed loop's, or an open loop's most
  absl::Duration duration = absl::InfiniteDuration();  // of sending
  uint64_t requests = UINT64_MAX;                      // to send, warm-up included
  absl::Duration warmup = absl::ZeroDuration();        // what should be sent in this time is not counted
};

// What a request came to.
struct LoadReply {
  enum class Kind {
    kProved,
    kFailed,
    kAbandoned,  // ended by the plan itself, before its answer
  };
  Kind kind = Kind::kFailed;
  std::chrono::steady_clock::time_point answered = {};  // if not told: when the sender returned
  std::string reason = {};                              // of a failure
  bool has_retry_delay = false;                         // the service said when to come back after it
  double queue_wait_seconds = 0;
  std::optional<double> run_seconds = {};  // on its device; nothing from a service that does not tell
  std::vector<std::pair<std::string, double>> stages = {};  // name and seconds, as the service tells
};

// What requests of one kind came to. Times are in seconds, of proved ones only.
struct LoadTally {
  uint64_t sent = 0;
  uint64_t proved = 0;
  uint64_t failed = 0;
  uint64_t abandoned = 0;
  uint64_t failed_with_delay = 0;            // of the failed: the service said when to come back
  std::map<std::string, uint64_t> failures;  // by reason
  std::vector<double> latency;               // from when it should have been sent to its answer
  std::vector<double> service;               // from when it was sent to its answer
  std::vector<double> queue_wait;            // at the service
  std::vector<double> run;                   // on its device
  std::vector<double> overhead;              // `service` less `run`
  std::map<std::string, std::vector<double>> stages;

  void Add(const LoadReply& reply, double latency_seconds, double service_seconds);
  void Merge(const LoadTally& other);
};

struct LoadResult {
  std::vector<LoadTally> kinds;            // as `weights` has them
  double seconds = 0;                      // from the first counted request to the last answer
  std::vector<uint32_t> proved_by_second;  // since the beginning, warm-up included
};

struct LoadPlan {
  // How often each kind of request is sent, relative to the others. Positive.
  std::vector<double> weights;
  uint64_t seed = 0;
};

// Sends one request of `kind`, the `number`-th of the step, and waits for its answer. Must not throw.
using LoadSend = std::function<LoadReply(size_t kind, uint64_t number)>;

// Runs one step. `proved` counts along, for whoever shows progress.
LoadResult RunLoad(const LoadPlan& plan, const LoadStep& step, const LoadSend& send,
                   std::atomic<uint64_t>& proved);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_LOAD_RUN_H_
