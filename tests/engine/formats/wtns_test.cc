#include "engine/formats/wtns.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <string>

#include "engine/base/error_reason.h"
#include "engine/formats/snarkjs_json.h"
#include "gtest/gtest.h"
#include "kernels/field/bn254_fr.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;
using kernels::Fr;
using kernels::U256;

constexpr uint32_t kAny = 0;

TEST(WtnsTest, PublicSignalsAreTheValuesAfterTheConstantOne) {
  for (const char* name : kCases) {
    SCOPED_TRACE(name);
    const Bytes bytes = ReadBytes(CasePath(name, "witness.wtns"));
    const auto witness = ReadWtns(SourceOf(bytes), kAny);
    const auto signals = ParsePublicJson(ReadText(CasePath(name, "public.json")));
    ASSERT_OK(witness);
    ASSERT_OK(signals);
    EXPECT_TRUE(witness->values[0] == (U256{{1, 0, 0, 0}}));
    for (size_t i = 0; i < signals->size(); ++i)
      EXPECT_TRUE(witness->values[i + 1] == (*signals)[i].ToPlain());
    EXPECT_EQ(ReadWtnsCount(SourceOf(bytes)).value(), witness->values.size());
  }
}

TEST(WtnsTest, WhatIsWrittenIsWhatCircomWrites) {
  const Bytes bytes = ReadBytes(CasePath("mul3", "witness.wtns"));
  const auto witness = ReadWtns(SourceOf(bytes), 7);
  ASSERT_OK(witness);
  const absl::Span<const U256> values(witness->values.data(), witness->values.size());

  const SecretBuffer<uint8_t> written = SerializeWtns(values);
  EXPECT_EQ(Bytes(written.begin(), written.end()), bytes);
  EXPECT_EQ(bytes.size(), kWtnsHeaderBytes + size_t{7} * 32);

  const TestFolder folder;
  ASSERT_OK(WriteWtns(folder.Path("w.wtns"), values));
  EXPECT_EQ(ReadBytes(folder.Path("w.wtns")), bytes);
  struct stat info {};
  ASSERT_EQ(stat(folder.Path("w.wtns").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u) << "a witness is for its owner only";
}

TEST(WtnsTest, WritingToNowhereIsAnError) {
  const TestFolder folder;
  ExpectError(WriteWtns(folder.Path("no/folder"), {}), StatusCode::kNotFound, "cannot create");
}

TEST(WtnsTest, OrderForeignSectionsAndVersion1AreAccepted) {
  Container file = Container::FromFile(CasePath("mul3", "witness.wtns"));
  std::reverse(file.sections.begin(), file.sections.end());
  file.sections.insert(file.sections.begin(), {42, {1, 2, 3}});
  file.version = 1;
  EXPECT_OK(ReadWtns(SourceOf(file.Serialize()), 7));
}

TEST(WtnsTest, TheLargestCanonicalValueIsAccepted) {
  Container file = Container::FromFile(CasePath("mul3", "witness.wtns"));
  Bytes& values = file[2];
  std::fill(values.end() - 32, values.end(), uint8_t{0});
  AddR(values, values.size() - 32);
  values[values.size() - 32] = 0;  // r ends in 1: this is r - 1
  EXPECT_OK(ReadWtns(SourceOf(file.Serialize()), 7));
}

struct Row {
  const char* name;
  std::function<void(Container&)> damage;
  ErrorReason reason;
  const char* message;
};

// The base is mul3: seven values.
const Row kRows[] = {
    {"Magic", [](Container& w) { w.magic = "wtnz"; }, ErrorReason::kWitnessMalformed, "got \"wtnz\""},
    {"AKey", [](Container& w) { w.magic = "zkey"; }, ErrorReason::kWitnessMalformed, "got \"zkey\""},
    {"Version0", [](Container& w) { w.version = 0; }, ErrorReason::kWitnessMalformed,
     "version of .wtns: expected 1 to 2, got 0"},
    {"Version3", [](Container& w) { w.version = 3; }, ErrorReason::kWitnessMalformed,
     "version of .wtns: expected 1 to 2, got 3"},
    {"HeaderMissing", [](Container& w) { w.Remove(1); }, ErrorReason::kWitnessMalformed,
     "section 1 (header) is missing"},
    {"ValuesMissing", [](Container& w) { w.Remove(2); }, ErrorReason::kWitnessMalformed,
     "section 2 (values) is missing"},
    {"HeaderDoubled", [](Container& w) { w.Append(1, Bytes(w[1])); }, ErrorReason::kWitnessMalformed,
     "section 1 (header) is there twice"},
    {"ValuesDoubled", [](Container& w) { w.Append(2, Bytes(w[2])); }, ErrorReason::kWitnessMalformed,
     "section 2 (values) is there twice"},
    {"HeaderShort", [](Container& w) { w[1].pop_back(); }, ErrorReason::kWitnessMalformed,
     "expected 4 more bytes, got 3"},
    {"HeaderLong", [](Container& w) { w[1].push_back(0); }, ErrorReason::kWitnessMalformed,
     "section 1 (header): expected 40 bytes, got 41"},
    {"HeaderVeryLong", [](Container& w) { w[1].resize(5000); }, ErrorReason::kWitnessMalformed,
     "expected 40 bytes, got 5000"},
    {"PrimePlus2", [](Container& w) { w[1][4] = static_cast<uint8_t>(w[1][4] + 2); },
     ErrorReason::kWitnessMalformed, "expected the scalar field of BN254 in 32 bytes, got an unknown prime"},
    {"PrimeOfBls12381",
     [](Container& w) {
       const Bytes r = {0x73, 0xed, 0xa7, 0x53, 0x29, 0x9d, 0x7d, 0x48, 0x33, 0x39, 0xd8,
                        0x08, 0x09, 0xa1, 0xd8, 0x05, 0x53, 0xbd, 0xa4, 0x02, 0xff, 0xfe,
                        0x5b, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01};
       std::copy(r.rbegin(), r.rend(), w[1].begin() + 4);
     },
     ErrorReason::kWitnessMalformed, "got the scalar field of BLS12-381 in 32 bytes"},
    {"Size48", [](Container& w) { SetU32(w[1], 0, 48); }, ErrorReason::kWitnessMalformed,
     "expected 48 more bytes, got 36"},
    {"Size64WithRoom",
     [](Container& w) {
       SetU32(w[1], 0, 64);
       w[1].resize(100);
     },
     ErrorReason::kWitnessMalformed, "in 64 bytes"},
    {"SizeMax", [](Container& w) { SetU32(w[1], 0, ~0u); }, ErrorReason::kWitnessMalformed,
     "got a prime of 4294967295 bytes"},
    {"CountZeroAndNoValues",
     [](Container& w) {
       SetU32(w[1], 36, 0);
       w[2].clear();
     },
     ErrorReason::kWitnessLength, "expected 7, got 0"},
    {"CountAboveValues", [](Container& w) { SetU32(w[1], 36, 8); }, ErrorReason::kWitnessMalformed,
     "section 2 (values): expected 256 bytes for 8 values, got 224"},
    {"CountBelowValues", [](Container& w) { SetU32(w[1], 36, 6); }, ErrorReason::kWitnessMalformed,
     "expected 192 bytes for 6 values, got 224"},
    {"CountMax", [](Container& w) { SetU32(w[1], 36, ~0u); }, ErrorReason::kWitnessMalformed,
     "expected 137438953440 bytes for 4294967295 values, got 224"},
    {"ValuesLong", [](Container& w) { w[2].resize(w[2].size() + 32); }, ErrorReason::kWitnessMalformed,
     "expected 224 bytes for 7 values, got 256"},
    {"ValuesShort", [](Container& w) { w[2].pop_back(); }, ErrorReason::kWitnessMalformed,
     "expected 224 bytes for 7 values, got 223"},
    {"OneValueMore",
     [](Container& w) {
       SetU32(w[1], 36, 8);
       w[2].resize(256);
     },
     ErrorReason::kWitnessLength, "wrong number of witness values: expected 7, got 8"},
    {"OneValueLess",
     [](Container& w) {
       SetU32(w[1], 36, 6);
       w[2].resize(192);
     },
     ErrorReason::kWitnessLength, "wrong number of witness values: expected 7, got 6"},
    {"LastValuePlusR", [](Container& w) { AddR(w[2], size_t{6} * 32); }, ErrorReason::kWitnessNotCanonical,
     "witness value 6 is not canonical"},
    {"PublicValuePlusR", [](Container& w) { AddR(w[2], 32); }, ErrorReason::kWitnessNotCanonical,
     "witness value 1 is not canonical"},
    {"FirstValueIsR",
     [](Container& w) {
       std::fill_n(w[2].begin(), 32, 0);
       AddR(w[2], 0);
     },
     ErrorReason::kWitnessNotCanonical, "witness value 0 is not canonical"},
    {"ValueMax", [](Container& w) { std::fill_n(w[2].begin() + 64, 32, 0xFF); },
     ErrorReason::kWitnessNotCanonical, "witness value 2 is not canonical"},
};

class WtnsDamageTest : public testing::TestWithParam<Row> {};

TEST_P(WtnsDamageTest, IsRefusedWithItsReason) {
  Container file = Container::FromFile(CasePath("mul3", "witness.wtns"));
  GetParam().damage(file);
  const auto witness = ReadWtns(SourceOf(file.Serialize(), "bad.wtns"), 7);
  ExpectError(witness, StatusCode::kInvalidArgument, GetParam().message);
  EXPECT_EQ(GetReason(witness.status()), GetParam().reason);
  EXPECT_THAT(MessageOf(witness.status()), testing::StartsWith("bad.wtns: "));
}

INSTANTIATE_TEST_SUITE_P(Rows, WtnsDamageTest, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& row) { return std::string(row.param.name); });

