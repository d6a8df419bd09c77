#include "engine/groth16/proving_key.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "engine/base/error_reason.h"
#include "engine/groth16/setup.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Affine;
using kernels::U256;

constexpr size_t kRecord = 44;

struct Entry {
  uint32_t column;
  Fr value;
  bool operator==(const Entry& other) const { return column == other.column && value == other.value; }
};

std::vector<Entry> Row(const CsrMatrix& matrix, size_t row) {
  std::vector<Entry> out;
  for (uint64_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
    out.push_back({matrix.columns[k], matrix.values[k]});
  }
  return out;
}

Zkey Read(const Bytes& bytes) {
  auto zkey = ReadZkey(SourceOf(bytes));
  EXPECT_OK(zkey);
  return *std::move(zkey);
}

TEST(ProvingKeyTest, RowsHoldTheRecordsOfTheFileInItsOrder) {
  for (const char* name : {"unused", "bound_eq", "darkforest-whitelist"}) {
    const Bytes bytes = ReadBytes(CasePath(name, "circuit.zkey"));
    const Zkey zkey = Read(bytes);
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Entry>> wanted;
    for (const ZkeyCoefficient& record : zkey.coefficients) {
      U256 value;
      std::memcpy(static_cast<void*>(&value), record.value, sizeof(value));
      wanted[{record.matrix, record.constraint}].push_back({record.signal, Fr::FromMontgomery(value)});
    }

    const auto key = ProvingKey::FromZkey(Read(bytes), {});

    ASSERT_EQ(key->a_matrix().rows(), key->domain_size());
    ASSERT_EQ(key->b_matrix().rows(), key->domain_size());
    EXPECT_EQ(key->a_matrix().entries() + key->b_matrix().entries(), zkey.header.n_coefs);
    for (uint32_t row = 0; row < key->domain_size(); ++row) {
      EXPECT_TRUE(Row(key->a_matrix(), row) == (wanted[{0, row}])) << name << " " << row;
      EXPECT_TRUE(Row(key->b_matrix(), row) == (wanted[{1, row}])) << name << " " << row;
    }
  }
}

TEST(ProvingKeyTest, TheOrderOfRecordsAndTheirSplittingDoNotMatter) {
  Container file = Container::FromFile(CasePath("sj-mul3", "circuit.zkey"));
  const auto plain = ProvingKey::FromZkey(Read(file.Serialize()), {});
  Bytes& section = file[4];
  const Bytes records(section.begin() + 4, section.end());
  section.resize(4);
  for (size_t i = records.size() / kRecord; i-- > 0;) {  // backwards, and each as 3v and -2v
    Fr value;
    std::memcpy(static_cast<void*>(&value), &records[i * kRecord + 12], sizeof(value));
    for (const Fr& part : {value.Double() + value, -value.Double()}) {
      section.insert(section.end(), &records[i * kRecord], &records[i * kRecord] + 12);
      section.resize(section.size() + 32);
      std::memcpy(&section[section.size() - 32], &part, 32);
    }
  }
  SetU32(section, 0, static_cast<uint32_t>(2 * records.size() / kRecord));

  const auto scrambled = ProvingKey::FromZkey(Read(file.Serialize()), {});

  for (uint32_t row = 0; row < plain->domain_size(); ++row) {
    std::map<uint32_t, Fr> wanted, sums;
    for (const Entry& entry : Row(plain->a_matrix(), row)) wanted[entry.column] += entry.value;
    for (const Entry& entry : Row(scrambled->a_matrix(), row)) sums[entry.column] += entry.value;
    EXPECT_TRUE(sums == wanted) << row;
    EXPECT_EQ(Row(scrambled->a_matrix(), row).size(), 2 * Row(plain->a_matrix(), row).size());
  }
}

template <typename F>
void ExpectFiniteBases(const BaseSet<F>& set, const HostBuffer<kernels::Affine<F>>& all,
                       uint32_t first_scalar) {
  size_t place = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].IsInfinity()) continue;
    ASSERT_LT(place, set.size());
    EXPECT_EQ(set.bases[place], all[i]);
    const size_t scalar = set.first_scalar + (set.index() == nullptr ? place : set.index()[place]);
    EXPECT_EQ(scalar, first_scalar + i);
    ++place;
  }
  EXPECT_EQ(place, set.size());
}

