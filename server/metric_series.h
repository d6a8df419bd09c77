// The series behind Metrics: families made once, series found by a closed set of label values and kept.
// Internal to server/metrics.cc.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_SERVER_METRIC_SERIES_H_
#define PROOFMILL_SERVER_METRIC_SERIES_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/mutex.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace proofmill::server {

using LabelValues = std::vector<std::string_view>;

// The series of one metric, found by the values of its labels. A value that was seen before costs a search in
// a map, not the building of a label set.
template <typename T>
class SeriesFamily {
 public:
  // `arguments` are what each new series is made with: bucket bounds, for histograms.
  template <typename... Arguments>
  SeriesFamily(prometheus::Family<T>& family, std::vector<std::string> labels, Arguments... arguments)
      : labels_(std::move(labels)),
        make_([&family, arguments...](const prometheus::Labels& series_labels) {
          return &family.Add(series_labels, arguments...);
        }),
        remove_([&family](T* series) { family.Remove(series); }) {}

  // REQUIRES: one value for each label, from a closed set.
  T& At(const LabelValues& values) {
    std::string key;
    for (std::string_view value : values) key.append(value).push_back('\0');
    engine::MutexLock lock(mu_);
    T*& series = series_[key];
    if (series == nullptr) {
      prometheus::Labels series_labels;
      for (size_t i = 0; i < labels_.size(); ++i) series_labels.emplace(labels_[i], values[i]);
      series = make_(series_labels);
    }
    return *series;
  }

  // Ends a series, if it is there. REQUIRES: nobody uses what At() gave for it.
  void Remove(const LabelValues& values) {
    std::string key;
    for (std::string_view value : values) key.append(value).push_back('\0');
    engine::MutexLock lock(mu_);
    const auto found = series_.find(key);
    if (found == series_.end()) return;
    remove_(found->second);
    series_.erase(found);
  }

 private:
  const std::vector<std::string> labels_;
  const std::function<T*(const prometheus::Labels&)> make_;
  const std::function<void(T*)> remove_;
  engine::Mutex mu_;
  std::map<std::string, T*, std::less<>> series_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_METRIC_SERIES_H_
