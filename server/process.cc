#include "server/process.h"

#include <malloc.h>
#include <openssl/crypto.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "engine/base/thread.h"

namespace proofmill::server {
namespace {

// What malloc keeps at the end of a heap when it is freed, in place of giving it back: messages that arrive
// faster than they are handled take some MiB, and come again. Their pages would be cleared by the kernel each
// time (measured: half of the time that a witness of 64 MiB took). Larger blocks than the second number have
// pages of their own and go back at once; without it malloc would raise both by itself.
constexpr int kKeptBytes = 32 << 20;
constexpr int kOwnPagesBytes = 1 << 20;

sigset_t StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  // Unless whoever started the process, as nohup does, had it ignored.
  struct sigaction hangup {};
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  return set;
}

// Called by OpenSSL for each new SSL_CTX.
void CleansePlaintext(void* context, void*, CRYPTO_EX_DATA*, int, long, void*) {
  SSL_CTX_set_options(static_cast<SSL_CTX*>(context), SSL_OP_CLEANSE_PLAINTEXT);
}

}  // namespace

void HardenProcess() {
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  mallopt(M_MMAP_THRESHOLD, kOwnPagesBytes);
  // gRPC keeps its contexts to itself, but OpenSSL tells of each new one.
  SSL_CTX_get_ex_new_index(0, nullptr, &CleansePlaintext, nullptr, nullptr);
}

void SetCoreDumps(bool allowed) { prctl(PR_SET_DUMPABLE, allowed ? 1 : 0, 0, 0, 0); }

void BlockStopSignals() {
  const sigset_t set = StopSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

// A signalfd instead of sigwait(3), so that the thread can be ended when no signal comes.
SignalWaiter::SignalWaiter(std::function<void(int signal)> on_stop) : wake_fd_(eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this, on_stop = std::move(on_stop)] { Run(on_stop); });
}

SignalWaiter::~SignalWaiter() {
  const uint64_t one = 1;
  // Cannot fail: the counter is far from its limit.
  [[maybe_unused]] const ssize_t written = write(wake_fd_, &one, sizeof(one));
  thread_.join();
  close(wake_fd_);
}

void SignalWaiter::Run(const std::function<void(int signal)>& on_stop) {
  engine::SetThreadName("pm-signals");
  const sigset_t set = StopSignals();
  const int signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
  pollfd fds[] = {{.fd = signal_fd, .events = POLLIN, .revents = 0},
                  {.fd = wake_fd_, .events = POLLIN, .revents = 0}};
  bool stopping = false;
  while (true) {
    if (poll(fds, 2, -1) < 0) continue;  // interrupted
    if ((fds[0].revents & POLLIN) != 0) {
      signalfd_siginfo info;
      if (read(signal_fd, &info, sizeof(info)) != sizeof(info)) continue;
      const int signal_number = static_cast<int>(info.ssi_signo);
      if (stopping) _exit(kSecondSignalExitBase + signal_number);
      stopping = true;
      on_stop(signal_number);
    } else if (fds[1].revents != 0) {
      break;
    }
  }
  close(signal_fd);
}

}  // namespace proofmill::server
