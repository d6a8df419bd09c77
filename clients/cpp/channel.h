// Channels to a service: credentials, keepalive, limits, and the API key that goes with each call.
//
// Thread safety: all functions may be called from any thread.

#ifndef PROOFMILL_CLIENTS_CPP_CHANNEL_H_
#define PROOFMILL_CLIENTS_CPP_CHANNEL_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/cpp/options.h"

namespace proofmill::client {

// A channel for `options.target`, not yet connected. gRPC's own retry is off: it cannot repeat a call larger
// than its 256 KiB buffer, and Client retries all calls alike.
//   INVALID_ARGUMENT  an empty target, a certificate without key or the reverse, or a file that cannot be
//   read.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannel(const ClientOptions& options);

// A channel to another replica of the service at options.target, whose address that service told. It must
// show a certificate for the same name, so that whoever could make up an address gains nothing by it.
//   FAILED_PRECONDITION  the API key would travel in clear text to another machine.
absl::StatusOr<std::shared_ptr<grpc::Channel>> MakeChannelToReplica(const ClientOptions& options,
                                                                    absl::string_view address);

// The value of the `authorization` metadata, or an empty string without `options.api_key_file`. Whoever gets
// it wipes it.
//   INVALID_ARGUMENT     the file cannot be read, or what it holds is not one line of printable ASCII.
//   FAILED_PRECONDITION  the key would travel in clear text to another machine.
absl::StatusOr<std::string> ReadAuthorization(const ClientOptions& options);

// Overwrites a text that holds a secret.
void WipeText(std::string& text);

// True if `target` names this machine: a Unix socket, 127.0.0.0/8, ::1 or localhost.
bool IsLoopbackTarget(absl::string_view target);

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_CHANNEL_H_
