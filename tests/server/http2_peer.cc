#include "tests/server/http2_peer.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "server/listen_address.h"

namespace proofmill::server {
namespace {

constexpr size_t kHeaderBytes = 9;

}  // namespace

Http2Peer::Http2Peer(const std::string& address_text) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const auto address = ParseListenAddress(address_text);
  EXPECT_TRUE(address.ok()) << address.status();
  sockaddr_in target{};
  target.sin_family = AF_INET;
  target.sin_port = htons(address->port);
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd_, reinterpret_cast<const sockaddr*>(&target), sizeof(target)), 0);
  const timeval patience{.tv_sec = 60, .tv_usec = 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  EXPECT_EQ(send(fd_, preface.data(), preface.size(), MSG_NOSIGNAL), static_cast<ssize_t>(preface.size()));
  Send(kSettings, 0, "");
}

Http2Peer::~Http2Peer() { close(fd_); }

std::optional<Http2Peer::Frame> Http2Peer::Read() {
  std::string header, payload;
  if (!ReadBytes(header, kHeaderBytes)) return std::nullopt;
  const auto byte = [&header](size_t i) { return static_cast<uint8_t>(header[i]); };
  const size_t length = size_t{byte(0)} << 16 | size_t{byte(1)} << 8 | byte(2);
  if (!ReadBytes(payload, length)) return std::nullopt;
  return Frame{byte(3), byte(4), payload};
}

// A peer that is gone takes nothing; whoever reads sees that.
void Http2Peer::Send(uint8_t type, uint8_t flags, const std::string& payload) {
  std::string frame(kHeaderBytes, '\0');
  frame[2] = static_cast<char>(payload.size());
  frame[3] = static_cast<char>(type);
  frame[4] = static_cast<char>(flags);
  frame += payload;
  [[maybe_unused]] const ssize_t sent = send(fd_, frame.data(), frame.size(), MSG_NOSIGNAL);
}

bool Http2Peer::ReadBytes(std::string& out, size_t count) {
  while (out.size() < count) {
    char buffer[4096];
    const size_t wanted = count - out.size() < sizeof(buffer) ? count - out.size() : sizeof(buffer);
    const ssize_t got = recv(fd_, buffer, wanted, 0);
    if (got <= 0) return false;
    out.append(buffer, static_cast<size_t>(got));
  }
  return true;
}

}  // namespace proofmill::server
