#include "cli/table.h"

#include "gtest/gtest.h"

namespace proofmill::cli {
namespace {

TEST(TableTest, ColumnsAreAlignedAndLinesEndWithoutBlanks) {
  Table table({"step", "time"});
  table.AddRow({"msm_a", "1.0 ms"});
  table.AddRow({"x", ""});

  EXPECT_EQ(table.Text(), "step     time\nmsm_a  1.0 ms\nx\n");
}

TEST(FormatSecondsTest, TheUnitFitsTheSize) {
  EXPECT_EQ(FormatSeconds(0), "0 us");
  EXPECT_EQ(FormatSeconds(0.00085), "850 us");
  EXPECT_EQ(FormatSeconds(0.0123), "12.3 ms");
  EXPECT_EQ(FormatSeconds(4.561), "4.56 s");
}

TEST(FormatBytesTest, TheUnitFitsTheSize) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.5 KiB");
  EXPECT_EQ(FormatBytes(uint64_t{5} << 30), "5.0 GiB");
  EXPECT_EQ(FormatBytes(UINT64_MAX), "16777216.0 TiB");
}

}  // namespace
}  // namespace proofmill::cli
