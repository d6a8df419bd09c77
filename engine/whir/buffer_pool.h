// Large arrays of words that proofs of one prover use one after the other. Without it each proof would spend
// a fifth of its time on page faults, as the system takes large blocks back when they are freed.
//
// Thread safety: Take() and the destructor of a buffer may be called from any thread. The pool outlives its
// buffers.

#ifndef PROOFMILL_ENGINE_WHIR_BUFFER_POOL_H_
#define PROOFMILL_ENGINE_WHIR_BUFFER_POOL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "engine/base/host_buffer.h"
#include "engine/base/mutex.h"

namespace proofmill::engine {

class BufferPool {
 public:
  // Words of the pool, uninitialised. They go back to it with the buffer, wiped first where they are secret.
  class Buffer {
   public:
    Buffer(BufferPool& pool, size_t words, bool secret)
        : pool_(pool), words_(pool.Take(words)), used_(words), secret_(secret) {}
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    uint32_t* data() { return words_.data(); }
    const uint32_t* data() const { return words_.data(); }

   private:
    BufferPool& pool_;
    HostBuffer<uint32_t> words_;
    const size_t used_;
    const bool secret_;
  };

  BufferPool() = default;
  // Of the arrays that no buffer has now.
  size_t size_bytes() const;
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

 private:
  // The smallest free array that has room, or a new one. Throws std::bad_alloc.
  HostBuffer<uint32_t> Take(size_t words);
  void Give(HostBuffer<uint32_t> words);

  mutable Mutex mu_;
  std::vector<HostBuffer<uint32_t>> free_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_BUFFER_POOL_H_
