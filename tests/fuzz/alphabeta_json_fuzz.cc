// Verification keys with the comparison of vk_alphabeta_12, a pairing for each input that gets so far: slow,
// so it has a target of its own. What is accepted is written back as a text that gives the same key.

#include "engine/formats/snarkjs_json.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const auto key = ParseVerificationKeyJson(FuzzText(data, size));
  if (!key.ok()) {
    RequireInputError(key.status());
    return 0;
  }
  Require(ParseVerificationKeyJson(VerificationKeyToJson(*key), {.check_alphabeta = false}).value() == *key);
  return 0;
}
