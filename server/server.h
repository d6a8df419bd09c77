// The service: the engine, the listeners in front of it, and the order in which they begin and end.
//
//   Start():     metrics, stores and pools, engine (begins to load circuits), admin listener,
//                data listener, metrics endpoint
//   Drain():     not ready any more -> serve on for the drain delay -> refuse new jobs ->
//                data listener ends when its calls have -> admin listener -> engine and its workers
//   destructor:  the rest in the reverse order of Start(), the metrics endpoint last
//
// Thread safety: address functions and health() from any thread, the rest from the owner's.

#ifndef PROOFMILL_SERVER_SERVER_H_
#define PROOFMILL_SERVER_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/dispatch/engine.h"
#include "engine/dispatch/job_runner.h"
#include "server/config.h"
#include "server/log.h"

namespace proofmill::server {

class Server {
 public:
  using Runners = std::vector<std::unique_ptr<engine::JobRunner>>;

  // Starts everything. Circuits go on loading in the background. `log` must outlive the server.
  //   INVALID_ARGUMENT                the files of TLS, API keys, tenants or the audit log are not good.
  //   UNAVAILABLE                     an address cannot be bound.
  //   NOT_FOUND, FAILED_PRECONDITION  the circuits cannot be listed.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const Config& config, Runners runners, Log& log);
  ~Server();  // Drain() with no time at all, unless it was drained
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // HOST:PORT with the ports that were chosen.
  const std::string& data_address() const;
  const std::string& admin_address() const;
  const std::string& metrics_address() const;

  engine::Engine& engine();

  // Ends the service; see above. `wait` is called first with the drain delay and then, when new jobs are
  // refused, with a short time for telling so; it sleeps for them. Idempotent.
  void Drain(const std::function<void(absl::Duration)>& wait);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  void Stop(absl::Duration grace);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_SERVER_H_
