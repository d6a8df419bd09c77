#include "server/rpc/proof_api.h"

#include "server/rpc/groth16_api.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/whir_api.h"

namespace proofmill::server {

const ProofApi& ApiOf(engine::ProofSystem system) {
  static const ProofApi* const kApis[engine::kProofSystemCount] = {MakeGroth16Api(), MakeWhirApi()};
  return *kApis[static_cast<size_t>(system)];
}

absl::StatusOr<InputPlace> FindInput(const v1::ProveRequest& request) {
  using engine::ProofSystem;
  const v1::Groth16Input& groth16 = request.groth16();
  const v1::WhirInput& whir = request.whir();
  static const Claims kNoClaims;
  if (groth16.has_wtns()) return InputPlace{ProofSystem::kGroth16, false, groth16.wtns(), &kNoClaims};
  if (groth16.has_upload()) return InputPlace{ProofSystem::kGroth16, true, groth16.upload(), &kNoClaims};
  if (whir.has_evaluations())
    return InputPlace{ProofSystem::kWhir, false, whir.evaluations(), &whir.claims()};
  if (whir.has_upload()) return InputPlace{ProofSystem::kWhir, true, whir.upload(), &whir.claims()};
  return InvalidRequest(
      "input: expected a witness, a polynomial or an upload in groth16 or whir, got nothing");
}

void WipeInput(v1::ProveRequest& request) {
  if (request.groth16().has_wtns()) WipeField(*request.mutable_groth16()->mutable_wtns());
  if (request.whir().has_evaluations()) WipeField(*request.mutable_whir()->mutable_evaluations());
}

}  // namespace proofmill::server
