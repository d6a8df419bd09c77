// Loops and forks over the cores of the machine: the one door to oneTBB.
//
// Two implementations stand behind these functions, chosen by the build option PROOFMILL_PARALLEL: oneTBB, or
// std::thread for the thread sanitizer, which cannot see into Debian's oneTBB.
//
// Which threads: code inside ThreadArena::Execute() uses that arena's threads; outside of any arena, all
// hardware threads. The calling thread always takes part, so one thread means the caller alone.
//
// Exceptions: the first exception thrown by a body is rethrown to the caller once every running body has
// ended; bodies that have not begun by then may be left out.
//
// Nesting is fine. While a thread waits in a nested call it may run other bodies of the same arena: hold no
// lock, and rely on no thread-local state, across a call.
//
// Ordering: what happened before the call is visible to every body, and what a body did is visible to the
// caller after the call returns. Bodies of one call are not ordered among themselves.

#ifndef PROOFMILL_KERNELS_CPU_PARALLEL_H_
#define PROOFMILL_KERNELS_CPU_PARALLEL_H_

#include <cstddef>
#include <memory>
#include <type_traits>

namespace proofmill::kernels {

// The number of threads that this process may run at once; at least 1.
size_t HardwareThreads();

// The number of threads that a loop started here would use; at least 1. For sizing chunks.
size_t CurrentThreads();

namespace internal {

// Non-owning references to callables, so that the templates below stay thin.
struct RangeBody {
  const void* object;
  void (*call)(const void* object, size_t chunk_begin, size_t chunk_end);
};
struct Task {
  const void* object;
  void (*call)(const void* object);
};
template <typename F>
Task MakeTask(const F& f) {
  return {&f, [](const void* object) { (*static_cast<const F*>(object))(); }};
}
void RunRange(size_t begin, size_t end, size_t grain, RangeBody body);
void RunTasks(const Task* tasks, size_t n);
struct ArenaState;

}  // namespace internal

// Calls body(chunk_begin, chunk_end) for consecutive chunks that together cover [begin, end) once. Chunk
// number i is [begin + i * grain, begin + (i + 1) * grain), cut at `end`, whatever the number of threads.
// An empty range calls nothing. REQUIRES: grain > 0.
template <typename F>
void ParallelFor(size_t begin, size_t end, size_t grain, F&& body) {
  using Body = std::remove_reference_t<F>;
  internal::RunRange(begin, end, grain, {&body, [](const void* object, size_t chunk_begin, size_t chunk_end) {
                                           (*static_cast<Body*>(const_cast<void*>(object)))(chunk_begin,
                                                                                            chunk_end);
                                         }});
}

// Calls every f() once, possibly at the same time.
template <typename... F>
void ParallelInvoke(F&&... f) {
  const internal::Task tasks[] = {internal::MakeTask(f)...};
  internal::RunTasks(tasks, sizeof...(F));
}

// A set of threads of a fixed size. Thread safety: Execute() may be called from several threads at once; they
// then share the arena's threads.
class ThreadArena {
 public:
  // REQUIRES: threads > 0. May be more than HardwareThreads().
  explicit ThreadArena(size_t threads);
  ~ThreadArena();
  ThreadArena(const ThreadArena&) = delete;
  ThreadArena& operator=(const ThreadArena&) = delete;

  size_t threads() const { return threads_; }

  // Runs f() in this arena and returns when it has ended. Exceptions of f propagate.
  template <typename F>
  void Execute(F&& f) {
    Run(internal::MakeTask(f));
  }

 private:
  void Run(internal::Task task);

  const size_t threads_;
  const std::unique_ptr<internal::ArenaState> state_;
};

}  // namespace proofmill::kernels

#endif  // PROOFMILL_KERNELS_CPU_PARALLEL_H_
