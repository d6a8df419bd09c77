#include "cli/checked_result.h"

#include <string>

#include "absl/status/status.h"
#include "cli/client_flags.h"
#include "clients/cpp/error.h"
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
  EXPECT_THAT(std::string(status.message()), HasSubstr("--listen"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--admin_listen"));
}

TEST(WithReasonInTextTest, WhatToDoNextIsSaidWhereTheMessageLeavesItOpen) {
  const auto text = [](absl::StatusCode code, const std::string& message, const std::string& reason) {
    const absl::Status status =
        WithReasonInText(client::MakeError(code, message, reason, absl::Milliseconds(7)));
    EXPECT_EQ(status.code(), code);
    EXPECT_EQ(client::ErrorReason(status), reason);
    EXPECT_EQ(client::RetryDelay(status), absl::Milliseconds(7));
    return std::string(status.message());
  };

  EXPECT_EQ(text(absl::StatusCode::kUnavailable, "a:1: Connection refused", ""),
            "a:1: Connection refused; is the service running there, and is --target its address?");
  EXPECT_EQ(text(absl::StatusCode::kUnavailable, "connection reset", ""), "connection reset");
  EXPECT_EQ(text(absl::StatusCode::kNotFound, "no such circuit: x", "CIRCUIT_UNKNOWN"),
            "CIRCUIT_UNKNOWN: no such circuit: x; `proofmill client circuits` lists the ids");
  EXPECT_EQ(text(absl::StatusCode::kNotFound, "no key of circuit x in the folder", "CIRCUIT_UNKNOWN"),
            "CIRCUIT_UNKNOWN: no key of circuit x in the folder");
  EXPECT_EQ(text(absl::StatusCode::kNotFound, "no such job", "JOB_UNKNOWN"), "JOB_UNKNOWN: no such job");
}

}  // namespace
}  // namespace proofmill::cli
