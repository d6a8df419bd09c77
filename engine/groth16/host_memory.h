// How much memory this process may still take, so that a key that cannot fit is refused with numbers instead
// of ending the process by the kernel's out-of-memory killer.
//
// The kernel's files are looked for below `root`, which is empty but in tests.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_GROTH16_HOST_MEMORY_H_
#define PROOFMILL_ENGINE_GROTH16_HOST_MEMORY_H_

#include <cstdint>
#include <optional>
#include <string>

namespace proofmill::engine {

// The smaller of what the machine has available (MemAvailable of /proc/meminfo) and what the limits of our
// control groups leave; nothing when neither can be read. Memory that the page cache holds for us counts as
// available, since the kernel gives it up first.
std::optional<uint64_t> AvailableHostMemory(const std::string& root = "");

// What this process may take at most, whatever is taken now, and what says so.
struct HostMemoryLimit {
  uint64_t bytes;
  // The path of a control group's limit, or of /proc/meminfo where the machine is the limit.
  std::string from;
};
// The tightest limit of our control groups, of either version, or the memory of the machine if that is less;
// nothing when none of them can be read.
std::optional<HostMemoryLimit> FindHostMemoryLimit(const std::string& root = "");

// The parts of it, for tests: `text` is the content of /proc/meminfo, or of memory.stat of a control group.
std::optional<uint64_t> MemAvailableBytes(const std::string& text);
// limit - (usage - inactive page cache), at least 0; nothing when `limit` is no number ("max") or is so large
// that it means no limit.
std::optional<uint64_t> ControlGroupHeadroom(const std::string& limit, const std::string& usage,
                                             const std::string& stat);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_HOST_MEMORY_H_
