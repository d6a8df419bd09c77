// The bidirectional call ProveBatch: many requests, each answered when its proof is made.
//
//   item ──> checked, submitted ──> (others meanwhile) ──> answer queued ──> sent
//
// Messages are read only while fewer items than the bound are on their way or wait to be sent, so a client
// that sends faster than proofs are made, or reads slowly, is held back by flow control and not by memory of
// ours. None is read once the deadline has passed, that of the client or the longest that a call may have;
// it is the deadline of every item too, so what is on its way then is answered soon, and the stream ends.
//
// Lifetime and threads: as in prove_stream_call.h. The call owns itself until OnDone(); the engine's
// callbacks hold it too, and what they bring after the end is dropped. gRPC is never called with mu_ held;
// one write is under way at a time (sending_), and Finish() is the last operation and begins once. Reads
// begin only inside reactions.

#ifndef PROOFMILL_SERVER_RPC_PROVE_BATCH_CALL_H_
#define PROOFMILL_SERVER_RPC_PROVE_BATCH_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "engine/dispatch/engine.h"
#include "proofmill/v1/prover.pb.h"
#include "server/idle_reaper.h"
#include "server/rpc/call_record.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/service_context.h"
#include "server/rpc/submit.h"

namespace proofmill::server {

class ProveBatchCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                             public Idler,
                             public std::enable_shared_from_this<ProveBatchCall> {
 public:
  static ProveBatchCall* Start(ServiceContext& services, grpc::CallbackServerContext& context);

  ProveBatchCall(ServiceContext& services, grpc::CallbackServerContext& context);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  // Ends a stream that nothing is on its way for, once its deadline has passed or jobs are refused because
  // the process ends.
  void EndIdle(engine::Clock::time_point now) override;

 private:
  // What one message does. An error ends the stream; what is wrong with one item only is its answer.
  absl::Status HandleMessage();
  TicketOr SubmitItem(const v1::ProveBatchRequest& message, SecretField& witness);
  // Answers an item of items_.
  void Complete(const std::string& item_id, const Spec& spec,
                const absl::StatusOr<engine::ProveResult>& result);
  // Answers an item whose name is malformed or that of another, and leaves items_ alone.
  void Refuse(const std::string& item_id, const absl::Status& error);
  v1::ProveBatchResponse AnswerOf(const std::string& item_id, const Spec& spec,
                                  const absl::StatusOr<engine::ProveResult>& result);
  void Pump();
  // Whether another message may be read.
  bool TakesMoreLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  ServiceContext& services_;
  grpc::CallbackServerContext& context_;
  const engine::Clock::time_point deadline_;
  std::shared_ptr<ProveBatchCall> self_;

  // Touched by reactions of reading only, which gRPC calls one at a time.
  grpc::ByteBuffer request_bytes_;
  v1::ProveBatchRequest request_;

  // Touched by whoever has set sending_.
  grpc::ByteBuffer response_bytes_;
  CallRecord record_;

  const std::string tenant_;
  engine::Mutex mu_;
  // Those on their way; a null ticket is still being submitted.
  std::map<std::string, std::shared_ptr<engine::Ticket>> items_ ABSL_GUARDED_BY(mu_);
  std::deque<v1::ProveBatchResponse> answers_ ABSL_GUARDED_BY(mu_);  // to be sent
  std::optional<absl::Status> outcome_ ABSL_GUARDED_BY(mu_);         // of the stream, once decided
  bool reading_ ABSL_GUARDED_BY(mu_) = true;
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool sending_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_PROVE_BATCH_CALL_H_
