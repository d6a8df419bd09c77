#include "engine/groth16/host_memory.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace proofmill::engine {
namespace {

// Version 1 writes about 2^63 for "no limit".
constexpr uint64_t kNoLimit = uint64_t{1} << 60;

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// The number after `key` on the line that begins with it.
std::optional<uint64_t> NumberOf(const std::string& text, absl::string_view key) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!absl::ConsumePrefix(&line, key)) continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    uint64_t value = 0;
    if (!words.empty() && absl::SimpleAtoi(words[0], &value)) return value;
  }
  return std::nullopt;
}

// Our path in the hierarchy that /proc/self/cgroup marks with `controllers` ("" for version 2).
std::optional<std::string> GroupPath(const std::string& text, absl::string_view controllers) {
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() == 3 && fields[1] == controllers) return std::string(fields[2]);
  }
  return std::nullopt;
}

std::optional<uint64_t> Smaller(std::optional<uint64_t> a, std::optional<uint64_t> b) {
  if (!a.has_value()) return b;
  if (!b.has_value()) return a;
  return std::min(*a, *b);
}

// The tightest headroom of the group at root + path and of the groups above it. In a container the path may
// be that of the host; then only the root is there.
std::optional<uint64_t> TightestHeadroom(const std::string& root, std::string path, const char* limit_file,
                                         const char* usage_file) {
  std::optional<uint64_t> tightest;
  for (;;) {
    const std::string folder = absl::StrCat(root, path, "/");
    tightest =
        Smaller(tightest, ControlGroupHeadroom(ReadAll(folder + limit_file), ReadAll(folder + usage_file),
                                               ReadAll(folder + "memory.stat")));
    if (path.empty() || path == "/") return tightest;
    path.resize(path.rfind('/'));
  }
}

}  // namespace

std::optional<uint64_t> MemAvailableBytes(const std::string& text) {
  const std::optional<uint64_t> kib = NumberOf(text, "MemAvailable:");
  if (!kib.has_value()) return std::nullopt;
  return *kib << 10;
}

std::optional<uint64_t> ControlGroupHeadroom(const std::string& limit, const std::string& usage,
                                             const std::string& stat) {
  uint64_t limit_bytes = 0, usage_bytes = 0;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(limit), &limit_bytes) || limit_bytes >= kNoLimit ||
      !absl::SimpleAtoi(absl::StripAsciiWhitespace(usage), &usage_bytes)) {
    return std::nullopt;
  }
  const uint64_t cache = std::min(usage_bytes, NumberOf(stat, "inactive_file ").value_or(0));
  const uint64_t taken = usage_bytes - cache;
  return limit_bytes > taken ? limit_bytes - taken : 0;
}

std::optional<uint64_t> AvailableHostMemory() {
  std::optional<uint64_t> available = MemAvailableBytes(ReadAll("/proc/meminfo"));
  const std::string groups = ReadAll("/proc/self/cgroup");
  if (const auto path = GroupPath(groups, ""); path.has_value()) {
    available = Smaller(available, TightestHeadroom("/sys/fs/cgroup", *path, "memory.max", "memory.current"));
  }
  if (const auto path = GroupPath(groups, "memory"); path.has_value()) {
    available = Smaller(available, TightestHeadroom("/sys/fs/cgroup/memory", *path, "memory.limit_in_bytes",
                                                    "memory.usage_in_bytes"));
  }
  return available;
}

}  // namespace proofmill::engine
