#include "clients/cpp/channel.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace proofmill::client {
namespace {

// A file with `content` that goes with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    const int fd = ::mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "/proofmill-channel-XXXXXX";
};

TEST(IsLoopbackTargetTest, ThisMachineIsLoopbackAndOthersAreNot) {
  for (const char* target : {"127.0.0.1:50051", "127.8.9.10:1", "localhost:50051", "dns:///localhost:50051",
                             "[::1]:50051", "ipv4:127.0.0.1:5", "ipv6:[::1]:5", "unix:/run/proofmill.sock"}) {
    EXPECT_TRUE(IsLoopbackTarget(target)) << target;
  }
  for (const char* target : {"10.0.0.1:50051", "prover:50051", "127.0.0.1.example.com:1", "[::2]:50051",
                             "localhost.example.com:1", "0.0.0.0:1", "dns:///10.0.0.1:1", "", "127.0.0:1",
                             "127.0.0.256:1", "127.0.0.x:1", "ipv6:[::1]:1,[2001:db8::1]:1"}) {
    EXPECT_FALSE(IsLoopbackTarget(target)) << target;
  }
}

TEST(ReadAuthorizationTest, AKeyIsSentToThisMachineInClearText) {
  const TemporaryFile file("s3cret-key\n");
  ClientOptions options;
  options.target = "127.0.0.1:1";
  options.api_key_file = file.path();

  EXPECT_EQ(ReadAuthorization(options).value(), "Bearer s3cret-key");
}

TEST(ReadAuthorizationTest, AKeyIsNotSentToAnotherMachineInClearText) {
  const TemporaryFile file("s3cret-key\n");
  ClientOptions options;
  options.target = "prover.example.com:50051";
  options.api_key_file = file.path();

  const absl::Status status = ReadAuthorization(options).status();

  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(status.message().find("s3cret"), absl::string_view::npos);
  options.tls = true;
  EXPECT_TRUE(ReadAuthorization(options).ok());
}

TEST(ReadAuthorizationTest, AFileWithAnythingButOneWordIsRefusedWithoutShowingIt) {
  for (const char* content : {"", "\n", "two words", "line\nline", "caf\xc3\xa9"}) {
    const TemporaryFile file(content);
    ClientOptions options;
    options.target = "127.0.0.1:1";
    options.api_key_file = file.path();

    const absl::Status status = ReadAuthorization(options).status();

    EXPECT_TRUE(absl::IsInvalidArgument(status)) << content;
    EXPECT_EQ(status.message().find("two words"), absl::string_view::npos);
  }
}

TEST(MakeChannelTest, MistakesInTheOptionsAreNamed) {
  ClientOptions no_target;
  EXPECT_TRUE(absl::IsInvalidArgument(MakeChannel(no_target).status()));

  ClientOptions half_identity;
  half_identity.target = "127.0.0.1:1";
  half_identity.cert_file = "client.pem";
  EXPECT_TRUE(absl::IsInvalidArgument(MakeChannel(half_identity).status()));

  ClientOptions no_file;
  no_file.target = "127.0.0.1:1";
  no_file.ca_file = "/nowhere/ca.pem";
  const absl::Status status = MakeChannel(no_file).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("/nowhere/ca.pem"), absl::string_view::npos);
}

}  // namespace
}  // namespace proofmill::client
