// A data race made on purpose, through the same door to parallelism that the kernels use. The thread
// sanitizer must report it: that shows that a clean run of the other tests means something.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>

#include "kernels/cpu/parallel.h"

namespace {

std::atomic<int> g_arrived{0};
int g_unguarded = 0;

// Waits until both have come, so that two threads write, and then writes. The atomic is relaxed: it must not
// order the two writes. The wait has an end, in case one thread runs both.
void WriteUnguarded() {
  g_arrived.fetch_add(1, std::memory_order_relaxed);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (g_arrived.load(std::memory_order_relaxed) < 2 && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::yield();
  }
  ++g_unguarded;
}

}  // namespace

int main() {
  const auto write = [] { WriteUnguarded(); };
  proofmill::kernels::ThreadArena arena(2);
  arena.Execute([&] { proofmill::kernels::ParallelInvoke(write, write); });
  std::printf("%d\n", g_unguarded);
  return 0;
}
