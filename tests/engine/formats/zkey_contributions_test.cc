#include "engine/formats/zkey_contributions.h"

#include <string>

#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;

constexpr size_t kHashAndCount = 64 + 4;
constexpr size_t kFixedBytes = 3 * 64 + 128 + 64;  // before type and parameters

Bytes Section(uint32_t count) {
  Bytes out(64, 0x5A);
  AppendLittleEndian(out, count, 4);
  return out;
}

// One record with these parameter bytes.
Bytes WithParameters(uint32_t type, const Bytes& parameters) {
  Bytes out = Section(1);
  out.resize(out.size() + kFixedBytes);
  AppendLittleEndian(out, type, 4);
  AppendLittleEndian(out, parameters.size(), 4);
  out.insert(out.end(), parameters.begin(), parameters.end());
  return out;
}

absl::StatusOr<ZkeyContributions> Parse(const Bytes& payload) {
  return ParseZkeyContributions("section 10", payload);
}

TEST(ZkeyContributionsTest, WhatIsWrittenIsRead) {
  ZkeyContribution first;
  first.name = "proofmill insecure test setup";
  first.delta_after = kernels::kG1Generator;
  first.g2_spx = kernels::kG2Generator;
  first.transcript.fill(7);
  ZkeyContribution beacon;
  beacon.type = 1;
  beacon.iterations_exp = 10;
  beacon.beacon_hash = {1, 2, 3};
  std::array<uint8_t, 64> hash;
  hash.fill(9);

  const auto parsed = Parse(SerializeZkeyContributions(hash, {first, beacon}));
  ASSERT_OK(parsed);
  EXPECT_EQ(parsed->circuit_hash, hash);
  ASSERT_EQ(parsed->records.size(), 2u);
  EXPECT_EQ(parsed->records[0].name, first.name);
  EXPECT_TRUE(parsed->records[0].delta_after == first.delta_after);
  EXPECT_TRUE(parsed->records[0].g2_spx == first.g2_spx);
  EXPECT_EQ(parsed->records[0].transcript, first.transcript);
  EXPECT_EQ(parsed->records[1].type, 1u);
  EXPECT_EQ(parsed->records[1].iterations_exp, 10u);
  EXPECT_EQ(parsed->records[1].beacon_hash, beacon.beacon_hash);
}

TEST(ZkeyContributionsTest, WhatSnarkjsWroteComesBackByteForByte) {
  for (const char* name : {"sj-mul3", "sj-outonly", "unirep-epochKeyLite"}) {
    SCOPED_TRACE(name);
    Container file = Container::FromFile(CasePath(name, "circuit.zkey"));
    const auto parsed = Parse(file[10]);
    ASSERT_OK(parsed);
    EXPECT_EQ(SerializeZkeyContributions(parsed->circuit_hash, parsed->records), file[10]);
  }
}

TEST(ZkeyContributionsTest, EveryTruncationIsDataLoss) {
  Container file = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  const Bytes& whole = file[10];
  for (size_t length = 0; length < whole.size(); ++length) {
    SCOPED_TRACE(length);
    ExpectError(Parse(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))),
                StatusCode::kDataLoss, "cut short");
  }
}

TEST(ZkeyContributionsTest, BytesLeftOverAreRefused) {
  Bytes bytes = Section(0);
  bytes.push_back(0);
  ExpectError(Parse(bytes), StatusCode::kInvalidArgument, "1 bytes too many");
}

TEST(ZkeyContributionsTest, AHugeCountIsRefusedBeforeMemoryIsTaken) {
  ExpectError(Parse(Section(~0u)), StatusCode::kDataLoss, "expected 4294967295 records, got room for 0");
}

TEST(ZkeyContributionsTest, AHugeParameterLengthIsRefused) {
  Bytes bytes = WithParameters(0, {});
  SetU32(bytes, kHashAndCount + kFixedBytes + 4, ~0u);
  ExpectError(Parse(bytes), StatusCode::kDataLoss, "expected 4294967295 more bytes, got 0");
}

TEST(ZkeyContributionsTest, ParametersMustBeKnownAscendingAndWhole) {
  EXPECT_OK(Parse(WithParameters(0, {1, 2, 'h', 'i', 2, 10, 3, 1, 0xAA})));
  ExpectError(Parse(WithParameters(0, {4, 0})), StatusCode::kInvalidArgument, "expected kind 1 to 3, got 4");
  ExpectError(Parse(WithParameters(0, {0, 0})), StatusCode::kInvalidArgument,
              "expected a kind above 0, got 0");
  ExpectError(Parse(WithParameters(0, {2, 10, 1, 0})), StatusCode::kInvalidArgument,
              "expected a kind above 2, got 1");
  ExpectError(Parse(WithParameters(0, {1, 0, 1, 0})), StatusCode::kInvalidArgument,
              "expected a kind above 1, got 1");
  ExpectError(Parse(WithParameters(0, {1, 3, 'h', 'i'})), StatusCode::kDataLoss,
              "expected 3 more bytes, got 2");
  ExpectError(Parse(WithParameters(0, {3, 9})), StatusCode::kDataLoss, "expected 9 more bytes, got 0");
  ExpectError(Parse(WithParameters(0, {1})), StatusCode::kDataLoss, "expected 1 more bytes, got 0");
}

TEST(ZkeyContributionsTest, AnUnknownTypeIsRefused) {
  ExpectError(Parse(WithParameters(2, {})), StatusCode::kInvalidArgument, "expected 0 or 1, got 2");
}

}  // namespace
}  // namespace proofmill::engine
