// Groth16 in the API.

#ifndef PROOFMILL_SERVER_RPC_GROTH16_API_H_
#define PROOFMILL_SERVER_RPC_GROTH16_API_H_

#include "server/rpc/proof_api.h"

namespace proofmill::server {

// Lives as long as the process.
const ProofApi* MakeGroth16Api();

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_GROTH16_API_H_
