// The program as people meet it: help, versions, exit codes and one-line errors.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/process.h"

namespace proofmill::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::vector<std::vector<std::string>>& Commands() {
  static const std::vector<std::vector<std::string>> commands = {{"serve"},
                                                                 {"api-key"},
                                                                 {"prove"},
                                                                 {"verify"},
                                                                 {"vkey"},
                                                                 {"calldata"},
                                                                 {"inspect"},
                                                                 {"setup"},
                                                                 {"synth"},
                                                                 {"client", "prove"},
                                                                 {"client", "verify"},
                                                                 {"client", "circuits"},
                                                                 {"client", "status"},
                                                                 {"client", "health"},
                                                                 {"bench", "prove"},
                                                                 {"bench", "msm"},
                                                                 {"bench", "ntt"},
                                                                 {"whir", "prove"},
                                                                 {"whir", "verify"},
                                                                 {"whir", "bench"},
                                                                 {"whir", "check-vector"}};
  return commands;
}

std::string Joined(const std::vector<std::string>& words) {
  return words.size() == 1 ? words[0] : words[0] + " " + words[1];
}

// Bad usage: exit code 2, nothing on stdout, and one line on stderr that begins with the command's name.
void ExpectRefused(const Outcome& run, const std::string& name, const std::string& says) {
  EXPECT_EQ(run.ending.signal, 0) << name;
  EXPECT_EQ(run.ending.exit_code, 2) << name << ": " << run.err;
  EXPECT_EQ(run.out, "") << name;
  EXPECT_THAT(run.err, MatchesRegex("[^\n]+\n")) << name;
  EXPECT_THAT(run.err, HasSubstr("proofmill" + (name.empty() ? "" : " " + name) + ": "));
  EXPECT_THAT(run.err, HasSubstr(says)) << name;
}

class ProgramTest : public ::testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.File(name); }
  void Synthesize() {
    const Outcome run = Proofmill({"synth", "--log2_domain=4", "--public=2", File("k.zkey"), File("w.wtns")});
    ASSERT_EQ(run.ending.exit_code, 0) << run.err;
  }

  TemporaryFolder folder_;
};

TEST_F(ProgramTest, EveryCommandIsListedAndHasHelpWithAnExample) {
  const Outcome list = Proofmill({"help"});
  EXPECT_EQ(list.ending.exit_code, 0);
  for (const std::vector<std::string>& words : Commands()) {
    EXPECT_THAT(list.out, HasSubstr("\n  " + Joined(words) + " "));
    std::vector<std::string> asking = words;
    asking.emplace_back("--help");
    std::vector<std::string> asking_first = words;
    asking_first.insert(asking_first.begin(), "help");

    const Outcome run = Proofmill(asking);

    EXPECT_EQ(run.ending.exit_code, 0) << Joined(words);
    EXPECT_EQ(run.err, "");
    EXPECT_THAT(run.out, HasSubstr("Usage: proofmill " + Joined(words)));
    EXPECT_THAT(run.out, HasSubstr("Examples:\n  proofmill " + Joined(words)));
    EXPECT_EQ(Proofmill(asking_first).out, run.out);
  }
}

TEST_F(ProgramTest, TheVersionNamesTheRevisionAndTheBackends) {
  const Outcome run = Proofmill({"--version"});

  EXPECT_EQ(run.ending.exit_code, 0);
  EXPECT_THAT(run.out, MatchesRegex("proofmill [0-9.]+ \\(revision [^)]+\\)\nbackends: cpu[^\n]*\n"));
}

TEST_F(ProgramTest, ACommandThatDoesNotExistIsBadUsage) {
  ExpectRefused(Proofmill({"prvoe"}), "", "unknown command 'prvoe'");
  ExpectRefused(Proofmill({"client"}), "", "expected a command after 'client', got 'nothing'");
  ExpectRefused(Proofmill({"client", "prvoe"}), "", "got 'prvoe'");
  EXPECT_THAT(Proofmill({"client", "--help"}).out, HasSubstr("client prove"));
}

TEST_F(ProgramTest, AnUnknownFlagIsBadUsageForEveryCommand) {
  for (const std::vector<std::string>& words : Commands()) {
    std::vector<std::string> given = words;
    given.emplace_back("--no_such_flag");
    ExpectRefused(Proofmill(given), Joined(words), "unknown flag '--no_such_flag'");
  }
}

