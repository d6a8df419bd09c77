// Makes one call of operator new fail, wherever in the program it is. Link failing_new.cc into the test: it
// replaces operator new.

#ifndef PROOFMILL_TESTS_ENGINE_DISPATCH_FAILING_NEW_H_
#define PROOFMILL_TESTS_ENGINE_DISPATCH_FAILING_NEW_H_

#include <cstdint>

namespace proofmill::engine {

// Call number n from now on, from 0, throws std::bad_alloc, once. The calls are counted on all threads, but
// for scopes that are left out.
void FailNew(uint64_t n);
// Ends that. Returns how many calls were counted.
uint64_t StopFailingNew();

// While it lives, calls on its thread are neither counted nor fail: for what belongs to the test.
class LeftOutOfFaults {
 public:
  LeftOutOfFaults();
  ~LeftOutOfFaults();
  LeftOutOfFaults(const LeftOutOfFaults&) = delete;
  LeftOutOfFaults& operator=(const LeftOutOfFaults&) = delete;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_DISPATCH_FAILING_NEW_H_
