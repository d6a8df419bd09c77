#include "engine/formats/calldata.h"

#include <string>

#include "engine/formats/snarkjs_json.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

TEST(CalldataTest, TheLineOfSnarkjsIsReproduced) {
  for (const char* name : {"mul3", "big1", "nopriv", "sj-outonly"}) {
    SCOPED_TRACE(name);
    const std::string folder = std::string("tests/vectors/snarkjs/") + name + "/";
    const auto proof = ParseProofJson(ReadText(folder + "proof.json"));
    const auto signals = ParsePublicJson(ReadText(folder + "public.json"));
    ASSERT_OK(proof);
    ASSERT_OK(signals);
    EXPECT_EQ(ToCalldata(*proof, *signals).value() + "\n", ReadText(folder + "calldata.txt"));
  }
}

TEST(CalldataTest, AProofWithInfinityIsRefused) {
  const Groth16Proof good{kernels::kG1Generator, kernels::kG2Generator, kernels::kG1Generator};
  EXPECT_OK(ToCalldata(good, {}));
  Groth16Proof a = good, b = good, c = good;
  a.a = kernels::G1Affine::Infinity();
  b.b = kernels::G2Affine::Infinity();
  c.c = kernels::G1Affine::Infinity();
  for (const Groth16Proof& proof : {a, b, c}) {
    ExpectError(ToCalldata(proof, {}), absl::StatusCode::kInvalidArgument, "got one at infinity");
  }
}

}  // namespace
}  // namespace proofmill::engine
