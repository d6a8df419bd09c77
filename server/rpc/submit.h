// From the bytes of a secret input to a job in the queue, for all calls that prove.
//
// The bytes are read, checked and copied into a buffer that wipes itself; whoever owns them wipes them
// afterwards.
//
// Thread safety: every function may be called from any thread.

#ifndef PROOFMILL_SERVER_RPC_SUBMIT_H_
#define PROOFMILL_SERVER_RPC_SUBMIT_H_

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/dispatch/engine.h"
#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

struct Submission {
  const Spec& spec;
  const Claims& claims;  // of a polynomial
  // The circuit that the name in `spec` meant when the call came. Null: the engine looks it up.
  engine::CircuitPtr circuit = nullptr;
  std::optional<engine::Clock::time_point> deadline;
  engine::ProveCallback done;
  engine::ProgressCallback progress;  // may be empty
};

using TicketOr = absl::StatusOr<std::shared_ptr<engine::Ticket>>;

// When a call that the client keeps open is over: at its deadline, and `deadline_max` from now at the latest.
engine::Clock::time_point CallDeadline(const ServiceContext& services,
                                       std::chrono::system_clock::time_point deadline);

// RESOURCE_EXHAUSTED kOutOfMemory, for a witness that memory cannot be had for.
absl::Status NoMemoryForWitness();

// Submits an input that came in one message, or a complete upload, which is used up. Errors: those of
// Engine::Submit() and of SubmitUpload(), and
//   INVALID_ARGUMENT kRequestInvalid     the input is of another proof system than the circuit.
//   RESOURCE_EXHAUSTED kMessageTooLarge  more than the message limit of the service.
// After an error no callback is called.
TicketOr SubmitInput(ServiceContext& services, const InputPlace& input, Submission submission);

// Submits a complete upload and uses it up. It stays, however, if the error says that waiting helps.
// Errors: also those of UploadStore::Take().
TicketOr SubmitUpload(ServiceContext& services, std::string_view upload, Submission submission);

// The circuit that a request is for. Errors: those of CircuitRegistry::FindReady().
absl::StatusOr<engine::CircuitPtr> FindCircuit(ServiceContext& services, const Spec& spec);

// Takes room for a witness of `circuit` that is about to come, or refuses it.
//   INVALID_ARGUMENT kWitnessLength  an input of that size cannot fit the circuit.
//   otherwise                        as Engine::Reserve().
absl::StatusOr<engine::Reservation> ReserveWitness(ServiceContext& services, const Spec& spec,
                                                   const engine::CircuitPtr& circuit, uint64_t size_bytes,
                                                   std::optional<engine::Clock::time_point> deadline,
                                                   bool with_job_slot);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_SUBMIT_H_
