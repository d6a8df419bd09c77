// UploadService: see proto/proofmill/v1/uploads.proto. A thin face of UploadStore.
//
// Thread safety: gRPC calls the methods from any thread.

#ifndef PROOFMILL_SERVER_RPC_UPLOAD_SERVICE_H_
#define PROOFMILL_SERVER_RPC_UPLOAD_SERVICE_H_

#include "absl/status/statusor.h"
#include "proofmill/v1/uploads.grpc.pb.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

class UploadService final : public v1::UploadService::CallbackService {
 public:
  // `services` must outlive the service.
  explicit UploadService(ServiceContext& services) : services_(services) {}

  grpc::ServerUnaryReactor* CreateUpload(grpc::CallbackServerContext* context,
                                         const v1::CreateUploadRequest* request,
                                         v1::CreateUploadResponse* response) override;
  grpc::ServerUnaryReactor* WriteUpload(grpc::CallbackServerContext* context,
                                        const v1::WriteUploadRequest* request,
                                        v1::WriteUploadResponse* response) override;
  grpc::ServerUnaryReactor* GetUpload(grpc::CallbackServerContext* context,
                                      const v1::GetUploadRequest* request,
                                      v1::GetUploadResponse* response) override;
  grpc::ServerUnaryReactor* DeleteUpload(grpc::CallbackServerContext* context,
                                         const v1::DeleteUploadRequest* request,
                                         v1::DeleteUploadResponse* response) override;

 private:
  absl::StatusOr<UploadInfo> Create(const v1::CreateUploadRequest& request);
  absl::StatusOr<UploadInfo> Write(const v1::WriteUploadRequest& request);
  void Fill(const UploadInfo& upload, v1::Upload& out) const;

  ServiceContext& services_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_UPLOAD_SERVICE_H_
