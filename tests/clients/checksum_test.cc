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

// Bit by bit, straight from the definition.
uint32_t Naive(const std::string& data) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
  }
  return ~crc;
}

TEST(Crc32cTest, EveryLengthAgreesWithTheDefinition) {
  std::string data;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(Crc32c(data), Naive(data)) << i;
    data.push_back(static_cast<char>(i * 37 + 11));
  }
  for (const size_t size : {12287u, 12288u, 12289u, 24576u, 24583u, 100'000u, 1u << 20}) {
    data.resize(size);
    for (size_t i = 0; i < size; ++i) data[i] = static_cast<char>(i * 7 + i / 300);
    EXPECT_EQ(Crc32c(data), Naive(data)) << size;
  }
}

// FIPS 180-2, appendix B.1.
TEST(Sha256Test, KnownAnswer) {
  EXPECT_EQ(absl::BytesToHexString(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace proofmill::client