TEST(ProvingKeyTest, InfinitiesAreLeftOutAndEveryBaseKeepsItsScalar) {
  for (const char* name : {"unused", "sj-mul3", "nopriv"}) {
    SCOPED_TRACE(name);
    const Bytes bytes = ReadBytes(CasePath(name, "circuit.zkey"));
    const Zkey zkey = Read(bytes);

    const auto key = ProvingKey::FromZkey(Read(bytes), {});

    ExpectFiniteBases(key->a(), zkey.a, 0);
    ExpectFiniteBases(key->b1(), zkey.b1, 0);
    ExpectFiniteBases(key->b2(), zkey.b2, 0);
    ExpectFiniteBases(key->c(), zkey.c, zkey.header.n_public + 1);
    ExpectFiniteBases(key->h(), zkey.h, 0);
  }
}

TEST(ProvingKeyTest, CarriesWhatTheHeaderAndTheReaderSaid) {
  const Bytes bytes = ReadBytes(CasePath("mul3", "circuit.zkey"));
  const auto key = ProvingKey::FromZkey(Read(bytes), {.warnings = {"from the audit"}});
  EXPECT_EQ(key->n_vars(), 7u);
  EXPECT_EQ(key->n_public(), 2u);
  EXPECT_EQ(key->domain_size(), 8u);
  EXPECT_EQ(key->log2_domain(), 3u);
  EXPECT_EQ(key->vk().n_public(), 2u);
  EXPECT_EQ(key->file_size(), bytes.size());
  EXPECT_EQ(key->hash(), Read(bytes).hash);
  EXPECT_THAT(key->warnings(), testing::ElementsAre(testing::HasSubstr("section 10"), "from the audit"));
  EXPECT_GT(key->memory_bytes(), 3000u);
  EXPECT_LT(key->memory_bytes(), 2 * bytes.size());
}

class LoadProvingKeyTest : public testing::Test {
 protected:
  void Copy(const std::string& from, const std::string& to) { WriteBytes(folder_.Path(to), ReadBytes(from)); }
  auto Load(const std::string& name, const KeyOptions& options = {}) {
    return LoadProvingKey(folder_.Path(name), options);
  }
  static std::string Case(const char* name, const char* file) { return CasePath(name, file); }
  TestFolder folder_;
};

TEST_F(LoadProvingKeyTest, LoadsAndTellsItsTimes) {
  KeyLoadTimes times;
  const auto key = LoadProvingKey(Case("bound_eq", "circuit.zkey"), {}, &times);
  ASSERT_OK(key);
  EXPECT_GT(times.read_seconds, 0);
  EXPECT_GT(times.audit_seconds, 0);
  EXPECT_GT(times.regroup_seconds, 0);
  EXPECT_GT((*key)->audit().seconds, 0);
}

TEST_F(LoadProvingKeyTest, ErrorsNameTheFileAndHaveAReason) {
  EXPECT_TRUE(absl::IsNotFound(Load("nothing.zkey").status()));

  WriteBytes(folder_.Path("text.zkey"), {'h', 'e', 'l', 'l', 'o'});
  EXPECT_EQ(GetReason(Load("text.zkey").status()), ErrorReason::kKeyMalformed);

  Bytes cut = ReadBytes(Case("mul3", "circuit.zkey"));
  cut.pop_back();
  WriteBytes(folder_.Path("cut.zkey"), cut);
  ExpectError(Load("cut.zkey"), absl::StatusCode::kDataLoss, "cut.zkey");
  EXPECT_EQ(GetReason(Load("cut.zkey").status()), ErrorReason::kKeyMalformed);

  Container damaged = Container::FromFile(Case("mul3", "circuit.zkey"));
  damaged[9][0] ^= 1;
  WriteBytes(folder_.Path("damaged.zkey"), damaged.Serialize());
  ExpectError(Load("damaged.zkey"), absl::StatusCode::kInvalidArgument, "damaged.zkey: key audit: section 9");
  EXPECT_EQ(GetReason(Load("damaged.zkey").status()), ErrorReason::kKeyMalformed);
}

TEST_F(LoadProvingKeyTest, AFileLargerThanAllowedIsRefused) {
  KeyOptions options;
  options.file_bytes_max = 1000;
  EXPECT_TRUE(absl::IsResourceExhausted(LoadProvingKey(Case("mul3", "circuit.zkey"), options).status()));
}

