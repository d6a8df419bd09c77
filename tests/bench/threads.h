// Arguments that benchmarks of multi-threaded kernels share: {log2 of the size, threads}.

#ifndef PROOFMILL_TESTS_BENCH_THREADS_H_
#define PROOFMILL_TESTS_BENCH_THREADS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "benchmark/benchmark.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::kernels {

// Each size on one thread and on all hardware threads, by the clock on the wall.
inline void SizesAndThreads(benchmark::internal::Benchmark* bench,
                            std::initializer_list<int64_t> log2_sizes) {
  bench->ArgNames({"log2", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int64_t log2_size : log2_sizes) {
    bench->Args({log2_size, 1});
    const auto all = static_cast<int64_t>(HardwareThreads());
    if (all > 1) bench->Args({log2_size, all});
  }
}

// Runs body() once an iteration, in an arena of state.range(1) threads.
template <typename Body>
void RunInArena(benchmark::State& state, const Body& body) {
  ThreadArena arena(static_cast<size_t>(state.range(1)));
  arena.Execute([&] {
    for (auto _ : state) body();
  });
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_BENCH_THREADS_H_
