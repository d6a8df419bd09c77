#include "tests/e2e/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include "gtest/gtest.h"

extern char** environ;

namespace proofmill::e2e {
namespace {

constexpr auto kPollTime = std::chrono::milliseconds(2);
constexpr auto kRunTime = std::chrono::seconds(60);

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "proofmill-test-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary folder " << path_;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Process::Process(const std::string& program, const std::vector<std::string>& arguments,
                 const std::vector<std::string>& environment) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC;
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, folder_.File("out").c_str(), kCreate, 0600);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, folder_.File("err").c_str(), kCreate, 0600);
  const int error = ::posix_spawn(&pid_, program.c_str(), &files, nullptr, Pointers(words).data(),
                                  Pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) {
    pid_ = -1;
    ending_ = Ending{};
    ADD_FAILURE() << "cannot start " << program << ": error " << error;
  }
}

Process::~Process() {
  if (ending_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Process::IsRunning() { return !Wait(std::chrono::milliseconds(0)); }

void Process::Signal(int signal) {
  if (IsRunning()) ::kill(pid_, signal);
}

std::optional<Ending> Process::Wait(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!ending_) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      ending_ = WIFSIGNALED(status) ? Ending{-1, WTERMSIG(status)} : Ending{WEXITSTATUS(status), 0};
    } else if (std::chrono::steady_clock::now() >= deadline) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(kPollTime);
    }
  }
  return ending_;
}

std::string Process::Out() const { return ReadFile(folder_.File("out")); }
std::string Process::Err() const { return ReadFile(folder_.File("err")); }

std::unique_ptr<Process> Launch(const std::vector<std::string>& launcher, const std::string& program,
                                const std::vector<std::string>& arguments) {
  std::vector<std::string> words = launcher;
  words.push_back(program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return std::make_unique<Process>(words.front(), std::vector<std::string>(words.begin() + 1, words.end()));
}

Outcome Proofmill(const std::vector<std::string>& arguments, const std::vector<std::string>& launcher) {
  const std::unique_ptr<Process> process = Launch(launcher, ProofmillPath(), arguments);
  const std::optional<Ending> ending = process->Wait(kRunTime);
  EXPECT_TRUE(ending.has_value()) << "proofmill " << arguments.front() << " did not end";
  return {ending.value_or(Ending{}), process->Out(), process->Err()};
}

std::string ProofmillPath() { return PROOFMILL_PROGRAM; }

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool FileExists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

}  // namespace proofmill::e2e
