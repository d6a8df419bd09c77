#include "engine/dispatch/circuit_files.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/dispatch/circuit.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

namespace fs = std::filesystem;

class CircuitFilesTest : public testing::Test {
 protected:
  // An empty file, and the folders that lead to it.
  void Touch(const std::string& name) {
    const fs::path path(folder_.Path(name));
    fs::create_directories(path.parent_path());
    WriteBytes(path.string(), {});
  }
  CircuitScan Scan() {
    auto scan = ScanCircuitDirectory(folder_.Path(""));
    EXPECT_TRUE(scan.ok()) << scan.status();
    return scan.ok() ? *std::move(scan) : CircuitScan();
  }
  std::vector<std::string> Ids() {
    std::vector<std::string> ids;
    for (const CircuitFiles& files : Scan().circuits) ids.push_back(files.id);
    return ids;
  }
  std::vector<std::string> IgnoredNames() {
    std::vector<std::string> names;
    for (const IgnoredFile& file : Scan().ignored) names.push_back(file.name);
    return names;
  }
  static std::string NameOf(const std::string& path) { return fs::path(path).filename().string(); }

  TestFolder folder_;
};

TEST_F(CircuitFilesTest, FindsKeysInFoldersAndBesideEachOther) {
  Touch("b/circuit.zkey");
  Touch("a.zkey");
  Touch("c.v1.zkey");

  EXPECT_EQ(Ids(), (std::vector<std::string>{"a", "b", "c.v1"}));
  EXPECT_TRUE(IgnoredNames().empty());
}

TEST_F(CircuitFilesTest, FindsWhatBelongsToAKey) {
  Touch("a.zkey");
  Touch("a.canary.wtns");
  Touch("a.r1cs");
  Touch("a.verification_key.json");
  Touch("b/circuit.zkey");
  Touch("b/canary.wtns");
  Touch("b/circuit.r1cs");
  Touch("b/verification_key.json");
  Touch("c.zkey");

  const CircuitScan scan = Scan();

  ASSERT_EQ(scan.circuits.size(), 3u);
  EXPECT_EQ(NameOf(scan.circuits[0].canary_path), "a.canary.wtns");
  EXPECT_EQ(NameOf(scan.circuits[0].r1cs_path), "a.r1cs");
  EXPECT_EQ(NameOf(scan.circuits[1].key_path), "circuit.zkey");
  EXPECT_EQ(NameOf(scan.circuits[1].canary_path), "canary.wtns");
  EXPECT_EQ(NameOf(scan.circuits[1].r1cs_path), "circuit.r1cs");
  EXPECT_TRUE(scan.circuits[2].canary_path.empty());
  EXPECT_TRUE(scan.circuits[2].r1cs_path.empty());
  EXPECT_TRUE(scan.ignored.empty());
}

TEST_F(CircuitFilesTest, TwoKeysForOneIdAreAProblemOfThatCircuitAlone) {
  Touch("a.zkey");
  Touch("a/circuit.zkey");
  Touch("b.zkey");

  const CircuitScan scan = Scan();

  ASSERT_EQ(scan.circuits.size(), 2u);
  EXPECT_TRUE(absl::IsFailedPrecondition(scan.circuits[0].problem));
  EXPECT_TRUE(scan.circuits[1].problem.ok());
}

TEST_F(CircuitFilesTest, WhirParametersTakeThePlaceOfAKey) {
  Touch("a.whir.json");
  Touch("b/circuit.whir.json");
  Touch("c.zkey");
  Touch("c.whir.json");

  const CircuitScan scan = Scan();

  ASSERT_EQ(scan.circuits.size(), 3u);
  EXPECT_EQ(scan.circuits[0].id, "a");
  EXPECT_EQ(scan.circuits[0].system, ProofSystem::kWhir);
  EXPECT_EQ(NameOf(scan.circuits[0].key_path), "a.whir.json");
  EXPECT_EQ(scan.circuits[1].system, ProofSystem::kWhir);
  EXPECT_EQ(NameOf(scan.circuits[1].key_path), "circuit.whir.json");
  EXPECT_TRUE(absl::IsFailedPrecondition(scan.circuits[2].problem)) << "two things to prove with";
  EXPECT_TRUE(scan.ignored.empty());
}

TEST_F(CircuitFilesTest, NamesThatAreNoIdsAndOtherThingsAreReported) {
  Touch("spaced name.zkey");
  Touch("empty folder/readme");
  Touch("notes.txt");
  Touch(std::string(129, 'x') + ".zkey");
  Touch("good.zkey");

  EXPECT_EQ(Ids(), std::vector<std::string>{"good"});
  EXPECT_EQ(IgnoredNames(), (std::vector<std::string>{"empty folder", "notes.txt", "spaced name.zkey",
                                                      std::string(129, 'x') + ".zkey"}));
}

TEST_F(CircuitFilesTest, HiddenNamesAreSkippedInSilence) {
  Touch(".hidden.zkey");
  Touch("..data/circuit.zkey");
  Touch(".zkey");

  EXPECT_TRUE(Ids().empty());
  EXPECT_TRUE(IgnoredNames().empty());
}

TEST_F(CircuitFilesTest, LinksAreFollowedAsKubernetesMountsVolumes) {
  Touch("..2026/circuit.zkey");
  fs::create_directory_symlink("..2026", folder_.Path("..data"));
  fs::create_symlink("..data/circuit.zkey", folder_.Path("linked.zkey"));
  fs::create_directory_symlink("..2026", folder_.Path("folder"));

  EXPECT_EQ(Ids(), (std::vector<std::string>{"folder", "linked"}));
}

TEST_F(CircuitFilesTest, ADirectoryThatIsNotThereIsNamed) {
  const std::string missing = folder_.Path("missing");
  const absl::Status status = ScanCircuitDirectory(missing).status();

  EXPECT_TRUE(absl::IsNotFound(status));
  EXPECT_NE(status.message().find(missing), std::string::npos);
}

TEST_F(CircuitFilesTest, AFileIsNoDirectory) {
  Touch("file");
  EXPECT_TRUE(absl::IsFailedPrecondition(ScanCircuitDirectory(folder_.Path("file")).status()));
}

TEST(CircuitIdTest, IdsAreShortNamesThatCannotLeadOutOfAFolder) {
  for (const char* id : {"a", "semaphore-20", "A.b_c-9", "x..y"}) EXPECT_TRUE(IsCircuitId(id)) << id;
  EXPECT_TRUE(IsCircuitId(std::string(128, 'x')));
  for (const char* id :
       {"", ".", "..", ".hidden", "a/b", "../x", "a b", "a\n", "x;touch pwn", "\xc3\xa4", "a%2f"}) {
    EXPECT_FALSE(IsCircuitId(id)) << id;
  }
  EXPECT_FALSE(IsCircuitId(std::string(129, 'x')));
  EXPECT_FALSE(IsCircuitId(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace proofmill::engine
