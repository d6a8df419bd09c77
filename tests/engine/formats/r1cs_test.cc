#include "engine/formats/r1cs.h"

#include <algorithm>
#include <functional>
#include <string>

#include "engine/formats/wtns.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using absl::StatusCode;
using kernels::Fr;

R1cs ReadCase(std::string_view name) {
  const Bytes bytes = ReadBytes(CasePath(name, "circuit.r1cs"));
  auto r1cs = ReadR1cs(SourceOf(bytes));
  EXPECT_OK(r1cs);
  return *std::move(r1cs);
}

Fr Dot(const R1csMatrix& matrix, size_t row, const Witness& witness) {
  Fr sum;
  for (uint64_t i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
    sum += matrix.values[i] * Fr::FromPlain(witness.values[matrix.wires[i]]);
  }
  return sum;
}

TEST(R1csTest, CountsAreThoseThatCircomPrints) {
  const R1cs r1cs = ReadCase("mul3");
  EXPECT_EQ(r1cs.n_wires, 7u);
  EXPECT_EQ(r1cs.n_pub_out, 1u);
  EXPECT_EQ(r1cs.n_pub_in, 1u);
  EXPECT_EQ(r1cs.n_prv_in, 2u);
  EXPECT_EQ(r1cs.n_constraints, 3u);
  EXPECT_EQ(r1cs.n_public(), 2u);
  EXPECT_EQ(ReadCase("bound_eq").n_constraints, 1022u);
}

TEST(R1csTest, TheWitnessOfEachCaseSatisfiesItsConstraints) {
  for (const char* name : kCasesWithR1cs) {
    SCOPED_TRACE(name);
    const R1cs r1cs = ReadCase(name);
    const Bytes bytes = ReadBytes(CasePath(name, "witness.wtns"));
    const auto witness = ReadWtns(SourceOf(bytes), r1cs.n_wires);
    ASSERT_OK(witness);
    for (size_t row = 0; row < r1cs.n_constraints; ++row) {
      EXPECT_TRUE(Dot(r1cs.a, row, *witness) * Dot(r1cs.b, row, *witness) == Dot(r1cs.c, row, *witness))
          << row;
    }
  }
}

TEST(R1csTest, WhatIsWrittenIsReadAndItsConstraintsAreThoseOfCircom) {
  const TestFolder folder;
  for (const char* name : kCasesWithR1cs) {
    SCOPED_TRACE(name);
    const std::string path = folder.Path(std::string(name) + ".r1cs");
    ASSERT_OK(WriteR1cs(path, ReadCase(name)));
    Container written = Container::FromFile(path);
    Container original = Container::FromFile(CasePath(name, "circuit.r1cs"));
    EXPECT_EQ(written[1], original[1]);
    EXPECT_EQ(written[2], original[2]);
    EXPECT_EQ(written[3].size(), original[3].size());
    const Bytes bytes = ReadBytes(path);
    EXPECT_OK(ReadR1cs(SourceOf(bytes)));
  }
}

TEST(R1csTest, AnySectionOrderAndNoLabelsAreFine) {
  Container file = Container::FromFile(CasePath("mul3", "circuit.r1cs"));
  file.Remove(3);
  std::reverse(file.sections.begin(), file.sections.end());
  file.Append(77, {1, 2});
  EXPECT_OK(ReadR1cs(SourceOf(file.Serialize())));
}

TEST(R1csTest, ASystemWithoutConstraintsIsRead) {
  Container file = Container::FromFile(CasePath("mul3", "circuit.r1cs"));
  SetU32(file[1], 60, 0);
  file[2].clear();
  const auto r1cs = ReadR1cs(SourceOf(file.Serialize()));
  ASSERT_OK(r1cs);
  EXPECT_EQ(r1cs->n_constraints, 0u);
  EXPECT_EQ(r1cs->a.row_offsets.size(), 1u);
  EXPECT_TRUE(r1cs->a.wires.empty());
}

TEST(R1csTest, RepeatedWiresAndZeroCoefficientsAreKept) {
  Container file = Container::FromFile(CasePath("mul3", "circuit.r1cs"));
  Bytes row;
  AppendLittleEndian(row, 2, 4);
  for (int i = 0; i < 2; ++i) {
    AppendLittleEndian(row, 3, 4);
    row.resize(row.size() + 32);
  }
  AppendLittleEndian(row, 0, 4);
  AppendLittleEndian(row, 0, 4);
  SetU32(file[1], 60, 1);
  file[2] = row;
  const auto r1cs = ReadR1cs(SourceOf(file.Serialize()));
  ASSERT_OK(r1cs);
  EXPECT_EQ(r1cs->a.wires.size(), 2u);
  EXPECT_EQ(r1cs->a.wires[1], 3u);
  EXPECT_TRUE(r1cs->a.values[1].IsZero());
  EXPECT_EQ(r1cs->b.row_offsets[1], 0u);
}

TEST(R1csTest, AnotherFieldAndCustomGatesAreRefusedByName) {
  const Bytes bls = ReadBytes("tests/vectors/r1cs/mul3_bls12381.r1cs");
  ExpectError(
      ReadR1cs(SourceOf(bls)), StatusCode::kInvalidArgument,
      "expected the scalar field of BN254 in 32 bytes, got the scalar field of BLS12-381 in 32 bytes");
  const Bytes custom = ReadBytes("tests/vectors/r1cs/custom_gate.r1cs");
  ExpectError(ReadR1cs(SourceOf(custom)), StatusCode::kInvalidArgument,
              "the circuit uses custom gates (section 4)");
}

