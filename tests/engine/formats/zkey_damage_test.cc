// Keys with one fault each, as a table: the error names what was expected and what was there.

#include <algorithm>
#include <functional>
#include <string>

#include "engine/formats/zkey.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;

// Offsets in the payload of section 2.
constexpr size_t kN8q = 0, kQ = 4, kN8r = 36, kR = 40, kNVars = 72, kNPublic = 76, kDomain = 80;
// Offsets in the first record of section 4.
constexpr size_t kMatrix = 4, kConstraint = 8, kSignal = 12, kValue = 16;

// BLS12-381: q in 48 bytes, least significant first.
Bytes Bls12381BaseField() {
  const Bytes big_endian = {0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6,
                            0x43, 0x4b, 0xac, 0xd7, 0x64, 0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf,
                            0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab, 0xff, 0xfe,
                            0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab};
  return {big_endian.rbegin(), big_endian.rend()};
}

struct Row {
  const char* name;
  std::function<void(Container&)> damage;
  StatusCode code;
  const char* message;
};

void Shorten(Container& key, uint32_t id, size_t bytes) { key[id].resize(key[id].size() - bytes); }
void Lengthen(Container& key, uint32_t id, size_t bytes) { key[id].resize(key[id].size() + bytes); }

// The base is sj-mul3: nVars 7, nPublic 2, domain 8, 9 coefficients, three contributions.
const Row kRows[] = {
    {"Version0", [](Container& k) { k.version = 0; }, StatusCode::kInvalidArgument,
     "version of .zkey: expected 1, got 0"},
    {"Version2", [](Container& k) { k.version = 2; }, StatusCode::kInvalidArgument,
     "version of .zkey: expected 1, got 2"},
    {"MagicOfAWitness", [](Container& k) { k.magic = "wtns"; }, StatusCode::kInvalidArgument,
     "expected it to begin with \"zkey\", got \"wtns\""},
    {"ProtocolPlonk", [](Container& k) { SetU32(k[1], 0, 2); }, StatusCode::kInvalidArgument,
     "not a Groth16 key (PLONK): expected protocol 1, got 2"},
    {"ProtocolFflonk", [](Container& k) { SetU32(k[1], 0, 10); }, StatusCode::kInvalidArgument,
     "not a Groth16 key (FFLONK): expected protocol 1, got 10"},
    {"ProtocolUnknown", [](Container& k) { SetU32(k[1], 0, 0); }, StatusCode::kInvalidArgument,
     "expected protocol 1, got 0"},
    {"ProtocolShort", [](Container& k) { Shorten(k, 1, 1); }, StatusCode::kDataLoss,
     "section 1 (protocol): wrong length: expected 4 bytes, got 3"},
    {"ProtocolLong", [](Container& k) { Lengthen(k, 1, 1); }, StatusCode::kInvalidArgument,
     "section 1 (protocol): wrong length: expected 4 bytes, got 5"},
    {"HeaderShort", [](Container& k) { Shorten(k, 2, 1); }, StatusCode::kDataLoss,
     "section 2 (header): wrong length: expected 660 bytes, got 659"},
    {"HeaderLong", [](Container& k) { Lengthen(k, 2, 1); }, StatusCode::kInvalidArgument,
     "section 2 (header): wrong length: expected 660 bytes, got 661"},
    {"HeaderVeryLong", [](Container& k) { Lengthen(k, 2, 100'000); }, StatusCode::kInvalidArgument,
     "expected 660 bytes, got 100660"},
    {"HeaderEmpty", [](Container& k) { k[2].clear(); }, StatusCode::kDataLoss,
     "section 2 (header): cut short: expected 4 more bytes, got 0"},
    {"HeaderInsideAPrime", [](Container& k) { k[2].resize(20); }, StatusCode::kDataLoss,
     "expected 32 more bytes, got 16"},
    {"BaseFieldOfBls12381",
     [](Container& k) {
       const Bytes q = Bls12381BaseField();
       SetU32(k[2], kN8q, 48);
       k[2].insert(k[2].begin() + kQ, q.begin(), q.end());
     },
     StatusCode::kInvalidArgument,
     "expected the base field of BN254 in 32 bytes, got the base field of BLS12-381 in 48 bytes"},
    {"BaseFieldUnknown", [](Container& k) { k[2][kQ] = static_cast<uint8_t>(k[2][kQ] + 2); },
     StatusCode::kInvalidArgument,
     "got an unknown prime 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd49 in 32 bytes"},
    {"BaseFieldZero", [](Container& k) { std::fill_n(k[2].begin() + kQ, 32, 0); },
     StatusCode::kInvalidArgument, "got an unknown prime 0x0 in 32 bytes"},
    {"BaseFieldSize0", [](Container& k) { SetU32(k[2], kN8q, 0); }, StatusCode::kInvalidArgument,
     "in 0 bytes"},
    {"BaseFieldSizeMax", [](Container& k) { SetU32(k[2], kN8q, ~0u); }, StatusCode::kInvalidArgument,
     "got a prime of 4294967295 bytes"},
    {"ScalarFieldIsQ", [](Container& k) { std::copy_n(k[2].begin() + kQ, 32, k[2].begin() + kR); },
     StatusCode::kInvalidArgument,
     "expected the scalar field of BN254 in 32 bytes, got the base field of BN254 in 32 bytes"},
    {"ScalarFieldSize31", [](Container& k) { SetU32(k[2], kN8r, 31); }, StatusCode::kInvalidArgument,
     "in 31 bytes"},
    {"WiresZero", [](Container& k) { SetU32(k[2], kNVars, 0); }, StatusCode::kInvalidArgument,
     "expected nPublic below nVars, got nPublic 2 and nVars 0"},
    {"WiresOneMore", [](Container& k) { SetU32(k[2], kNVars, 8); }, StatusCode::kDataLoss,
     "section 5 (A points): wrong length: expected 512 bytes, got 448"},
    {"WiresOneLess", [](Container& k) { SetU32(k[2], kNVars, 6); }, StatusCode::kInvalidArgument,
     "section 5 (A points): wrong length: expected 384 bytes, got 448"},
    {"WiresMax", [](Container& k) { SetU32(k[2], kNVars, ~0u); }, StatusCode::kDataLoss,
     "section 5 (A points): wrong length: expected 274877906880 bytes, got 448"},
    {"PublicAsManyAsWires", [](Container& k) { SetU32(k[2], kNPublic, 7); }, StatusCode::kInvalidArgument,
     "got nPublic 7 and nVars 7"},
    {"PublicMax",
     [](Container& k) {
       SetU32(k[2], kNPublic, ~0u);
       SetU32(k[2], kNVars, ~0u);
     },
     StatusCode::kInvalidArgument, "got nPublic 4294967295 and nVars 4294967295"},
    {"PublicOneMore", [](Container& k) { SetU32(k[2], kNPublic, 3); }, StatusCode::kDataLoss,
     "section 3 (IC points): wrong length: expected 256 bytes, got 192"},
    {"DomainZero", [](Container& k) { SetU32(k[2], kDomain, 0); }, StatusCode::kInvalidArgument,
     "power of two from 2 to 2^28, got 0"},
    {"DomainOne", [](Container& k) { SetU32(k[2], kDomain, 1); }, StatusCode::kInvalidArgument,
     "power of two from 2 to 2^28, got 1"},
    {"DomainSeven", [](Container& k) { SetU32(k[2], kDomain, 7); }, StatusCode::kInvalidArgument, "got 7"},
    {"DomainHalf", [](Container& k) { SetU32(k[2], kDomain, 4); }, StatusCode::kInvalidArgument,
     "section 9 (H points): wrong length: expected 256 bytes, got 512"},
    {"Domain2To28", [](Container& k) { SetU32(k[2], kDomain, 1u << 28); }, StatusCode::kDataLoss,
     "section 9 (H points): wrong length: expected 17179869184 bytes, got 512"},
    {"Domain2To31", [](Container& k) { SetU32(k[2], kDomain, 1u << 31); }, StatusCode::kInvalidArgument,
     "got 2147483648"},
    {"IcShort", [](Container& k) { Shorten(k, 3, 64); }, StatusCode::kDataLoss,
     "section 3 (IC points): wrong length: expected 192 bytes, got 128"},
    {"IcLong", [](Container& k) { Lengthen(k, 3, 1); }, StatusCode::kInvalidArgument,
     "expected 192 bytes, got 193"},
    {"CoefficientsEmpty", [](Container& k) { k[4].clear(); }, StatusCode::kDataLoss,
     "section 4 (coefficients): wrong length: expected 4 bytes, got 0"},
    {"CoefficientsWithoutWholeCount", [](Container& k) { k[4].resize(3); }, StatusCode::kDataLoss,
     "expected 4 bytes, got 3"},
    {"CoefficientsOneMore", [](Container& k) { SetU32(k[4], 0, 10); }, StatusCode::kDataLoss,
     "section 4 (coefficients): wrong length: expected 444 bytes, got 400"},
    {"CoefficientsOneLess", [](Container& k) { SetU32(k[4], 0, 8); }, StatusCode::kInvalidArgument,
     "expected 356 bytes, got 400"},
    {"CoefficientsMax", [](Container& k) { SetU32(k[4], 0, ~0u); }, StatusCode::kDataLoss,
     "expected 188978560984 bytes, got 400"},
    {"CoefficientMatrix2", [](Container& k) { SetU32(k[4], kMatrix, 2); }, StatusCode::kInvalidArgument,
     "record 0: matrix: expected below 2, got 2"},
    {"CoefficientMatrix256", [](Container& k) { SetU32(k[4], kMatrix, 256); }, StatusCode::kInvalidArgument,
     "matrix: expected below 2, got 256"},
    {"CoefficientConstraint", [](Container& k) { SetU32(k[4], kConstraint, 8); },
     StatusCode::kInvalidArgument, "record 0: constraint: expected below 8, got 8"},
    {"CoefficientConstraintMax", [](Container& k) { SetU32(k[4], kConstraint, ~0u); },
     StatusCode::kInvalidArgument, "constraint: expected below 8, got 4294967295"},
    {"CoefficientSignal", [](Container& k) { SetU32(k[4], kSignal + size_t{44} * 8, 7); },
     StatusCode::kInvalidArgument, "record 8: signal: expected below 7, got 7"},
    {"CoefficientSignalMax", [](Container& k) { SetU32(k[4], kSignal, ~0u); }, StatusCode::kInvalidArgument,
     "signal: expected below 7, got 4294967295"},
    {"CoefficientValuePlusR", [](Container& k) { AddR(k[4], kValue); }, StatusCode::kInvalidArgument,
     "record 0: value: expected an integer below r"},
    {"CoefficientValueMax", [](Container& k) { std::fill_n(k[4].begin() + kValue, 32, 0xff); },
     StatusCode::kInvalidArgument, "record 0: value: expected an integer below r"},
    {"AShort", [](Container& k) { Shorten(k, 5, 64); }, StatusCode::kDataLoss,
     "section 5 (A points): wrong length: expected 448 bytes, got 384"},
    {"ALong", [](Container& k) { Lengthen(k, 5, 64); }, StatusCode::kInvalidArgument, "section 5 (A points)"},
    {"B1Short", [](Container& k) { Shorten(k, 6, 1); }, StatusCode::kDataLoss,
     "section 6 (B1 points): wrong length: expected 448 bytes, got 447"},
    {"B1Long", [](Container& k) { Lengthen(k, 6, 1); }, StatusCode::kInvalidArgument,
     "section 6 (B1 points)"},
    {"B2Empty", [](Container& k) { k[7].clear(); }, StatusCode::kDataLoss,
     "section 7 (B2 points): wrong length: expected 896 bytes, got 0"},
    {"B2Long", [](Container& k) { Lengthen(k, 7, 128); }, StatusCode::kInvalidArgument,
     "section 7 (B2 points)"},
    {"CShort", [](Container& k) { Shorten(k, 8, 64); }, StatusCode::kDataLoss,
     "section 8 (C points): wrong length: expected 256 bytes, got 192"},
    {"CLong", [](Container& k) { Lengthen(k, 8, 64); }, StatusCode::kInvalidArgument, "section 8 (C points)"},
    {"HShort", [](Container& k) { Shorten(k, 9, 64); }, StatusCode::kDataLoss,
     "section 9 (H points): wrong length: expected 512 bytes, got 448"},
    {"HLong", [](Container& k) { Lengthen(k, 9, 64); }, StatusCode::kInvalidArgument, "section 9 (H points)"},
    {"ContributionsTooLong", [](Container& k) { k[10].resize((16u << 20) + 1); },
     StatusCode::kInvalidArgument,
     "section 10 (contributions): too long: expected at most 16777216 bytes, got 16777217"},
    {"ContributionsDoubled", [](Container& k) { k.Append(10, Bytes(k[10])); }, StatusCode::kInvalidArgument,
     "section 10 (contributions) is there twice"},
};

class ZkeyDamageTest : public testing::TestWithParam<Row> {};

TEST_P(ZkeyDamageTest, IsRefusedByName) {
  Container key = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  GetParam().damage(key);
  const Bytes bytes = key.Serialize();

  ExpectError(ReadZkey(SourceOf(bytes, "bad.zkey")), GetParam().code, GetParam().message);
  ExpectError(ReadZkey(SourceOf(bytes, "bad.zkey")), GetParam().code, "bad.zkey: ");
}

INSTANTIATE_TEST_SUITE_P(Rows, ZkeyDamageTest, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& row) { return std::string(row.param.name); });

TEST(ZkeyDamageTest, EachNeededSectionIsMissedAndRefusedTwice) {
  const Container good = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  for (uint32_t id = 1; id <= 9; ++id) {
    SCOPED_TRACE(id);
    Container missing = good;
    missing.Remove(id);
    ExpectError(ReadZkey(SourceOf(missing.Serialize())), StatusCode::kDataLoss,
                "section " + std::to_string(id) + " (");
    ExpectError(ReadZkey(SourceOf(missing.Serialize())), StatusCode::kDataLoss, "is missing");
    ExpectError(ReadZkeyHeader(SourceOf(missing.Serialize())), StatusCode::kDataLoss, "is missing");

    Container doubled = good;
    doubled.Append(id, Bytes(doubled[id]));
    ExpectError(ReadZkey(SourceOf(doubled.Serialize())), StatusCode::kInvalidArgument, "is there twice");
  }
}

TEST(ZkeyDamageTest, AKeyLongerThanTheLimitIsRefused) {
  const Bytes bytes = ReadBytes(CasePath("mul3", "circuit.zkey"));
  ExpectError(ReadZkey(SourceOf(bytes), {.file_bytes_max = bytes.size() - 1}), StatusCode::kResourceExhausted,
              "the key is too large: expected at most 4015 bytes, got 4016");
  EXPECT_OK(ReadZkey(SourceOf(bytes), {.file_bytes_max = bytes.size()}));
}

TEST(ZkeyDamageTest, ATruncatedContributionsSectionIsRefusedThoughNoProofNeedsIt) {
  Bytes bytes = ReadBytes(CasePath("sj-mul3", "circuit.zkey"));
  bytes.pop_back();
  ExpectError(ReadZkey(SourceOf(bytes)), StatusCode::kDataLoss,
              "section 10 reaches beyond the end of the file");
}

}  // namespace
}  // namespace proofmill::engine