TEST(WtnsTest, AnEmptyOrTruncatedFileIsMalformed) {
  const Bytes whole = ReadBytes(CasePath("mul3", "witness.wtns"));
  for (const size_t length : {size_t{0}, size_t{10}, whole.size() - 1}) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    const auto witness = ReadWtns(SourceOf(cut), 7);
    ExpectError(witness, StatusCode::kInvalidArgument, "");
    EXPECT_EQ(GetReason(witness.status()), ErrorReason::kWitnessMalformed);
    EXPECT_EQ(GetReason(ReadWtnsCount(SourceOf(cut)).status()), ErrorReason::kWitnessMalformed);
  }
}

TEST(WtnsTest, AnyCountIsFineWhenNoneIsExpectedButNone) {
  Container file = Container::FromFile(CasePath("mul3", "witness.wtns"));
  EXPECT_OK(ReadWtns(SourceOf(file.Serialize()), kAny));
  SetU32(file[1], 36, 0);
  file[2].clear();
  ExpectError(ReadWtns(SourceOf(file.Serialize()), kAny), StatusCode::kInvalidArgument,
              "expected at least 1, got 0");
}

TEST(WtnsTest, NoMessageHoldsAValue) {
  Container file = Container::FromFile(CasePath("mul3", "witness.wtns"));
  std::fill_n(file[2].begin() + 32, 32, 0xEE);
  const auto witness = ReadWtns(SourceOf(file.Serialize()), 7);
  const std::string message = witness.status().ToString();
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("ee")));
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("1080")));  // how 0xeeee...ee begins in decimal
}

}  // namespace
}  // namespace proofmill::engine
