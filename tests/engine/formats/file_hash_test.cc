#include "engine/formats/file_hash.h"

#include <openssl/evp.h>

#include <string>

#include "engine/formats/zkey.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

FileHash::Digest Expected(const Bytes& bytes) {
  FileHash::Digest digest{};
  unsigned size = 0;
  EXPECT_EQ(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_blake2b512(), nullptr), 1);
  return digest;
}

Bytes Pattern(size_t size) {
  Bytes bytes(size);
  uint32_t state = 1;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

constexpr size_t kSmall = 1000;
constexpr size_t kLarge = (5 << 20) + 17;  // hashed on its own thread

TEST(FileHashTest, PartsFromBuffersAndFromTheSourceMakeOneDigest) {
  for (const size_t size : {kSmall, kLarge}) {
    const Bytes bytes = Pattern(size);
    const MemorySource source("memory", bytes);
    FileHash hash(source);
    hash.Add(absl::MakeConstSpan(bytes).subspan(0, 100));
    hash.AddFromSource(100, size - 300);
    hash.Add({});
    hash.AddFromSource(5, 0);
    hash.Add(absl::MakeConstSpan(bytes).subspan(size - 200, 200));
    EXPECT_EQ(hash.Finish().value(), Expected(bytes));
  }
}

TEST(FileHashTest, AnEmptyFileHasTheDigestOfNothing) {
  const MemorySource source("memory", {});
  FileHash hash(source);
  EXPECT_EQ(hash.Finish().value(), Expected({}));
}

TEST(FileHashTest, AReadErrorIsReported) {
  for (const size_t size : {kSmall, kLarge}) {
    const Bytes bytes = Pattern(size);
    const MemorySource source("memory", bytes);
    FileHash hash(source);
    hash.AddFromSource(size - 1, 2);
    hash.Add(bytes);
    ExpectError(hash.Finish(), absl::StatusCode::kOutOfRange, "memory");
  }
}

TEST(FileHashTest, AnAbandonedHashEndsItsThread) {
  const Bytes bytes = Pattern(kLarge);
  const MemorySource source("memory", bytes);
  FileHash hash(source);
  for (int i = 0; i < 1000; ++i) hash.AddFromSource(0, kLarge);
}

TEST(FileHashTest, TheHashOfALargeKeyCoversPartsThatAreNotKept) {
  Container file = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  file.sections.insert(file.sections.begin(), {99, Pattern(kLarge)});
  file.Append(98, Pattern(kSmall));
  const Bytes bytes = file.Serialize();
  const auto zkey = ReadZkey(SourceOf(bytes));
  ASSERT_OK(zkey);
  EXPECT_EQ(zkey->hash, Expected(bytes));
}

}  // namespace
}  // namespace proofmill::engine
