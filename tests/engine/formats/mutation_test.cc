// Systematic damage to small files of each binary format: every truncation, and every byte changed in ten
// ways. A parser may refuse or accept, but it neither crashes nor takes more memory than the file justifies.

#include <functional>
#include <string>
#include <vector>

#include "engine/formats/binfile.h"
#include "engine/formats/r1cs.h"
#include "engine/formats/wtns.h"
#include "engine/formats/zkey.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/allocation_watch.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

// What the process may take beyond twice the file is 64 MiB; a parser of a file of a few KiB needs far less.
constexpr size_t kSpareBytes = 32 << 10;

struct Parser {
  const char* name;
  const char* path;
  std::function<absl::Status(const ByteSource&)> parse;
};

const Parser kParsers[] = {
    {"Zkey", "sj-mul3/circuit.zkey", [](const ByteSource& source) { return ReadZkey(source).status(); }},
    {"ZkeyWithoutContributions", "big1/circuit.zkey",
     [](const ByteSource& source) { return ReadZkey(source).status(); }},
    {"ZkeyHeader", "mul3/circuit.zkey",
     [](const ByteSource& source) { return ReadZkeyHeader(source).status(); }},
    {"Wtns", "mul3/witness.wtns", [](const ByteSource& source) { return ReadWtns(source, 0).status(); }},
    {"WtnsOfKnownCount", "mul3/witness.wtns",
     [](const ByteSource& source) { return ReadWtns(source, 7).status(); }},
    {"R1cs", "unused/circuit.r1cs", [](const ByteSource& source) { return ReadR1cs(source).status(); }},
    {"R1csWithTerms", "mul3/circuit.r1cs",
     [](const ByteSource& source) { return ReadR1cs(source).status(); }},
};

class MutationTest : public testing::TestWithParam<Parser> {
 protected:
  Bytes Original() const { return ReadBytes(std::string("tests/vectors/cases/") + GetParam().path); }

  // Parses, checks the memory, and gives the result.
  absl::Status Parse(const Bytes& bytes) const {
    const MemorySource source("mutant", bytes);
    const AllocationWatch watch;
    absl::Status status = GetParam().parse(source);
    EXPECT_LE(watch.PeakBytes(), 2 * bytes.size() + kSpareBytes) << status;
    return status;
  }
};

TEST_P(MutationTest, TheOriginalIsAccepted) { EXPECT_OK(Parse(Original())); }

TEST_P(MutationTest, EveryTruncationIsRefused) {
  const Bytes whole = Original();
  for (size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    const absl::Status status =
        Parse(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_TRUE(absl::IsDataLoss(status) || absl::IsInvalidArgument(status)) << status;
  }
}

TEST_P(MutationTest, EveryChangedByteIsSurvived) {
  Bytes bytes = Original();
  for (size_t i = 0; i < bytes.size(); ++i) {
    SCOPED_TRACE(i);
    const uint8_t original = bytes[i];
    std::vector<uint8_t> replacements = {0x00, 0xFF};
    for (int bit = 0; bit < 8; ++bit) replacements.push_back(static_cast<uint8_t>(original ^ (1 << bit)));
    for (const uint8_t replacement : replacements) {
      bytes[i] = replacement;
      const absl::Status status = Parse(bytes);
      EXPECT_TRUE(status.ok() || absl::IsDataLoss(status) || absl::IsInvalidArgument(status)) << status;
    }
    bytes[i] = original;
  }
}

// Any four neighbouring bytes may be a count or a length.
TEST_P(MutationTest, EveryCountMadeHugeIsSurvived) {
  const Bytes original = Original();
  for (size_t i = 0; i + 4 <= original.size(); ++i) {
    SCOPED_TRACE(i);
    for (const uint8_t top : Bytes{0x7F, 0x80, 0xFF}) {
      Bytes bytes = original;
      for (size_t j = 0; j < 3; ++j) bytes[i + j] = 0xFF;
      bytes[i + 3] = top;
      const absl::Status status = Parse(bytes);
      EXPECT_TRUE(status.ok() || absl::IsDataLoss(status) || absl::IsInvalidArgument(status)) << status;
    }
  }
}

TEST_P(MutationTest, EveryByteTooManyIsRefused) {
  Bytes bytes = Original();
  bytes.push_back(0);
  EXPECT_FALSE(Parse(bytes).ok());
  bytes.insert(bytes.end(), 36, 0xAA);
  EXPECT_FALSE(Parse(bytes).ok());
}

INSTANTIATE_TEST_SUITE_P(Formats, MutationTest, testing::ValuesIn(kParsers),
                         [](const testing::TestParamInfo<Parser>& parser) {
                           return std::string(parser.param.name);
                         });

}  // namespace
}  // namespace proofmill::engine
