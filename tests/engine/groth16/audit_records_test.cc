#include "engine/groth16/audit_records.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "engine/base/error_reason.h"
#include "engine/groth16/proving_key.h"
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
  TestFolder folder_;
};

TEST_F(AuditRecordsTest, WhatWasAddedIsFoundByOthersToo) {
  const AuditRecords records(StateDir());
  EXPECT_FALSE(records.Contains(HashOf(1)));

  EXPECT_OK(records.Add(HashOf(1)));
  EXPECT_OK(records.Add(HashOf(1)));

  EXPECT_TRUE(AuditRecords(StateDir()).Contains(HashOf(1)));
  EXPECT_FALSE(AuditRecords(StateDir()).Contains(HashOf(2)));
}

TEST_F(AuditRecordsTest, WithoutAFolderNothingIsKept) {
  const AuditRecords records("");
  EXPECT_OK(records.Add(HashOf(1)));
  EXPECT_FALSE(records.Contains(HashOf(1)));
}

TEST_F(AuditRecordsTest, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_TRUE(absl::IsNotFound(AuditRecords(folder_.Path("missing")).Add(HashOf(1))));
}

TEST_F(AuditRecordsTest, RecordsThatOthersCouldHaveWrittenAreNotBelieved) {
  const AuditRecords records(StateDir());
  ASSERT_OK(records.Add(HashOf(1)));
  for (const mode_t mode : {0777U, 0770U, 0702U}) {
    ASSERT_EQ(::chmod(Records().c_str(), mode), 0);
    EXPECT_FALSE(records.Contains(HashOf(1))) << std::oct << mode;
  }
  ASSERT_EQ(::chmod(Records().c_str(), 0755), 0);
  EXPECT_TRUE(records.Contains(HashOf(1)));
}

TEST_F(AuditRecordsTest, ALinkInPlaceOfTheFolderIsNotBelieved) {
  const AuditRecords records(StateDir());
  ASSERT_OK(records.Add(HashOf(1)));
  ASSERT_EQ(::rename(Records().c_str(), folder_.Path("elsewhere").c_str()), 0);
  ASSERT_EQ(::symlink(folder_.Path("elsewhere").c_str(), Records().c_str()), 0);
  EXPECT_FALSE(records.Contains(HashOf(1)));
}

TEST_F(AuditRecordsTest, ARecordOfAnotherAuditCountsForNothing) {
  const AuditRecords records(StateDir());
  ASSERT_OK(records.Add(HashOf(1)));
  for (const auto& entry : std::filesystem::directory_iterator(Records())) {
    WriteBytes(entry.path().string(), {'o', 'l', 'd', '\n'});
  }
  EXPECT_FALSE(records.Contains(HashOf(1)));
}

TEST_F(AuditRecordsTest, AKeyThatPassesGoesOnRecordAndOneThatFailsDoesNot) {
  KeyOptions options;
  options.state_dir = StateDir();
  const auto good = LoadProvingKey(CasePath("mul3", "circuit.zkey"), options);
  ASSERT_OK(good);
  EXPECT_TRUE(AuditRecords(StateDir()).Contains((*good)->hash()));
  EXPECT_OK(LoadProvingKey(CasePath("mul3", "circuit.zkey"), options));

  Container damaged = Container::FromFile(CasePath("mul3", "circuit.zkey"));
  damaged[9][0] ^= 1;
  WriteBytes(folder_.Path("damaged.zkey"), damaged.Serialize());
  EXPECT_FALSE(LoadProvingKey(folder_.Path("damaged.zkey"), options).ok());
  EXPECT_FALSE(LoadProvingKey(folder_.Path("damaged.zkey"), options).ok()) << "the second time as well";
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
