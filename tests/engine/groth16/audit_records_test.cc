#include "engine/groth16/audit_records.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/proving_key.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

AuditRecords::FileHash HashOf(uint8_t first) {
  AuditRecords::FileHash out{};
  out[0] = first;
  out[63] = 0xab;
  return out;
}

class AuditRecordsTest : public testing::Test {
 protected:
  std::string StateDir() const { return folder_.Path(""); }
  std::string Records() const { return folder_.Path("audited-keys"); }
  std::string RecordOf(const AuditRecords::FileHash& hash) const {
    const absl::string_view bytes(reinterpret_cast<const char*>(hash.data()), hash.size());
    return absl::StrCat(Records(), "/", absl::BytesToHexString(bytes));
  }
  void Copy(const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  }
  TestFolder folder_;
};

TEST_F(AuditRecordsTest, WhatWasAddedIsFoundByOthersToo) {
  const AuditRecords records(StateDir());
  EXPECT_TRUE(absl::IsNotFound(records.Find(HashOf(1))));

  EXPECT_OK(records.Add(HashOf(1)));
  EXPECT_OK(records.Add(HashOf(1)));

  EXPECT_OK(AuditRecords(StateDir()).Find(HashOf(1)));
  EXPECT_TRUE(absl::IsNotFound(AuditRecords(StateDir()).Find(HashOf(2))));
}

TEST_F(AuditRecordsTest, WithoutAFolderNothingIsKept) {
  const AuditRecords records("");
  EXPECT_OK(records.Add(HashOf(1)));
  EXPECT_TRUE(absl::IsNotFound(records.Find(HashOf(1))));
}

TEST_F(AuditRecordsTest, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_TRUE(absl::IsNotFound(AuditRecords(folder_.Path("missing")).Add(HashOf(1))));
}

TEST_F(AuditRecordsTest, RecordsThatOthersCouldHaveWrittenAreNotBelieved) {
  const AuditRecords records(StateDir());
  ASSERT_OK(records.Add(HashOf(1)));
  for (const mode_t mode : {0777U, 0770U, 0702U}) {
    ASSERT_EQ(::chmod(Records().c_str(), mode), 0);
    EXPECT_TRUE(absl::IsFailedPrecondition(records.Find(HashOf(1)))) << std::oct << mode;
  }
  ASSERT_EQ(::chmod(Records().c_str(), 0755), 0);
  EXPECT_OK(records.Find(HashOf(1)));

  ASSERT_EQ(::chmod(RecordOf(HashOf(1)).c_str(), 0606), 0);
  const absl::Status writable = records.Find(HashOf(1));
  EXPECT_TRUE(absl::IsFailedPrecondition(writable)) << writable;
  EXPECT_TRUE(absl::StrContains(writable.message(), "got mode 0606")) << writable;
}

TEST_F(AuditRecordsTest, ALinkInPlaceOfTheFolderIsNotBelieved) {
  const AuditRecords records(StateDir());
  ASSERT_OK(records.Add(HashOf(1)));
  ASSERT_EQ(::rename(Records().c_str(), folder_.Path("elsewhere").c_str()), 0);
  ASSERT_EQ(::symlink(folder_.Path("elsewhere").c_str(), Records().c_str()), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(records.Find(HashOf(1))));
}

TEST_F(AuditRecordsTest, ALinkInPlaceOfTheRecordIsNotBelieved) {
  const AuditRecords records(StateDir());
  ASSERT_OK(records.Add(HashOf(1)));
  ASSERT_EQ(::rename(RecordOf(HashOf(1)).c_str(), folder_.Path("elsewhere").c_str()), 0);
  ASSERT_EQ(::symlink(folder_.Path("elsewhere").c_str(), RecordOf(HashOf(1)).c_str()), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(records.Find(HashOf(1))));
}

