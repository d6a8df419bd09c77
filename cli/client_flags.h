// The flags that all `proofmill client` commands share, and the client that they describe.

#ifndef PROOFMILL_CLI_CLIENT_FLAGS_H_
#define PROOFMILL_CLI_CLIENT_FLAGS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cli/flags.h"
#include "clients/cpp/client.h"
#include "engine/base/host_buffer.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::cli {

// Where operators' commands go if nothing else is said.
inline constexpr char kAdminTarget[] = "127.0.0.1:50052";

struct ClientFlags {
  client::ClientOptions options;
  absl::Duration deadline = absl::Seconds(30);

  // `deadline_help` says what --deadline bounds.
  void Declare(FlagSet& flags,
               absl::string_view deadline_help = "The longest time for the whole command, retries included.");
  // Errors as client::Client::Create().
  absl::StatusOr<std::unique_ptr<client::Client>> MakeClient() const;
};

// `status` with its reason in front of the message, if the service gave one: "QUEUE_FULL: 64 jobs wait"; and
// with what to do next behind it, where that helps.
absl::Status WithReasonInText(const absl::Status& status);

// `status` with its reason, as WithReasonInText(); one that means that --deadline has passed says how long
// that was, and what was going on then, as DescribeProgress() has it.
absl::Status WithDeadlineInText(const absl::Status& status, absl::Duration deadline, absl::string_view last);

// What a --priority of "low", "normal" or "high" means.
proofmill::v1::Priority PriorityOf(absl::string_view name);

// The bytes of a witness file, wiped at their end.
//   errors of engine::RandomAccessFile.
absl::StatusOr<engine::SecretBuffer<uint8_t>> ReadWitnessFile(const std::string& path);

// What the status line says while the service works.
std::string DescribeProgress(const client::Progress& progress);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_CLIENT_FLAGS_H_
