#include "cli/circuit_report.h"

#include "absl/strings/str_cat.h"
#include "cli/table.h"

namespace proofmill::cli {
namespace {

constexpr size_t kVersionShown = 12;  // digits of the version in the table; --json has all

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

// What a line of the table says of a circuit beside its state.
struct Shown {
  std::string system, size = "-", publics = "-", domain = "-";
};
Shown ShownOf(const v1::Circuit& circuit) {
  Shown shown;
  shown.system = circuit.proof_system() == v1::PROOF_SYSTEM_WHIR_BABYBEAR ? "whir" : "groth16";
  if (circuit.has_groth16_sizes()) {
    shown.size = absl::StrCat(circuit.groth16_sizes().wires());
    shown.publics = absl::StrCat(circuit.groth16_sizes().public_signals());
    shown.domain = absl::StrCat(circuit.groth16_sizes().domain());
  }
  if (circuit.has_whir_parameters()) {
    shown.size = absl::StrCat("2^", circuit.whir_parameters().num_variables());
    shown.publics = absl::StrCat(circuit.whir_parameters().num_claims());
  }
  return shown;
}

void AddSizes(const v1::Groth16Sizes& sizes, nlohmann::ordered_json& entry) {
  entry["wires"] = sizes.wires();
  entry["public_signals"] = sizes.public_signals();
  entry["domain"] = sizes.domain();
  entry["coefficients"] = sizes.coefficients();
  entry["key_bytes"] = sizes.key_bytes();
}

nlohmann::ordered_json ParametersToJson(const v1::WhirParameters& p) {
  return {{"num_variables", p.num_variables()},
          {"extension_degree", p.extension_degree()},
          {"folding_first", p.folding_first()},
          {"folding_rest", p.folding_rest()},
          {"folding_constant", p.folding_constant()},
          {"log_inv_rate", p.log_inv_rate()},
          {"domain_reduction", p.domain_reduction()},
          {"security_level", p.security_level()},
          {"max_pow_bits", p.max_pow_bits()},
          {"assumption", v1::WhirParameters::Assumption_Name(p.assumption())},
          {"constants", p.constants()},
          {"num_claims", p.num_claims()},
          {"hiding", false}};
}

// "ready", or "loading (checking)".
std::string StateText(const v1::Circuit& circuit) {
  const bool ready = circuit.state() == v1::Circuit::STATE_READY;
  const std::string state = ready && circuit.reloading() ? "reloading" : CircuitStateName(circuit.state());
  return circuit.load_step().empty() ? state : absl::StrCat(state, " (", OneLine(circuit.load_step()), ")");
}

}  // namespace

const char* CircuitStateName(v1::Circuit::State state) {
  switch (state) {
    case v1::Circuit::STATE_LOADING:
      return "loading";
    case v1::Circuit::STATE_READY:
      return "ready";
    case v1::Circuit::STATE_FAILED:
      return "failed";
    case v1::Circuit::STATE_UNLOADING:
      return "unloading";
    case v1::Circuit::STATE_UNLOADED:
      return "unloaded";
    default:
      return "unknown";
  }
}

std::string CircuitsToText(const std::vector<v1::Circuit>& circuits) {
  Table table({"circuit", "state", "system", "size", "public", "domain", "witness", "wait", "version"});
  std::string notes;
  for (const v1::Circuit& circuit : circuits) {
    const bool ready = circuit.state() == v1::Circuit::STATE_READY;
    const Shown shown = ShownOf(circuit);
    table.AddRow({OneLine(circuit.id()), StateText(circuit), shown.system, shown.size, shown.publics,
                  shown.domain, ready ? FormatBytes(circuit.limits().witness_bytes()) : "-",
                  ready ? FormatSeconds(Seconds(circuit.estimated_wait())) : "-",
                  ready ? OneLine(circuit.version().substr(0, kVersionShown)) : "-"});
    if (!circuit.failure().empty()) {
      absl::StrAppend(&notes, OneLine(circuit.id()), ": failed: ", OneLine(circuit.failure()), "\n");
    }
    if (!circuit.reload_failure().empty()) {
      absl::StrAppend(&notes, OneLine(circuit.id()), ": not reloaded: ", OneLine(circuit.reload_failure()),
                      "\n");
    }
    for (const std::string& alias : circuit.aliases()) {
      absl::StrAppend(&notes, OneLine(circuit.id()), ": alias: ", OneLine(alias), "\n");
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
    nlohmann::ordered_json entry = {{"id", circuit.id()}, {"state", CircuitStateName(circuit.state())}};
    if (!circuit.load_step().empty()) entry["load_step"] = circuit.load_step();
    if (circuit.reloading()) entry["reloading"] = true;
    if (!circuit.failure().empty()) entry["failure"] = circuit.failure();
    if (!circuit.reload_failure().empty()) entry["reload_failure"] = circuit.reload_failure();
    entry["system"] = ShownOf(circuit).system;
    if (circuit.state() == v1::Circuit::STATE_READY) {
      entry["version"] = circuit.version();
      if (circuit.has_groth16_sizes()) AddSizes(circuit.groth16_sizes(), entry);
      if (circuit.has_whir_parameters())
        entry["whir_parameters"] = ParametersToJson(circuit.whir_parameters());
      entry["witness_bytes"] = circuit.limits().witness_bytes();
      entry["message_bytes_max"] = circuit.limits().message_bytes_max();
      entry["estimated_wait_seconds"] = Seconds(circuit.estimated_wait());
      entry["load_seconds"] = Seconds(circuit.load_duration());
      entry["insecure_test_setup"] = circuit.insecure_test_setup();
    }
    entry["aliases"] = std::vector<std::string>(circuit.aliases().begin(), circuit.aliases().end());
    entry["warnings"] = std::vector<std::string>(circuit.warnings().begin(), circuit.warnings().end());
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace proofmill::cli
