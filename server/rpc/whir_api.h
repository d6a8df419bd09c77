// WHIR in the API. Not hiding: proofs reveal values of the polynomial.

#ifndef PROOFMILL_SERVER_RPC_WHIR_API_H_
#define PROOFMILL_SERVER_RPC_WHIR_API_H_

#include "server/rpc/proof_api.h"

namespace proofmill::server {

// Lives as long as the process.
const ProofApi* MakeWhirApi();

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_WHIR_API_H_
