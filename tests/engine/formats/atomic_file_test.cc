#include "engine/formats/atomic_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

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

TEST(AtomicFileTest, APipeWithoutAReaderIsAnErrorAndOneWithAReaderIsWritten) {
  const TestFolder folder;
  const std::string pipe = folder.Path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ExpectError(AtomicFile::Create(pipe), StatusCode::kInvalidArgument, "a pipe that nobody reads");

  // More than a pipe holds: the writer has to wait for the reader.
  const std::string text(300'000, 'x');
  std::string got;
  const int fd = open(pipe.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(fcntl(fd, F_SETFL, 0), 0);
  std::atomic<bool> done = false;
  std::thread reader([&] {
    char part[4096];
    for (ssize_t size = 0; size > 0 || !done;) {
      size = read(fd, part, sizeof(part));
      if (size > 0) got.append(part, static_cast<size_t>(size));
    }
  });
  const absl::Status written = WriteFileAtomically(pipe, text);
  done = true;
  reader.join();
  close(fd);
  ASSERT_OK(written);
  EXPECT_EQ(got, text);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(AtomicFileTest, ANameMayBeAsLongAsTheFileSystemAllows) {
  const TestFolder folder;
  for (const size_t size : {size_t{240}, size_t{255}}) {
    const std::string name(size, 'n');
    ASSERT_OK(WriteFileAtomically(folder.Path(name), "x"));
    EXPECT_EQ(ReadText(folder.Path(name)), "x");
    std::filesystem::remove(folder.Path(name));
  }
  ExpectError(AtomicFile::Create(folder.Path(std::string(256, 'n'))), StatusCode::kInvalidArgument,
              "File name too long");
  EXPECT_THAT(folder.List(), IsEmpty());
}

TEST(AtomicFileTest, ANameThatCannotBeFollowedIsTheCallersFault) {
  const TestFolder folder;
  ASSERT_OK(WriteFileAtomically(folder.Path("file"), "x"));
  std::filesystem::create_symlink("loop", folder.Path("loop"));

  ExpectError(AtomicFile::Create(folder.Path("loop")), StatusCode::kInvalidArgument, "cannot create");
  ExpectError(AtomicFile::Create(folder.Path("file/below")), StatusCode::kInvalidArgument, "Not a directory");
}

TEST(AtomicFileTest, AKilledWriterLeavesNothing) {
  const TestFolder folder;
  const int probe = open(folder.Path("").c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (probe < 0) GTEST_SKIP() << "the file system has no files without a name";
  close(probe);

  // What a killed process leaves is what is there before its destructors run.
  const auto file = AtomicFile::Create(folder.Path("f"));
  ASSERT_OK(file);
  ASSERT_OK((*file)->Append(AsBytes("half")));
  EXPECT_THAT(folder.List(), IsEmpty());
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
  ExpectError(WriteFileAtomically("/dev/full", "x"), StatusCode::kInternal, "No space left");

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
  ExpectError((*file)->Commit(), StatusCode::kInternal, "cannot put in place");
}

}  // namespace
}  // namespace proofmill::engine
