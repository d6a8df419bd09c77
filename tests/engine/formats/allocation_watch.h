// Counts what operator new hands out in this program, so that a test can say that a parser took no more
// memory than its input justifies. Link allocation_watch.cc into the test: it replaces operator new.

#ifndef PROOFMILL_TESTS_ENGINE_FORMATS_ALLOCATION_WATCH_H_
#define PROOFMILL_TESTS_ENGINE_FORMATS_ALLOCATION_WATCH_H_

#include <cstddef>

namespace proofmill::engine {

// Measures from its construction on. One at a time.
class AllocationWatch {
 public:
  AllocationWatch();
  // The most bytes that were in use at once, beyond those at the start.
  size_t PeakBytes() const;

 private:
  size_t start_bytes_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_FORMATS_ALLOCATION_WATCH_H_
