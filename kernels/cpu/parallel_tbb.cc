// parallel.h over oneTBB.

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "kernels/cpu/parallel.h"

namespace proofmill::kernels {

size_t HardwareThreads() { return std::max<size_t>(std::thread::hardware_concurrency(), 1); }

size_t CurrentThreads() { return static_cast<size_t>(std::max(tbb::this_task_arena::max_concurrency(), 1)); }

namespace internal {
namespace {

// For a context of each loop's own: a loop inside a body runs to its end also when another body of the outer
// loop has thrown. With a bound context, oneTBB ends it early and returns as if all had been done, and what
// comes after it in the body works with what nobody has written.
constexpr tbb::task_group_context::kind_type kOwnContext = tbb::task_group_context::isolated;

}  // namespace

void RunRange(size_t begin, size_t end, size_t grain, RangeBody body) {
  if (begin >= end) return;
  const size_t chunks = (end - begin - 1) / grain + 1;
  if (chunks == 1) return body.call(body.object, begin, end);
  const auto run = [&](const tbb::blocked_range<size_t>& range) {
    for (size_t i = range.begin(); i < range.end(); ++i) {
      const size_t chunk_begin = begin + i * grain;
      body.call(body.object, chunk_begin, chunk_begin + std::min(grain, end - chunk_begin));
    }
  };
  // One task a chunk balances best; many small chunks are bundled so that tasks do not cost more than work.
  const tbb::blocked_range<size_t> range(0, chunks);
  tbb::task_group_context context(kOwnContext);
  if (chunks <= 64 * CurrentThreads())
    return tbb::parallel_for(range, run, tbb::simple_partitioner(), context);
  tbb::parallel_for(range, run, tbb::auto_partitioner(), context);
}

void RunTasks(const Task* tasks, size_t n) {
  tbb::task_group_context context(kOwnContext);
  tbb::parallel_for(
      tbb::blocked_range<size_t>(0, n),
      [&](const tbb::blocked_range<size_t>& range) {
        for (size_t i = range.begin(); i < range.end(); ++i) tasks[i].call(tasks[i].object);
      },
      tbb::simple_partitioner(), context);
}

struct ArenaState {
  explicit ArenaState(size_t threads) : arena(static_cast<int>(threads)) {
    // oneTBB starts no more threads than the hardware has, unless told so.
    if (threads > HardwareThreads()) {
      limit.emplace(tbb::global_control::max_allowed_parallelism, threads);
    }
  }
  std::optional<tbb::global_control> limit;
  tbb::task_arena arena;
};

}  // namespace internal

ThreadArena::ThreadArena(size_t threads)
    : threads_(threads), state_(std::make_unique<internal::ArenaState>(threads)) {}
ThreadArena::~ThreadArena() = default;

void ThreadArena::Run(internal::Task task) {
  state_->arena.execute([&] { task.call(task.object); });
}

}  // namespace proofmill::kernels
