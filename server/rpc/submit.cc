#include "server/rpc/submit.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;

absl::StatusOr<engine::Reservation> Reserve(ServiceContext& services, const Spec& spec,
                                            const engine::CircuitPtr& circuit, uint64_t witness_bytes,
                                            std::optional<engine::Clock::time_point> deadline,
                                            bool with_job_slot) {
  engine::ReserveRequest request;
  request.circuit = spec.circuit;
  request.found = circuit;
  request.witness_bytes = witness_bytes + ApiOf(circuit->system).Sizes(*circuit).beside;
  request.priority = spec.priority;
  request.deadline = deadline;
  request.tenant = spec.tenant;
  request.request_id = spec.request_id;
  request.with_job_slot = with_job_slot;
  return services.engine.Reserve(request);
}

// The circuit of a submission.
absl::StatusOr<engine::CircuitPtr> CircuitOf(ServiceContext& services, const Submission& submission) {
  if (submission.circuit != nullptr) return submission.circuit;
  return FindCircuit(services, submission.spec);
}

// The common part. `reservation` covers `bytes`, which are whole again after an error.
TicketOr Submit(ServiceContext& services, const engine::CircuitPtr& circuit, engine::ReceivedInput& bytes,
                engine::Reservation reservation, Submission submission) {
  engine::ProveRequest request;
  PROOFMILL_ASSIGN_OR_RETURN(request.witness,
                             ApiOf(circuit->system).ReadInput(*circuit, bytes, submission.claims));
  request.circuit = submission.spec.circuit;
  request.version = submission.spec.version;
  // The witness was checked against this one, so no other may prove it.
  request.found = circuit;
  request.priority = submission.spec.priority;
  request.deadline = submission.deadline;
  request.request_id = submission.spec.request_id;
  request.tenant = submission.spec.tenant;
  request.reservation = std::move(reservation);
  TicketOr ticket =
      services.engine.Submit(std::move(request), std::move(submission.done), std::move(submission.progress));
  // The engine leaves the witness where it was if it does not take the request.
  if (!ticket.ok() && bytes.values_taken()) {
    bytes.GiveBack(
        std::move(std::get<engine::Witness>(request.witness).values));  // NOLINT(bugprone-use-after-move)
  }
  return ticket;
}

// Copies an input to where it is read, and wipes it where it was.
engine::ReceivedInput Receive(SecretField& field) {
  engine::ReceivedInput bytes(field.size());
  uint64_t offset = 0;
  field.Drain([&](std::string_view piece) {
    bytes.Write(offset, {reinterpret_cast<const uint8_t*>(piece.data()), piece.size()});
    offset += piece.size();
  });
  return bytes;
}

}  // namespace

engine::Clock::time_point CallDeadline(const ServiceContext& services,
                                       std::chrono::system_clock::time_point deadline) {
  engine::Clock& clock = services.engine.clock();
  return std::min(ToEngineDeadline(deadline, clock).value_or(engine::Clock::time_point::max()),
                  clock.Now() + services.limits.deadline_max);
}

absl::Status NoMemoryForWitness() {
  return engine::WithReason(absl::ResourceExhaustedError("there is no memory for the witness"),
                            ErrorReason::kOutOfMemory);
}

absl::StatusOr<engine::CircuitPtr> FindCircuit(ServiceContext& services, const Spec& spec) {
  return services.engine.circuits().FindReady(spec.circuit, spec.version);
}

TicketOr SubmitInput(ServiceContext& services, const InputPlace& input, Submission submission) try {
  const uint64_t bytes_max = services.limits.message_bytes_max;
  if (!input.in_upload && input.bytes->size() > bytes_max) {
    return engine::WithReason(absl::ResourceExhaustedError(absl::StrCat(
                                  "expected a witness of at most ", bytes_max, " bytes in one message, got ",
                                  input.bytes->size(), "; ProveStream and UploadService take larger ones")),
                              ErrorReason::kMessageTooLarge);
  }
  PROOFMILL_ASSIGN_OR_RETURN(const engine::CircuitPtr circuit, CircuitOf(services, submission));
  if (input.system != circuit->system) {
    return InvalidRequest(absl::StrCat(
        "input: expected ", std::string(engine::ProofSystemName(circuit->system)), ", as the circuit ",
        circuit->id, " is, got ", std::string(engine::ProofSystemName(input.system))));
  }
  submission.circuit = circuit;
  if (input.in_upload) return SubmitUpload(services, input.upload, std::move(submission));
  // The size is not checked against the circuit here: the reader says more about what is wrong. A request
  // with an id may turn out to be a repeated one, which needs no place in the queue, so it gets none before
  // that is known.
  PROOFMILL_ASSIGN_OR_RETURN(
      engine::Reservation reservation,
      Reserve(services, submission.spec, circuit, input.bytes->size(), submission.deadline,
              /*with_job_slot=*/submission.spec.request_id.empty()));
  engine::ReceivedInput bytes = Receive(*input.bytes);
  return Submit(services, circuit, bytes, std::move(reservation), std::move(submission));
} catch (const std::bad_alloc&) {
  return NoMemoryForWitness();
}

TicketOr SubmitUpload(ServiceContext& services, std::string_view upload, Submission submission) try {
  PROOFMILL_ASSIGN_OR_RETURN(const engine::CircuitPtr circuit, CircuitOf(services, submission));
  PROOFMILL_ASSIGN_OR_RETURN(UploadStore::TakenUpload taken,
                             services.uploads.Take(submission.spec.tenant, upload, submission.spec.circuit));
  const Spec& spec = submission.spec;
  TicketOr ticket =
      Submit(services, circuit, taken.bytes, std::move(taken.reservation), std::move(submission));
  if (ticket.ok() || !engine::GetRetryDelay(ticket.status()).has_value()) return ticket;
  // The engine let go of the reservation with the witness. Without a new one the upload cannot stay.
  auto reservation =
      ReserveWitness(services, spec, circuit, taken.info.size_bytes, std::nullopt, /*with_job_slot=*/false);
  if (reservation.ok()) {
    taken.reservation = *std::move(reservation);
    services.uploads.PutBack(std::move(taken));
  }
  return ticket;
} catch (const std::bad_alloc&) {
  return NoMemoryForWitness();
}

absl::StatusOr<engine::Reservation> ReserveWitness(ServiceContext& services, const Spec& spec,
                                                   const engine::CircuitPtr& circuit, uint64_t size_bytes,
                                                   std::optional<engine::Clock::time_point> deadline,
                                                   bool with_job_slot) {
  PROOFMILL_RETURN_IF_ERROR(ApiOf(circuit->system).CheckSize(*circuit, size_bytes));
  return Reserve(services, spec, circuit, size_bytes, deadline, with_job_slot);
}

}  // namespace proofmill::server
