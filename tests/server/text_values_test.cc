#include "server/text_values.h"

#include "gtest/gtest.h"

namespace proofmill::server {
namespace {

TEST(TextValuesTest, BytesComeWithOrWithoutUnits) {
  EXPECT_EQ(*ParseBytes("0"), 0u);
  EXPECT_EQ(*ParseBytes("4096"), 4096u);
  EXPECT_EQ(*ParseBytes("7B"), 7u);
  EXPECT_EQ(*ParseBytes("64KiB"), 65536u);
  EXPECT_EQ(*ParseBytes("8MiB"), 8u << 20);
  EXPECT_EQ(*ParseBytes("3GiB"), uint64_t{3} << 30);
  EXPECT_EQ(*ParseBytes("16777215TiB"), uint64_t{16777215} << 40);
}

TEST(TextValuesTest, WhatIsNoSizeIsRefused) {
  for (const char* text : {"", "KiB", "1K", "1 KiB", "-1", "+1", "1.5MiB", "0x10", "1kib",
                           "18446744073709551616", "16777216TiB", "99999999999TiB"}) {
    EXPECT_FALSE(ParseBytes(text).ok()) << text;
  }
}

TEST(TextValuesTest, TheTextOfASizeGivesTheSizeAgain) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1023}, uint64_t{1024}, uint64_t{1} << 20,
                               (uint64_t{1} << 30) + 1024, uint64_t{5} << 40, UINT64_MAX}) {
    EXPECT_EQ(*ParseBytes(BytesText(bytes)), bytes) << BytesText(bytes);
  }
  EXPECT_EQ(BytesText(uint64_t{16} << 20), "16MiB");
}

TEST(TextValuesTest, CountsAreDigitsOnly) {
  EXPECT_EQ(*ParseCount("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", " 1", "1 ", "-1", "+1", "1e3", "18446744073709551616"}) {
    EXPECT_FALSE(ParseCount(text).ok()) << text;
  }
}

TEST(TextValuesTest, TimesHaveAUnitAndAnEnd) {
  EXPECT_EQ(*ParseTime("1h30m"), absl::Minutes(90));
  EXPECT_EQ(*ParseTime("0"), absl::ZeroDuration());
  for (const char* text : {"", "5", "-1s", "inf", "forever"}) EXPECT_FALSE(ParseTime(text).ok()) << text;
}

TEST(TextValuesTest, OnlyTrueAndFalseAreBooleans) {
  EXPECT_TRUE(*ParseBool("true"));
  EXPECT_FALSE(*ParseBool("false"));
  for (const char* text : {"", "1", "yes", "True", "true "}) EXPECT_FALSE(ParseBool(text).ok()) << text;
}

}  // namespace
}  // namespace proofmill::server
