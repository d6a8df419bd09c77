#include "cli/output_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "tests/e2e/process.h"

namespace proofmill::cli {
namespace {

using proofmill::e2e::FileExists;
using proofmill::e2e::ReadFile;
using proofmill::e2e::TemporaryFolder;

size_t FilesIn(const TemporaryFolder& folder) {
  const auto begin = std::filesystem::directory_iterator(folder.path());
  return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

TEST(WriteOutputFilesTest, ReplacesWhatWasThere) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteOutputFiles({{folder.File("a"), "old"}}).ok());

  ASSERT_TRUE(WriteOutputFiles({{folder.File("a"), "new"}, {folder.File("b"), "other"}}).ok());

  EXPECT_EQ(ReadFile(folder.File("a")), "new");
  EXPECT_EQ(ReadFile(folder.File("b")), "other");
  EXPECT_EQ(FilesIn(folder), 2u) << "no temporary file stays";
}

TEST(WriteOutputFilesTest, OneFileThatCannotBeMadeLeavesNone) {
  const TemporaryFolder folder;

  const absl::Status status =
      WriteOutputFiles({{folder.File("a"), "content"}, {folder.File("nowhere/b"), "content"}});

  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("nowhere/b"), absl::string_view::npos);
  EXPECT_EQ(FilesIn(folder), 0u);
}

TEST(WriteOutputFilesTest, AFileThatCannotBePutInPlaceTakesTheOthersWithIt) {
  const TemporaryFolder folder;
  // A folder of this name makes the final rename fail, after the file itself was written.
  ASSERT_TRUE(std::filesystem::create_directories(folder.File("b/full")));

  EXPECT_FALSE(WriteOutputFiles({{folder.File("a"), "content"}, {folder.File("b"), "content"}}).ok());

  EXPECT_FALSE(FileExists(folder.File("a")));
  EXPECT_EQ(FilesIn(folder), 1u);
}

TEST(WriteOutputFilesTest, ALinkStaysALink) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteOutputFiles({{folder.File("target"), "old"}}).ok());
  ASSERT_EQ(::symlink("target", folder.File("link").c_str()), 0);

  ASSERT_TRUE(WriteOutputFiles({{folder.File("link"), "new"}}).ok());

  EXPECT_EQ(ReadFile(folder.File("target")), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.File("link")));
}

TEST(WriteOutputFilesTest, ADeviceIsWrittenInPlaceAndItsErrorsAreErrors) {
  EXPECT_TRUE(WriteOutputFiles({{"/dev/null", "content"}}).ok());
  EXPECT_TRUE(FileExists("/dev/null"));

  EXPECT_FALSE(WriteOutputFiles({{"/dev/full", "content"}}).ok());
}

TEST(CheckOutputPathsTest, OutputsThatCannotBeMeantAreRefused) {
  const TemporaryFolder folder;
  const std::string input = folder.File("input");
  ASSERT_TRUE(WriteOutputFiles({{input, "x"}}).ok());
  ASSERT_EQ(::symlink("input", folder.File("alias").c_str()), 0);

  EXPECT_TRUE(CheckOutputPaths({input}, {folder.File("a"), folder.File("b")}).ok());
  EXPECT_TRUE(CheckOutputPaths({input}, {"/dev/null", "/dev/null"}).ok());
  EXPECT_FALSE(CheckOutputPaths({input}, {folder.File("a"), folder.File("a")}).ok());
  EXPECT_FALSE(CheckOutputPaths({input}, {input}).ok());
  EXPECT_FALSE(CheckOutputPaths({input}, {folder.File("alias")}).ok());
  EXPECT_FALSE(CheckOutputPaths({input}, {folder.path()}).ok());
  EXPECT_FALSE(CheckOutputPaths({input}, {folder.File("nowhere/a")}).ok());
}

TEST(CheckOutputPathsTest, OneFileUnderTwoSpellingsIsRefused) {
  const TemporaryFolder folder;
  ASSERT_TRUE(std::filesystem::create_directory(folder.File("d")));
  ASSERT_EQ(::symlink("d", folder.File("link").c_str()), 0);

  EXPECT_FALSE(CheckOutputPaths({}, {folder.File("a"), folder.File("./a")}).ok());
  EXPECT_FALSE(CheckOutputPaths({}, {folder.File("a"), folder.File("d/../a")}).ok());
  EXPECT_FALSE(CheckOutputPaths({}, {folder.File("d/a"), folder.File("link/a")}).ok());
  EXPECT_FALSE(CheckOutputPaths({}, {"a", "./a"}).ok());
  EXPECT_TRUE(CheckOutputPaths({}, {folder.File("a"), folder.File("d/a")}).ok());
  EXPECT_FALSE(FileExists(folder.File("a")));
}

TEST(CheckOutputPathsTest, NamesThatNoFileCanHaveAreRefused) {
  const TemporaryFolder folder;
  ASSERT_EQ(::symlink("loop", folder.File("loop").c_str()), 0);

  const absl::Status empty = CheckOutputPaths({}, {""});
  EXPECT_EQ(empty.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(empty.message().find("empty name"), absl::string_view::npos);
  EXPECT_EQ(CheckOutputPaths({}, {folder.File("loop")}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckOutputPaths({}, {folder.File(std::string(256, 'n'))}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(CheckOutputPaths({}, {folder.File(std::string(255, 'n'))}).ok());
}

}  // namespace
}  // namespace proofmill::cli
