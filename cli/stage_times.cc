#include "cli/stage_times.h"

#include <sys/resource.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "cli/table.h"
#include "nlohmann/json.hpp"

namespace proofmill::cli {

void StageTimes::OnStage(std::string_view stage, std::chrono::nanoseconds duration) {
  Add(absl::string_view(stage.data(), stage.size()), std::chrono::duration<double>(duration).count());
}

void StageTimes::Add(absl::string_view name, double seconds) {
  engine::MutexLock lock(mu_);
  for (auto& [known, total] : times_) {
    if (known == name) {
      total += seconds;
      return;
    }
  }
  times_.emplace_back(std::string(name), seconds);
}

std::vector<std::pair<std::string, double>> StageTimes::All() const {
  engine::MutexLock lock(mu_);
  return times_;
}

std::string StageTimes::ToText() const {
  Table table({"step", "time"});
  for (const auto& [name, seconds] : All()) table.AddRow({name, FormatSeconds(seconds)});
  return absl::StrCat(table.Text(), "peak memory  ", FormatBytes(PeakMemoryBytes()), "\n");
}

std::string StageTimes::ToJson() const {
  nlohmann::ordered_json stages = nlohmann::ordered_json::object();
  for (const auto& [name, seconds] : All()) stages[name] = seconds;
  const nlohmann::ordered_json out = {{"stages_seconds", stages}, {"peak_memory_bytes", PeakMemoryBytes()}};
  return out.dump(2) + "\n";
}

uint64_t PeakMemoryBytes() {
  struct rusage usage {};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace proofmill::cli
