// Files that change, shrink or fail while they are read.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <string>

#include "engine/formats/r1cs.h"
#include "engine/formats/wtns.h"
#include "engine/formats/zkey.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;

// Passes reads on, after telling the test which read it is.
class WatchedSource final : public ByteSource {
 public:
  using BeforeRead = std::function<absl::Status(size_t number, uint64_t offset, size_t length)>;
  WatchedSource(const ByteSource& inner, BeforeRead before_read)
      : ByteSource(inner.name()), inner_(inner), before_read_(std::move(before_read)) {}

  uint64_t size() const override { return inner_.size(); }
  absl::Status ReadAt(uint64_t offset, absl::Span<uint8_t> out) const override {
    const absl::Status status = before_read_(reads_++, offset, out.size());
    return status.ok() ? inner_.ReadAt(offset, out) : status;
  }
  absl::Status CheckUnchanged() const override { return inner_.CheckUnchanged(); }
  size_t reads() const { return reads_; }

 private:
  const ByteSource& inner_;
  const BeforeRead before_read_;
  mutable size_t reads_ = 0;
};

struct Parser {
  const char* name;
  const char* path;
  std::function<absl::Status(const ByteSource&)> parse;
};

const Parser kParsers[] = {
    {"Zkey", "sj-mul3/circuit.zkey", [](const ByteSource& source) { return ReadZkey(source).status(); }},
    {"ZkeyHeader", "sj-mul3/circuit.zkey",
     [](const ByteSource& source) { return ReadZkeyHeader(source).status(); }},
    {"Wtns", "mul3/witness.wtns", [](const ByteSource& source) { return ReadWtns(source, 7).status(); }},
    {"WtnsCount", "mul3/witness.wtns",
     [](const ByteSource& source) { return ReadWtnsCount(source).status(); }},
    {"R1cs", "mul3/circuit.r1cs", [](const ByteSource& source) { return ReadR1cs(source).status(); }},
};

class ChangingSourceTest : public testing::TestWithParam<Parser> {
 protected:
  Bytes Original() const { return ReadBytes(std::string("tests/vectors/cases/") + GetParam().path); }

  // Parses a real file that `change` gets its hands on before read number `number`. False when there were not
  // so many reads.
  bool ParseWithChange(size_t number, const std::function<void(const std::string&)>& change,
                       absl::Status& status) {
    const TestFolder folder;
    const std::string path = folder.Path("file");
    WriteBytes(path, Original());
    // An old time of change, which any write now will differ from.
    const timespec past[2] = {{1'000'000, 0}, {1'000'000, 0}};
    EXPECT_EQ(utimensat(AT_FDCWD, path.c_str(), past, 0), 0);
    const auto file = RandomAccessFile::Open(path);
    EXPECT_OK(file);
    const WatchedSource source(**file, [&](size_t read, uint64_t, size_t) {
      if (read == number) change(path);
      return absl::OkStatus();
    });
    status = GetParam().parse(source);
    return source.reads() > number;
  }
};

TEST_P(ChangingSourceTest, AFileCutShortBeforeAnyOfTheReadsIsAborted) {
  absl::Status status;
  const auto cut = [](const std::string& path) { ASSERT_EQ(truncate(path.c_str(), 20), 0); };
  for (size_t number = 0; ParseWithChange(number, cut, status); ++number) {
    SCOPED_TRACE(number);
    ExpectError(status, StatusCode::kAborted, "while it was read");
  }
}

TEST_P(ChangingSourceTest, AFileRewrittenBeforeAnyOfTheReadsIsNeverAccepted) {
  absl::Status status;
  const auto rewrite = [this](const std::string& path) {
    Bytes other = Original();
    for (size_t i = 12; i < other.size(); i += 3) other[i] ^= 0xFF;
    WriteBytes(path, other);
  };
  for (size_t number = 0; ParseWithChange(number, rewrite, status); ++number) {
    SCOPED_TRACE(number);
    EXPECT_FALSE(status.ok());
  }
}

TEST_P(ChangingSourceTest, AFileTouchedWithoutAVisibleChangeIsAborted) {
  absl::Status status;
  const auto touch = [this](const std::string& path) { WriteBytes(path, Original()); };
  for (size_t number = 0; ParseWithChange(number, touch, status); ++number) {
    SCOPED_TRACE(number);
    ExpectError(status, StatusCode::kAborted, "changed while it was read");
  }
}

TEST_P(ChangingSourceTest, AnErrorOfAnyReadIsPassedOnUnchanged) {
  const Bytes bytes = Original();
  const MemorySource memory("memory", bytes);
  for (size_t number = 0;; ++number) {
    SCOPED_TRACE(number);
    const WatchedSource source(memory, [number](size_t read, uint64_t, size_t) {
      return read == number ? absl::InternalError("the disk is broken") : absl::OkStatus();
    });
    const absl::Status status = GetParam().parse(source);
    if (source.reads() <= number) {
      EXPECT_OK(status);
      break;
    }
    ExpectError(status, StatusCode::kInternal, "the disk is broken");
  }
}

// What is read once cannot differ from what was checked.
TEST_P(ChangingSourceTest, NoByteIsReadTwice) {
  const Bytes bytes = Original();
  const MemorySource memory("memory", bytes);
  std::set<uint64_t> seen;
  const WatchedSource source(memory, [&](size_t, uint64_t offset, size_t length) {
    for (uint64_t i = offset; i < offset + length; ++i) {
      EXPECT_TRUE(seen.insert(i).second) << "byte " << i << " is read again";
    }
    return absl::OkStatus();
  });
  EXPECT_OK(GetParam().parse(source));
}

INSTANTIATE_TEST_SUITE_P(Formats, ChangingSourceTest, testing::ValuesIn(kParsers),
                         [](const testing::TestParamInfo<Parser>& parser) {
                           return std::string(parser.param.name);
                         });

}  // namespace
}  // namespace proofmill::engine
