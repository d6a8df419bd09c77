// The address that a listener binds: HOST:PORT with an IPv4 address, an IPv6 address in brackets, or
// `localhost`. Other names are refused: what they resolve to is not known when the configuration is checked.

#ifndef PROOFMILL_SERVER_LISTEN_ADDRESS_H_
#define PROOFMILL_SERVER_LISTEN_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace proofmill::server {

struct ListenAddress {
  std::string host;  // without brackets
  uint16_t port;     // 0: the kernel chooses

  // HOST:PORT, with brackets where they are needed.
  std::string ToString() const;
  // True when only this machine can reach the address: 127.0.0.0/8, ::1, localhost.
  bool IsLoopback() const;
  // True for 0.0.0.0 and ::, which stand for all addresses of this machine.
  bool IsWildcard() const;
};

//   INVALID_ARGUMENT  not HOST:PORT, a host that is no address, or a port above 65535.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text);

// `address` for the calls of the system; `localhost` is 127.0.0.1.
struct SocketAddress {
  explicit SocketAddress(const ListenAddress& address);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }

  sockaddr_storage storage{};
  socklen_t length = 0;
};

// What the system says against binding `address` now, such as "Address already in use"; empty if nothing.
std::string WhyNotBindable(const ListenAddress& address);

// The error of the listener called `name`, which a library could not bind to the address of the flag
// `setting`, with the cause that shows when it is tried again.
absl::Status CannotBind(std::string_view name, std::string_view setting, const ListenAddress& address);

// True when `peer`, as gRPC names it (ipv4:127.0.0.1:40000, ipv6:%5B::1%5D:40000), is on this machine.
bool IsLoopbackPeer(std::string_view peer);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_LISTEN_ADDRESS_H_
