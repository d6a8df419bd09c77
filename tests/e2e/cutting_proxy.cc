#include "tests/e2e/cutting_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "gtest/gtest.h"

namespace proofmill::e2e {
namespace {

constexpr int kPollMs = 20;

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool SendAll(int fd, const char* data, ssize_t size) {
  while (size > 0) {
    const ssize_t n = ::send(fd, data, static_cast<size_t>(size), MSG_NOSIGNAL);
    if (n <= 0) return false;
    data += n;
    size -= n;
  }
  return true;
}

// Closes with a reset, as a broken connection looks.
void Reset(int fd) {
  const linger abort{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
  ::close(fd);
}

}  // namespace

CuttingProxy::CuttingProxy(const std::string& target)
    : target_port_(static_cast<uint16_t>(std::atoi(target.substr(target.rfind(':') + 1).c_str()))) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(listener_, 16), 0);
  EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
  port_ = ntohs(address.sin_port);
  accepting_ = std::thread([this] { Accept(); });
}

CuttingProxy::~CuttingProxy() {
  stop_ = true;
  accepting_.join();
  for (std::thread& thread : serving_) thread.join();
  ::close(listener_);
}

void CuttingProxy::Accept() {
  while (!stop_) {
    pollfd waiting{.fd = listener_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPollMs) <= 0) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    ++connections_;
    serving_.emplace_back([this, client] { Serve(client); });
  }
}

void CuttingProxy::Serve(int client) {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(target_port_);
  bool open = ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  uint64_t sent = 0;
  char buffer[16384];
  while (open && !stop_) {
    pollfd ends[2] = {{.fd = client, .events = POLLIN, .revents = 0},
                      {.fd = server, .events = POLLIN, .revents = 0}};
    if (::poll(ends, 2, kPollMs) < 0) break;
    for (int i = 0; i < 2 && open; ++i) {
      if (ends[i].revents == 0) continue;
      const ssize_t n = ::recv(ends[i].fd, buffer, sizeof(buffer), 0);
      open = n > 0 && SendAll(ends[1 - i].fd, buffer, n);
      if (open && i == 0) sent += static_cast<uint64_t>(n);
    }
    uint64_t limit = cut_after_;
    if (sent >= limit && cut_after_.compare_exchange_strong(limit, UINT64_MAX)) {
      ++cuts_;
      break;
    }
  }
  Reset(client);
  Reset(server);
}

}  // namespace proofmill::e2e
