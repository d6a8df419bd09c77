// gRPC's health protocol with three names: "" (can prove now), "live" (a restart would not help) and
// "started" (every circuit has settled). One object for each listener; needs no credential.
//
// Our own and not gRPC's built-in one, so that reflection shows it, that watchers end when the process
// drains, and that there is no switch for the whole process.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_SERVER_RPC_HEALTH_SERVICE_H_
#define PROOFMILL_SERVER_RPC_HEALTH_SERVICE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/dispatch/health.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace proofmill::server {

class HealthService final : public grpc::health::v1::Health::CallbackService {
 public:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;

  // Everything is NOT_SERVING at first, but for "live".
  HealthService();
  ~HealthService() override;

  // Tells those who watch, if something changed.
  void Set(const engine::HealthStatus& health);
  // Ends every Watch, now and later ones too: their clients come back elsewhere.
  void EndWatches();

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const grpc::health::v1::HealthCheckRequest* request,
                                  grpc::health::v1::HealthCheckResponse* response) override;
  grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse>* Watch(
      grpc::CallbackServerContext* context, const grpc::health::v1::HealthCheckRequest* request) override;

 private:
  class WatchCall;

  // SERVICE_UNKNOWN for a name that is none of the three.
  Status StatusLocked(const std::string& name) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<std::shared_ptr<WatchCall>> Watches();

  engine::Mutex mu_;
  std::map<std::string, Status> statuses_ ABSL_GUARDED_BY(mu_);
  uint64_t generation_ ABSL_GUARDED_BY(mu_) = 0;  // of statuses_
  std::vector<std::weak_ptr<WatchCall>> watches_ ABSL_GUARDED_BY(mu_);
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_HEALTH_SERVICE_H_
