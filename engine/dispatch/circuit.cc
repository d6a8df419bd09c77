#include "engine/dispatch/circuit.h"

#include <algorithm>

namespace proofmill::engine {

std::string_view CircuitStateName(CircuitState state) {
  switch (state) {
    case CircuitState::kLoading:
      return "loading";
    case CircuitState::kReady:
      return "ready";
    case CircuitState::kFailed:
      return "failed";
    case CircuitState::kUnloading:
      return "unloading";
    case CircuitState::kUnloaded:
      return "unloaded";
  }
  return "failed";
}

bool IsCircuitId(std::string_view id) {
  constexpr size_t kLengthMax = 128;
  // Not isalnum(): that depends on the locale.
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= kLengthMax && id.front() != '.' &&
         std::all_of(id.begin(), id.end(), allowed);
}

}  // namespace proofmill::engine
