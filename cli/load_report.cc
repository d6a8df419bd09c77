#include "cli/load_report.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/table.h"
#include "nlohmann/json.hpp"

namespace proofmill::cli {
namespace {

using Json = nlohmann::ordered_json;

LoadTally AllOf(const LoadResult& result) {
  LoadTally all;
  for (const LoadTally& kind : result.kinds) all.Merge(kind);
  return all;
}

double RateOf(const LoadTally& tally, const LoadResult& result) {
  return result.seconds > 0 ? static_cast<double>(tally.proved) / result.seconds : 0;
}

std::string NameOf(const LoadStep& step) {
  if (step.rate > 0) return absl::StrFormat("%g/s", step.rate);
  return absl::StrCat(step.under_way, " at once");
}

// null where there are no values: a time of 0 would be one that nobody measured.
Json ToJson(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  const Percentiles p = PercentilesOf(values);
  return {{"mean", p.mean}, {"p50", p.p50},   {"p90", p.p90}, {"p95", p.p95},
          {"p99", p.p99},   {"p999", p.p999}, {"max", p.max}};
}

Json ToJson(const LoadTally& tally, const LoadResult& result) {
  Json out = {{"sent", tally.sent},
              {"proved", tally.proved},
              {"failed", tally.failed},
              {"abandoned", tally.abandoned},
              {"failures", tally.failures},
              {"failed_with_delay", tally.failed_with_delay},
              {"proofs_per_second", RateOf(tally, result)},
              {"latency_seconds", ToJson(tally.latency)},
              {"service_seconds", ToJson(tally.service)},
              {"overhead_seconds", ToJson(tally.overhead)}};
  Json server = {{"queue_wait_seconds", ToJson(tally.queue_wait)}, {"run_seconds", ToJson(tally.run)}};
  server["stages_seconds"] = Json::object();
  for (const auto& [name, seconds] : tally.stages) server["stages_seconds"][name] = ToJson(seconds);
  out["server"] = std::move(server);
  return out;
}

// `seconds` of `values`, or "-" where there are no values.
std::string TimeText(double seconds, const std::vector<double>& values) {
  return values.empty() ? "-" : FormatSeconds(seconds);
}

void AddRow(Table& table, const std::string& name, const std::vector<double>& values) {
  const Percentiles p = PercentilesOf(values);
  const auto text = [&](double seconds) { return TimeText(seconds, values); };
  table.AddRow({name, text(p.mean), text(p.p50), text(p.p90), text(p.p99), text(p.max)});
}

// The last step as the service saw it.
std::string ServerText(const LoadTally& all) {
  Table table({"where the time goes", "mean", "p50", "p90", "p99", "max"});
  AddRow(table, "latency (from when it should have been sent)", all.latency);
  AddRow(table, "service (from when it was sent)", all.service);
  if (!all.overhead.empty())
    AddRow(table, "overhead (service less proof, queue wait included)", all.overhead);
  AddRow(table, "  queue wait, at the service", all.queue_wait);
  if (!all.run.empty()) AddRow(table, "  proof, on its device", all.run);
  for (const auto& [name, seconds] : all.stages) AddRow(table, absl::StrCat("  stage ", name), seconds);
  return table.Text();
}

}  // namespace

Percentiles PercentilesOf(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double rank = std::ceil(share * static_cast<double>(values.size()));
    return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
  };
  return {.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          .p50 = at(0.50),
          .p90 = at(0.90),
          .p95 = at(0.95),
          .p99 = at(0.99),
          .p999 = at(0.999),
          .max = values.back()};
}

