// One proof over any of the three ways that a witness can travel, with retries. Internal to clients/cpp.
//
// An attempt is one RPC (or, for uploads, one sequence of them). What must survive a failed attempt, above
// all the name of the upload that holds what was sent already, lives in the ProveCall.
//
// Thread safety: one object serves one proof on one thread.

#ifndef PROOFMILL_CLIENTS_CPP_PROVE_CALL_H_
#define PROOFMILL_CLIENTS_CPP_PROVE_CALL_H_

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "clients/cpp/client.h"
#include "clients/cpp/input.h"
#include "clients/cpp/raw_call.h"
#include "clients/cpp/retry.h"
#include "clients/cpp/send_blocks.h"
#include "proofmill/v1/jobs.grpc.pb.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "proofmill/v1/uploads.grpc.pb.h"

namespace proofmill::client {

// What every call to the service needs.
struct Stubs {
  v1::ProverService::Stub* prover;
  v1::UploadService::Stub* uploads;
  v1::JobService::Stub* jobs;
  grpc::GenericStub* raw;           // for messages with secrets
  const SendBlocks* blocks;         // that those are sent from
  absl::string_view authorization;  // empty: none
};

// Where a witness goes that is to become a job: how long the job may take, and the job.
struct JobTarget {
  absl::Duration timeout;
  v1::Job job;
};

// Sets the deadline and the credential of a call.
void PrepareContext(const Stubs& stubs, absl::Time deadline, grpc::ClientContext& context);

class ProveCall {
 public:
  // `stubs`, `input` and `options` must outlive the call. REQUIRES: spec.request_id is set.
  ProveCall(const Stubs& stubs, const RetryPolicy& retry, v1::ProofSpec spec, const Input& input,
            const ProveOptions& options, JobTarget* job = nullptr);

  // Runs to the end, over `transfer`, which is not kAuto. REQUIRES: no job was asked for.
  absl::StatusOr<v1::ProofResult> Run(Transfer transfer);
  // Makes the job, over kUnary or kUpload. REQUIRES: a job was asked for.
  absl::Status RunJob(Transfer transfer) { return RunAttempts(transfer); }

 private:
  absl::Status RunAttempts(Transfer transfer);
  absl::Status Attempt(Transfer transfer);
  absl::Status AttemptUnary();
  absl::Status AttemptStream();
  absl::Status AttemptUpload();

  // The parts of a stream. The first two return false when it has broken or ended; Finish() then says why.
  bool OpenStream(RawStream& stream);
  bool SendChunks(RawStream& stream);
  void ReadResult(RawStream& stream);

  // The parts of an upload.
  absl::Status CreateUpload();
  absl::Status FindCommitted();
  absl::Status WriteNextPiece();
  void TakeUpload(const v1::Upload& upload);

  // Asks for a proof, or a job, of the input in `request`, or of that at hand.
  absl::Status CallProve(v1::ProveRequest& request, bool with_bytes);
  absl::Status CallCreateJob(v1::ProveRequest& request, bool with_bytes);

  // True if the service no longer has what was sent, so that beginning anew may work; forgets the upload
  // then.
  bool RestartHelps(const absl::Status& error);
  void NoteCommitted(uint64_t committed_bytes);
  void Report(Progress::Phase phase);
  void ReportFailure(const absl::Status& error);

  const Stubs& stubs_;
  const v1::ProofSpec spec_;
  const Input& input_;
  const absl::string_view bytes_;  // of the input
  const ProveOptions& options_;
  JobTarget* const job_;  // null: the proof itself is wanted
  const absl::Time deadline_;
  Retrier retrier_;

  std::string upload_;            // empty: nothing is kept at the service
  uint64_t committed_bytes_ = 0;  // of the witness, in that upload
  uint64_t chunk_bytes_ = 0;      // that upload's limit
  int restarts_ = 0;              // with a new upload because the service had lost the old one
  Progress progress_;
  v1::ProofResult result_;
};

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_PROVE_CALL_H_