TEST_F(ProgramTest, AWrongNumberOfArgumentsIsBadUsageForEveryCommand) {
  for (const std::vector<std::string>& words : Commands()) {
    std::vector<std::string> given = words;
    const bool any_number = words.back() == "check-vector";
    if (!any_number) given.insert(given.end(), 9, "x");
    ExpectRefused(Proofmill(given), Joined(words), any_number ? "or more arguments" : "got 9");
  }
}

TEST_F(ProgramTest, AFileThatIsNotThereIsNamed) {
  Synthesize();
  const std::string gone = File("gone");
  ExpectRefused(Proofmill({"prove", gone, File("w.wtns"), File("p"), File("q")}), "prove", gone);
  ExpectRefused(Proofmill({"prove", File("k.zkey"), gone, File("p"), File("q")}), "prove", gone);
  ExpectRefused(Proofmill({"verify", gone, gone, gone}), "verify", gone);
  ExpectRefused(Proofmill({"vkey", gone, File("v")}), "vkey", gone);
  ExpectRefused(Proofmill({"calldata", gone, gone}), "calldata", gone);
  ExpectRefused(Proofmill({"inspect", gone}), "inspect", gone);
  ExpectRefused(Proofmill({"setup", gone, File("k2"), "--insecure_test_setup"}), "setup", gone);
  ExpectRefused(Proofmill({"serve", "--circuits=" + gone, "--listen=127.0.0.1:0"}), "serve", gone);
  ExpectRefused(Proofmill({"client", "prove", "--circuit=c", gone, File("p"), File("q")}), "client prove",
                gone);
}

TEST_F(ProgramTest, ASynthesizedCircuitProvesAndItsOtherWitnessesToo) {
  Synthesize();
  ASSERT_EQ(Proofmill({"vkey", File("k.zkey"), File("v.json")}).ending.exit_code, 0);
  ASSERT_EQ(Proofmill({"synth", "--log2_domain=4", "--public=2", "--witness_only", "--witness_seed=5",
                       File("w5.wtns")})
                .ending.exit_code,
            0);

  std::vector<std::string> publics;
  for (const std::string witness : {"w.wtns", "w5.wtns"}) {
    const Outcome prove = Proofmill({"prove", File("k.zkey"), File(witness), File("p.json"), File("q.json")});
    EXPECT_EQ(prove.ending.exit_code, 0) << prove.err;
    EXPECT_EQ(Proofmill({"verify", File("v.json"), File("q.json"), File("p.json")}).out, "OK\n");
    publics.push_back(ReadFile(File("q.json")));
  }
  EXPECT_NE(publics[0], publics[1]);
}

TEST_F(ProgramTest, AProofOfOtherPublicSignalsIsInvalid) {
  Synthesize();
  ASSERT_EQ(Proofmill({"vkey", File("k.zkey"), File("v.json")}).ending.exit_code, 0);
  ASSERT_EQ(
      Proofmill({"prove", File("k.zkey"), File("w.wtns"), File("p.json"), File("q.json")}).ending.exit_code,
      0);
  std::ofstream(File("other.json")) << R"(["1","2"])";

  const Outcome run = Proofmill({"verify", File("v.json"), File("other.json"), File("p.json")});

  EXPECT_EQ(run.ending.exit_code, 1);
  EXPECT_EQ(run.out, "INVALID\n");
  EXPECT_EQ(run.err, "");
}

TEST_F(ProgramTest, ATestKeyIsMadeOnlyOnPurpose) {
  ASSERT_EQ(
      Proofmill({"synth", "--log2_domain=3", "--r1cs=" + File("c.r1cs"), File("k.zkey"), File("w.wtns")})
          .ending.exit_code,
      0);

  ExpectRefused(Proofmill({"setup", File("c.r1cs"), File("k2.zkey")}), "setup", "--insecure_test_setup");
  EXPECT_FALSE(FileExists(File("k2.zkey")));

  const Outcome run = Proofmill({"setup", File("c.r1cs"), File("k2.zkey"), "--insecure_test_setup"});
  EXPECT_EQ(run.ending.exit_code, 0);
  EXPECT_THAT(run.err, HasSubstr("known trapdoor"));
  EXPECT_EQ(Proofmill({"prove", File("k2.zkey"), File("w.wtns"), File("p"), File("q")}).ending.exit_code, 0);
}

