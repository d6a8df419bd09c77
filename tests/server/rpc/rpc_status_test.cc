#include "server/rpc/rpc_status.h"

#include <chrono>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "gtest/gtest.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;
using std::chrono::milliseconds;

google::rpc::Status Details(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(RpcStatusTest, OkIsOk) { EXPECT_TRUE(ToGrpc(absl::OkStatus(), "r").ok()); }

TEST(RpcStatusTest, AnErrorCarriesCodeMessageReasonAndRequestId) {
  const grpc::Status status =
      ToGrpc(engine::WithReason(absl::NotFoundError("no circuit x"), ErrorReason::kCircuitUnknown), "r-1");

  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "no circuit x");
  const google::rpc::Status details = Details(status);
  EXPECT_EQ(details.code(), 5);
  EXPECT_EQ(details.message(), "no circuit x");
  ASSERT_EQ(details.details_size(), 1);
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(0).UnpackTo(&info));
  EXPECT_EQ(info.domain(), "proofmill");
  EXPECT_EQ(info.reason(), "CIRCUIT_UNKNOWN");
  EXPECT_EQ(info.metadata().at("request_id"), "r-1");
}

TEST(RpcStatusTest, WhereWaitingHelpsTheDelayGoesOutInBothForms) {
  const absl::Status error = engine::WithRetryDelay(
      engine::WithReason(absl::ResourceExhaustedError("full"), ErrorReason::kQueueFull), milliseconds(2345));

  const google::rpc::Status details = Details(ToGrpc(error, ""));
  ASSERT_EQ(details.details_size(), 2);
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(1).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 2);
  EXPECT_EQ(retry.retry_delay().nanos(), 345'000'000);
  EXPECT_EQ(PushbackOf(error), "2345");
}

TEST(RpcStatusTest, WhatWaitingCannotCureForbidsTheRetryThatGrpcWouldTry) {
  const absl::Status too_large =
      engine::WithReason(absl::ResourceExhaustedError("large"), ErrorReason::kMessageTooLarge);
  EXPECT_EQ(PushbackOf(too_large), "-1");
  EXPECT_EQ(PushbackOf(absl::InvalidArgumentError("x")), std::nullopt);
  EXPECT_EQ(PushbackOf(absl::UnavailableError("x")), std::nullopt) << "another replica may do it at once";
}

TEST(RpcStatusTest, EveryErrorHasAReasonOfTheList) {
  for (int code = 1; code <= 16; ++code) {
    const absl::Status error(static_cast<absl::StatusCode>(code), "x");
    google::rpc::ErrorInfo info;
    ASSERT_TRUE(Details(ToGrpc(error, "")).details(0).UnpackTo(&info));
    EXPECT_TRUE(engine::ReasonFromName(info.reason()).has_value()) << code << ": " << info.reason();
    EXPECT_EQ(static_cast<int>(ToGrpc(error, "").error_code()), code);
  }
  EXPECT_EQ(ReasonOf(absl::CancelledError("x")), ErrorReason::kCancelled);
  EXPECT_EQ(ReasonOf(absl::DeadlineExceededError("x")), ErrorReason::kDeadlineExpired);
  EXPECT_EQ(ReasonOf(absl::InternalError("x")), ErrorReason::kInternal);
}

TEST(RpcStatusTest, ABadRequestIsTheClientsFault) {
  const absl::Status status = InvalidRequest("circuit: expected an id");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(ReasonOf(status), ErrorReason::kRequestInvalid);
}

}  // namespace
}  // namespace proofmill::server
