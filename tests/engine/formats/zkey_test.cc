// Reading of good keys: what is in them, their hash, and what may vary without harm.

#include "engine/formats/zkey.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"
#include "engine/formats/r1cs.h"
#include "gtest/gtest.h"
#include "kernels/field/bn254_fr.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Hex(const std::array<uint8_t, 64>& bytes) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Zkey ReadCase(std::string_view name) {
  auto file = RandomAccessFile::Open(CasePath(name, "circuit.zkey"));
  EXPECT_OK(file);
  auto zkey = ReadZkey(**file);
  EXPECT_OK(zkey);
  return *std::move(zkey);
}

template <typename Points>
size_t Infinities(const Points& points) {
  return static_cast<size_t>(
      std::count_if(points.begin(), points.end(), [](const auto& p) { return p.IsInfinity(); }));
}

template <typename Points>
bool AllOnCurve(const Points& points) {
  return std::all_of(points.begin(), points.end(), [](const auto& p) { return kernels::IsOnCurve(p); });
}

struct Facts {
  const char* name;
  uint32_t n_vars, n_public, domain_size;
  uint64_t n_coefs;
  size_t infinity_a, infinity_b;
};
// From the manifest of the cases, which another program wrote.
const Facts kFacts[] = {{"mul3", 7, 2, 8, 9, 1, 4},
                        {"sj-mul3", 7, 2, 8, 9, 1, 4},
                        {"big1", 3, 0, 2, 3, 1, 2},
                        {"bound_eq", 1024, 1, 1024, 2046, 0, 2},
                        {"darkforest-whitelist", 664, 2, 1024, 1979, 2, 222},
                        {"unirep-epochKeyLite", 505, 3, 512, 2265, 3, 85}};

TEST(ZkeyTest, HeadersCountsAndInfinitiesAreThoseOfTheManifest) {
  for (const Facts& facts : kFacts) {
    SCOPED_TRACE(facts.name);
    const Zkey zkey = ReadCase(facts.name);
    EXPECT_EQ(zkey.header.n_vars, facts.n_vars);
    EXPECT_EQ(zkey.header.n_public, facts.n_public);
    EXPECT_EQ(zkey.header.domain_size, facts.domain_size);
    EXPECT_EQ(uint32_t{1} << zkey.header.log2_domain(), facts.domain_size);
    EXPECT_EQ(zkey.header.n_coefs, facts.n_coefs);
    EXPECT_EQ(Infinities(zkey.a), facts.infinity_a);
    EXPECT_EQ(Infinities(zkey.b1), facts.infinity_b);
    EXPECT_EQ(Infinities(zkey.b2), facts.infinity_b);
  }
}

TEST(ZkeyTest, EveryBufferHasItsSizeAndHoldsPointsOfTheCurve) {
  for (const char* name : kCases) {
    SCOPED_TRACE(name);
    const Zkey zkey = ReadCase(name);
    EXPECT_EQ(zkey.ic.size(), zkey.header.n_public + 1);
    EXPECT_EQ(zkey.coefficients.size(), zkey.header.n_coefs);
    EXPECT_EQ(zkey.a.size(), zkey.header.n_vars);
    EXPECT_EQ(zkey.b1.size(), zkey.header.n_vars);
    EXPECT_EQ(zkey.b2.size(), zkey.header.n_vars);
    EXPECT_EQ(zkey.c.size(), zkey.header.n_vars - zkey.header.n_public - 1);
    EXPECT_EQ(zkey.h.size(), zkey.header.domain_size);
    EXPECT_TRUE(AllOnCurve(zkey.ic) && AllOnCurve(zkey.a) && AllOnCurve(zkey.b1) && AllOnCurve(zkey.b2));
    EXPECT_TRUE(AllOnCurve(zkey.c) && AllOnCurve(zkey.h));
    EXPECT_TRUE(kernels::IsOnCurve(zkey.header.alpha1) && kernels::IsOnCurve(zkey.header.delta2));
    EXPECT_TRUE(zkey.header.gamma2 == kernels::kG2Generator);
  }
}

