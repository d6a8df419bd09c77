#include "cli/load_run.h"

#include <algorithm>
#include <optional>
#include <random>
#include <thread>

#include "absl/time/clock.h"
#include "engine/base/mutex.h"

namespace proofmill::cli {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

Clock::time_point After(Clock::time_point start, absl::Duration duration) {
  // So far away that nothing gets there, and no sum wraps.
  if (duration >= absl::Hours(24 * 365)) return Clock::time_point::max();
  return start + std::chrono::duration_cast<Clock::duration>(absl::ToChronoNanoseconds(duration));
}

// Hands out requests one after the other: when each should be sent, and of which kind it is.
class Schedule {
 public:
  struct Request {
    Clock::time_point intended;
    size_t kind;
    uint64_t number;
  };

  Schedule(const LoadPlan& plan, const LoadStep& step, Clock::time_point start)
      : step_(step),
        end_(After(start, step.duration)),
        random_(plan.seed),
        kinds_(plan.weights.begin(), plan.weights.end()),
        next_(start) {}

  // The next request; nothing when there are no more.
  std::optional<Request> Take() {
    engine::MutexLock lock(mu_);
    if (number_ == step_.requests) return std::nullopt;
    const Clock::time_point intended = step_.rate > 0 ? next_ : Clock::now();
    if (intended >= end_) return std::nullopt;
    if (step_.rate > 0) next_ = intended + Interval();
    return Request{intended, kinds_(random_), number_++};
  }

 private:
  Clock::duration Interval() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const double seconds = step_.even ? 1 / step_.rate : intervals_(random_) / step_.rate;
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  const LoadStep& step_;
  const Clock::time_point end_;
  engine::Mutex mu_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mu_);
  std::discrete_distribution<size_t> kinds_ ABSL_GUARDED_BY(mu_);
  std::exponential_distribution<double> intervals_ ABSL_GUARDED_BY(mu_);
  Clock::time_point next_ ABSL_GUARDED_BY(mu_);  // of an open loop
  uint64_t number_ ABSL_GUARDED_BY(mu_) = 0;
};

// What one sender saw.
struct Seen {
  std::vector<LoadTally> kinds;
  std::vector<uint32_t> proved_by_second;
  Clock::time_point first_counted = Clock::time_point::max();
  Clock::time_point last_answer = Clock::time_point::min();
};

void SendAll(Schedule& schedule, const LoadStep& step, Clock::time_point start, const LoadSend& send,
             std::atomic<uint64_t>& proved, Seen& seen) {
  const Clock::time_point counted_from = After(start, step.warmup);
  while (const auto request = schedule.Take()) {
    std::this_thread::sleep_until(request->intended);
    const Clock::time_point sent = Clock::now();
    LoadReply reply = send(request->kind, request->number);
    if (reply.answered == Clock::time_point()) reply.answered = Clock::now();
    if (reply.kind == LoadReply::Kind::kProved) {
      proved.fetch_add(1, std::memory_order_relaxed);  // read for a status line only
      const auto second = static_cast<size_t>(Seconds(reply.answered - start));
      if (seen.proved_by_second.size() <= second) seen.proved_by_second.resize(second + 1);
      ++seen.proved_by_second[second];
    }
    if (request->intended < counted_from) continue;
    seen.kinds[request->kind].Add(reply, Seconds(reply.answered - request->intended),
                                  Seconds(reply.answered - sent));
    seen.first_counted = std::min(seen.first_counted, request->intended);
    seen.last_answer = std::max(seen.last_answer, reply.answered);
  }
}

void Append(std::vector<double>& to, const std::vector<double>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void LoadTally::Add(const LoadReply& reply, double latency_seconds, double service_seconds) {
  ++sent;
  switch (reply.kind) {
    case LoadReply::Kind::kFailed:
      ++failed;
      if (reply.has_retry_delay) ++failed_with_delay;
      ++failures[reply.reason];
      return;
    case LoadReply::Kind::kAbandoned:
      ++abandoned;
      return;
    case LoadReply::Kind::kProved:
      break;
  }
  ++proved;
  latency.push_back(latency_seconds);
  service.push_back(service_seconds);
  queue_wait.push_back(reply.queue_wait_seconds);
  if (reply.run_seconds.has_value()) {
    run.push_back(*reply.run_seconds);
    overhead.push_back(service_seconds - *reply.run_seconds);
  }
  for (const auto& [name, seconds] : reply.stages) stages[name].push_back(seconds);
}

void LoadTally::Merge(const LoadTally& other) {
  sent += other.sent;
  proved += other.proved;
  failed += other.failed;
  abandoned += other.abandoned;
  failed_with_delay += other.failed_with_delay;
  for (const auto& [reason, count] : other.failures) failures[reason] += count;
  Append(latency, other.latency);
  Append(service, other.service);
  Append(queue_wait, other.queue_wait);
  Append(run, other.run);
  Append(overhead, other.overhead);
  for (const auto& [name, seconds] : other.stages) Append(stages[name], seconds);
}

LoadResult RunLoad(const LoadPlan& plan, const LoadStep& step, const LoadSend& send,
                   std::atomic<uint64_t>& proved) {
  const Clock::time_point start = Clock::now();
  Schedule schedule(plan, step, start);
  std::vector<Seen> seen(std::min(step.under_way, step.requests));
  std::vector<std::thread> senders;
  for (Seen& mine : seen) {
    mine.kinds.resize(plan.weights.size());
    senders.emplace_back([&] { SendAll(schedule, step, start, send, proved, mine); });
  }
  for (std::thread& sender : senders) sender.join();

  LoadResult result;
  result.kinds.resize(plan.weights.size());
  Clock::time_point first = Clock::time_point::max(), last = Clock::time_point::min();
  for (const Seen& one : seen) {
    for (size_t kind = 0; kind < one.kinds.size(); ++kind) result.kinds[kind].Merge(one.kinds[kind]);
    first = std::min(first, one.first_counted);
    last = std::max(last, one.last_answer);
    if (result.proved_by_second.size() < one.proved_by_second.size())
      result.proved_by_second.resize(one.proved_by_second.size());
    for (size_t i = 0; i < one.proved_by_second.size(); ++i)
      result.proved_by_second[i] += one.proved_by_second[i];
  }
  if (last > first) result.seconds = Seconds(last - first);
  return result;
}

}  // namespace proofmill::cli
