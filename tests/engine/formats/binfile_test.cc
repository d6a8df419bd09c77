#include "engine/formats/binfile.h"

#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;
using testing::IsEmpty;

constexpr BinFileKind kKind{"test", 1, 2};

Container TwoSections() {
  Container file;
  file.magic = "test";
  file.version = 2;
  file.Append(7, {1, 2, 3});
  file.Append(1, {});
  return file;
}

absl::StatusOr<BinFile> Open(const Bytes& bytes, const BinFileKind& kind = kKind) {
  return BinFile::Open(SourceOf(bytes), kind);
}

TEST(BinFileTest, SectionsAreListedInTheOrderOfTheFile) {
  const auto file = Open(TwoSections().Serialize());
  ASSERT_OK(file);
  EXPECT_EQ(file->version(), 2u);
  ASSERT_EQ(file->sections().size(), 2u);
  EXPECT_EQ(file->sections()[0].id, 7u);
  EXPECT_EQ(file->sections()[0].offset, 24u);
  EXPECT_EQ(file->sections()[0].length, 3u);
  EXPECT_EQ(file->sections()[1].id, 1u);
  EXPECT_EQ(file->sections()[1].offset, 39u);
  EXPECT_EQ(file->sections()[1].length, 0u);
}

TEST(BinFileTest, TheDirectoryGivesBackTheBytesItWasReadFrom) {
  const Bytes bytes = TwoSections().Serialize();
  const auto file = Open(bytes);
  ASSERT_OK(file);
  const auto header = file->HeaderBytes();
  EXPECT_TRUE(std::equal(header.begin(), header.end(), bytes.begin()));
  const auto section = BinFile::SectionHeaderBytes(file->sections()[0]);
  EXPECT_TRUE(std::equal(section.begin(), section.end(), bytes.begin() + 12));
}

TEST(BinFileTest, AnEmptyDirectoryIsFine) {
  Container file = TwoSections();
  file.sections.clear();
  const auto opened = Open(file.Serialize());
  ASSERT_OK(opened);
  EXPECT_THAT(opened->sections(), IsEmpty());
}

TEST(BinFileTest, AnotherMagicIsRefusedAndShownHarmlessly) {
  Container file = TwoSections();
  file.magic = "\x1b[2J";
  ExpectError(Open(file.Serialize()), StatusCode::kInvalidArgument,
              "expected it to begin with \"test\", got \"\\x1b[2J\"");
}

TEST(BinFileTest, VersionsOutsideTheRangeAreRefused) {
  Container file = TwoSections();
  for (const uint32_t version : {0u, 3u, ~0u}) {
    file.version = version;
    ExpectError(Open(file.Serialize()), StatusCode::kInvalidArgument,
                "expected 1 to 2, got " + std::to_string(version));
  }
  ExpectError(Open(file.Serialize(), {"test", 1, 1}), StatusCode::kInvalidArgument, "expected 1, got");
}

TEST(BinFileTest, EveryTruncationIsDataLoss) {
  const Bytes bytes = TwoSections().Serialize();
  for (size_t length = 0; length < bytes.size(); ++length) {
    SCOPED_TRACE(length);
    const Bytes cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    ExpectError(Open(cut), StatusCode::kDataLoss, "");
  }
}

TEST(BinFileTest, ATruncatedSectionIsNamedWithItsLengths) {
  Container file = TwoSections();
  file.Remove(1);
  Bytes bytes = file.Serialize();
  bytes.pop_back();
  ExpectError(Open(bytes), StatusCode::kDataLoss,
              "test: section 7 reaches beyond the end of the file: expected 3 bytes, got 2");
}

TEST(BinFileTest, LengthsNear2To64DoNotWrap) {
  for (const uint64_t length :
       {~uint64_t{0}, uint64_t{0xFFFFFFFFFFFFFFF0}, ~uint64_t{0} - 23, uint64_t{1} << 63}) {
    Bytes bytes = TwoSections().Serialize();
    for (size_t i = 0; i < 8; ++i) bytes[16 + i] = static_cast<uint8_t>(length >> (8 * i));
    ExpectError(Open(bytes), StatusCode::kDataLoss, "section 7 reaches beyond the end of the file");
  }
}

TEST(BinFileTest, ACountThatTheFileHasNoRoomForIsRefusedAtOnce) {
  Bytes bytes = TwoSections().Serialize();
  SetU32(bytes, 8, ~0u);
  ExpectError(Open(bytes), StatusCode::kDataLoss,
              "promises 4294967295 sections, but the file has room for at most 2");
  bytes.resize(12);
  ExpectError(Open(bytes), StatusCode::kDataLoss, "room for at most 0");
}

