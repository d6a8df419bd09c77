#include "engine/backend/backend.h"

namespace proofmill::engine {

std::string_view StageName(Stage stage) {
  switch (stage) {
    case Stage::kUpload:
      return "upload";
    case Stage::kGather:
      return "gather";
    case Stage::kNtt:
      return "ntt";
    case Stage::kMsmA:
      return "msm_a";
    case Stage::kMsmB1:
      return "msm_b1";
    case Stage::kMsmB2:
      return "msm_b2";
    case Stage::kMsmC:
      return "msm_c";
    case Stage::kMsmH:
      return "msm_h";
    case Stage::kFinish:
      return "finish";
    case Stage::kSelfCheck:
      return "self_check";
  }
  return "unknown";
}

}  // namespace proofmill::engine
