#include "server/rpc/upload_service.h"

#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "engine/formats/crc32c.h"
#include "server/rpc/call_record.h"
#include "server/rpc/convert.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/submit.h"

namespace proofmill::server {
namespace {

// Ends a call whose answer is known already.
grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context, CallRecord& record,
                                 const absl::Status& status) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(record.End(status));
  return reactor;
}

}  // namespace

grpc::ServerUnaryReactor* UploadService::CreateUpload(grpc::CallbackServerContext* context,
                                                      const v1::CreateUploadRequest* request,
                                                      v1::CreateUploadResponse* response) {
  CallRecord record(services_, Method::kCreateUpload, *context);
  if (!record.access().ok()) return Answer(*context, record, record.access());
  if (engine::IsCircuitId(request->circuit())) record.SetCircuit(request->circuit());
  record.SetWitnessBytes(request->size_bytes());
  if (CheckName(request->request_id(), "request_id").ok()) record.SetRequestId(request->request_id());
  const auto upload = Create(record.caller().tenant, *request);
  if (upload.ok()) Fill(*upload, *response->mutable_upload());
  return Answer(*context, record, upload.status());
}

absl::StatusOr<UploadInfo> UploadService::Create(const std::string& tenant,
                                                 const v1::CreateUploadRequest& request) {
  PROOFMILL_RETURN_IF_ERROR(CheckCircuitId(request.circuit()));
  PROOFMILL_RETURN_IF_ERROR(CheckSha256(request.sha256()));
  PROOFMILL_RETURN_IF_ERROR(CheckName(request.request_id(), "request_id"));
  UploadStore::NewUpload upload{.tenant = tenant,
                                .request_id = request.request_id(),
                                .circuit = request.circuit(),
                                .size_bytes = request.size_bytes(),
                                .sha256 = request.sha256(),
                                .reservation = {}};
  // Before room is asked for, of which a repeated request needs none.
  PROOFMILL_ASSIGN_OR_RETURN(std::optional<UploadInfo> repeated, services_.uploads.FindRepeated(upload));
  if (repeated.has_value()) return *std::move(repeated);
  Spec spec;
  spec.circuit = request.circuit();
  spec.tenant = tenant;
  PROOFMILL_ASSIGN_OR_RETURN(const engine::CircuitPtr circuit, FindCircuit(services_, spec));
  PROOFMILL_ASSIGN_OR_RETURN(upload.reservation,
                             ReserveWitness(services_, spec, circuit, request.size_bytes(), std::nullopt,
                                            /*with_job_slot=*/false));
  return services_.uploads.Create(std::move(upload));
}

grpc::ServerUnaryReactor* UploadService::WriteUpload(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request_bytes,
                                                     grpc::ByteBuffer* response_bytes) {
  CallRecord record(services_, Method::kWriteUpload, *context);
  const absl::StatusOr<UploadInfo> upload = TakePiece(record, *request_bytes);
  engine::WipeThreadTraces();
  if (upload.ok()) {
    record.SetCircuit(upload->circuit);
    v1::WriteUploadResponse response;
    Fill(*upload, *response.mutable_upload());
    *response_bytes = Serialize(response);
  }
  return Answer(*context, record, upload.status());
}

absl::StatusOr<UploadInfo> UploadService::TakePiece(const CallRecord& record,
                                                    const grpc::ByteBuffer& bytes) try {
  if (!record.access().ok()) {
    WipeMessage(bytes);
    return record.access();
  }
  static const std::vector<FieldPath> kPaths = {{v1::WriteUploadRequest::kDataFieldNumber}};
  v1::WriteUploadRequest request;
  SecretField data;
  if (!ParseApart(bytes, kPaths, request, data)) return NoSuchMessage(bytes, "WriteUploadRequest");
  return Write(record.caller().tenant, request, data);
} catch (const std::bad_alloc&) {
  return NoMemoryForWitness();
}

absl::StatusOr<UploadInfo> UploadService::Write(const std::string& tenant,
                                                const v1::WriteUploadRequest& request,
                                                const SecretField& data) {
  if (data.size() == 0 || data.size() > services_.limits.chunk_bytes_max) {
    return InvalidRequest(
        absl::StrCat("data: expected 1 to ", services_.limits.chunk_bytes_max, " bytes, got ", data.size()));
  }
  if (request.has_crc32c() && request.crc32c() != engine::Crc32c(data.pieces())) {
    return engine::WithReason(
        absl::InvalidArgumentError(absl::StrCat("crc32c: expected the checksum of the ", data.size(),
                                                " bytes of data, got another; send the piece again")),
        engine::ErrorReason::kUploadChecksum);
  }
  return services_.uploads.Write(tenant, request.name(), request.offset_bytes(), data.pieces());
}

grpc::ServerUnaryReactor* UploadService::GetUpload(grpc::CallbackServerContext* context,
                                                   const v1::GetUploadRequest* request,
                                                   v1::GetUploadResponse* response) {
  CallRecord record(services_, Method::kGetUpload, *context);
  if (!record.access().ok()) return Answer(*context, record, record.access());
  const auto upload = services_.uploads.Get(record.caller().tenant, request->name());
  if (upload.ok()) {
    record.SetCircuit(upload->circuit);
    Fill(*upload, *response->mutable_upload());
  }
  return Answer(*context, record, upload.status());
}

grpc::ServerUnaryReactor* UploadService::DeleteUpload(grpc::CallbackServerContext* context,
                                                      const v1::DeleteUploadRequest* request,
                                                      v1::DeleteUploadResponse*) {
  CallRecord record(services_, Method::kDeleteUpload, *context);
  if (!record.access().ok()) return Answer(*context, record, record.access());
  return Answer(*context, record, services_.uploads.Delete(record.caller().tenant, request->name()));
}

void UploadService::Fill(const UploadInfo& upload, v1::Upload& out) const {
  out.set_name(upload.name);
  out.set_circuit(upload.circuit);
  out.set_size_bytes(upload.size_bytes);
  out.set_committed_bytes(upload.committed_bytes);
  out.set_chunk_bytes_max(services_.limits.chunk_bytes_max);
  const auto left = upload.expiry - services_.engine.clock().Now();
  *out.mutable_expire_time() = ToProto(absl::Now() + absl::FromChrono(left));
}

}  // namespace proofmill::server
