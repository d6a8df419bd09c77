// The service as a process: `proofmill serve`.

#ifndef PROOFMILL_SERVER_RUN_SERVER_H_
#define PROOFMILL_SERVER_RUN_SERVER_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/base/mutex.h"
#include "server/config.h"

namespace proofmill::server {

class Server;

// Why a service ended: it was asked to, or it has no device left that proves.
enum class ServeEnd { kStopped, kNoDeviceLeft };

// The wish to end, raised by the signal thread or by a change of health, and waited for by the main thread.
// Thread safety: every method may be called from any thread.
class StopRequest {
 public:
  // Only the first one counts.
  void Raise(ServeEnd why);
  // Waits until it is raised, or for `duration`; nothing if it is not raised.
  std::optional<ServeEnd> WaitFor(absl::Duration duration);

 private:
  engine::Mutex mu_;
  engine::CondVar changed_;
  std::optional<ServeEnd> why_ ABSL_GUARDED_BY(mu_);
};

// Says when the circuits have settled, and waits for the end: until `stop` is raised, or no device is left.
// `stop` must outlive the server.
ServeEnd ServeUntilStopped(Server& server, StopRequest& stop);

// Serves until SIGTERM or SIGINT, or until no device is left, drains, and returns. A second signal ends the
// process at once, with exit code 128 + signal. If a device hangs, the process ends with exit code 4 half a
// minute after the drain should have. REQUIRES: `config` passed ValidateConfig(); HardenProcess()
// was called first in main; no other thread runs.
//
// On standard output, for scripts, with the ports that were chosen:
//   proofmill listening data=IP:PORT admin=IP:PORT metrics=IP:PORT    the listeners are up; circuits are
//   loading proofmill ready data=IP:PORT admin=IP:PORT metrics=IP:PORT        every circuit has settled and
//   proofs can be made proofmill not ready: WHY                                          every circuit has
//   settled, but none can be proved
// The port file holds the same as the first line, in the form data=IP:PORT and so on, one a line.
// Logs go to standard error as JSON lines.
//
//   OK                drained; why it ended.
//   INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, PERMISSION_DENIED
//                     circuits, TLS files, port file or backend cannot be used as configured.
//   UNAVAILABLE       an address cannot be bound.
absl::StatusOr<ServeEnd> RunServer(const Config& config);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RUN_SERVER_H_
