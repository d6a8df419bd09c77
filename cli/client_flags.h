// The flags that all `proofmill client` commands share, and the client that they describe.

#ifndef PROOFMILL_CLI_CLIENT_FLAGS_H_
#define PROOFMILL_CLI_CLIENT_FLAGS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cli/flags.h"
#include "clients/cpp/client.h"

namespace proofmill::cli {

struct ClientFlags {
  client::ClientOptions options;
  absl::Duration deadline = absl::Seconds(30);

  // `deadline_help` says what --deadline bounds.
  void Declare(FlagSet& flags,
               absl::string_view deadline_help = "The longest time for the whole command, retries included.");
  // Errors as client::Client::Create().
  absl::StatusOr<std::unique_ptr<client::Client>> MakeClient() const;
};

// `status` with its reason in front of the message, if the service gave one: "QUEUE_FULL: 64 jobs wait".
absl::Status WithReasonInText(const absl::Status& status);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_CLIENT_FLAGS_H_
