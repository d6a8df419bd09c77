// parallel.h over std::thread: plain and slow (a loop starts its threads and joins them), so that the thread
// sanitizer sees every hand-over. Chunks are given out by an atomic counter.

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

#include "kernels/cpu/parallel.h"

namespace proofmill::kernels {
namespace internal {

// The threads that loops of one arena may still start beside the threads that call them. Nested loops share
// it, so that an arena never runs more threads than it was given (and one for each caller after the first).
struct ArenaState {
  explicit ArenaState(size_t threads_in_arena) : threads(threads_in_arena), spare(threads_in_arena - 1) {}

  // Takes up to n threads from the budget; Release() gives them back.
  size_t Acquire(size_t n) {
    size_t have = spare.load(std::memory_order_relaxed);  // a count only: it publishes no data
    size_t take = std::min(n, have);
    while (take > 0 && !spare.compare_exchange_weak(have, have - take, std::memory_order_relaxed)) {
      take = std::min(n, have);
    }
    return take;
  }
  void Release(size_t n) { spare.fetch_add(n, std::memory_order_relaxed); }

  const size_t threads;
  std::atomic<size_t> spare;
};

namespace {

thread_local ArenaState* current_arena = nullptr;

// The arena of the running thread; outside of any, one of all hardware threads, which holds no resource and
// so needs no shutdown.
ArenaState& CurrentArena() {
  static ArenaState everything(HardwareThreads());
  return current_arena == nullptr ? everything : *current_arena;
}

// Makes `arena` the current one until the end of the scope.
class ArenaScope {
 public:
  explicit ArenaScope(ArenaState& arena) : before_(current_arena) { current_arena = &arena; }
  ~ArenaScope() { current_arena = before_; }
  ArenaScope(const ArenaScope&) = delete;
  ArenaScope& operator=(const ArenaScope&) = delete;

 private:
  ArenaState* const before_;
};

// The work of one call, as all threads that take part see it.
class Loop {
 public:
  Loop(size_t begin, size_t end, size_t grain, RangeBody body)
      : begin_(begin), end_(end), grain_(grain), chunks_((end - begin - 1) / grain + 1), body_(body) {}

  size_t chunks() const { return chunks_; }

  // Runs chunks until none is left or one has failed. Never throws.
  void Work() {
    while (!failed_.load(std::memory_order_relaxed)) {
      // Relaxed is enough: chunks are independent; starting and joining the threads orders everything else.
      const size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= chunks_) return;
      const size_t chunk_begin = begin_ + i * grain_;
      try {
        body_.call(body_.object, chunk_begin, chunk_begin + std::min(grain_, end_ - chunk_begin));
      } catch (...) {
        if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
      }
    }
  }

  // REQUIRES: every thread that took part has ended.
  void RethrowError() const {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

 private:
  const size_t begin_;
  const size_t end_;
  const size_t grain_;
  const size_t chunks_;
  const RangeBody body_;
  std::atomic<size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;  // written by the one thread that turned failed_ to true, read after the join
};

// Starts up to n threads on the loop; fewer when the system refuses more, since the caller works too.
std::vector<std::thread> StartHelpers(Loop& loop, ArenaState& arena, size_t n) {
  std::vector<std::thread> helpers;
  try {
    helpers.reserve(n);
    while (helpers.size() < n) {
      helpers.emplace_back([&loop, &arena] {
        const ArenaScope scope(arena);
        loop.Work();
      });
    }
  } catch (const std::exception&) {  // no thread or no memory for one
  }
  return helpers;
}

}  // namespace

void RunRange(size_t begin, size_t end, size_t grain, RangeBody body) {
  if (begin >= end) return;
  Loop loop(begin, end, grain, body);
  ArenaState& arena = CurrentArena();
  const size_t acquired = arena.Acquire(loop.chunks() - 1);
  std::vector<std::thread> helpers = StartHelpers(loop, arena, acquired);
  loop.Work();
  for (std::thread& helper : helpers) helper.join();
  arena.Release(acquired);
  loop.RethrowError();
}

void RunTasks(const Task* tasks, size_t n) {
  RunRange(0, n, 1, {tasks, [](const void* object, size_t chunk_begin, size_t chunk_end) {
                       const Task* const all = static_cast<const Task*>(object);
                       for (size_t i = chunk_begin; i < chunk_end; ++i) all[i].call(all[i].object);
                     }});
}

}  // namespace internal

size_t HardwareThreads() { return std::max<size_t>(std::thread::hardware_concurrency(), 1); }

size_t CurrentThreads() { return internal::CurrentArena().threads; }

ThreadArena::ThreadArena(size_t threads)
    : threads_(threads), state_(std::make_unique<internal::ArenaState>(threads)) {}
ThreadArena::~ThreadArena() = default;

void ThreadArena::Run(internal::Task task) {
  const internal::ArenaScope scope(*state_);
  task.call(task.object);
}

}  // namespace proofmill::kernels
