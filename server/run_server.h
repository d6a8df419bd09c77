// The service as a process: `proofmill serve`.

#ifndef PROOFMILL_SERVER_RUN_SERVER_H_
#define PROOFMILL_SERVER_RUN_SERVER_H_

#include "absl/status/status.h"
#include "server/config.h"

namespace proofmill::server {

// Serves until SIGTERM or SIGINT, drains, and returns. A second signal ends the process at once, with exit
// code 128 + signal. REQUIRES: `config` passed ValidateConfig(); HardenProcess() was called first in main; no
// other thread runs.
//
// On standard output, for scripts, with the ports that were chosen:
//   proofmill listening data=IP:PORT admin=IP:PORT metrics=IP:PORT    the listeners are up; circuits are
//   loading proofmill ready data=IP:PORT admin=IP:PORT metrics=IP:PORT        every circuit has settled and
//   proofs can be made proofmill not ready: WHY                                          every circuit has
//   settled, but none can be proved
// The port file holds the same as the first line, in the form data=IP:PORT and so on, one a line.
// Logs go to standard error as JSON lines.
//
//   OK                drained.
//   INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, PERMISSION_DENIED
//                     circuits, TLS files, port file or backend cannot be used as configured.
//   UNAVAILABLE       an address cannot be bound.
absl::Status RunServer(const Config& config);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RUN_SERVER_H_