TEST_F(ProgramTest, FixedBlindingGivesTheSameProofAndIsChecked) {
  Synthesize();
  const auto prove = [&](const std::string& blinding, const std::string& proof) {
    return Proofmill(
        {"prove", File("k.zkey"), File("w.wtns"), File(proof), File("q"), "--blinding", blinding});
  };

  EXPECT_EQ(prove("1,2", "a").ending.exit_code, 0);
  EXPECT_EQ(prove("1,2", "b").ending.exit_code, 0);
  EXPECT_EQ(prove("1,3", "c").ending.exit_code, 0);
  EXPECT_EQ(ReadFile(File("a")), ReadFile(File("b")));
  EXPECT_NE(ReadFile(File("a")), ReadFile(File("c")));
  for (const std::string bad :
       {"", "1", "1,2,3", ",", "01,2", "1,-2", "0x1,2",
        "21888242871839275222246405745257275088548364400416034343698204186575808495617,0"}) {
    ExpectRefused(prove(bad, "d"), "prove", "--blinding");
  }
}

TEST_F(ProgramTest, AMissingBackendIsAnErrorAndNotAnotherBackend) {
  Synthesize();
  const Outcome run =
      Proofmill({"prove", "--backend=cuda", File("k.zkey"), File("w.wtns"), File("p"), File("q")});
  if (run.ending.exit_code != 0) ExpectRefused(run, "prove", "cuda");
}

TEST_F(ProgramTest, ALimitOfDeviceMemoryIsASizeWithAUnit) {
  Synthesize();
  const auto prove = [&](const std::string& limit) {
    return Proofmill({"prove", "--backend=cpu", "--device_memory_limit=" + limit, File("k.zkey"),
                      File("w.wtns"), File("p"), File("q")});
  };

  EXPECT_EQ(prove("256MiB").ending.exit_code, 0);
  for (const std::string bad : {"", "-1", "4GB", "4 GiB", "4.5GiB", "99999999999999999999", "4"}) {
    ExpectRefused(prove(bad), "prove", "device_memory_limit");
  }
  ExpectRefused(Proofmill({"bench", "prove", "--device_memory_limit=4"}), "bench prove",
                "device_memory_limit");
}

TEST_F(ProgramTest, TimingsAndBenchmarksAreTablesAndJson) {
  Synthesize();
  const std::vector<std::string> prove = {"prove",   File("k.zkey"), File("w.wtns"),
                                          File("p"), File("q"),      "--timings"};
  EXPECT_THAT(Proofmill(prove).out, HasSubstr("msm_h"));
  std::vector<std::string> prove_json = prove;
  prove_json.emplace_back("--json");
  EXPECT_TRUE(
      nlohmann::json::parse(Proofmill(prove_json).out, nullptr, false)["stages_seconds"].contains("msm_h"));

  const std::vector<std::vector<std::string>> benchmarks = {
      {"bench", "prove", File("k.zkey"), File("w.wtns"), "--runs=2"},
      {"bench", "prove", "--log2_domain=4", "--profile=bits", "--runs=1", "--warmup=0"},
      {"bench", "msm", "--log2_size=4", "--runs=2"},
      {"bench", "msm", "--log2_size=4", "--group=g2", "--profile=bits", "--threads=1"},
      {"bench", "msm", "--log2_size=0,5", "--profile=all", "--backend=cpu", "--runs=1"},
      {"bench", "ntt", "--log2_size=4", "--runs=2"}};
  for (std::vector<std::string> words : benchmarks) {
    EXPECT_THAT(Proofmill(words).out, HasSubstr("peak memory"));
    words.emplace_back("--json");
    const Outcome run = Proofmill(words);
    const auto json = nlohmann::json::parse(run.out, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << run.out << run.err;
    EXPECT_EQ(json["benchmark"], words[1]);
    EXPECT_GT(json["peak_memory_bytes"], 0);
    if (words[1] == "prove") {
      EXPECT_GT(json["stages"]["gather"]["muls_per_second"], 0);
      EXPECT_GT(json["stages"]["ntt"]["muls_per_second"], 0);
    }
  }
}

TEST_F(ProgramTest, SizesOfKernelBenchmarksAreChecked) {
  for (const std::string bad : {"", "27", "4,", "-1", "a", "4;5"}) {
    ExpectRefused(Proofmill({"bench", "ntt", "--log2_size=" + bad}), "bench ntt", "--log2_size");
  }
  const auto json = nlohmann::json::parse(
      Proofmill({"bench", "ntt", "--backend=cpu", "--log2_size=3,4", "--runs=1", "--json"}).out, nullptr,
      false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["device"], "cpu");
  ASSERT_EQ(json["results"].size(), 2u);
  EXPECT_EQ(json["results"][1]["log2_size"], 4);
  EXPECT_FALSE(json["results"][0].contains("floor_seconds")) << "the floor is that of a GPU";
}

// What the first group of `pattern` matches in a text, each once.
std::set<std::string> Matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.insert((*it)[1]);
  return found;
}