TEST(ZkeyTest, TheHashIsBlake2b512OfTheFile) {
  // Computed with Python's hashlib.
  EXPECT_EQ(Hex(ReadCase("mul3").hash),
            "06927d728aa8361adb50dfc7452f7f52a49db3f583f61d6fd7b7241475d6ccbb"
            "16ac3f59944bca477e8e8ce260537da278b01deca51f33cc8a65a862534e7e66");
  EXPECT_EQ(Hex(ReadCase("unirep-epochKeyLite").hash),
            "c43062ca59c8b86a90f1134fd5d1967e3ab82e276baffe65f1f5cdac0bf90ebe"
            "6d4c753b06c4f5361b59fcfe63de15a445acbd8a0eac93c5d19b63d6442019aa");
}

TEST(ZkeyTest, TheHashIsLeftOutWhenNotWanted) {
  const Bytes bytes = ReadBytes(CasePath("mul3", "circuit.zkey"));
  const auto zkey = ReadZkey(SourceOf(bytes), {.compute_hash = false});
  ASSERT_OK(zkey);
  EXPECT_EQ(Hex(zkey->hash), std::string(128, '0'));
  EXPECT_EQ(zkey->file_size, bytes.size());
}

TEST(ZkeyTest, ContributionsCarryNamesAndTypes) {
  const Zkey zkey = ReadCase("sj-mul3");
  ASSERT_EQ(zkey.contributions.size(), 3u);
  EXPECT_EQ(zkey.contributions[0].type, 0u);
  EXPECT_EQ(zkey.contributions[2].type, 1u);
  EXPECT_NE(zkey.contributions[2].iterations_exp, 0u);
  EXPECT_THAT(zkey.contributions[2].beacon_hash, testing::Not(IsEmpty()));
  EXPECT_THAT(zkey.contributions[0].name, testing::Not(IsEmpty()));
  EXPECT_TRUE(zkey.contributions[2].delta_after == zkey.header.delta1)
      << "the last contribution made the key";
  EXPECT_TRUE(zkey.has_contributions_section);
  EXPECT_THAT(zkey.warnings, IsEmpty());
}

TEST(ZkeyTest, AKeyOfALargeCeremonyIsReadWithAllItsContributions) {
  const Zkey zkey = ReadCase("unirep-epochKeyLite");
  EXPECT_GT(zkey.contributions.size(), 1000u);
  EXPECT_TRUE(zkey.contributions.back().delta_after == zkey.header.delta1);
}

TEST(ZkeyTest, NoContributionsIsAWarning) {
  Container file = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  Container absent = file;
  absent.Remove(10);
  Container without_records = file;
  without_records[10].resize(64);
  AppendLittleEndian(without_records[10], 0, 4);
  Container without_bytes = file;
  without_bytes[10].clear();

  for (const auto& [key, word] :
       {std::pair(absent, "absent"), {without_records, "empty"}, {without_bytes, "empty"}}) {
    const auto zkey = ReadZkey(SourceOf(key.Serialize()));
    ASSERT_OK(zkey);
    EXPECT_THAT(zkey->warnings, ElementsAre(HasSubstr(std::string("section 10 is ") + word)));
  }
}

// Whatever the order of sections, and whatever else is in the file, the key is the same.
TEST(ZkeyTest, TheOrderOfSectionsAndForeignSectionsDoNotMatter) {
  const Container file = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  const auto original = ReadZkey(SourceOf(file.Serialize()));
  ASSERT_OK(original);
  std::vector<Container> variants(4, file);
  std::reverse(variants[0].sections.begin(), variants[0].sections.end());
  // As `groth16 setup` writes them.
  const std::vector<uint32_t> setup_order = {1, 2, 4, 3, 9, 8, 5, 6, 7, 10};
  variants[1].sections.clear();
  for (const uint32_t id : setup_order) variants[1].Append(id, Container(file)[id]);
  variants[2].Append(99, Bytes(1000, 0xAB));
  variants[2].Append(0, {});
  variants[3].Append(99, {1});
  variants[3].Append(99, {2, 3});
  variants[3].Append(~0u, {});

  for (const Container& variant : variants) {
    const auto zkey = ReadZkey(SourceOf(variant.Serialize()));
    ASSERT_OK(zkey);
    EXPECT_TRUE(std::equal(zkey->a.begin(), zkey->a.end(), original->a.begin(), original->a.end()));
    EXPECT_TRUE(std::equal(zkey->b2.begin(), zkey->b2.end(), original->b2.begin(), original->b2.end()));
    EXPECT_TRUE(std::equal(zkey->h.begin(), zkey->h.end(), original->h.begin(), original->h.end()));
    EXPECT_EQ(zkey->contributions.size(), 3u);
    EXPECT_NE(zkey->hash, original->hash);
  }
}

