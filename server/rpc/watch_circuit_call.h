// The call WatchCircuit: a circuit now and after each change, until nothing is under way with it.
//
// The state is fetched when it can be sent, so a client that reads slowly gets the latest one only, and
// nothing piles up.
//
// Lifetime and threads: the call owns itself until OnDone(); registry and reaper hold weak references. One
// write is under way at a time (sending_), and Finish() is the last operation and begins once. gRPC is never
// called with mu_ held. Locks: mu_ before that of the registry.

#ifndef PROOFMILL_SERVER_RPC_WATCH_CIRCUIT_CALL_H_
#define PROOFMILL_SERVER_RPC_WATCH_CIRCUIT_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/circuit_registry.h"
#include "proofmill/v1/circuits.pb.h"
#include "server/idle_reaper.h"
#include "server/rpc/call_record.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class WatchCircuitCall final : public grpc::ServerWriteReactor<v1::WatchCircuitResponse>,
                               public engine::CircuitWatcher,
                               public Idler,
                               public std::enable_shared_from_this<WatchCircuitCall> {
 public:
  static WatchCircuitCall* Start(ServiceContext& services, grpc::CallbackServerContext& context,
                                 const std::string& name, Listener listener);

  WatchCircuitCall(ServiceContext& services, grpc::CallbackServerContext& context, Listener listener);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void OnCircuitsChanged() override { Pump(); }
  // Ends the call when the process drains: what is being loaded then need not come to its end.
  void EndIdle(engine::Clock::time_point now) override;

 private:
  // Finds what the name means. An error ends the call.
  absl::Status Open(const std::string& name);
  void End(const absl::Status& status);
  void Pump();

  ServiceContext& services_;
  grpc::CallbackServerContext& context_;
  std::shared_ptr<WatchCircuitCall> self_;
  std::string id_;  // set before others know the call

  // Touched by whoever has set sending_.
  v1::WatchCircuitResponse response_;
  CallRecord record_;

  engine::Mutex mu_;
  absl::Status end_ ABSL_GUARDED_BY(mu_);   // not OK: the call is to end with it
  uint64_t told_ ABSL_GUARDED_BY(mu_) = 0;  // the revision that was sent last
  bool sending_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_WATCH_CIRCUIT_CALL_H_
