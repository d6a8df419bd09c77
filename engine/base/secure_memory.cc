#include "engine/base/secure_memory.h"

#include <string.h>  // explicit_bzero
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace proofmill::engine {
namespace {

// Not inlined, so that its array lies where the frames of functions called before lay.
__attribute__((noinline)) void WipeStack() {
  constexpr size_t kStackBytes = 64 << 10;  // deeper than the calls that touch a witness on gRPC's threads
  unsigned char frame[kStackBytes];
  WipeMemory(frame, sizeof(frame));
}

// All of them are the caller's to save, so none holds anything that is still needed after a call.
void WipeVectorRegisters() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    // Zeroing by exclusive or; only AVX-512 has these registers, and this file is not compiled for it, so
    // that the compiler uses none of them.
    asm volatile(
        "vpxorq %zmm16, %zmm16, %zmm16\n\tvpxorq %zmm17, %zmm17, %zmm17\n\tvpxorq %zmm18, %zmm18, %zmm18\n\t"
        "vpxorq %zmm19, %zmm19, %zmm19\n\tvpxorq %zmm20, %zmm20, %zmm20\n\tvpxorq %zmm21, %zmm21, %zmm21\n\t"
        "vpxorq %zmm22, %zmm22, %zmm22\n\tvpxorq %zmm23, %zmm23, %zmm23\n\tvpxorq %zmm24, %zmm24, %zmm24\n\t"
        "vpxorq %zmm25, %zmm25, %zmm25\n\tvpxorq %zmm26, %zmm26, %zmm26\n\tvpxorq %zmm27, %zmm27, %zmm27\n\t"
        "vpxorq %zmm28, %zmm28, %zmm28\n\tvpxorq %zmm29, %zmm29, %zmm29\n\tvpxorq %zmm30, %zmm30, %zmm30\n\t"
        "vpxorq %zmm31, %zmm31, %zmm31");
  }
  if (__builtin_cpu_supports("avx")) {
    asm volatile("vzeroall" ::
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
#endif
}

}  // namespace

void WipeMemory(void* data, size_t size) {
  if (size != 0) explicit_bzero(data, size);
}

absl::Status FillRandom(void* data, size_t size) {
  auto* out = static_cast<uint8_t*>(data);
  size_t done = 0;
  while (done < size) {
    const ssize_t got = getrandom(out + done, size - done, 0);
    if (got < 0) {
      if (errno == EINTR) continue;
      return absl::InternalError(absl::StrCat("getrandom failed: ", std::strerror(errno)));
    }
    done += static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

__attribute__((noinline)) void WipeThreadTraces() {
  WipeStack();
  WipeVectorRegisters();
}

}  // namespace proofmill::engine
