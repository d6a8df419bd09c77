// Lists of circuits for people and programs.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_CLI_CIRCUIT_REPORT_H_
#define PROOFMILL_CLI_CIRCUIT_REPORT_H_

#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "proofmill/v1/circuits.pb.h"

namespace proofmill::cli {

// "loading", "ready", "failed", "unloading" or "unloaded".
const char* CircuitStateName(v1::Circuit::State state);

// A table with one row per circuit; below it the reasons of failures and the warnings.
std::string CircuitsToText(const std::vector<v1::Circuit>& circuits);

// An array of objects with all that the service tells.
nlohmann::ordered_json CircuitsToJson(const std::vector<v1::Circuit>& circuits);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_CIRCUIT_REPORT_H_
