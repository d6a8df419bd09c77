#include "server/metrics_endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"
#include "prometheus/exposer.h"
#include "server/listen_address.h"

namespace proofmill::server {
namespace {

// Opens a connection and closes it again; whether it works does not matter.
void Knock(const ListenAddress& address) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(address.port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  const bool is_v6 = inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) == 1;
  if (!is_v6 && inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) != 1) {
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);  // localhost
  }
  const int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  const auto* const target =
      is_v6 ? reinterpret_cast<const sockaddr*>(&v6) : reinterpret_cast<const sockaddr*>(&v4);
  const socklen_t length = is_v6 ? sizeof(v6) : sizeof(v4);
  [[maybe_unused]] const int connected = connect(fd, target, length);
  close(fd);
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsEndpoint>> MetricsEndpoint::Start(
    const std::string& address, const std::shared_ptr<prometheus::Collectable>& source) {
  PROOFMILL_ASSIGN_OR_RETURN(ListenAddress bound, ParseListenAddress(address));
  try {
    // A peer that connects and says nothing holds a thread until the timeout: several threads, a short
    // timeout.
    auto exposer = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", address, "num_threads", "4", "request_timeout_ms", "2000",
                                 "enable_keep_alive", "no"});
    exposer->RegisterCollectable(source);
    const std::vector<int> ports = exposer->GetListeningPorts();
    if (ports.empty())
      return absl::UnavailableError(absl::StrCat("cannot bind the metrics listener to ", address));
    bound.port = static_cast<uint16_t>(ports.front());
    return std::unique_ptr<MetricsEndpoint>(new MetricsEndpoint(std::move(exposer), bound.ToString()));
  } catch (const std::exception& e) {
    return absl::UnavailableError(
        absl::StrCat("cannot bind the metrics listener to ", address, ": ", e.what()));
  }
}

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<prometheus::Exposer> exposer, std::string address)
    : exposer_(std::move(exposer)), address_(std::move(address)) {}

// civetweb looks at its wish to stop only when a connection comes, or every two seconds (measured); so
// connections come.
MetricsEndpoint::~MetricsEndpoint() {
  std::atomic<bool> ended{false};
  std::thread knocker([&] {
    engine::SetThreadName("pm-metrics-end");
    const auto address = ParseListenAddress(address_);
    while (!ended && address.ok()) {
      Knock(*address);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  exposer_.reset();
  ended = true;
  knocker.join();
}

}  // namespace proofmill::server
