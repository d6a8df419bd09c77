// Proofs: what is accepted is written back as a text that gives the same proof.

#include "engine/formats/calldata.h"
#include "engine/formats/snarkjs_json.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const auto proof = ParseProofJson(FuzzText(data, size));
  if (!proof.ok()) {
    RequireInputError(proof.status());
    return 0;
  }
  Require(ParseProofJson(ProofToJson(*proof)).value() == *proof);
  const bool finite = !proof->a.IsInfinity() && !proof->b.IsInfinity() && !proof->c.IsInfinity();
  Require(ToCalldata(*proof, {}).ok() == finite);
  return 0;
}
