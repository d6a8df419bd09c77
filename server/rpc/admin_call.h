// A unary call of the admin listener. The work is done on a thread for such calls: it may read folders and
// write files, for which gRPC's own threads must not wait.
//
// Lifetime: the object lives until OnDone(), which gRPC calls only after Finish() and after the handler has
// returned; Finish() is called exactly once: by Start(), or by the work that the pool took.

#ifndef PROOFMILL_SERVER_RPC_ADMIN_CALL_H_
#define PROOFMILL_SERVER_RPC_ADMIN_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <functional>

#include "absl/status/status.h"
#include "server/rpc/call_record.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class AdminCall final : public grpc::ServerUnaryReactor {
 public:
  // May refer to request and response, which live as long as the call.
  using Work = std::function<absl::Status(CallRecord& record)>;
  static AdminCall* Start(ServiceContext& services, Method method, grpc::CallbackServerContext& context,
                          Work work);

  AdminCall(ServiceContext& services, Method method, grpc::CallbackServerContext& context, Work work);
  void OnDone() override { delete this; }

 private:
  void Run();

  CallRecord record_;
  const Work work_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_ADMIN_CALL_H_