TEST_F(AuditRecordsTest, ARecordOfAnotherKeyCountsForNothing) {
  const AuditRecords records(StateDir());
  ASSERT_OK(records.Add(HashOf(1)));
  Copy(RecordOf(HashOf(1)), RecordOf(HashOf(2)));

  EXPECT_TRUE(absl::IsFailedPrecondition(records.Find(HashOf(2))));
  EXPECT_OK(records.Find(HashOf(1)));
}

TEST_F(AuditRecordsTest, ARecordOfAnotherAuditCountsForNothing) {
  const AuditRecords records(StateDir());
  ASSERT_OK(records.Add(HashOf(1)));
  for (const auto& entry : std::filesystem::directory_iterator(Records())) {
    WriteBytes(entry.path().string(), {'o', 'l', 'd', '\n'});
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(records.Find(HashOf(1))));
}

TEST_F(AuditRecordsTest, AKeyThatPassesGoesOnRecordAndOneThatFailsDoesNot) {
  KeyOptions options;
  options.state_dir = StateDir();
  const auto good = LoadProvingKey(CasePath("mul3", "circuit.zkey"), options);
  ASSERT_OK(good);
  EXPECT_OK(AuditRecords(StateDir()).Find((*good)->hash()));
  EXPECT_OK(LoadProvingKey(CasePath("mul3", "circuit.zkey"), options));

  Container damaged = Container::FromFile(CasePath("mul3", "circuit.zkey"));
  damaged[9][0] ^= 1;
  WriteBytes(folder_.Path("damaged.zkey"), damaged.Serialize());
  EXPECT_FALSE(LoadProvingKey(folder_.Path("damaged.zkey"), options).ok());
  EXPECT_FALSE(LoadProvingKey(folder_.Path("damaged.zkey"), options).ok()) << "the second time as well";
}

// K22: whoever puts the record of a good key in the place of a bad one's has not made it good.
TEST_F(AuditRecordsTest, APoisonedRecordIsNoticedAndTheKeyCheckedAllTheSame) {
  KeyOptions options;
  options.state_dir = StateDir();
  const auto good = LoadProvingKey(CasePath("mul3", "circuit.zkey"), options);
  ASSERT_OK(good);
  Container damaged = Container::FromFile(CasePath("mul3", "circuit.zkey"));
  damaged[9][0] ^= 1;
  WriteBytes(folder_.Path("damaged.zkey"), damaged.Serialize());
  KeyOptions unchecked;
  unchecked.audit = false;
  const auto bad = LoadProvingKey(folder_.Path("damaged.zkey"), unchecked);
  ASSERT_OK(bad);
  Copy(RecordOf((*good)->hash()), RecordOf((*bad)->hash()));

  EXPECT_FALSE(LoadProvingKey(folder_.Path("damaged.zkey"), options).ok());

  WriteBytes(RecordOf((*good)->hash()), {'p', 'o', 'i', 's', 'o', 'n'});
  const auto again = LoadProvingKey(CasePath("mul3", "circuit.zkey"), options);
  ASSERT_OK(again);
  EXPECT_THAT((*again)->warnings(), testing::Contains(testing::HasSubstr("is not believed")));
  const auto mended = LoadProvingKey(CasePath("mul3", "circuit.zkey"), options);
  ASSERT_OK(mended);
  EXPECT_THAT((*mended)->warnings(), testing::Not(testing::Contains(testing::HasSubstr("believed"))));
}

// The record stands for the points alone: what makes a sound key unsafe is asked every time.
TEST_F(AuditRecordsTest, AnUnsafeKeyOnRecordIsStillRefused) {
  WriteBytes(folder_.Path("circuit.zkey"), MakeKeyBytes(DomainTwo()));
  KeyOptions options;
  options.state_dir = StateDir();
  options.allow_insecure_test_keys = true;
  ASSERT_OK(LoadProvingKey(folder_.Path("circuit.zkey"), options));

  options.allow_insecure_test_keys = false;
  EXPECT_EQ(GetReason(LoadProvingKey(folder_.Path("circuit.zkey"), options).status()),
            ErrorReason::kKeyUnsafe);
}

}  // namespace
}  // namespace proofmill::engine
