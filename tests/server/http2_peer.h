// A peer that speaks just enough HTTP/2 (RFC 9113) to misbehave: no calls, only settings and pings, on a
// socket.
//
// Thread safety: one object is for one thread.

#ifndef PROOFMILL_TESTS_SERVER_HTTP2_PEER_H_
#define PROOFMILL_TESTS_SERVER_HTTP2_PEER_H_

#include <cstdint>
#include <optional>
#include <string>

namespace proofmill::server {

class Http2Peer {
 public:
  static constexpr uint8_t kSettings = 4, kPing = 6, kGoaway = 7;
  static constexpr uint8_t kAck = 1;

  // Connects to HOST:PORT and opens the connection with empty settings.
  explicit Http2Peer(const std::string& address);
  ~Http2Peer();
  Http2Peer(const Http2Peer&) = delete;
  Http2Peer& operator=(const Http2Peer&) = delete;

  struct Frame {
    uint8_t type;
    uint8_t flags;
    std::string payload;
  };
  // The next frame, or nothing when the other side has closed or is silent for a minute.
  std::optional<Frame> Read();
  void Send(uint8_t type, uint8_t flags, const std::string& payload);

 private:
  bool ReadBytes(std::string& out, size_t count);
  int fd_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_TESTS_SERVER_HTTP2_PEER_H_
