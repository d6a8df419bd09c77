#include "clients/cpp/sha256.h"

#include <string>

#include "absl/strings/escaping.h"
#include "gtest/gtest.h"

namespace proofmill::client {
namespace {

// FIPS 180-2, appendix B.1.
TEST(Sha256Test, KnownAnswer) {
  EXPECT_EQ(absl::BytesToHexString(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace proofmill::client
