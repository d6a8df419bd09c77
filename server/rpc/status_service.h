// StatusService and LogAdminService: see proto/proofmill/v1/status.proto.
//
// Thread safety: gRPC calls the methods from any thread.

#ifndef PROOFMILL_SERVER_RPC_STATUS_SERVICE_H_
#define PROOFMILL_SERVER_RPC_STATUS_SERVICE_H_

#include "proofmill/v1/status.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class StatusService final : public v1::StatusService::CallbackService {
 public:
  // `services` must outlive the service.
  explicit StatusService(ServiceContext& services) : services_(services) {}

  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::GetStatusResponse* response) override;

 private:
  void FillDevices(v1::GetStatusResponse& out) const;
  void FillQueue(v1::Queue& out) const;

  ServiceContext& services_;
};

class LogAdminService final : public v1::LogAdminService::CallbackService {
 public:
  // `services` must outlive the service.
  explicit LogAdminService(ServiceContext& services) : services_(services) {}

  grpc::ServerUnaryReactor* SetLogLevel(grpc::CallbackServerContext* context,
                                        const v1::SetLogLevelRequest* request,
                                        v1::SetLogLevelResponse* response) override;

 private:
  ServiceContext& services_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_STATUS_SERVICE_H_