struct Row {
  const char* name;
  std::function<void(Container&)> damage;
  StatusCode code;
  const char* message;
};

// Offsets in section 1, and in section 2 of mul3, whose first linear combination has one term.
constexpr size_t kWires = 36, kPubOut = 40, kPrvIn = 48, kConstraints = 60;
constexpr size_t kTerms = 0, kWire = 4, kValue = 8;

const Row kRows[] = {
    {"Version2", [](Container& f) { f.version = 2; }, StatusCode::kInvalidArgument,
     "version of .r1cs: expected 1, got 2"},
    {"HeaderMissing", [](Container& f) { f.Remove(1); }, StatusCode::kDataLoss,
     "section 1 (header) is missing"},
    {"ConstraintsMissing", [](Container& f) { f.Remove(2); }, StatusCode::kDataLoss,
     "section 2 (constraints) is missing"},
    {"HeaderDoubled", [](Container& f) { f.Append(1, Bytes(f[1])); }, StatusCode::kInvalidArgument,
     "section 1 (header) is there twice"},
    {"ConstraintsDoubled", [](Container& f) { f.Append(2, Bytes(f[2])); }, StatusCode::kInvalidArgument,
     "section 2 (constraints) is there twice"},
    {"LabelsDoubled", [](Container& f) { f.Append(3, Bytes(f[3])); }, StatusCode::kInvalidArgument,
     "section 3 (labels) is there twice"},
    {"HeaderShort", [](Container& f) { f[1].pop_back(); }, StatusCode::kDataLoss,
     "expected 4 more bytes, got 3"},
    {"HeaderLong", [](Container& f) { f[1].push_back(0); }, StatusCode::kInvalidArgument,
     "section 1 (header): expected 64 bytes, got 65"},
    {"SizeMax", [](Container& f) { SetU32(f[1], 0, ~0u); }, StatusCode::kInvalidArgument,
     "got a prime of 4294967295 bytes"},
    {"WiresZero", [](Container& f) { SetU32(f[1], kWires, 0); }, StatusCode::kInvalidArgument,
     "expected at least 5 wires"},
    {"WiresFewerThanInputs", [](Container& f) { SetU32(f[1], kWires, 4); }, StatusCode::kInvalidArgument,
     "(one, 1 public outputs, 1 public and 2 private inputs), got 4"},
    {"WiresOneMore", [](Container& f) { SetU32(f[1], kWires, 8); }, StatusCode::kInvalidArgument,
     "section 3 (labels): expected 64 bytes for 8 wires, got 56"},
    {"OutputsMax", [](Container& f) { SetU32(f[1], kPubOut, ~0u); }, StatusCode::kInvalidArgument,
     "expected at least 4294967299 wires"},
    {"PrivateInputsWrap",
     [](Container& f) {
       SetU32(f[1], kPubOut, ~0u);
       SetU32(f[1], kPrvIn, ~0u);
     },
     StatusCode::kInvalidArgument, "expected at least 8589934592 wires"},
    {"ConstraintsMax", [](Container& f) { SetU32(f[1], kConstraints, ~0u); }, StatusCode::kDataLoss,
     "expected 4294967295 constraints, got room for at most"},
    {"ConstraintsOneMore", [](Container& f) { SetU32(f[1], kConstraints, 4); }, StatusCode::kDataLoss,
     "section 2 (constraints): cut short: expected 4 more bytes, got 0"},
    {"ConstraintsOneLess", [](Container& f) { SetU32(f[1], kConstraints, 2); }, StatusCode::kInvalidArgument,
     "bytes too many"},
    {"TermsMax", [](Container& f) { SetU32(f[2], kTerms, ~0u); }, StatusCode::kDataLoss,
     "constraint 0: expected 4294967295 terms, got room for"},
    {"WireOutOfRange", [](Container& f) { SetU32(f[2], kWire, 7); }, StatusCode::kInvalidArgument,
     "constraint 0: wire: expected below 7, got 7"},
    {"ValuePlusR", [](Container& f) { AddR(f[2], kValue); }, StatusCode::kInvalidArgument,
     "constraint 0: coefficient: expected an integer below r"},
    {"BytesLeftOver", [](Container& f) { f[2].push_back(0); }, StatusCode::kInvalidArgument,
     "1 bytes too many"},
    {"LastByteMissing", [](Container& f) { f[2].pop_back(); }, StatusCode::kDataLoss,
     "constraint 2: expected 1 terms, got room for 0"},
    {"LabelsShort", [](Container& f) { f[3].pop_back(); }, StatusCode::kInvalidArgument,
     "section 3 (labels): expected 56 bytes for 7 wires, got 55"},
    {"CustomGateUses",
     [](Container& f) {
       f.Append(5, {0, 0, 0, 0});
     },
     StatusCode::kInvalidArgument, "custom gates (section 5)"},
};

class R1csDamageTest : public testing::TestWithParam<Row> {};

TEST_P(R1csDamageTest, IsRefusedByName) {
  Container file = Container::FromFile(CasePath("mul3", "circuit.r1cs"));
  GetParam().damage(file);
  ExpectError(ReadR1cs(SourceOf(file.Serialize(), "bad.r1cs")), GetParam().code, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Rows, R1csDamageTest, testing::ValuesIn(kRows),
                         [](const testing::TestParamInfo<Row>& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace proofmill::engine
