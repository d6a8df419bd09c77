// JobService: see proto/proofmill/v1/jobs.proto.
//
// CreateJob, whose request holds a witness, is raw (secret_message.h).
//
// Thread safety: gRPC calls the methods from any thread.

#ifndef PROOFMILL_SERVER_RPC_JOB_SERVICE_H_
#define PROOFMILL_SERVER_RPC_JOB_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>

#include "absl/status/statusor.h"
#include "proofmill/v1/jobs.grpc.pb.h"
#include "server/job_store.h"
#include "server/rpc/call_record.h"
#include "server/rpc/convert.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class JobService final
    : public v1::JobService::WithRawCallbackMethod_CreateJob<
          v1::JobService::WithCallbackMethod_GetJob<v1::JobService::WithCallbackMethod_WatchJob<
              v1::JobService::WithCallbackMethod_CancelJob<v1::JobService::WithCallbackMethod_ListJobs<
                  v1::JobService::WithCallbackMethod_DeleteJob<v1::JobService::Service>>>>>> {
 public:
  // `services` must outlive the service.
  explicit JobService(ServiceContext& services) : services_(services) {}

  grpc::ServerUnaryReactor* CreateJob(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context, const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchJobResponse>* WatchJob(grpc::CallbackServerContext* context,
                                                           const v1::WatchJobRequest* request) override;
  grpc::ServerUnaryReactor* CancelJob(grpc::CallbackServerContext* context,
                                      const v1::CancelJobRequest* request,
                                      v1::CancelJobResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context, const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* DeleteJob(grpc::CallbackServerContext* context,
                                      const v1::DeleteJobRequest* request,
                                      v1::DeleteJobResponse* response) override;

 private:
  // Parses and wipes `bytes`, then Create().
  absl::StatusOr<JobView> TakeJob(const CallRecord& record, const grpc::ByteBuffer& bytes, Spec& spec);
  absl::StatusOr<JobView> Create(const std::string& tenant, const v1::CreateJobRequest& request,
                                 SecretField& witness, Spec& spec);

  ServiceContext& services_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_JOB_SERVICE_H_