TEST_F(ProgramTest, ExamplesHaveNoFlagThatTheirCommandLacks) {
  size_t examples = 0;
  for (const std::string& command : Matches(Proofmill({"--help"}).out, "\n  ([a-z-]+( [a-z-]+)*)  +")) {
    std::vector<std::string> words;
    std::istringstream in(command);
    for (std::string word; in >> word;) words.push_back(word);
    words.emplace_back("--help");
    const std::string help = Proofmill(words).out;
    const size_t begin = help.find("\nExamples:\n");
    if (begin == std::string::npos) continue;
    ++examples;
    const std::set<std::string> known = Matches(help.substr(0, begin), R"(\n  --(?:\[no\])?([a-z0-9_]+))");
    for (const std::string& flag : Matches(help.substr(begin), "--([a-z0-9_]+)"))
      EXPECT_TRUE(known.contains(flag) || (flag.starts_with("no") && known.contains(flag.substr(2))))
          << command << ": --" << flag;
  }
  EXPECT_GT(examples, 25u);
}

TEST_F(ProgramTest, ServeChecksAndPrintsItsConfiguration) {
  Synthesize();
  std::ofstream(File("config.yaml")) << "queue_jobs_max: 7\nlisten: 127.0.0.1:1\n";

  const Outcome run = Proofmill({"serve", "--config=" + File("config.yaml"), "--check_config",
                                 "--circuits=" + folder_.path(), "--listen", "127.0.0.1:2"});

  EXPECT_EQ(run.ending.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("queue_jobs_max: 7\n"));
  EXPECT_THAT(run.out, HasSubstr("listen: 127.0.0.1:2\n")) << "a flag wins over the file";
  std::ofstream(File("printed.yaml")) << run.out;
  const Outcome again = Proofmill({"serve", "--config=" + File("printed.yaml"), "--check_config"});
  EXPECT_EQ(again.out, run.out) << again.err;
  ExpectRefused(Proofmill({"serve", "--check_config"}), "serve", "circuits");
  ExpectRefused(Proofmill({"serve", "--check_config", "--circuits=" + folder_.path(), "--config", ""}),
                "serve", "--config");
  ExpectRefused(Proofmill({"serve", "--queue_jobs_max=none"}), "serve", "--queue_jobs_max");
  ExpectRefused(
      Proofmill({"serve", "--circuits=" + folder_.path(), "--device_memory_limit=4", "--check_config"}),
      "serve", "device_memory_limit");
  ExpectRefused(Proofmill({"serve", "--circuits=" + folder_.path(), "--listen=0.0.0.0:1", "--check_config"}),
                "serve", "listen");
}

TEST_F(ProgramTest, AClosedOrFullStandardOutputIsAnErrorAndNotASignal) {
  Synthesize();
  const std::string command =
      ProofmillPath() + " inspect " + File("k.zkey") + " > /dev/full 2> " + File("err");
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_THAT(ReadFile(File("err")), HasSubstr("stdout"));
}

TEST_F(ProgramTest, AFullDiskIsNoMistakeOfTheCallers) {
  Synthesize();
  const Outcome run = Proofmill({"prove", File("k.zkey"), File("w.wtns"), "/dev/full", File("public.json")});
  EXPECT_EQ(run.ending.exit_code, 3);
  EXPECT_THAT(run.err, HasSubstr("/dev/full: cannot write: No space left on device"));
  EXPECT_FALSE(FileExists(File("public.json")));
}

TEST_F(ProgramTest, ALimitOnTheSizeOfFilesIsAnErrorAndNotASignal) {
  const std::string command = "ulimit -f 1; exec " + ProofmillPath() + " synth --log2_domain=8 " +
                              File("k.zkey") + " " + File("w.wtns") + " 2> " + File("err");
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_THAT(ReadFile(File("err")), HasSubstr("File too large"));
  EXPECT_FALSE(FileExists(File("k.zkey")));
}

}  // namespace
}  // namespace proofmill::e2e
