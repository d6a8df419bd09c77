// The HTTP endpoint that Prometheus scrapes: http://ADDRESS/metrics.
//
// Thread safety: address() from any thread; the rest from the owner's.

#ifndef PROOFMILL_SERVER_METRICS_ENDPOINT_H_
#define PROOFMILL_SERVER_METRICS_ENDPOINT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace prometheus {
class Collectable;
class Exposer;
}  // namespace prometheus

namespace proofmill::server {

class MetricsEndpoint {
 public:
  // Binds IP:PORT and answers with what `source` collects.
  //   UNAVAILABLE  the address cannot be bound.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(
      const std::string& address, const std::shared_ptr<prometheus::Collectable>& source);
  // Ends scrapes that are under way. Takes milliseconds.
  ~MetricsEndpoint();
  MetricsEndpoint(const MetricsEndpoint&) = delete;
  MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  // IP:PORT with the port that was chosen.
  const std::string& address() const { return address_; }

 private:
  MetricsEndpoint(std::unique_ptr<prometheus::Exposer> exposer, std::string address);

  std::unique_ptr<prometheus::Exposer> exposer_;
  const std::string address_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_METRICS_ENDPOINT_H_
