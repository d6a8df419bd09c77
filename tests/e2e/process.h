// Running the real program from tests: to its end, or in the background with signals.
//
// Output goes to files, so a program that writes a lot never blocks. A program that outlives its object is
// killed.
//
// Thread safety: one object is for one thread at a time; objects are independent.

#ifndef PROOFMILL_TESTS_E2E_PROCESS_H_
#define PROOFMILL_TESTS_E2E_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace proofmill::e2e {

// A new folder below the system's, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// How a program ended. `signal` is 0 unless one ended it; `exit_code` is -1 then.
struct Ending {
  int exit_code = -1;
  int signal = 0;
};

class Process {
 public:
  // Starts `program` with `arguments`, its name not among them, with nothing on stdin and with `environment`
  // ("NAME=value") added to our own.
  Process(const std::string& program, const std::vector<std::string>& arguments,
          const std::vector<std::string>& environment = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool IsRunning();
  void Signal(int signal);

  // Waits for the end; nothing if it has not come in time. May be called again.
  std::optional<Ending> Wait(std::chrono::milliseconds timeout);

  // What it has written so far.
  std::string Out() const;
  std::string Err() const;

 private:
  TemporaryFolder folder_;
  pid_t pid_ = -1;
  std::optional<Ending> ending_;
};

// Starts `program` by way of `launcher`, a program with arguments to which it and its own are added; an empty
// one starts it at once.
std::unique_ptr<Process> Launch(const std::vector<std::string>& launcher, const std::string& program,
                                const std::vector<std::string>& arguments);

struct Outcome {
  Ending ending;
  std::string out;
  std::string err;
};

// Runs the proofmill program that this build made, to its end. Killed after a minute.
Outcome Proofmill(const std::vector<std::string>& arguments, const std::vector<std::string>& launcher = {});

// Its path.
std::string ProofmillPath();

std::string ReadFile(const std::string& path);  // empty if it is not there
bool FileExists(const std::string& path);

}  // namespace proofmill::e2e

#endif  // PROOFMILL_TESTS_E2E_PROCESS_H_
