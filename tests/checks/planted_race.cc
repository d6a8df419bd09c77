// A data race made on purpose, through the same door to parallelism that the kernels use. The thread
// sanitizer must report it: that shows that a clean run of the other tests means something.

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "kernels/cpu/parallel.h"

int main() {
  uint64_t unguarded = 0;
  proofmill::kernels::ThreadArena arena(4);
  arena.Execute([&] {
    proofmill::kernels::ParallelFor(0, 1000, 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) unguarded += i;
    });
  });
  std::printf("%llu\n", static_cast<unsigned long long>(unguarded));
  return 0;
}
