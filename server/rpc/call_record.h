// One call on its way through the service: its place among the open calls, its metric, its line in the log,
// and the form of its answer.
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
#include "engine/dispatch/prove_types.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class CallRecord {
 public:
  // Starts the clock. `services` and `call` must outlive the record.
  CallRecord(ServiceContext& services, Method method, grpc::CallbackServerContext& call);
  ~CallRecord() { services_.open_calls.Remove(); }
  CallRecord(const CallRecord&) = delete;
  CallRecord& operator=(const CallRecord&) = delete;

  // What the client asked for, once that is known to be well formed.
  void SetCircuit(std::string_view circuit) { circuit_ = circuit; }
  // The client's id, or a random one if that is empty.
  void SetRequestId(std::string_view request_id);
  void SetWitnessBytes(uint64_t bytes) { witness_bytes_ = bytes; }
  void SetResult(const engine::ProveResult& result);

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

  ServiceContext& services_;
  const Method method_;
  grpc::CallbackServerContext& call_;
  const std::chrono::steady_clock::time_point start_;
  std::string circuit_;
  std::string request_id_;
  std::string device_;
  uint64_t witness_bytes_ = 0;
  std::chrono::nanoseconds queue_wait_{0};
  std::optional<Ended> ended_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_CALL_RECORD_H_
