#include "engine/base/secure_memory.h"

#include <string.h>  // explicit_bzero
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace proofmill::engine {

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

}  // namespace proofmill::engine
