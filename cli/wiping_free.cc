// free() and realloc() of this program, which overwrite small blocks.
//
// M_PERTURB (server/process.h) makes glibc overwrite what is freed, but not the blocks that it keeps for
// their thread (tcache): those of up to 1032 bytes, in which headers of calls lie, API keys among them. All
// libraries of the process call these functions instead of glibc's; what is larger is left to M_PERTURB.
// Linked into the program alone, and not under a sanitizer, which has a malloc of its own.
//
// Thread safety: as the functions that they stand for.

#include <malloc.h>
#include <string.h>

#include <algorithm>
#include <cstddef>

extern "C" {

// glibc's own, under the names that it gives them for this purpose.
void __libc_free(void* block);                    // NOLINT(bugprone-reserved-identifier)
void* __libc_malloc(size_t bytes);                // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void* block, size_t bytes);  // NOLINT(bugprone-reserved-identifier)

// Twice what glibc keeps for a thread, so that none falls between.
static constexpr size_t kSmallBytesMax = 2048;

void free(void* block) noexcept {
  if (block == nullptr) return;
  const size_t usable = malloc_usable_size(block);
  if (usable <= kSmallBytesMax) explicit_bzero(block, usable);
  __libc_free(block);
}

void* realloc(void* block, size_t bytes) noexcept {
  if (block == nullptr) return __libc_malloc(bytes);
  if (bytes == 0) {
    free(block);
    return nullptr;
  }
  const size_t usable = malloc_usable_size(block);
  // glibc would free a small block itself when it moves.
  if (usable > kSmallBytesMax) return __libc_realloc(block, bytes);
  if (bytes <= usable && bytes > usable / 2) return block;
  void* const moved = __libc_malloc(bytes);
  if (moved == nullptr) return nullptr;
  memcpy(moved, block, std::min(usable, bytes));
  free(block);
  return moved;
}

}  // extern "C"
