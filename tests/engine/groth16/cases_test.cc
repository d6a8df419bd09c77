// Keys and witnesses of circom and snarkjs, from the tree and (where it is there) from the shared folder:
// each proves, and the proof verifies under the verification key that snarkjs exported.

#include <filesystem>
#include <string>
#include <vector>

#include "engine/formats/snarkjs_json.h"
#include "engine/groth16/blame.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/verifier.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Folders() {
  std::vector<std::string> out;
  for (const char* name : kCases) out.push_back(CasePath(name, ""));
  const auto shared = SharedCasesFolder();
  if (!shared.has_value()) return out;
  for (const auto& entry : fs::directory_iterator(*shared)) {
    if (fs::exists(entry.path() / "circuit.zkey") && fs::exists(entry.path() / "witness.wtns")) {
      out.push_back(entry.path().string());
    }
  }
  return out;
}

TEST(CasesTest, EveryGoodCaseProvesAndVerifiesUnderTheExportedKey) {
  for (const std::string& folder : Folders()) {
    SCOPED_TRACE(folder);
    const Bench bench = BenchOfCase(folder);
    ASSERT_NE(bench.resident, nullptr);
    const auto vk = ParseVerificationKeyJson(ReadText(folder + "/verification_key.json"));
    const auto signals = ParsePublicJson(ReadText(folder + "/public.json"));
    ASSERT_OK(vk);
    ASSERT_OK(signals);

    const auto proof = Prove(*bench.backend, *bench.resident, bench.span());

    ASSERT_OK(proof);
    EXPECT_TRUE(*vk == bench.key->vk());
    EXPECT_TRUE(*signals == PublicSignals(*bench.key, bench.span()));
    EXPECT_TRUE(*Verify(*vk, *signals, *proof));
  }
}

TEST(CasesTest, TheConstraintSystemsOfCompiledCircuitsHold) {
  for (const char* name : kCasesWithR1cs) {
    const auto file = RandomAccessFile::Open(CasePath(name, "circuit.r1cs"));
    ASSERT_OK(file);
    const auto r1cs = ReadR1cs(**file);
    ASSERT_OK(r1cs);
    const auto failing = FirstFailingConstraint(*r1cs, BenchOfCase(CasePath(name, "")).span());
    ASSERT_OK(failing);
    EXPECT_FALSE(failing->has_value()) << name;
  }
}

// Files that pass every check of their form, but have no valid proof.
TEST(CasesTest, SharedCasesWithoutAValidProofGiveNone) {
  const auto shared = SharedCasesFolder();
  if (!shared.has_value()) return;  // the damage of each is planted by other tests, too
  const std::string corrupt = *shared + "/corrupt/";
  const auto outside = LoadProvingKey(corrupt + "z-b2-out-of-subgroup/circuit.zkey");
  ExpectError(outside, absl::StatusCode::kInvalidArgument,
              "section 7 (B2), point 2: expected a point of order r");

  Bench bench = BenchOfCase(corrupt + "base-ok");
  bench.key = *LoadProvingKey(corrupt + "z-coef-changed/circuit.zkey");
  const auto resident = bench.backend->LoadKey(bench.key);
  ASSERT_OK(resident);
  ExpectError(Prove(*bench.backend, **resident, bench.span()), absl::StatusCode::kInternal,
              "does not verify");
}

}  // namespace
}  // namespace proofmill::engine
