#include "engine/whir/buffer_pool.h"

#include <algorithm>
#include <utility>

#include "engine/base/secure_memory.h"

namespace proofmill::engine {

BufferPool::Buffer::~Buffer() {
  if (secret_) WipeMemory(words_.data(), used_ * sizeof(uint32_t));
  pool_.Give(std::move(words_));
}

size_t BufferPool::size_bytes() const {
  const MutexLock lock(mu_);
  size_t bytes = 0;
  for (const HostBuffer<uint32_t>& words : free_) bytes += words.size_bytes();
  return bytes;
}

HostBuffer<uint32_t> BufferPool::Take(size_t words) {
  {
    const MutexLock lock(mu_);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->size() >= words && (best == free_.end() || it->size() < best->size())) best = it;
    }
    if (best != free_.end()) {
      HostBuffer<uint32_t> out = std::move(*best);
      free_.erase(best);
      return out;
    }
  }
  return HostBuffer<uint32_t>(words);
}

void BufferPool::Give(HostBuffer<uint32_t> words) {
  const MutexLock lock(mu_);
  free_.push_back(std::move(words));
}

}  // namespace proofmill::engine
