#include "server/rpc/proof_api.h"

#include "server/rpc/groth16_api.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/whir_api.h"

namespace proofmill::server {

const ProofApi& ApiOf(engine::ProofSystem system) {
  static const ProofApi* const kApis[engine::kProofSystemCount] = {MakeGroth16Api(), MakeWhirApi()};
  return *kApis[static_cast<size_t>(system)];
}

std::vector<FieldPath> InputPaths(const FieldPath& before) {
  std::vector<FieldPath> paths(2, before);
  paths[0].insert(paths[0].end(),
                  {v1::ProveRequest::kGroth16FieldNumber, v1::Groth16Input::kWtnsFieldNumber});
  paths[1].insert(paths[1].end(),
                  {v1::ProveRequest::kWhirFieldNumber, v1::WhirInput::kEvaluationsFieldNumber});
  return paths;
}

absl::StatusOr<InputPlace> FindInput(const v1::ProveRequest& request, SecretField& bytes) {
  using engine::ProofSystem;
  const v1::Groth16Input& groth16 = request.groth16();
  const v1::WhirInput& whir = request.whir();
  static const Claims kNoClaims;
  if (groth16.has_wtns()) return InputPlace{ProofSystem::kGroth16, false, "", &bytes, &kNoClaims};
  if (groth16.has_upload())
    return InputPlace{ProofSystem::kGroth16, true, groth16.upload(), nullptr, &kNoClaims};
  if (whir.has_evaluations()) return InputPlace{ProofSystem::kWhir, false, "", &bytes, &whir.claims()};
  if (whir.has_upload()) return InputPlace{ProofSystem::kWhir, true, whir.upload(), nullptr, &whir.claims()};
  return InvalidRequest(
      "input: expected a witness, a polynomial or an upload in groth16 or whir, got nothing");
}

}  // namespace proofmill::server
