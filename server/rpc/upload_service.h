// UploadService: see proto/proofmill/v1/uploads.proto. A thin face of UploadStore.
//
// Thread safety: gRPC calls the methods from any thread.

#ifndef PROOFMILL_SERVER_RPC_UPLOAD_SERVICE_H_
#define PROOFMILL_SERVER_RPC_UPLOAD_SERVICE_H_

#include <grpcpp/support/byte_buffer.h>

#include <string>

#include "absl/status/statusor.h"
#include "proofmill/v1/uploads.grpc.pb.h"
#include "server/rpc/call_record.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/service_context.h"

namespace proofmill::server {

// WriteUpload, whose request holds a part of a witness, is raw (secret_message.h).
class UploadService final
    : public v1::UploadService::WithCallbackMethod_CreateUpload<
          v1::UploadService::WithRawCallbackMethod_WriteUpload<
              v1::UploadService::WithCallbackMethod_GetUpload<
                  v1::UploadService::WithCallbackMethod_DeleteUpload<v1::UploadService::Service>>>> {
 public:
  // `services` must outlive the service.
  explicit UploadService(ServiceContext& services) : services_(services) {}

  grpc::ServerUnaryReactor* CreateUpload(grpc::CallbackServerContext* context,
                                         const v1::CreateUploadRequest* request,
                                         v1::CreateUploadResponse* response) override;
  grpc::ServerUnaryReactor* WriteUpload(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* GetUpload(grpc::CallbackServerContext* context,
                                      const v1::GetUploadRequest* request,
                                      v1::GetUploadResponse* response) override;
  grpc::ServerUnaryReactor* DeleteUpload(grpc::CallbackServerContext* context,
                                         const v1::DeleteUploadRequest* request,
                                         v1::DeleteUploadResponse* response) override;

 private:
  absl::StatusOr<UploadInfo> Create(const std::string& tenant, const v1::CreateUploadRequest& request);
  // Parses and wipes `bytes`, then Write().
  absl::StatusOr<UploadInfo> TakePiece(const CallRecord& record, const grpc::ByteBuffer& bytes);
  absl::StatusOr<UploadInfo> Write(const std::string& tenant, const v1::WriteUploadRequest& request,
                                   const SecretField& data);
  void Fill(const UploadInfo& upload, v1::Upload& out) const;

  ServiceContext& services_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_UPLOAD_SERVICE_H_
