#include "server/rpc/circuit_message.h"

#include <string>

#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"

namespace proofmill::server {
namespace {

v1::Circuit::State ToProto(engine::CircuitState state) {
  switch (state) {
    case engine::CircuitState::kLoading:
      return v1::Circuit::STATE_LOADING;
    case engine::CircuitState::kReady:
      return v1::Circuit::STATE_READY;
    case engine::CircuitState::kFailed:
      return v1::Circuit::STATE_FAILED;
    case engine::CircuitState::kUnloading:
      return v1::Circuit::STATE_UNLOADING;
    case engine::CircuitState::kUnloaded:
      return v1::Circuit::STATE_UNLOADED;
  }
  return v1::Circuit::STATE_UNSPECIFIED;
}

}  // namespace

void FillCircuit(ServiceContext& services, const engine::Circuit& circuit,
                 const engine::CircuitAliases& aliases, v1::Circuit& out) {
  out.set_id(circuit.id);
  const ProofApi& api = ApiOf(circuit.system);
  out.set_proof_system(api.system());
  out.set_state(ToProto(circuit.state));
  out.set_load_step(circuit.load_step);
  out.set_reloading(circuit.reloading);
  if (!circuit.failure.ok()) out.set_failure(std::string(circuit.failure.message()));
  if (!circuit.reload_failure.ok()) out.set_reload_failure(std::string(circuit.reload_failure.message()));
  for (const auto& [alias, id] : aliases) {
    if (id == circuit.id) out.add_aliases(alias);
  }
  for (const std::string& warning : circuit.warnings) out.add_warnings(warning);
  *out.mutable_load_duration() = server::ToProto(circuit.load_duration);
  if (const auto wait = services.engine.EstimatedWait(engine::Priority::kNormal)) {
    *out.mutable_estimated_wait() = server::ToProto(*wait);
  }
  out.mutable_limits()->set_message_bytes_max(services.limits.message_bytes_max);
  *out.mutable_limits()->mutable_deadline_max() = server::ToProto(services.limits.deadline_max);
  if (circuit.state != engine::CircuitState::kReady) return;
  out.set_version(circuit.version);
  api.FillCircuit(circuit, out);
  const InputSizes sizes = api.Sizes(circuit);
  out.mutable_limits()->set_witness_bytes(sizes.usual);
  out.mutable_limits()->set_witness_bytes_max(sizes.most);
}

}  // namespace proofmill::server
