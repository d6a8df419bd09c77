#include "engine/formats/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;

TEST(RandomAccessFileTest, ReadsAnyRange) {
  const TestFolder folder;
  WriteBytes(folder.Path("f"), {10, 11, 12, 13});
  const auto file = RandomAccessFile::Open(folder.Path("f"));
  ASSERT_OK(file);

  Bytes middle(2);
  EXPECT_OK((*file)->ReadAt(1, absl::MakeSpan(middle)));
  EXPECT_EQ(middle, (Bytes{11, 12}));
  EXPECT_EQ((*file)->size(), 4u);
  EXPECT_EQ((*file)->name(), folder.Path("f"));
  EXPECT_OK((*file)->ReadAt(4, {}));
  EXPECT_OK((*file)->CheckUnchanged());
}

TEST(RandomAccessFileTest, ARangeBeyondTheEndIsTheCallersFault) {
  const TestFolder folder;
  WriteBytes(folder.Path("f"), {1, 2, 3});
  const auto file = RandomAccessFile::Open(folder.Path("f"));
  ASSERT_OK(file);

  Bytes two(2);
  ExpectError((*file)->ReadAt(2, absl::MakeSpan(two)), StatusCode::kOutOfRange, "beyond its 3 bytes");
  ExpectError((*file)->ReadAt(~uint64_t{0}, absl::MakeSpan(two)), StatusCode::kOutOfRange,
              "beyond its 3 bytes");
}

TEST(RandomAccessFileTest, OnlyRegularFilesAreOpened) {
  const TestFolder folder;
  ASSERT_EQ(mkfifo(folder.Path("pipe").c_str(), 0600), 0);

  ExpectError(RandomAccessFile::Open(folder.Path("missing")), StatusCode::kNotFound, "No such file");
  ExpectError(RandomAccessFile::Open(folder.Path("")), StatusCode::kInvalidArgument,
              "expected a regular file, got a folder");
  ExpectError(RandomAccessFile::Open("/dev/zero"), StatusCode::kInvalidArgument, "got a device or pipe");
  // A pipe without a writer must not hang.
  ExpectError(RandomAccessFile::Open(folder.Path("pipe")), StatusCode::kInvalidArgument,
              "got a device or pipe");
  WriteBytes(folder.Path("f"), {1});
  ExpectError(RandomAccessFile::Open(folder.Path("f/below")), StatusCode::kInvalidArgument,
              "Not a directory");
}

TEST(RandomAccessFileTest, ANameThatCannotBeFollowedIsTheCallersFault) {
  const TestFolder folder;
  std::filesystem::create_symlink("loop", folder.Path("loop"));

  ExpectError(RandomAccessFile::Open(folder.Path("loop")), StatusCode::kInvalidArgument, "cannot open");
  ExpectError(RandomAccessFile::Open(folder.Path(std::string(256, 'n'))), StatusCode::kInvalidArgument,
              "File name too long");
}

TEST(RandomAccessFileTest, AFileWithoutPermissionIsRefused) {
  if (geteuid() == 0) {
    // Root may read everything: the error is got from a folder that nobody may pass, seen as another user.
    const TestFolder folder;
    WriteBytes(folder.Path("f"), {1});
    ASSERT_EQ(chmod(folder.Path("").c_str(), 0), 0);
    ASSERT_EQ(seteuid(65534), 0);
    const auto file = RandomAccessFile::Open(folder.Path("f"));
    ASSERT_EQ(seteuid(0), 0);
    ExpectError(file, StatusCode::kPermissionDenied, "Permission denied");
    return;
  }
  const TestFolder folder;
  WriteBytes(folder.Path("f"), {1});
  ASSERT_EQ(chmod(folder.Path("f").c_str(), 0), 0);
  ExpectError(RandomAccessFile::Open(folder.Path("f")), StatusCode::kPermissionDenied, "Permission denied");
}

TEST(RandomAccessFileTest, AFileThatShrinksWhileItIsReadIsAnErrorAndNoSignal) {
  const TestFolder folder;
  WriteBytes(folder.Path("f"), Bytes(100'000, 7));
  const auto file = RandomAccessFile::Open(folder.Path("f"));
  ASSERT_OK(file);
  ASSERT_EQ(truncate(folder.Path("f").c_str(), 50'000), 0);

  Bytes all(100'000);
  ExpectError((*file)->ReadAt(0, absl::MakeSpan(all)), StatusCode::kAborted,
              "became shorter while it was read: expected 100000 bytes, got 50000");
  ExpectError((*file)->CheckUnchanged(), StatusCode::kAborted, "expected 100000 bytes, got 50000");
}

TEST(RandomAccessFileTest, AChangeOfTheSameSizeIsNoticed) {
  const TestFolder folder;
  WriteBytes(folder.Path("f"), {1, 2, 3});
  // A time of change that a write now cannot repeat, whatever the clock's grain.
  const timespec past[2] = {{1'000'000, 0}, {1'000'000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, folder.Path("f").c_str(), past, 0), 0);
  const auto file = RandomAccessFile::Open(folder.Path("f"));
  ASSERT_OK(file);
  WriteBytes(folder.Path("f"), {1, 2, 4});

  ExpectError((*file)->CheckUnchanged(), StatusCode::kAborted, "changed while it was read");
}

TEST(RandomAccessFileTest, AFileReplacedByRenameKeepsItsOldContent) {
  const TestFolder folder;
  WriteBytes(folder.Path("f"), {1, 2, 3});
  const auto file = RandomAccessFile::Open(folder.Path("f"));
  ASSERT_OK(file);
  ASSERT_OK(WriteFileAtomically(folder.Path("f"), "xyz"));

  Bytes all(3);
  EXPECT_OK((*file)->ReadAt(0, absl::MakeSpan(all)));
  EXPECT_EQ(all, (Bytes{1, 2, 3}));
}

TEST(MemorySourceTest, ReadsAnyRangeAndNoMore) {
  const Bytes bytes = {1, 2, 3};
  const MemorySource source("memory", bytes);
  Bytes two(2);
  EXPECT_OK(source.ReadAt(1, absl::MakeSpan(two)));
  EXPECT_EQ(two, (Bytes{2, 3}));
  EXPECT_OK(source.ReadAt(3, {}));
  EXPECT_OK(source.CheckUnchanged());
  ExpectError(source.ReadAt(2, absl::MakeSpan(two)), StatusCode::kOutOfRange, "memory: bytes 2");
}

TEST(ReadTextFileTest, TheWholeTextComesBackIfItIsShortEnough) {
  const TestFolder folder;
  WriteBytes(folder.Path("f"), {'a', 'b', 'c'});
  EXPECT_EQ(ReadTextFile(folder.Path("f"), 3).value(), "abc");
  ExpectError(ReadTextFile(folder.Path("f"), 2), StatusCode::kResourceExhausted,
              "expected at most 2 bytes, got 3");
  ExpectError(ReadTextFile(folder.Path("g"), 2), StatusCode::kNotFound, "g: cannot open");
}

}  // namespace
}  // namespace proofmill::engine
