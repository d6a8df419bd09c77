#include "engine/formats/crc32c.h"

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace proofmill::engine {
namespace {

// Bit by bit, straight from the definition.
uint32_t Naive(const std::string& data) {
  uint32_t crc = ~uint32_t{0};
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
  }
  return ~crc;
}

TEST(Crc32cTest, KnownAnswersOfRfc3720) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

TEST(Crc32cTest, EveryLengthAgreesWithTheDefinition) {
  std::string data;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(Crc32c(data), Naive(data)) << i;
    EXPECT_EQ(Crc32cPortable(data), Naive(data)) << i;
    for (size_t at = 0; at <= data.size(); ++at) {
      const std::string first = data.substr(0, at), second = data.substr(at);
      EXPECT_EQ(Crc32c(std::vector<std::string_view>{first, second}), Naive(data)) << i << " at " << at;
    }
    data.push_back(static_cast<char>(i * 37 + 11));
  }
  for (const size_t size : {12287u, 12288u, 12289u, 24576u, 24583u, 100'000u, 1u << 20}) {
    data.resize(size);
    for (size_t i = 0; i < size; ++i) data[i] = static_cast<char>(i * 7 + i / 300);
    EXPECT_EQ(Crc32c(data), Naive(data)) << size;
    EXPECT_EQ(Crc32cPortable(data), Naive(data)) << size;
    const std::string_view all = data;
    EXPECT_EQ(Crc32c(std::vector<std::string_view>{all.substr(0, 5), all.substr(5)}), Naive(data)) << size;
  }
}

}  // namespace
}  // namespace proofmill::engine
