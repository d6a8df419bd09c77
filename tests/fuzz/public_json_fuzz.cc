// Public signals: what is accepted is written back as a text that gives the same signals.

#include "engine/formats/snarkjs_json.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const auto signals = ParsePublicJson(FuzzText(data, size));
  if (!signals.ok()) {
    RequireInputError(signals.status());
    return 0;
  }
  Require(ParsePublicJson(PublicToJson(*signals), signals->size()).value() == *signals);
  Require(!ParsePublicJson(FuzzText(data, size), signals->size() + 1).ok());
  return 0;
}