std::vector<std::string> Missed(const LoadStepReport& step, const LoadObjectives& objectives) {
  const LoadTally all = AllOf(step.result);
  const Percentiles latency = PercentilesOf(all.latency);
  std::vector<std::string> missed;
  const auto check_latency = [&](const char* name, double got, const std::optional<absl::Duration>& most) {
    if (!most.has_value() || got <= absl::ToDoubleSeconds(*most)) return;
    missed.push_back(absl::StrCat("expected a ", name, " of at most ", absl::FormatDuration(*most), ", got ",
                                  FormatSeconds(got)));
  };
  if (all.proved == 0) missed.push_back("expected proofs, got none");
  if (step.verdicts.has_value() && step.verdicts->bad != 0) {
    missed.push_back(absl::StrCat("expected good proofs only, got ", step.verdicts->bad,
                                  " bad; the first: ", step.verdicts->first_bad));
  }
  check_latency("p50", latency.p50, objectives.p50);
  check_latency("p99", latency.p99, objectives.p99);
  const auto answered = static_cast<double>(all.proved + all.failed);
  if (objectives.failed_share.has_value() && answered > 0 &&
      static_cast<double>(all.failed) > *objectives.failed_share * answered) {
    missed.push_back(absl::StrFormat("expected a failed share of at most %g, got %g",
                                     *objectives.failed_share, static_cast<double>(all.failed) / answered));
  }
  if (objectives.rate.has_value() && RateOf(all, step.result) < *objectives.rate) {
    missed.push_back(absl::StrFormat("expected at least %g proofs a second, got %.3g", *objectives.rate,
                                     RateOf(all, step.result)));
  }
  return missed;
}

std::string LoadText(const LoadReport& report, const LoadObjectives& objectives) {
  Table table({"load", "sent", "proved", "failed", "abandoned", "verified", "proofs/s", "p50", "p90", "p99",
               "p99.9", "max"});
  const auto add = [&](const std::string& name, const LoadTally& tally, const std::string& verified,
                       const LoadResult& result) {
    const Percentiles p = PercentilesOf(tally.latency);
    const auto text = [&](double seconds) { return TimeText(seconds, tally.latency); };
    table.AddRow({name, absl::StrCat(tally.sent), absl::StrCat(tally.proved), absl::StrCat(tally.failed),
                  absl::StrCat(tally.abandoned), verified, absl::StrFormat("%.4g", RateOf(tally, result)),
                  text(p.p50), text(p.p90), text(p.p99), text(p.p999), text(p.max)});
  };
  std::string notes;
  for (const LoadStepReport& step : report.steps) {
    const LoadTally all = AllOf(step.result);
    add(NameOf(step.step), all, step.verdicts.has_value() ? absl::StrCat(step.verdicts->good) : "-",
        step.result);
    for (size_t kind = 0; kind < report.circuits.size() && report.circuits.size() > 1; ++kind) {
      add(absl::StrCat("  ", report.circuits[kind]), step.result.kinds[kind], "", step.result);
    }
    for (const auto& [reason, count] : all.failures) {
      absl::StrAppend(&notes, NameOf(step.step), ": ", count, " x ", reason, "\n");
    }
    for (const std::string& miss : Missed(step, objectives)) {
      absl::StrAppend(&notes, NameOf(step.step), ": ", miss, "\n");
    }
  }
  const std::string server = ServerText(AllOf(report.steps.back().result));
  return absl::StrCat(table.Text(), "\n", server, notes.empty() ? "" : "\n", notes);
}

std::string LoadJson(const LoadReport& report, const LoadObjectives& objectives) {
  Json out = {{"target", report.target}, {"circuits", report.circuits}, {"steps", Json::array()}};
  bool met = true;
  for (const LoadStepReport& step : report.steps) {
    const LoadTally all = AllOf(step.result);
    const std::vector<std::string> missed = Missed(step, objectives);
    met = met && missed.empty();
    Json one = {{"loop", step.step.rate > 0 ? "open" : "closed"}};
    if (step.step.rate > 0) one["rate"] = step.step.rate;
    one["under_way_max"] = step.step.under_way;
    one["seconds"] = step.result.seconds;
    one.update(ToJson(all, step.result));
    if (step.verdicts.has_value()) {
      one["verified"] = step.verdicts->good;
      one["bad"] = step.verdicts->bad;
    }
    for (size_t kind = 0; kind < report.circuits.size(); ++kind) {
      one["by_circuit"][report.circuits[kind]] = ToJson(step.result.kinds[kind], step.result);
    }
    one["proved_by_second"] = step.result.proved_by_second;
    one["missed"] = missed;
    out["steps"].push_back(std::move(one));
  }
  out["objectives_met"] = met;
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace proofmill::cli
