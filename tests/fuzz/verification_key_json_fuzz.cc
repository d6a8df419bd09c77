// Verification keys, without the pairing that vk_alphabeta_12 is compared with: see alphabeta_json_fuzz.cc.

#include "engine/formats/snarkjs_json.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const auto key = ParseVerificationKeyJson(FuzzText(data, size), {.check_alphabeta = false});
  if (!key.ok()) {
    RequireInputError(key.status());
    return 0;
  }
  Require(!key->ic.empty() && key->ic.size() == key->n_public() + 1);
  Require(!key->alpha1.IsInfinity() && !key->beta2.IsInfinity());
  Require(!key->gamma2.IsInfinity() && !key->delta2.IsInfinity());
  return 0;
}
