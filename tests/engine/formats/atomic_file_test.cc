#include "engine/formats/atomic_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::IsEmpty;

mode_t ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 0777;
}

absl::Span<const uint8_t> AsBytes(std::string_view text) {
  return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

TEST(AtomicFileTest, TheFileAppearsOnlyWithCommit) {
  const TestFolder folder;
  const auto file = AtomicFile::Create(folder.Path("out"));
  ASSERT_OK(file);
  ASSERT_OK((*file)->Append(AsBytes("hello")));
  ASSERT_OK((*file)->WriteAt(1, AsBytes("a")));
  EXPECT_FALSE(std::filesystem::exists(folder.Path("out")));

  ASSERT_OK((*file)->Commit());
  EXPECT_EQ(ReadText(folder.Path("out")), "hallo");
  EXPECT_THAT(folder.List(), ElementsAre("out"));
}

TEST(AtomicFileTest, WithoutCommitNothingIsLeftAndTheOldFileStays) {
  const TestFolder folder;
  ASSERT_OK(WriteFileAtomically(folder.Path("old"), "old"));
  for (const char* name : {"old", "new"}) {
    const auto file = AtomicFile::Create(folder.Path(name));
    ASSERT_OK(file);
    ASSERT_OK((*file)->Append(AsBytes("half")));
  }
  EXPECT_THAT(folder.List(), ElementsAre("old"));
  EXPECT_EQ(ReadText(folder.Path("old")), "old");
}

TEST(AtomicFileTest, AnExistingFileIsReplaced) {
  const TestFolder folder;
  ASSERT_OK(WriteFileAtomically(folder.Path("f"), "a longer text"));
  ASSERT_OK(WriteFileAtomically(folder.Path("f"), "short"));
  EXPECT_EQ(ReadText(folder.Path("f")), "short");
}

TEST(AtomicFileTest, ASymbolicLinkStaysOne) {
  const TestFolder folder;
  ASSERT_OK(WriteFileAtomically(folder.Path("target"), "old"));
  std::filesystem::create_symlink(folder.Path("target"), folder.Path("link"));
  ASSERT_OK(WriteFileAtomically(folder.Path("link"), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.Path("link")));
  EXPECT_EQ(ReadText(folder.Path("target")), "new");
}

TEST(AtomicFileTest, ADeviceIsWrittenDirectly) {
  ASSERT_OK(WriteFileAtomically("/dev/null", "text"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));

  const auto file = AtomicFile::Create("/dev/null");
  ASSERT_OK(file);
  ASSERT_OK((*file)->Append(AsBytes("text")));
  ExpectError((*file)->WriteAt(0, AsBytes("t")), StatusCode::kFailedPrecondition, "cannot be changed");
}

TEST(AtomicFileTest, SecretsAreForTheOwnerOnly) {
  const TestFolder folder;
  const mode_t old_mask = umask(022);
  ASSERT_OK(WriteFileAtomically(folder.Path("public"), "x"));
  ASSERT_OK(WriteFileAtomically(folder.Path("secret"), "x", AtomicFile::Access::kOwnerOnly));
  umask(old_mask);
  EXPECT_EQ(ModeOf(folder.Path("public")), 0644u);
  EXPECT_EQ(ModeOf(folder.Path("secret")), 0600u);
}

TEST(AtomicFileTest, PlacesThatCannotHoldAFileAreErrors) {
  const TestFolder folder;
  ExpectError(AtomicFile::Create(folder.Path("no/such/folder")), StatusCode::kNotFound, "cannot create");
  ExpectError(AtomicFile::Create(folder.Path("")), StatusCode::kInvalidArgument, "Is a directory");
  ExpectError(AtomicFile::Create("/proc/proofmill"), StatusCode::kNotFound, "/proc/proofmill: cannot create");
}

TEST(AtomicFileTest, AFolderWithoutPermissionIsAnError) {
  const TestFolder folder;
  ASSERT_EQ(chmod(folder.Path("").c_str(), 0555), 0);
  const bool root = geteuid() == 0;
  if (root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  const auto file = AtomicFile::Create(folder.Path("f"));
  if (root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  ExpectError(file, StatusCode::kPermissionDenied, "Permission denied");
}

TEST(AtomicFileTest, AFullDiskIsAnErrorAndLeavesNothing) {
  ExpectError(WriteFileAtomically("/dev/full", "x"), StatusCode::kResourceExhausted, "No space left");

  const TestFolder folder;
  rlimit old_limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{4096, old_limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const absl::Status status = WriteFileAtomically(folder.Path("f"), std::string(10'000, 'x'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);

  ExpectError(status, StatusCode::kResourceExhausted, "cannot write");
  EXPECT_THAT(folder.List(), IsEmpty());
}

TEST(AtomicFileTest, NothingMayFollowCommit) {
  const TestFolder folder;
  const auto file = AtomicFile::Create(folder.Path("f"));
  ASSERT_OK(file);
  ASSERT_OK((*file)->Append(AsBytes("x")));
  ASSERT_OK((*file)->Commit());
  ExpectError((*file)->Append(AsBytes("y")), StatusCode::kFailedPrecondition, "after its end");
  ExpectError((*file)->WriteAt(0, AsBytes("y")), StatusCode::kFailedPrecondition, "cannot be changed");
  ExpectError((*file)->Commit(), StatusCode::kFailedPrecondition, "committed twice");
}

TEST(AtomicFileTest, AFolderThatVanishesBeforeCommitIsAnError) {
  const TestFolder folder;
  std::filesystem::create_directory(folder.Path("sub"));
  const auto file = AtomicFile::Create(folder.Path("sub/f"));
  ASSERT_OK(file);
  ASSERT_OK((*file)->Append(AsBytes("x")));
  std::filesystem::remove_all(folder.Path("sub"));
  ExpectError((*file)->Commit(), StatusCode::kInternal, "cannot rename");
}

}  // namespace
}  // namespace proofmill::engine
