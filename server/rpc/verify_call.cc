#include "server/rpc/verify_call.h"

#include <chrono>
#include <memory>
#include <utility>

#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "server/rpc/call_record.h"
#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

constexpr auto kRetryDelay = std::chrono::milliseconds(100);

// One Verify RPC. It lives until OnDone(), which gRPC calls only after Finish() and after the handler has
// returned; Finish() is called exactly once: by Start(), or by the work that the pool took, which it runs or
// refuses exactly once.
class VerifyCall final : public grpc::ServerUnaryReactor {
 public:
  VerifyCall(ServiceContext& services, grpc::CallbackServerContext& context, v1::VerifyResponse& response)
      : services_(services),
        context_(context),
        response_(response),
        record_(services, Method::kVerify, context) {}

  void Start(const v1::VerifyRequest& request) {
    const absl::Status status = Prepare(request);
    if (!status.ok()) Finish(record_.End(status));
  }

  void OnDone() override { delete this; }

 private:
  // OK: the pool has the work.
  absl::Status Prepare(const v1::VerifyRequest& request) {
    PROOFMILL_RETURN_IF_ERROR(record_.access());
    PROOFMILL_RETURN_IF_ERROR(CheckCircuitId(request.circuit()));
    PROOFMILL_RETURN_IF_ERROR(CheckVersion(request.circuit_version()));
    record_.SetCircuit(request.circuit());
    PROOFMILL_ASSIGN_OR_RETURN(
        circuit_, services_.engine.circuits().FindReady(request.circuit(), request.circuit_version()));
    PROOFMILL_ASSIGN_OR_RETURN(check_, ApiOf(circuit_->system).ReadStatement(circuit_, request));
    const bool taken = services_.verify_pool.TryRun(
        record_.caller().tenant,
        {.run = [this] { Run(); }, .refuse = [this] { Finish(record_.End(TooMany())); }});
    return taken ? absl::OkStatus() : TooMany();
  }

  static absl::Status TooMany() {
    return engine::WithRetryDelay(
        engine::WithReason(absl::ResourceExhaustedError("too many proofs wait to be checked"),
                           engine::ErrorReason::kQueueFull),
        kRetryDelay);
  }

  void Run() {
    if (context_.IsCancelled()) {
      Finish(record_.End(absl::CancelledError("the client gave the call up")));
      return;
    }
    const absl::StatusOr<bool> valid = check_();
    if (valid.ok()) {
      response_.set_valid(*valid);
      response_.set_circuit_version(circuit_->version);
    }
    Finish(record_.End(valid.status()));
  }

  ServiceContext& services_;
  grpc::CallbackServerContext& context_;
  v1::VerifyResponse& response_;
  CallRecord record_;
  engine::CircuitPtr circuit_;
  ProofApi::Check check_;
};

}  // namespace

grpc::ServerUnaryReactor* StartVerify(ServiceContext& services, grpc::CallbackServerContext& context,
                                      const v1::VerifyRequest& request, v1::VerifyResponse& response) {
  auto* const call = new VerifyCall(services, context, response);
  call->Start(request);
  return call;
}

}  // namespace proofmill::server