TEST(BinFileTest, MoreSectionsThanAnyFileHasAreRefused) {
  Container file = TwoSections();
  file.sections.resize(kBinFileSectionsMax, {5, {}});
  EXPECT_OK(Open(file.Serialize()));
  file.Append(5, {});
  ExpectError(Open(file.Serialize()), StatusCode::kInvalidArgument, "expected at most 1024, got 1025");
}

TEST(BinFileTest, BytesAfterTheLastSectionAreRefused) {
  Bytes bytes = TwoSections().Serialize();
  bytes.push_back(0);
  ExpectError(Open(bytes), StatusCode::kInvalidArgument,
              "bytes after the last section: expected 39 bytes in all, got 40");
}

TEST(BinFileTest, RequireTellsMissingFromDoubled) {
  Container file = TwoSections();
  file.Append(1, {9});
  const auto opened = Open(file.Serialize());
  ASSERT_OK(opened);

  EXPECT_OK(opened->Require(7, "seven"));
  ExpectError(opened->Require(3, "three"), StatusCode::kDataLoss, "section 3 (three) is missing");
  ExpectError(opened->Require(1, "one"), StatusCode::kInvalidArgument, "section 1 (one) is there twice");
  ExpectError(opened->FindOptional(1, "one"), StatusCode::kInvalidArgument, "section 1 (one) is there twice");
  EXPECT_FALSE(opened->FindOptional(3, "three").value().has_value());
  EXPECT_EQ(opened->FindOptional(7, "seven").value()->length, 3u);
}

TEST(BinFileTest, TheMagicOfShortFilesIsWhatTheyHave) {
  const Bytes two = {'h', 'i'};
  EXPECT_EQ(BinFile::ReadMagic(SourceOf(two)).value(), "hi");
  EXPECT_EQ(BinFile::ReadMagic(SourceOf({})).value(), "");
  EXPECT_EQ(BinFile::ReadMagic(SourceOf(TwoSections().Serialize())).value(), "test");
}

TEST(BinFileWriterTest, WritesWhatBinFileReads) {
  const TestFolder folder;
  const auto writer = BinFileWriter::Create(folder.Path("f"), "test", 2);
  ASSERT_OK(writer);
  ASSERT_OK((*writer)->BeginSection(7));
  ASSERT_OK((*writer)->Write(Bytes{1, 2}));
  ASSERT_OK((*writer)->Write(Bytes{3}));
  EXPECT_EQ((*writer)->section_bytes(), 3u);
  ASSERT_OK((*writer)->EndSection());
  ASSERT_OK((*writer)->BeginSection(1));
  ASSERT_OK((*writer)->EndSection());
  ASSERT_OK((*writer)->Commit());

  EXPECT_EQ(ReadBytes(folder.Path("f")), TwoSections().Serialize());
}

TEST(BinFileWriterTest, NumbersAreLittleEndian) {
  const TestFolder folder;
  const auto writer = BinFileWriter::Create(folder.Path("f"), "test", 1);
  ASSERT_OK(writer);
  ASSERT_OK((*writer)->BeginSection(1));
  ASSERT_OK((*writer)->WriteU32(0x01020304));
  ASSERT_OK((*writer)->WriteU64(0x05060708090a0b0c));
  ASSERT_OK((*writer)->EndSection());
  ASSERT_OK((*writer)->Commit());
  EXPECT_EQ(Container::FromFile(folder.Path("f"))[1], (Bytes{4, 3, 2, 1, 12, 11, 10, 9, 8, 7, 6, 5}));
}

TEST(BinFileWriterTest, CallsOutOfOrderAreRefused) {
  const TestFolder folder;
  const auto writer = BinFileWriter::Create(folder.Path("f"), "test", 1);
  ASSERT_OK(writer);
  ExpectError((*writer)->Write(Bytes{1}), StatusCode::kFailedPrecondition, "no section was begun");
  ExpectError((*writer)->WriteU32(1), StatusCode::kFailedPrecondition, "no section was begun");
  ExpectError((*writer)->EndSection(), StatusCode::kFailedPrecondition, "no section was begun");
  ASSERT_OK((*writer)->BeginSection(1));
  ExpectError((*writer)->BeginSection(2), StatusCode::kFailedPrecondition, "a section is still open");
  ExpectError((*writer)->Commit(), StatusCode::kFailedPrecondition, "a section is still open");
}

TEST(BinFileWriterTest, NoFileAppearsWithoutCommit) {
  const TestFolder folder;
  {
    const auto writer = BinFileWriter::Create(folder.Path("f"), "test", 1);
    ASSERT_OK(writer);
    ASSERT_OK((*writer)->BeginSection(1));
  }
  EXPECT_THAT(folder.List(), IsEmpty());
}

}  // namespace
}  // namespace proofmill::engine
