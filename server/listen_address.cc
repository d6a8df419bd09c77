#include "server/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace proofmill::server {
namespace {

bool IsIpv4(const std::string& host) {
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool IsIpv6(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool IsLoopbackHost(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1) return false;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6);
}

absl::Status Malformed(std::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("a listening address must be IP:PORT (such as 127.0.0.1:50051 or [::1]:50051), got '",
                   absl::string_view(text.data(), text.size()), "'"));
}

}  // namespace

std::string ListenAddress::ToString() const {
  if (IsIpv6(host)) return absl::StrCat("[", host, "]:", port);
  return absl::StrCat(host, ":", port);
}

bool ListenAddress::IsLoopback() const { return IsLoopbackHost(host); }

bool ListenAddress::IsWildcard() const {
  in_addr v4;
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return v4.s_addr == INADDR_ANY;
  in6_addr v6;
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_UNSPECIFIED(&v6);
}

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return Malformed(text);
  std::string host(text.substr(0, colon));
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const bool valid_host = bracketed ? IsIpv6(host) : (IsIpv4(host) || host == "localhost");
  uint32_t port = 0;
  const std::string port_text(text.substr(colon + 1));
  if (!valid_host || port_text.find_first_not_of("0123456789") != std::string::npos ||
      !absl::SimpleAtoi(port_text, &port) || port > 65535) {
    return Malformed(text);
  }
  return ListenAddress{host, static_cast<uint16_t>(port)};
}

SocketAddress::SocketAddress(const ListenAddress& address) {
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    length = sizeof(v6);
    std::memcpy(&storage, &v6, sizeof(v6));
    return;
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(address.port);
  if (inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) != 1)
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  length = sizeof(v4);
  std::memcpy(&storage, &v4, sizeof(v4));
}

std::string WhyNotBindable(const ListenAddress& address) {
  const SocketAddress target(address);
  const int fd = socket(target.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::system_category().message(errno);
  // As the listeners do: connections of an earlier process that are not quite over are no obstacle.
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  std::string why;
  if (bind(fd, target.get(), target.length) != 0) why = std::system_category().message(errno);
  close(fd);
  return why;
}

absl::Status CannotBind(std::string_view name, std::string_view setting, const ListenAddress& address) {
  const std::string why = WhyNotBindable(address);
  return absl::UnavailableError(absl::StrCat(
      "cannot bind the ", absl::string_view(name.data(), name.size()), " listener to ", address.ToString(),
      ": ", why.empty() ? "it could be bound a moment later, so try again" : why, "; --",
      absl::string_view(setting.data(), setting.size()), " takes another address"));
}

bool IsLoopbackPeer(std::string_view peer) {
  absl::string_view rest(peer.data(), peer.size());
  const bool v4 = absl::ConsumePrefix(&rest, "ipv4:");
  if (!v4 && !absl::ConsumePrefix(&rest, "ipv6:")) return false;
  const size_t colon = rest.rfind(':');
  if (colon == absl::string_view::npos) return false;
  rest = rest.substr(0, colon);
  if (!v4) {
    // The brackets come percent-encoded, since the name is a URI.
    if (!absl::ConsumePrefix(&rest, "%5B")) absl::ConsumePrefix(&rest, "[");
    if (!absl::ConsumeSuffix(&rest, "%5D")) absl::ConsumeSuffix(&rest, "]");
  }
  return IsLoopbackHost(std::string(rest));
}

}  // namespace proofmill::server
