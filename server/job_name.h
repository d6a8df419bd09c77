// Names of jobs, `jobs/INSTANCE/ID`, and of the process that holds them.
//
// INSTANCE is 16 random hexadecimal digits of the process, and behind a dash the address by which clients and
// other replicas reach it, if it knows one, in base64url: so that whoever is asked for the job of another
// process can say where it lives. ID is 32 random hexadecimal digits.
//
// Thread safety: plain values and pure functions.

#ifndef PROOFMILL_SERVER_JOB_NAME_H_
#define PROOFMILL_SERVER_JOB_NAME_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace proofmill::server {

struct Instance {
  std::string token;    // what stands in names
  std::string address;  // HOST:PORT, or empty
};
// An instance of this process.
//   INTERNAL  no randomness.
absl::StatusOr<Instance> MakeInstance(std::string_view address);

struct JobName {
  Instance instance;
  std::string id;
};
// A new name.
//   INTERNAL  no randomness.
absl::StatusOr<JobName> MakeJobName(const Instance& instance);
std::string ToText(const JobName& name);
// Nothing if `text` is no such name.
std::optional<JobName> ParseJobName(std::string_view text);

// UNAVAILABLE kWrongInstance, with the address as a payload, which GetOwnerAddress() gives back.
absl::Status WrongInstance(std::string_view address);
std::optional<std::string> GetOwnerAddress(const absl::Status& status);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_JOB_NAME_H_
