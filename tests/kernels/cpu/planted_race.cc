// A program with a data race between two bodies of a loop. The thread sanitizer must report it: this shows
// that the sanitizer sees into kernels/cpu/parallel.h, and that its silence about the other tests means
// something.

#include <atomic>
#include <cstdio>

#include "kernels/cpu/parallel.h"

int main() {
  using proofmill::kernels::ParallelFor;
  using proofmill::kernels::ThreadArena;
  long unprotected = 0;
  std::atomic<int> arrived{0};
  ThreadArena arena(2);
  arena.Execute([&] {
    ParallelFor(0, 2, 1, [&](size_t, size_t) {
      // Makes sure that two threads take part. Relaxed, so that it orders nothing.
      arrived.fetch_add(1, std::memory_order_relaxed);
      while (arrived.load(std::memory_order_relaxed) < 2) {
      }
      ++unprotected;
    });
  });
  std::printf("%ld\n", unprotected);
  return 0;
}
