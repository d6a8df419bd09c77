// Circuits as the API shows them.
//
// Thread safety: pure functions, but for what they read of the services.

#ifndef PROOFMILL_SERVER_RPC_CIRCUIT_MESSAGE_H_
#define PROOFMILL_SERVER_RPC_CIRCUIT_MESSAGE_H_

#include "engine/dispatch/circuit.h"
#include "engine/dispatch/circuit_aliases.h"
#include "proofmill/v1/circuits.pb.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

// All but the verification key. `aliases` are those of all circuits.
void FillCircuit(ServiceContext& services, const engine::Circuit& circuit,
                 const engine::CircuitAliases& aliases, v1::Circuit& out);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_CIRCUIT_MESSAGE_H_
