#include "server/rpc/health_service.h"

#include <optional>
#include <utility>

namespace proofmill::server {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// One Watch RPC. It owns itself until OnDone(), which gRPC calls after Finish(); others hold weak pointers,
// or shared ones for the time of a call. One write is under way at a time (writing_); Finish() waits for it
// and is called once. gRPC is never called with mu_ held.
class HealthService::WatchCall final : public grpc::ServerWriteReactor<HealthCheckResponse>,
                                       public std::enable_shared_from_this<WatchCall> {
 public:
  explicit WatchCall(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void KeepAlive() { self_ = shared_from_this(); }

  // A status is dropped if a later one, by its generation, was told before.
  void Tell(Status status, uint64_t generation) {
    {
      engine::MutexLock lock(mu_);
      if (wanted_.has_value() && generation < generation_) return;
      generation_ = generation;
      wanted_ = status;
    }
    Pump();
  }
  void End(const grpc::Status& status) {
    {
      engine::MutexLock lock(mu_);
      if (!outcome_.has_value()) outcome_ = status;
    }
    Pump();
  }

  void OnWriteDone(bool ok) override {
    {
      engine::MutexLock lock(mu_);
      writing_ = false;
      if (!ok && !outcome_.has_value()) outcome_ = grpc::Status::CANCELLED;
    }
    Pump();
  }
  void OnCancel() override { End(grpc::Status::CANCELLED); }
  void OnDone() override { const auto self = std::move(self_); }

 private:
  void Pump() {
    const auto self = shared_from_this();
    std::optional<grpc::Status> finish;
    {
      engine::MutexLock lock(mu_);
      if (writing_ || finished_) return;
      if (outcome_.has_value()) {
        finished_ = true;
        finish = outcome_;
      } else if (wanted_ != told_) {
        writing_ = true;
        told_ = wanted_;
        response_.set_status(*told_);
      } else {
        return;
      }
    }
    if (finish.has_value()) {
      Finish(*finish);
    } else {
      StartWrite(&response_);
    }
  }

  const std::string name_;
  std::shared_ptr<WatchCall> self_;
  HealthCheckResponse response_;  // touched by whoever has set writing_
  engine::Mutex mu_;
  std::optional<Status> wanted_ ABSL_GUARDED_BY(mu_);
  uint64_t generation_ ABSL_GUARDED_BY(mu_) = 0;
  std::optional<Status> told_ ABSL_GUARDED_BY(mu_);
  std::optional<grpc::Status> outcome_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

HealthService::HealthService() {
  engine::MutexLock lock(mu_);
  statuses_ = {{"", HealthCheckResponse::NOT_SERVING},
               {"live", HealthCheckResponse::SERVING},
               {"started", HealthCheckResponse::NOT_SERVING}};
}

HealthService::~HealthService() = default;

void HealthService::Set(const engine::HealthStatus& health) {
  const auto status = [](bool good) {
    return good ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
  };
  {
    engine::MutexLock lock(mu_);
    statuses_[""] = status(health.ready);
    statuses_["live"] = status(health.live);
    statuses_["started"] = status(health.started);
    ++generation_;
  }
  for (const auto& watch : Watches()) {
    Status now;
    uint64_t generation;
    {
      engine::MutexLock lock(mu_);
      now = StatusLocked(watch->name());
      generation = generation_;
    }
    watch->Tell(now, generation);
  }
}

void HealthService::EndWatches() {
  {
    engine::MutexLock lock(mu_);
    ended_ = true;
  }
  for (const auto& watch : Watches()) {
    watch->End(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the service is shutting down"));
  }
}

grpc::ServerUnaryReactor* HealthService::Check(grpc::CallbackServerContext* context,
                                               const HealthCheckRequest* request,
                                               HealthCheckResponse* response) {
  Status status;
  {
    engine::MutexLock lock(mu_);
    status = StatusLocked(request->service());
  }
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  if (status == HealthCheckResponse::SERVICE_UNKNOWN) {
    reactor->Finish(
        grpc::Status(grpc::StatusCode::NOT_FOUND, "expected the service '', 'live' or 'started'"));
  } else {
    response->set_status(status);
    reactor->Finish(grpc::Status::OK);
  }
  return reactor;
}

grpc::ServerWriteReactor<HealthCheckResponse>* HealthService::Watch(grpc::CallbackServerContext*,
                                                                    const HealthCheckRequest* request) {
  const auto watch = std::make_shared<WatchCall>(request->service());
  watch->KeepAlive();
  Status status;
  uint64_t generation;
  bool ended;
  {
    engine::MutexLock lock(mu_);
    status = StatusLocked(request->service());
    generation = generation_;
    ended = ended_;
    std::erase_if(watches_, [](const auto& weak) { return weak.expired(); });
    watches_.push_back(watch);
  }
  watch->Tell(status, generation);
  if (ended) watch->End(grpc::Status(grpc::StatusCode::UNAVAILABLE, "the service is shutting down"));
  return watch.get();
}

HealthService::Status HealthService::StatusLocked(const std::string& name) const {
  const auto found = statuses_.find(name);
  return found == statuses_.end() ? HealthCheckResponse::SERVICE_UNKNOWN : found->second;
}

std::vector<std::shared_ptr<HealthService::WatchCall>> HealthService::Watches() {
  std::vector<std::shared_ptr<WatchCall>> alive;
  engine::MutexLock lock(mu_);
  for (const auto& weak : watches_) {
    if (auto watch = weak.lock()) alive.push_back(std::move(watch));
  }
  return alive;
}

}  // namespace proofmill::server
