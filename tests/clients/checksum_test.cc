#include "clients/cpp/checksum.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace proofmill::client {
namespace {

// RFC 3720, B.4, and the check value of the catalogue of CRC algorithms.
TEST(Crc32cTest, KnownAnswers) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

// FIPS 180-2, appendix B.1.
TEST(Sha256Test, KnownAnswer) {
  EXPECT_EQ(absl::BytesToHexString(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace proofmill::client
