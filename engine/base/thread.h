// Names for threads, as shown by ps -T and in debuggers.

#ifndef PROOFMILL_ENGINE_BASE_THREAD_H_
#define PROOFMILL_ENGINE_BASE_THREAD_H_

#include <string_view>

namespace proofmill::engine {

// Names the calling thread; the kernel keeps 15 bytes of it.
void SetThreadName(std::string_view name);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BASE_THREAD_H_
