#include "engine/groth16/coefficient_check.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

constexpr size_t kPoint1 = 64, kPoint2 = 128, kRecord = 44;

// What the check says of a key of the circuit `unused`, after a change to its sections.
template <typename Change>
std::string Verdict(const TestCircuit& circuit, Change&& change) {
  Container file = Container::Parse(MakeKeyBytes(circuit));
  change(file);
  const Bytes bytes = file.Serialize();
  const auto zkey = ReadZkey(SourceOf(bytes));
  EXPECT_OK(zkey);
  const auto fault = FindCoefficientMismatch(*zkey);
  EXPECT_OK(fault);
  return fault->value_or("");
}

void Zero(Bytes& section, size_t offset, size_t bytes) { std::memset(&section[offset], 0, bytes); }

TEST(CoefficientCheckTest, HonestKeysPass) {
  for (const TestCircuit& circuit : EdgeCircuits()) {
    EXPECT_EQ(Verdict(circuit, [](Container&) {}), "") << circuit.name;
  }
}

TEST(CoefficientCheckTest, AFinitePointForAWireWithoutCoefficientsIsFound) {
  // Wire 2 of OddTerms is in no constraint, and the terms of wire 3 are zero.
  for (size_t wire : {2u, 3u}) {
    EXPECT_EQ(Verdict(OddTerms(),
                      [&](Container& file) { std::memcpy(&file[5][wire * kPoint1], &file[5][0], kPoint1); }),
              "section 5 (A), point " + std::to_string(wire) + ": expected infinity, because wire " +
                  std::to_string(wire) + " has no coefficients in matrix A of section 4, got a finite point");
  }
}

TEST(CoefficientCheckTest, InfinityForAWireWithCoefficientsIsFoundInEachSection) {
  EXPECT_EQ(Verdict(DomainTwo(), [](Container& file) { Zero(file[5], 1 * kPoint1, kPoint1); }),
            "section 5 (A), point 1: expected a finite point, because wire 1 has coefficients in matrix A of "
            "section 4, got infinity");
  EXPECT_EQ(
      Verdict(DomainTwo(), [](Container& file) { Zero(file[6], 2 * kPoint1, kPoint1); }),
      "section 6 (B1), point 2: expected a finite point, because wire 2 has coefficients in matrix B of "
      "section 4, got infinity");
  EXPECT_EQ(
      Verdict(DomainTwo(), [](Container& file) { Zero(file[7], 2 * kPoint2, kPoint2); }),
      "section 7 (B2), point 2: expected a finite point, because wire 2 has coefficients in matrix B of "
      "section 4, got infinity");
  EXPECT_EQ(
      Verdict(DomainTwo(), [](Container& file) { Zero(file[8], 1 * kPoint1, kPoint1); }),
      "section 8 (C), point 1: expected a finite point, because wire 2 has coefficients in section 4, got "
      "infinity");
}

TEST(CoefficientCheckTest, AWireInCAloneMayHaveAnything) {
  // Wire 3 of DomainTwo is in C alone, of which the key holds no coefficients.
  EXPECT_EQ(Verdict(DomainTwo(), [](Container& file) { Zero(file[8], 2 * kPoint1, kPoint1); }), "");
}

TEST(CoefficientCheckTest, ShiftedPointsAreFound) {
  EXPECT_NE(Verdict(OddTerms(),
                    [](Container& file) {
                      Bytes& a = file[5];
                      std::rotate(a.begin(), a.begin() + kPoint1, a.end());
                    }),
            "");
}

TEST(CoefficientCheckTest, ACoefficientSetToZeroIsFound) {
  EXPECT_EQ(
      Verdict(DomainTwo(), [](Container& file) { Zero(file[4], 4 + 1 * kRecord + 12, 32); }),
      "section 6 (B1), point 2: expected infinity, because wire 2 has no coefficients in matrix B of section "
      "4, got a finite point");
}

}  // namespace
}  // namespace proofmill::engine