// snarkjs issues 252 and 309: section 8 has length 0 when no wire is private.
TEST(ZkeyTest, AKeyWhoseWiresAreAllPublicHasNoCPoints) {
  Container file = Container::FromFile(CasePath("mul3", "circuit.zkey"));
  SetU32(file[2], 76, 6);  // nPublic
  file[3].resize(size_t{7} * 64);
  file[8].clear();
  const auto zkey = ReadZkey(SourceOf(file.Serialize()));
  ASSERT_OK(zkey);
  EXPECT_TRUE(zkey->c.empty());
  EXPECT_EQ(zkey->ic.size(), 7u);
}

TEST(ZkeyTest, UnsortedAndRepeatedCoefficientsAreKept) {
  Container file = Container::FromFile(CasePath("mul3", "circuit.zkey"));
  Bytes& section = file[4];
  const uint32_t count = GetU32(section, 0);
  const Bytes first(section.begin() + 4, section.begin() + 4 + 44);
  section.insert(section.end(), first.begin(), first.end());
  SetU32(section, 0, count + 1);

  const auto zkey = ReadZkey(SourceOf(file.Serialize()));
  ASSERT_OK(zkey);
  EXPECT_EQ(zkey->coefficients.size(), count + 1);
  EXPECT_EQ(zkey->coefficients[count].signal, zkey->coefficients[0].signal);
}

// Section 4 of a key is made from A and B of the constraint system, plus one row for each public wire.
TEST(ZkeyTest, CoefficientsAreThoseOfTheConstraintSystem) {
  for (const char* name : kCasesWithR1cs) {
    SCOPED_TRACE(name);
    const Zkey zkey = ReadCase(name);
    const auto file = RandomAccessFile::Open(CasePath(name, "circuit.r1cs"));
    ASSERT_OK(file);
    const auto r1cs = ReadR1cs(**file);
    ASSERT_OK(r1cs);
    std::vector<std::vector<U256>> expected;  // matrix, row, wire, value * R
    const std::array<const R1csMatrix*, 2> matrices = {&r1cs->a, &r1cs->b};
    const auto add = [&](uint64_t matrix, uint64_t row, uint64_t wire, const Fr& value) {
      expected.push_back({U256{{matrix, row, wire, 0}}, value.montgomery()});
    };
    for (size_t m = 0; m < 2; ++m) {
      for (size_t row = 0; row < r1cs->n_constraints; ++row) {
        for (uint64_t i = matrices[m]->row_offsets[row]; i < matrices[m]->row_offsets[row + 1]; ++i) {
          add(m, row, matrices[m]->wires[i], matrices[m]->values[i]);
        }
      }
    }
    for (uint32_t s = 0; s <= zkey.header.n_public; ++s) add(0, r1cs->n_constraints + s, s, Fr::One());

    std::vector<std::vector<U256>> got;
    for (const ZkeyCoefficient& c : zkey.coefficients) {
      // The file holds v * R^2; one step out of Montgomery form leaves v * R.
      got.push_back({U256{{c.matrix, c.constraint, c.signal, 0}},
                     Fr::FromMontgomery(std::bit_cast<U256>(c.value)).ToPlain()});
    }
    EXPECT_THAT(got, testing::UnorderedElementsAreArray(expected));
  }
}

}  // namespace
}  // namespace proofmill::engine
