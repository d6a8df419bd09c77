// Keys and witnesses lie where nothing may be written, and the current folder is such a place too: proofs are
// made all the same, and nothing is written near the inputs.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/formats/snarkjs_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

namespace fs = std::filesystem;

// What tells that a file or folder was written to, or that something was made in it or removed.
std::string Traces(const fs::path& path) {
  struct stat info {};
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return absl::StrCat("inode ", info.st_ino, ", mode ", info.st_mode, ", ", info.st_size, " bytes, written ",
                      info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, ", changed ", info.st_ctim.tv_sec, ".",
                      info.st_ctim.tv_nsec);
}

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    names.push_back(fs::relative(entry.path(), folder));
  }
  return names;
}

class ReadOnlyInputsTest : public ::testing::Test {
 protected:
  ReadOnlyInputsTest() {
    circuits_.Add("c", Synthetic(6, engine::SynthProfile::kDense, 2));
    std::ofstream(circuits_.path() + "/w.wtns", std::ios::binary) << circuits_.Wtns("c", 9);
    std::ofstream(output_.File("vk.json")) << engine::VerificationKeyToJson(circuits_.vkey("c"));
    for (const std::string& folder : {circuits_.path(), current_.path()}) {
      for (const auto& entry : fs::directory_iterator(folder)) ::chmod(entry.path().c_str(), 0444);
      ::chmod(folder.c_str(), 0555);
    }
    before_ = Inputs();
  }
  ~ReadOnlyInputsTest() override {
    for (const std::string& folder : {circuits_.path(), current_.path()}) ::chmod(folder.c_str(), 0755);
  }

  // Starts programs in `folder`, and without the privilege of root to write in spite of modes.
  static std::vector<std::string> In(const std::string& folder) {
    std::vector<std::string> words = {"/usr/bin/env", "--chdir=" + folder};
    if (::geteuid() == 0) {
      for (const char* word : {"setpriv", "--bounding-set=-all", "--inh-caps=-all"}) words.emplace_back(word);
    }
    return words;
  }
  std::vector<std::string> launcher() const { return In(current_.path()); }

  std::map<std::string, std::string> Inputs() const {
    std::map<std::string, std::string> traces;
    for (const std::string& folder : {circuits_.path(), current_.path()}) {
      traces[folder] = Traces(folder);
      for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        traces[entry.path()] = Traces(entry.path());
      }
    }
    return traces;
  }
  void ExpectValidProof() const {
    const Outcome verify = Proofmill(
        {"verify", output_.File("vk.json"), output_.File("public.json"), output_.File("proof.json")},
        launcher());
    EXPECT_EQ(verify.out, "OK\n") << verify.err;
  }

  CircuitFolder circuits_;
  TemporaryFolder current_, output_;
  std::map<std::string, std::string> before_;
};

TEST_F(ReadOnlyInputsTest, ThePlaceIsReadOnlyForWhatIsStartedLikeThis) {
  for (const std::string& path :
       {circuits_.path() + "/new", current_.path() + "/new", circuits_.KeyPath("c")}) {
    const std::vector<std::string> words = launcher();
    std::vector<std::string> rest(words.begin() + 1, words.end());
    for (const std::string& word : {std::string("dd"), std::string("if=/dev/null"), "of=" + path}) {
      rest.push_back(word);
    }
    Process writer(words.front(), rest);
    const auto ending = writer.Wait(std::chrono::minutes(1));
    ASSERT_TRUE(ending.has_value());
    EXPECT_NE(ending->exit_code, 0);
    EXPECT_THAT(writer.Err(), ::testing::HasSubstr("Permission denied"));
  }
  EXPECT_EQ(Inputs(), before_);
}

TEST_F(ReadOnlyInputsTest, AProofLeavesNothingNearTheKeyAndTheWitness) {
  for (const std::string& folder : {current_.path(), circuits_.path()}) {
    const Outcome run = Proofmill({"prove", circuits_.KeyPath("c"), circuits_.path() + "/w.wtns",
                                   output_.File("proof.json"), output_.File("public.json")},
                                  In(folder));

    EXPECT_EQ(run.ending.exit_code, 0) << run.err;
    ExpectValidProof();
    EXPECT_EQ(Inputs(), before_) << "started in " << folder;
    EXPECT_THAT(NamesIn(output_.path()),
                ::testing::UnorderedElementsAre("vk.json", "proof.json", "public.json"));
  }
}

TEST_F(ReadOnlyInputsTest, LookingAtFilesLeavesNothingNearThem) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"inspect", circuits_.KeyPath("c")},
        {"inspect", circuits_.path() + "/w.wtns"},
        {"vkey", circuits_.KeyPath("c"), output_.File("vkey.json")}}) {
    const Outcome run = Proofmill(words, launcher());
    EXPECT_EQ(run.ending.exit_code, 0) << words.front() << ": " << run.err;
  }
  EXPECT_EQ(Inputs(), before_);
}

TEST_F(ReadOnlyInputsTest, TheServiceWritesIntoItsStateFolderAlone) {
  const std::string state = output_.File("state");
  fs::create_directory(state);
  for (int start = 0; start < 2; ++start) {
    ServerProcess server(circuits_.path(), {"--state_dir=" + state}, launcher());
    for (const std::string way : {"--unary", "--stream", "--upload", "--job"}) {
      const Outcome run =
          Proofmill({"client", "prove", circuits_.path() + "/w.wtns", output_.File("proof.json"),
                     output_.File("public.json"), "--circuit=c", way, "--target=" + server.data()},
                    launcher());
      EXPECT_EQ(run.ending.exit_code, 0) << way << ": " << run.err;
      ExpectValidProof();
    }
    server.Stop();
    EXPECT_EQ(Inputs(), before_);
    EXPECT_THAT(NamesIn(state), ::testing::UnorderedElementsAre(
                                    "audited-keys", ::testing::MatchesRegex("audited-keys/[0-9a-f]{128}")));
  }
}

}  // namespace
}  // namespace proofmill::e2e
