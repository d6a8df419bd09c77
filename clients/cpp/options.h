// How a Client reaches a service and how patient it is.

#ifndef PROOFMILL_CLIENTS_CPP_OPTIONS_H_
#define PROOFMILL_CLIENTS_CPP_OPTIONS_H_

#include <cstddef>
#include <string>

#include "absl/time/time.h"

namespace proofmill::client {

// Delays grow from `backoff_first` by `backoff_factor` up to `backoff_max`, each with full jitter. A delay
// that the service asks for (google.rpc.RetryInfo or the push-back trailer) is kept in full and gets up to a
// quarter of itself on top, so that clients refused together do not come back together.
struct RetryPolicy {
  absl::Duration backoff_first = absl::Milliseconds(100);
  absl::Duration backoff_max = absl::Seconds(2);
  double backoff_factor = 2;
  // Attempts in a row that fail without advice from the service, a refused connection above all. Refusals
  // with advice ("the queue is full, come back in 300 ms") are retried until the deadline.
  int attempts_max = 8;
  // False: advice does not count, so that with attempts_max = 1 every refusal is final and seen as it is.
  bool follow_advice = true;
};

struct ClientOptions {
  // As gRPC writes it: "host:port", "dns:///host:port", "unix:/path".
  std::string target;

  // TLS is on if `tls` is true or any of the files is given. All files are PEM.
  bool tls = false;
  std::string ca_file;    // roots that the server's certificate must lead to; empty: those of the system
  std::string cert_file;  // this client's certificate and its key, for mutual TLS: both or neither
  std::string key_file;
  // Overrides the name that the server's certificate must carry, for tests and tunnels.
  std::string tls_server_name;

  // A file that holds an API key and perhaps a line end. The key goes out with each call as `authorization:
  // Bearer KEY`, and only over TLS or to a loopback address.
  std::string api_key_file;

  // Witness files up to this size go in one message, larger ones through a stream, or an upload if they are
  // for a job.
  size_t unary_bytes_max = size_t{1} << 20;
  // No more goes in one message even where the caller asks for that: Protocol Buffers have a limit of 2 GiB
  // for a message, all of it, and a service may have a lower one.
  size_t message_bytes_max = (size_t{1} << 31) - (size_t{1} << 20);

  RetryPolicy retry;
};

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_OPTIONS_H_