TEST_F(LoadProvingKeyTest, AKeyThatNeedsMoreMemoryThanThereIsIsRefusedWithNumbers) {
  const std::string path = Case("bound_eq", "circuit.zkey");
  const uint64_t file_size = ReadBytes(path).size();
  KeyOptions options;
  options.memory_bytes_max = file_size;
  const auto refused = LoadProvingKey(path, options);
  ExpectError(refused, absl::StatusCode::kResourceExhausted, std::to_string(file_size) + " are available");
  EXPECT_EQ(GetReason(refused.status()), ErrorReason::kOutOfMemory);

  const auto header = Read(ReadBytes(path)).header;
  options.memory_bytes_max = KeyLoadBytesMax(header, file_size);
  EXPECT_OK(LoadProvingKey(path, options));
  EXPECT_LE(*options.memory_bytes_max, 2 * file_size + (uint64_t{64} << 20));
}

TEST_F(LoadProvingKeyTest, WithoutTheAuditFlagsAreStillSet) {
  WriteBytes(folder_.Path("circuit.zkey"), MakeKeyBytes(DomainTwo()));
  EXPECT_EQ(GetReason(Load("circuit.zkey").status()), ErrorReason::kKeyUnsafe);
  KeyOptions options;
  options.audit = false;
  const auto key = Load("circuit.zkey", options);
  ASSERT_OK(key);
  EXPECT_TRUE((*key)->audit().insecure_test_setup);
}

TEST_F(LoadProvingKeyTest, TheGivenVerificationKeyIsCompared) {
  const auto other = LoadProvingKey(Case("sj-mul3", "circuit.zkey"));
  ASSERT_OK(other);
  KeyOptions options;
  options.expected_vk = (*other)->vk();
  EXPECT_OK(LoadProvingKey(Case("sj-mul3", "circuit.zkey"), options));
  ExpectError(LoadProvingKey(Case("mul3", "circuit.zkey"), options), absl::StatusCode::kFailedPrecondition,
              "expected the verification key");
}

TEST_F(LoadProvingKeyTest, AVerificationKeyBesideTheKeyMustBeItsOwn) {
  Copy(Case("mul3", "circuit.zkey"), "circuit.zkey");
  Copy(Case("mul3", "verification_key.json"), "verification_key.json");
  EXPECT_OK(Load("circuit.zkey"));

  Copy(Case("sj-mul3", "verification_key.json"), "verification_key.json");
  ExpectError(Load("circuit.zkey"), absl::StatusCode::kFailedPrecondition,
              "verification_key.json, got another: alpha1 differs");
}

TEST_F(LoadProvingKeyTest, AVerificationKeyOfTheSameNameComesFirst) {
  Copy(Case("mul3", "circuit.zkey"), "mul3.zkey");
  Copy(Case("sj-mul3", "verification_key.json"), "verification_key.json");
  for (const char* companion : {"mul3.vkey.json", "mul3.verification_key.json"}) {
    Copy(Case("mul3", "verification_key.json"), companion);
    EXPECT_OK(Load("mul3.zkey")) << companion;
    Copy(Case("nopriv", "verification_key.json"), companion);
    ExpectError(Load("mul3.zkey"), absl::StatusCode::kFailedPrecondition, companion);
  }
}

TEST_F(LoadProvingKeyTest, AmongSeveralKeysAStrayVerificationKeyIsAWarning) {
  Copy(Case("mul3", "circuit.zkey"), "a.zkey");
  Copy(Case("sj-mul3", "circuit.zkey"), "b.zkey");
  Copy(Case("sj-mul3", "verification_key.json"), "verification_key.json");

  const auto a = Load("a.zkey");
  const auto b = Load("b.zkey");

  ASSERT_OK(a);
  ASSERT_OK(b);
  EXPECT_THAT((*a)->warnings(), testing::Contains(testing::HasSubstr("verification key of another key")));
  EXPECT_TRUE((*b)->warnings().empty());
}

TEST_F(LoadProvingKeyTest, AMalformedVerificationKeyBesideTheKeyIsAnError) {
  Copy(Case("mul3", "circuit.zkey"), "circuit.zkey");
  WriteBytes(folder_.Path("verification_key.json"), {'{', '}'});
  const auto key = Load("circuit.zkey");
  ExpectError(key, absl::StatusCode::kInvalidArgument, "verification_key.json");
  EXPECT_EQ(GetReason(key.status()), ErrorReason::kKeyMalformed);
}

}  // namespace
}  // namespace proofmill::engine
