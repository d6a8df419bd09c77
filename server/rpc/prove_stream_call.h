// The bidirectional call ProveStream.
//
//   header ──> checks, room reserved ──> Admitted ──> chunks into the upload store ──> submitted
//          ──> progress, result
//
// Lifetime: the call owns itself (self_) from Start() until OnDone(), which gRPC calls after Finish() and
// after every reaction has returned. Others that hold it, the engine's callbacks and the reaper, hold shared
// or weak pointers; what they bring after the end is dropped, since finished_ is set then and gRPC is not
// touched any more.
//
// What is sent to the client is decided under mu_ and sent by Pump(), one operation at a time: an operation
// begins only when none is under way (sending_), and Finish() is the last one and begins once. Reads begin
// only inside reactions (and the first one before the handler returns), so gRPC's own reference keeps its
// side of the call alive meanwhile. gRPC is never called with mu_ held.
//
// Thread safety: gRPC, the engine and the reaper call in from any thread.

#ifndef PROOFMILL_SERVER_RPC_PROVE_STREAM_CALL_H_
#define PROOFMILL_SERVER_RPC_PROVE_STREAM_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
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
#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class ProveStreamCall final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                              public Idler,
                              public std::enable_shared_from_this<ProveStreamCall> {
 public:
  static ProveStreamCall* Start(ServiceContext& services, grpc::CallbackServerContext& context);

  ProveStreamCall(ServiceContext& services, grpc::CallbackServerContext& context);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  // Ends the call if its client has sent nothing new of the witness for too long, or its deadline has passed
  // before the witness was complete.
  void EndIdle(engine::Clock::time_point now) override;

 private:
  enum class Phase { kHeader, kChunks, kSubmitted };

  // What a message does; an error ends the call. Called from OnReadDone() only, one at a time.
  absl::Status HandleMessage();
  absl::Status HandleHeader(const v1::StreamHeader& header);
  absl::StatusOr<UploadInfo> OpenUpload(const v1::StreamHeader& header);
  absl::Status HandleChunk(const v1::Chunk& chunk, SecretField& data);
  absl::Status SubmitUploaded();
  // What it means that no message can come any more.
  absl::Status HalfClosed();

  void OnProgress(const engine::Progress& progress);
  // Decides how the call ends; only the first decision counts.
  void End(absl::StatusOr<engine::ProveResult> outcome);
  void Pump();
  void SendOutcome(const absl::StatusOr<engine::ProveResult>& outcome);

  ServiceContext& services_;
  grpc::CallbackServerContext& context_;
  const engine::Clock::time_point deadline_;
  std::shared_ptr<ProveStreamCall> self_;

  // Touched by reactions of reading only, which gRPC calls one at a time, and read by others after
  // kSubmitted.
  grpc::ByteBuffer request_bytes_;
  v1::ProveStreamRequest request_;
  Spec spec_;
  Claims claims_;
  // What `spec_` means, from the header to the submission: what was admitted is proved, whatever becomes of
  // the circuit meanwhile.
  engine::CircuitPtr circuit_;

  // Touched by whoever has set sending_.
  grpc::ByteBuffer response_bytes_;
  CallRecord record_;

  engine::Mutex mu_;
  Phase phase_ ABSL_GUARDED_BY(mu_) = Phase::kHeader;
  std::string upload_ ABSL_GUARDED_BY(mu_);
  uint64_t committed_bytes_ ABSL_GUARDED_BY(mu_) = 0;              // of the upload, when last looked at
  engine::Clock::time_point idle_since_ ABSL_GUARDED_BY(mu_);      // the header, or the last new byte
  std::optional<v1::Admitted> admitted_ ABSL_GUARDED_BY(mu_);      // to be sent
  std::optional<engine::Progress> progress_ ABSL_GUARDED_BY(mu_);  // to be sent; a newer one replaces it
  std::optional<absl::StatusOr<engine::ProveResult>> outcome_ ABSL_GUARDED_BY(mu_);
  bool progress_heard_ ABSL_GUARDED_BY(mu_) = false;
  bool handling_ ABSL_GUARDED_BY(mu_) = false;  // a message is being looked at
  bool sending_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<engine::Ticket> ticket_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_PROVE_STREAM_CALL_H_
