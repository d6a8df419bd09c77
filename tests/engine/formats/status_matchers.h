// Checks of absl::Status in tests.

#ifndef PROOFMILL_TESTS_ENGINE_FORMATS_STATUS_MATCHERS_H_
#define PROOFMILL_TESTS_ENGINE_FORMATS_STATUS_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proofmill::engine {

inline const absl::Status& StatusOf(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

inline std::string MessageOf(const absl::Status& status) { return std::string(status.message()); }

// An error of this code whose message has this part, is one line and is not absurdly long.
template <typename Result>
void ExpectError(const Result& result, absl::StatusCode code, const std::string& part) {
  const absl::Status& status = StatusOf(result);
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(MessageOf(status), testing::HasSubstr(part));
  EXPECT_THAT(MessageOf(status), testing::Not(testing::HasSubstr("\n")));
  EXPECT_LE(status.message().size(), 400u);
}

}  // namespace proofmill::engine

#define EXPECT_OK(expression) EXPECT_EQ(::proofmill::engine::StatusOf(expression), absl::OkStatus())
#define ASSERT_OK(expression) ASSERT_EQ(::proofmill::engine::StatusOf(expression), absl::OkStatus())

#endif  // PROOFMILL_TESTS_ENGINE_FORMATS_STATUS_MATCHERS_H_
