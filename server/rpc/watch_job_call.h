// The call WatchJob: the state of a job now and after each change, until it has ended.
//
// The state is fetched when it can be sent, so a client that reads slowly gets the latest one only, and
// nothing piles up.
//
// Lifetime and threads: the call owns itself until OnDone(); the store holds weak references. One write is
// under way at a time (sending_), and Finish() is the last operation and begins once. gRPC is never called
// with mu_ held. Locks: mu_ before that of the store.

#ifndef PROOFMILL_SERVER_RPC_WATCH_JOB_CALL_H_
#define PROOFMILL_SERVER_RPC_WATCH_JOB_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "engine/base/mutex.h"
#include "proofmill/v1/jobs.pb.h"
#include "server/job_store.h"
#include "server/rpc/call_record.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

// A job as the API shows it.
void FillJob(const JobView& job, bool with_result, v1::Job& out);

class WatchJobCall final : public grpc::ServerWriteReactor<v1::WatchJobResponse>,
                           public JobStore::Watcher,
                           public std::enable_shared_from_this<WatchJobCall> {
 public:
  static WatchJobCall* Start(ServiceContext& services, grpc::CallbackServerContext& context,
                             const std::string& name);

  WatchJobCall(ServiceContext& services, grpc::CallbackServerContext& context, std::string name);

  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;
  void OnJobChanged() override { Pump(); }

 private:
  absl::StatusOr<JobView> Find() const;
  void Pump();

  ServiceContext& services_;
  grpc::CallbackServerContext& context_;
  std::shared_ptr<WatchJobCall> self_;
  const std::string name_;

  // Touched by whoever has set sending_.
  v1::WatchJobResponse response_;
  CallRecord record_;

  engine::Mutex mu_;
  std::optional<uint64_t> told_ ABSL_GUARDED_BY(mu_);  // the revision that was sent last
  bool cancelled_ ABSL_GUARDED_BY(mu_) = false;
  bool sending_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_WATCH_JOB_CALL_H_
