#include <string>

#include "engine/formats/zkey.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;
using testing::IsEmpty;

template <typename T>
absl::Span<const T> All(const HostBuffer<T>& buffer) {
  return absl::MakeConstSpan(buffer.data(), buffer.size());
}

class ZkeyWriterTest : public testing::Test {
 protected:
  ZkeyWriterTest() {
    const Bytes bytes = ReadBytes(CasePath("sj-mul3", "circuit.zkey"));
    zkey_ = ReadZkey(SourceOf(bytes)).value();
    writer_ = ZkeyWriter::Create(folder_.Path("out.zkey"), zkey_.header).value();
  }

  absl::Status WriteSection(ZkeySection section) {
    if (absl::Status status = writer_->BeginSection(section); !status.ok()) return status;
    switch (section) {
      case ZkeySection::kIc:
        return writer_->Write(All(zkey_.ic));
      case ZkeySection::kCoefficients:
        return writer_->Write(All(zkey_.coefficients));
      case ZkeySection::kA:
        return writer_->Write(All(zkey_.a));
      case ZkeySection::kB1:
        return writer_->Write(All(zkey_.b1));
      case ZkeySection::kB2:
        return writer_->Write(All(zkey_.b2));
      case ZkeySection::kC:
        return writer_->Write(All(zkey_.c));
      default:
        return writer_->Write(All(zkey_.h));
    }
  }
  void WriteSections(uint32_t from, uint32_t to) {
    for (uint32_t id = from; id <= to; ++id) ASSERT_OK(WriteSection(static_cast<ZkeySection>(id)));
  }

  const TestFolder folder_;
  Zkey zkey_;
  std::unique_ptr<ZkeyWriter> writer_;
};

TEST_F(ZkeyWriterTest, WritesTheVeryBytesOfSnarkjs) {
  WriteSections(3, 9);
  ASSERT_OK(writer_->WriteContributions(zkey_.circuit_hash, zkey_.contributions));
  ASSERT_OK(writer_->Commit());
  EXPECT_EQ(ReadBytes(folder_.Path("out.zkey")), ReadBytes(CasePath("sj-mul3", "circuit.zkey")));
}

TEST_F(ZkeyWriterTest, ASectionMayComeInPieces) {
  ASSERT_OK(writer_->BeginSection(ZkeySection::kIc));
  ASSERT_OK(writer_->Write(All(zkey_.ic).subspan(0, 1)));
  ASSERT_OK(writer_->Write(All(zkey_.ic).subspan(1, 0)));
  ASSERT_OK(writer_->Write(All(zkey_.ic).subspan(1)));
  WriteSections(4, 9);
  ASSERT_OK(writer_->Commit());
  const auto file = RandomAccessFile::Open(folder_.Path("out.zkey"));
  ASSERT_OK(file);
  EXPECT_OK(ReadZkey(**file));
}

TEST_F(ZkeyWriterTest, ASectionOfTheWrongLengthIsRefused) {
  ASSERT_OK(writer_->BeginSection(ZkeySection::kA));
  ASSERT_OK(writer_->Write(All(zkey_.a).subspan(1)));
  ExpectError(writer_->BeginSection(ZkeySection::kB1), StatusCode::kFailedPrecondition,
              "section 5 (A points): expected 448 bytes, got 384");
}

TEST_F(ZkeyWriterTest, ASectionTwiceOrOfAnotherKindIsRefused) {
  ASSERT_OK(WriteSection(ZkeySection::kC));
  ExpectError(WriteSection(ZkeySection::kC), StatusCode::kFailedPrecondition, "section 8 (C points)");
  ExpectError(writer_->BeginSection(ZkeySection::kHeader), StatusCode::kFailedPrecondition,
              "section 2 (header)");
  ExpectError(writer_->BeginSection(ZkeySection::kContributions), StatusCode::kFailedPrecondition,
              "section 10");
  ASSERT_OK(writer_->WriteContributions({}, {}));
  ExpectError(writer_->WriteContributions({}, {}), StatusCode::kFailedPrecondition, "written already");
}

TEST_F(ZkeyWriterTest, AMissingSectionKeepsTheFileFromAppearing) {
  WriteSections(3, 8);
  ExpectError(writer_->Commit(), StatusCode::kFailedPrecondition, "section 9 was not written");
  writer_.reset();
  EXPECT_THAT(folder_.List(), IsEmpty());
}

TEST_F(ZkeyWriterTest, APlaceThatCannotBeWrittenIsAnError) {
  ExpectError(ZkeyWriter::Create(folder_.Path("no/folder"), zkey_.header), StatusCode::kNotFound,
              "cannot create");
}

}  // namespace
}  // namespace proofmill::engine
