// Machine-readable reasons for errors, and the advice when to try again.
//
// An absl::Status says what kind of error it is (its code) and tells a person about it (its message). Clients
// of the service also need to tell apart errors that share a code: a full queue and an exhausted quota are
// both RESOURCE_EXHAUSTED. The reason is one of the closed list below; it travels as a payload of the status
// and leaves the service as the `reason` of google.rpc.ErrorInfo, domain "proofmill". The retry delay leaves
// as google.rpc.RetryInfo.
//
// The list is part of the API: a reason may be added, but never renamed or given another meaning.
//
// Thread safety: as absl::Status.

#ifndef PROOFMILL_ENGINE_BASE_ERROR_REASON_H_
#define PROOFMILL_ENGINE_BASE_ERROR_REASON_H_

#include <chrono>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace proofmill::engine {

// The code beside each reason is the one that it comes with.
enum class ErrorReason {
  // Overload and time.
  kQueueFull,            // RESOURCE_EXHAUSTED   the queue has no room for the job or its witness; retry later
  kQuotaExceeded,        // RESOURCE_EXHAUSTED   the tenant used up its share; retry later
  kMessageTooLarge,      // RESOURCE_EXHAUSTED   more bytes than a message or a witness may have; never retry
  kOutOfMemory,          // RESOURCE_EXHAUSTED   memory ran out while the job ran; retry later
  kDeadlineUnreachable,  // DEADLINE_EXCEEDED    refused at once: the estimated wait is longer than the
                         // deadline
  kDeadlineExpired,      // DEADLINE_EXCEEDED    the deadline passed while the job was queued or running
  kCancelled,            // CANCELLED            the client gave the job up
  // The request.
  kRequestInvalid,     // INVALID_ARGUMENT   a field is missing, malformed or out of range
  kRequestIdConflict,  // ALREADY_EXISTS     the request id was used before with other content
  kNotSupported,       // UNIMPLEMENTED      this build or version cannot do what was asked
  kJobUnknown,         // NOT_FOUND          no such job, or another tenant's
  // The witness.
  kWitnessMalformed,     // INVALID_ARGUMENT  not a witness file, or its first value is not 1
  kWitnessLength,        // INVALID_ARGUMENT  another number of values than the circuit has wires
  kWitnessNotCanonical,  // INVALID_ARGUMENT  a value is not below the field's modulus
  kWitnessUnsatisfied,   // INVALID_ARGUMENT  the values do not satisfy the circuit's constraints
  // Proofs, verification keys and public signals given for verification.
  kProofMalformed,          // INVALID_ARGUMENT  a point or number is malformed or out of range
  kPublicSignalsMalformed,  // INVALID_ARGUMENT  wrong count of public signals, or one is out of range
  // Key files.
  kKeyMalformed,  // INVALID_ARGUMENT     not a proving key that can be used; the message names section and
                  // lengths
  kKeyUnsafe,     // FAILED_PRECONDITION  an unsafe or test-only set-up that no flag accepted
  // Circuits.
  kCircuitUnknown,   // NOT_FOUND            no circuit has this id
  kCircuitLoading,   // UNAVAILABLE          the key is being loaded; retry later
  kCircuitFailed,    // FAILED_PRECONDITION  the key could not be loaded; GetCircuit says why
  kVersionMismatch,  // FAILED_PRECONDITION  the pinned version is not the loaded one
  kAliasConflict,    // FAILED_PRECONDITION  a circuit has the alias's name, or an alias points to the circuit
  // Uploads.
  kUploadUnknown,     // NOT_FOUND            no such upload, another tenant's, or expired
  kUploadIncomplete,  // FAILED_PRECONDITION  bytes are missing
  kUploadOffset,    // INVALID_ARGUMENT     the chunk leaves a gap or ends beyond the size that was announced
  kUploadChecksum,  // INVALID_ARGUMENT     a chunk or the whole does not have the checksum that was announced
  // This process.
  kDraining,         // UNAVAILABLE  shutting down; retry elsewhere
  kNoDevice,         // UNAVAILABLE  no device can prove now
  kWrongInstance,    // UNAVAILABLE  the job lives in another replica; the message holds its address
  kSelfCheckFailed,  // INTERNAL     the proof did not verify and the device is to blame; the job may be
                     // retried
  kDeviceFault,      // INTERNAL     the device failed
  kInternal,         // INTERNAL     a fault of ours
  // Access.
  kUnauthenticated,   // UNAUTHENTICATED    no valid credential
  kPermissionDenied,  // PERMISSION_DENIED  the credential does not allow the call
};

// Every reason, in the order of the enumeration.
absl::Span<const ErrorReason> AllErrorReasons();

// The name on the wire, for instance "QUEUE_FULL".
std::string_view ReasonName(ErrorReason reason);
std::optional<ErrorReason> ReasonFromName(std::string_view name);

// `status` with the reason added; one that it has already is replaced. An OK status stays as it is.
[[nodiscard]] absl::Status WithReason(absl::Status status, ErrorReason reason);
// The reason of `status`, or nothing: an OK status, or an error that was made without one.
std::optional<ErrorReason> GetReason(const absl::Status& status);

// `status` with the advice not to try again before `delay` has passed. An OK status stays as it is.
// Negative delays count as zero.
[[nodiscard]] absl::Status WithRetryDelay(absl::Status status, std::chrono::milliseconds delay);
std::optional<std::chrono::milliseconds> GetRetryDelay(const absl::Status& status);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BASE_ERROR_REASON_H_
