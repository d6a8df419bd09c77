#include "server/metrics_endpoint.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "engine/base/thread.h"
#include "prometheus/exposer.h"
#include "server/listen_address.h"

namespace proofmill::server {
namespace {

// Opens a connection and closes it again; whether it works does not matter.
void Knock(const ListenAddress& address) {
  const SocketAddress target(address);
  const int fd = socket(target.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  [[maybe_unused]] const int connected = connect(fd, target.get(), target.length);
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
    if (ports.empty()) return CannotBind("metrics", "metrics_listen", bound);
    bound.port = static_cast<uint16_t>(ports.front());
    return std::unique_ptr<MetricsEndpoint>(new MetricsEndpoint(std::move(exposer), bound.ToString()));
  } catch (const std::exception&) {  // "null context", whatever the cause
    return CannotBind("metrics", "metrics_listen", bound);
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
