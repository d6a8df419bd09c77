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
constexpr char kMachineFile[] = "/proc/meminfo";

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

// Where the kernel shows the memory of one group.
struct GroupFiles {
  std::string limit, usage, stat;
};

// Our group and the groups above it, of both versions. In a container the path may be that of the host; then
// only the topmost is there.
std::vector<GroupFiles> OurGroups(const std::string& root) {
  struct Version {
    const char* controllers;
    const char* folder;
    const char* limit;
    const char* usage;
  };
  static constexpr Version kVersions[] = {
      {"", "/sys/fs/cgroup", "memory.max", "memory.current"},
      {"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"}};
  const std::string groups = ReadAll(root + "/proc/self/cgroup");
  std::vector<GroupFiles> out;
  for (const Version& version : kVersions) {
    std::optional<std::string> path = GroupPath(groups, version.controllers);
    while (path.has_value()) {
      const std::string folder = absl::StrCat(root, version.folder, *path == "/" ? "" : *path, "/");
      out.push_back({folder + version.limit, folder + version.usage, folder + "memory.stat"});
      if (path->empty() || *path == "/") break;
      path->resize(path->rfind('/'));
    }
  }
  return out;
}

std::optional<uint64_t> GroupLimitBytes(const std::string& limit) {
  uint64_t bytes = 0;
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(limit), &bytes) || bytes >= kNoLimit) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<uint64_t> MemAvailableBytes(const std::string& text) {
  const std::optional<uint64_t> kib = NumberOf(text, "MemAvailable:");
  if (!kib.has_value()) return std::nullopt;
  return *kib << 10;
}

std::optional<uint64_t> ControlGroupHeadroom(const std::string& limit, const std::string& usage,
                                             const std::string& stat) {
  const std::optional<uint64_t> limit_bytes = GroupLimitBytes(limit);
  uint64_t usage_bytes = 0;
  if (!limit_bytes.has_value() || !absl::SimpleAtoi(absl::StripAsciiWhitespace(usage), &usage_bytes)) {
    return std::nullopt;
  }
  const uint64_t cache = std::min(usage_bytes, NumberOf(stat, "inactive_file ").value_or(0));
  const uint64_t taken = usage_bytes - cache;
  return *limit_bytes > taken ? *limit_bytes - taken : 0;
}

std::optional<uint64_t> AvailableHostMemory(const std::string& root) {
  std::optional<uint64_t> available = MemAvailableBytes(ReadAll(root + kMachineFile));
  for (const GroupFiles& group : OurGroups(root)) {
    available = Smaller(
        available, ControlGroupHeadroom(ReadAll(group.limit), ReadAll(group.usage), ReadAll(group.stat)));
  }
  return available;
}

std::optional<HostMemoryLimit> FindHostMemoryLimit(const std::string& root) {
  std::optional<HostMemoryLimit> tightest;
  const auto take = [&](std::optional<uint64_t> bytes, const std::string& from) {
    if (!bytes.has_value() || (tightest.has_value() && tightest->bytes <= *bytes)) return;
    tightest = HostMemoryLimit{*bytes, from};
  };
  const std::string machine = root + kMachineFile;
  const std::optional<uint64_t> kib = NumberOf(ReadAll(machine), "MemTotal:");
  if (kib.has_value()) take(*kib << 10, machine);
  for (const GroupFiles& group : OurGroups(root)) take(GroupLimitBytes(ReadAll(group.limit)), group.limit);
  return tightest;
}

}  // namespace proofmill::engine
