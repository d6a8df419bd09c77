// A TCP proxy on loopback that cuts its connections when a test wants it to: the bad network of a client.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_TESTS_E2E_CUTTING_PROXY_H_
#define PROOFMILL_TESTS_E2E_CUTTING_PROXY_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace proofmill::e2e {

class CuttingProxy {
 public:
  // Passes connections on to `target` ("127.0.0.1:PORT").
  explicit CuttingProxy(const std::string& target);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  // The next connection that has sent so many bytes to the target is cut, once.
  void CutAfter(uint64_t bytes) { cut_after_ = bytes; }

  int connections() const { return connections_; }
  int cuts() const { return cuts_; }

 private:
  void Accept();
  void Serve(int client);

  uint16_t port_ = 0;
  uint16_t target_port_ = 0;
  int listener_ = -1;
  std::atomic<uint64_t> cut_after_{UINT64_MAX};
  std::atomic<int> connections_{0};
  std::atomic<int> cuts_{0};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> serving_;  // of the accepting thread alone until it has ended
  std::thread accepting_;
};

}  // namespace proofmill::e2e

#endif  // PROOFMILL_TESTS_E2E_CUTTING_PROXY_H_
