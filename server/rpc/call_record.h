// One call on its way through the service: whether it is let in, its place among the open calls, its metric,
// its line in the log, on the admin listener its line in the audit log, and the form of its answer.
//
// Thread safety: one thread at a time; whoever may answer the call owns the record.

#ifndef PROOFMILL_SERVER_RPC_CALL_RECORD_H_
#define PROOFMILL_SERVER_RPC_CALL_RECORD_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/dispatch/prove_types.h"
#include "nlohmann/json.hpp"
#include "server/access.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class CallRecord {
 public:
  // Starts the clock, and looks at the caller's credentials. `services` and `call` must outlive the record.
  CallRecord(ServiceContext& services, Method method, grpc::CallbackServerContext& call,
             Listener listener = Listener::kData);
  ~CallRecord() { services_.open_calls.Remove(); }
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

  // An error ends the call: nothing may be done for it but End().
  absl::Status access() const { return caller_.status(); }
  // Who calls; nobody in particular if the call is not let in.
  const Caller& caller() const;

  // What the client asked for, once that is known to be well formed; of an alias what it means now.
  void SetCircuit(std::string_view circuit);
  // The client's id, or a random one if that is empty.
  void SetRequestId(std::string_view request_id);
  void SetWitnessBytes(uint64_t bytes) { witness_bytes_ = bytes; }
  void SetResult(const engine::ProveResult& result);
  // What the audit log shows of the request besides its circuit. Never a secret.
  void AddArgument(std::string_view name, const nlohmann::ordered_json& value);

  const std::string& request_id() const { return request_id_; }

  // Counts and logs the call, adds the trailers, and returns what Finish() gets. Called once, before
  // Finish().
  grpc::Status End(const absl::Status& status);
  // The same for a call whose answer need not wait for the log (50 us): Log() follows, in OnDone().
  grpc::Status EndBeforeLog(const absl::Status& status);
  // REQUIRES: End...() was called, and the call lives.
  void Log() const;

 private:
  struct Ended {
    absl::Status status;
    std::chrono::nanoseconds duration;
  };
  // What log and audit log have in common.
  nlohmann::ordered_json Describe() const;
  void Audit() const;

  ServiceContext& services_;
  const Method method_;
  const Listener listener_;
  grpc::CallbackServerContext& call_;
  const std::string peer_;
  const absl::StatusOr<Caller> caller_;
  const std::chrono::steady_clock::time_point start_;
  std::string circuit_;
  std::string request_id_;
  nlohmann::ordered_json arguments_;
  std::string device_;
  uint64_t witness_bytes_ = 0;
  std::chrono::nanoseconds queue_wait_{0};
  std::optional<Ended> ended_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_CALL_RECORD_H_
