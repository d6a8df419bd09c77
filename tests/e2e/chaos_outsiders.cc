#include "tests/e2e/chaos_outsiders.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace proofmill::e2e {
namespace {

using std::chrono::milliseconds;

constexpr absl::Duration kPatience = absl::Minutes(2);

client::ClientOptions AdminOptions(const ServerProcess& server) {
  client::ClientOptions options;
  options.target = server.admin();
  return options;
}

}  // namespace

KilledClient::KilledClient(const ChaosScene& scene, uint64_t seed)
    : ChaosActor(scene, "killed client", seed, {}) {
  std::ofstream(folder_.File("w.wtns"), std::ios::binary) << scene.circuits.Wtns("busy", seed);
}

void KilledClient::Act() {
  const char* const transfers[] = {"unary", "stream", "upload"};
  Process load(ProofmillPath(),
               {"load", "--target=" + scene_.server.data(), "--circuit=busy",
                "--witness=" + folder_.File("w.wtns"), "--concurrency=8", "--requests=1000000", "--noverify",
                absl::StrCat("--transfer=", transfers[Pick(0, 2)])});
  std::this_thread::sleep_for(milliseconds(Pick(200, 1500)));
  load.Signal(SIGKILL);
  const auto ending = load.Wait(std::chrono::minutes(1));
  if (!ending || ending->signal != SIGKILL) {
    Wrong(absl::StrCat("it ended before it was killed: ", load.Err()));
    return;
  }
  Answered(absl::OkStatus());
}

Operator::Operator(const ChaosScene& scene, uint64_t seed)
    : ChaosActor(scene, "operator", seed, {"ALIAS_CONFLICT", "CIRCUIT_UNKNOWN"}),
      admin_(client::Client::Create(AdminOptions(scene.server)).value()) {}

void Operator::Act() {
  switch (Pick(0, 3)) {
    case 0: {
      const auto begun = admin_->UnloadCircuit("guest", kPatience);
      Answered(begun.status());
      break;
    }
    case 1: {
      const auto begun = admin_->LoadCircuit("guest", kPatience);
      Answered(begun.status());
      if (!begun.ok()) break;
      const auto ended = admin_->WatchCircuit("guest", kPatience);
      Answered(ended.status());
      if (ended.ok() && ended->state() == v1::Circuit::STATE_FAILED) Wrong("load: " + ended->failure());
      break;
    }
    case 2:
      Answered(admin_->SetAlias("visitor", Pick(0, 2) == 0 ? "" : "guest", kPatience).status());
      break;
    default:
      Answered(admin_->GetStatus(kPatience).status());
      std::this_thread::sleep_for(milliseconds(Pick(0, 200)));
  }
}

Vandal::Vandal(const ChaosScene& scene, uint64_t seed) : ChaosActor(scene, "vandal", seed, {}) {}

void Vandal::Act() {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  const std::string& address = scene_.server.data();
  to.sin_port = htons(static_cast<uint16_t>(std::atoi(address.c_str() + address.rfind(':') + 1)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    Wrong("the service does not take connections");
    ::close(fd);
    return;
  }
  std::string bytes = Pick(0, 1) == 0 ? "" : "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  // An empty frame of settings, so that what follows is read as frames.
  if (!bytes.empty() && Pick(0, 1) == 0) bytes += std::string("\0\0\0\4\0\0\0\0\0", 9);
  const uint64_t more = Pick(0, 2000);
  for (uint64_t i = 0; i < more; ++i) bytes += static_cast<char>(Pick(0, 255));
  // The other side may be gone already.
  [[maybe_unused]] const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  std::this_thread::sleep_for(milliseconds(Pick(0, 50)));
  if (Pick(0, 1) == 0) {
    const linger reset{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  }
  ::close(fd);
  Answered(absl::OkStatus());
}

}  // namespace proofmill::e2e
