#include "cli/checked_result.h"

#include <string>

#include "absl/status/status.h"
#include "cli/client_flags.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proofmill::cli {
namespace {

using ::testing::HasSubstr;

TEST(CheckResultTest, TheKeyOfAnotherVersionSaysNothingOfAProof) {
  KnownKey key;
  key.version = std::string(128, 'b');
  v1::ProofResult result;
  result.set_circuit("mul");
  result.set_circuit_version(std::string(128, 'a'));

  const absl::Status status = CheckResult(key, result).status();

  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected version aaaaaaaaaaaa, got bbbbbbbbbbbb;"));
}

TEST(WithReasonInTextTest, ACallThatTheListenerLacksIsNoEmptyLine) {
  const absl::Status status = WithReasonInText(absl::UnimplementedError(""));

  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("--admin_listen"));
}

}  // namespace
}  // namespace proofmill::cli
