#include "cli/circuit_report.h"

#include "absl/strings/str_cat.h"
#include "cli/table.h"

namespace proofmill::cli {
namespace {

constexpr size_t kVersionShown = 12;  // digits of the version in the table; --json has all

const char* StateName(v1::Circuit::State state) {
  switch (state) {
    case v1::Circuit::STATE_LOADING:
      return "loading";
    case v1::Circuit::STATE_READY:
      return "ready";
    case v1::Circuit::STATE_FAILED:
      return "failed";
    default:
      return "unknown";
  }
}

double Seconds(const google::protobuf::Duration& duration) {
  return static_cast<double>(duration.seconds()) + duration.nanos() * 1e-9;
}

// Text of a service as one line for a terminal.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace

std::string CircuitsToText(const std::vector<v1::Circuit>& circuits) {
  Table table({"circuit", "state", "wires", "public", "domain", "witness", "wait", "version"});
  std::string notes;
  for (const v1::Circuit& circuit : circuits) {
    const v1::Groth16Sizes& sizes = circuit.groth16_sizes();
    const bool ready = circuit.state() == v1::Circuit::STATE_READY;
    table.AddRow(
        {OneLine(circuit.id()), StateName(circuit.state()), ready ? absl::StrCat(sizes.wires()) : "-",
         ready ? absl::StrCat(sizes.public_signals()) : "-", ready ? absl::StrCat(sizes.domain()) : "-",
         ready ? FormatBytes(circuit.limits().witness_bytes()) : "-",
         ready ? FormatSeconds(Seconds(circuit.estimated_wait())) : "-",
         ready ? OneLine(circuit.version().substr(0, kVersionShown)) : "-"});
    if (!circuit.failure().empty()) {
      absl::StrAppend(&notes, OneLine(circuit.id()), ": failed: ", OneLine(circuit.failure()), "\n");
    }
    for (const std::string& warning : circuit.warnings()) {
      absl::StrAppend(&notes, OneLine(circuit.id()), ": warning: ", OneLine(warning), "\n");
    }
  }
  return absl::StrCat(table.Text(), notes);
}

nlohmann::ordered_json CircuitsToJson(const std::vector<v1::Circuit>& circuits) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const v1::Circuit& circuit : circuits) {
    nlohmann::ordered_json entry = {{"id", circuit.id()}, {"state", StateName(circuit.state())}};
    if (!circuit.failure().empty()) entry["failure"] = circuit.failure();
    if (circuit.state() == v1::Circuit::STATE_READY) {
      const v1::Groth16Sizes& sizes = circuit.groth16_sizes();
      entry["version"] = circuit.version();
      entry["wires"] = sizes.wires();
      entry["public_signals"] = sizes.public_signals();
      entry["domain"] = sizes.domain();
      entry["coefficients"] = sizes.coefficients();
      entry["key_bytes"] = sizes.key_bytes();
      entry["witness_bytes"] = circuit.limits().witness_bytes();
      entry["message_bytes_max"] = circuit.limits().message_bytes_max();
      entry["estimated_wait_seconds"] = Seconds(circuit.estimated_wait());
      entry["load_seconds"] = Seconds(circuit.load_duration());
      entry["insecure_test_setup"] = circuit.insecure_test_setup();
    }
    entry["warnings"] = std::vector<std::string>(circuit.warnings().begin(), circuit.warnings().end());
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace proofmill::cli
