#include "server/rpc/prove_call.h"

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "proofmill/v1/prover.pb.h"
#include "server/rpc/call_record.h"
#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/submit.h"

namespace proofmill::server {
namespace {

// Parsed, checked and copied in less than half a millisecond.
constexpr size_t kSmallBytesMax = size_t{1} << 20;

// One Prove RPC. gRPC owns no part of this object: it lives from the handler until OnDone(), which gRPC calls
// only after Finish() and after the handler has returned the reactor. Finish() is called exactly once: by
// Start() when the request is refused, and then the engine never calls back; or by the engine's callback,
// which comes exactly once whatever happens to the job. So both may use `this` freely, and Start() may touch
// members after the submission.
class ProveCall final : public grpc::ServerUnaryReactor {
 public:
  ProveCall(ServiceContext& services, grpc::CallbackServerContext& context, grpc::ByteBuffer& response)
      : services_(services),
        context_(context),
        response_(response),
        record_(services, Method::kProve, context) {}

  void Start(const grpc::ByteBuffer& bytes) {
    if (bytes.Length() <= kSmallBytesMax) services_.engine.Expect();
    TicketOr ticket = Take(bytes);
    if (!ticket.ok()) {
      Answer(ticket.status());
      return;
    }
    engine::MutexLock lock(mu_);
    ticket_ = *std::move(ticket);
    if (cancelled_) ticket_->Cancel();
  }

  // The client went away or its deadline passed: the job is given up, and the engine answers soon.
  void OnCancel() override {
    engine::MutexLock lock(mu_);
    cancelled_ = true;
    if (ticket_ != nullptr) ticket_->Cancel();
  }

  void OnDone() override {
    services_.sends.End(context_);
    record_.Log();
    delete this;
  }

 private:
  void Answer(const absl::Status& status) {
    services_.sends.Begin(context_);
    Finish(record_.EndBeforeLog(status));
  }

  // An exception must not leave the handler: gRPC would answer "unimplemented". None comes after a submission
  // that was taken.
  TicketOr Take(const grpc::ByteBuffer& bytes) try {
    if (!record_.access().ok()) {
      WipeMessage(bytes);
      return record_.access();
    }
    static const std::vector<FieldPath> kPaths = InputPaths({});
    v1::ProveRequest request;
    SecretField witness;
    const bool is_request = ParseApart(bytes, kPaths, request, witness);
    TicketOr ticket = !is_request ? NoSuchMessage(bytes, "ProveRequest") : Submit(request, witness);
    if (!ticket.ok() && context_.IsCancelled()) ticket = absl::CancelledError("the client went away");
    return ticket;
  } catch (const std::bad_alloc&) {
    return NoMemoryForWitness();
  }

  TicketOr Submit(const v1::ProveRequest& request, SecretField& witness) {
    PROOFMILL_ASSIGN_OR_RETURN(spec_, ParseSpec(request.spec()));
    spec_.tenant = record_.caller().tenant;
    record_.SetCircuit(spec_.circuit);
    record_.SetRequestId(spec_.request_id);
    PROOFMILL_ASSIGN_OR_RETURN(const InputPlace input, FindInput(request, witness));
    Submission submission{
        .spec = spec_,
        .claims = *input.claims,
        .deadline = ToEngineDeadline(context_.deadline(), services_.engine.clock()),
        .done = [this](const absl::StatusOr<engine::ProveResult>& result) { Complete(result); },
        .progress = nullptr};
    if (!input.in_upload) record_.SetWitnessBytes(input.bytes->size());
    return SubmitInput(services_, input, std::move(submission));
  }

  // Runs on a thread of the engine.
  void Complete(const absl::StatusOr<engine::ProveResult>& result) {
    if (result.ok()) {
      record_.SetResult(*result);
      v1::ProveResponse response;
      FillResult(*result, spec_.include_snarkjs_json, record_.request_id(), *response.mutable_result());
      response_ = Serialize(response);
    }
    Answer(result.status());
  }

  ServiceContext& services_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  CallRecord record_;
  Spec spec_;
  engine::Mutex mu_;
  std::shared_ptr<engine::Ticket> ticket_ ABSL_GUARDED_BY(mu_);
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace

grpc::ServerUnaryReactor* StartProve(ServiceContext& services, grpc::CallbackServerContext& context,
                                     const grpc::ByteBuffer& request, grpc::ByteBuffer& response) {
  auto* const call = new ProveCall(services, context, response);
  call->Start(request);
  engine::WipeThreadTraces();
  return call;
}

}  // namespace proofmill::server
