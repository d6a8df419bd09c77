#include "server/trace_context.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace proofmill::server {
namespace {

constexpr char kTrace[] = "4bf92f3577b34da6a3ce929d0e0e4736";

TEST(TraceContextTest, TheTraceIdIsReadFromAHeaderOfThisAndOfLaterVersions) {
  const std::string rest = std::string(kTrace) + "-00f067aa0ba902b7-01";
  EXPECT_EQ(ParseTraceId("00-" + rest), kTrace);
  EXPECT_EQ(ParseTraceId("01-" + rest), kTrace);
  EXPECT_EQ(ParseTraceId("cc-" + rest + "-what-the-future-will-be"), kTrace);
}

TEST(TraceContextTest, WhatIsNoSuchHeaderIsNoTrace) {
  const std::string trace(kTrace);
  for (const std::string& text : std::vector<std::string>{
           std::string(),
           std::string("00-"),
           trace,
           "00-" + trace + "-00f067aa0ba902b7",
           "ff-" + trace + "-00f067aa0ba902b7-01",
           "00-" + trace + "-00f067aa0ba902b7-01-",
           "00-" + trace + "-00f067aa0ba902b7-01-more",
           "01-" + trace + "-00f067aa0ba902b7-01more",
           "00-" + std::string(32, '0') + "-00f067aa0ba902b7-01",
           "00-" + trace + "-0000000000000000-01",
           "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
           "00_" + trace + "_00f067aa0ba902b7_01",
           "0g-" + trace + "-00f067aa0ba902b7-01",
           "00-" + trace + "-00f067aa0ba902b7-0\n",
           std::string("00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01"),
       }) {
    EXPECT_EQ(ParseTraceId(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace proofmill::server
