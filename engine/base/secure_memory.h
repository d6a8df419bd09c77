// Wiping of secrets and randomness for blinding.
//
// Thread safety: all functions may be called from any thread.

#ifndef PROOFMILL_ENGINE_BASE_SECURE_MEMORY_H_
#define PROOFMILL_ENGINE_BASE_SECURE_MEMORY_H_

#include <cstddef>

#include "absl/status/status.h"

namespace proofmill::engine {

// Overwrites `size` bytes with zeros in a way that the compiler may not remove.
void WipeMemory(void* data, size_t size);

// Fills `size` bytes from the kernel's CSPRNG (getrandom(2)). Blocks only before the kernel's pool is first
// seeded.
//   INTERNAL  the kernel refused; nothing may be proved then.
[[nodiscard]] absl::Status FillRandom(void* data, size_t size);

// Overwrites what functions that have returned left behind on this thread: frames on its stack (measured: the
// last blocks of hashes and parsers), and vector registers, which still hold the last bytes that memcpy moved
// and which the dynamic linker writes to the stack whenever it binds a function that is called for the first
// time (measured: all of a small witness). Call it after the last use of a secret, from where that was
// called.
void WipeThreadTraces();

// Wipes an object of trivially copyable type at the end of a scope.
template <typename T>
class ScopedWipe {
 public:
  explicit ScopedWipe(T& object) : object_(object) {}
  ~ScopedWipe() { WipeMemory(&object_, sizeof(T)); }
  ScopedWipe(const ScopedWipe&) = delete;
  ScopedWipe& operator=(const ScopedWipe&) = delete;

 private:
  T& object_;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BASE_SECURE_MEMORY_H_
