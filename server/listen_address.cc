#include "server/listen_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/status/status.h"
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
