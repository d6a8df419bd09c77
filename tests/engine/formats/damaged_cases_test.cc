// The damaged files that come with the shared cases, as far as a parser alone can judge them. Faults of
// points and of values that do not fit together are for the key audit and the prover.

#include <set>
#include <string>

#include "engine/formats/wtns.h"
#include "engine/formats/zkey.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {
namespace {

// To be refused, but not by a parser: it does not look at points.
const std::set<std::string> kForTheAudit = {"z-a-coord-plus-q", "z-a-coord-max"};

absl::Status ReadBoth(const std::string& folder) {
  const auto key_file = RandomAccessFile::Open(folder + "/circuit.zkey");
  if (!key_file.ok()) return key_file.status();
  const auto zkey = ReadZkey(**key_file);
  if (!zkey.ok()) return zkey.status();
  const auto witness_file = RandomAccessFile::Open(folder + "/witness.wtns");
  if (!witness_file.ok()) return witness_file.status();
  return ReadWtns(**witness_file, zkey->header.n_vars).status();
}

TEST(DamagedCasesTest, EachBehavesAsTheManifestExpects) {
  const auto folder = SharedCasesFolder();
  ASSERT_TRUE(folder.has_value()) << "PROOFMILL_SHARED_DIR holds no cases";
  const auto manifest = nlohmann::json::parse(ReadText(*folder + "/manifest.json"));
  size_t refused = 0;
  for (const auto& damaged : manifest["corrupt"]) {
    const std::string name = damaged["name"];
    const std::string expect = damaged["expect"];
    SCOPED_TRACE(name + ": " + damaged["note"].get<std::string>());
    const absl::Status status = ReadBoth(*folder + "/corrupt/" + name);
    if (expect == "reject" && kForTheAudit.count(name) == 0) {
      EXPECT_FALSE(status.ok());
      EXPECT_THAT(MessageOf(status), testing::Not(testing::HasSubstr("\n")));
      ++refused;
    }
    if (expect == "ok") {
      EXPECT_OK(status);
    }
  }
  EXPECT_GE(refused, 40u);
}

TEST(DamagedCasesTest, EveryGoodCaseIsRead) {
  const auto folder = SharedCasesFolder();
  ASSERT_TRUE(folder.has_value()) << "PROOFMILL_SHARED_DIR holds no cases";
  const auto manifest = nlohmann::json::parse(ReadText(*folder + "/manifest.json"));
  for (const auto& good : manifest["cases"]) {
    if (good["files"] != true) continue;
    SCOPED_TRACE(good["name"].get<std::string>());
    EXPECT_OK(ReadBoth(*folder + "/" + good["name"].get<std::string>()));
  }
}

}  // namespace
}  // namespace proofmill::engine
