// A service in this process that answers as a test tells it to, to show what a client does with it.
//
// Thread safety: scripts are set before the first call; what was seen is read when no call runs.

#ifndef PROOFMILL_TESTS_CLIENTS_FAKE_SERVICE_H_
#define PROOFMILL_TESTS_CLIENTS_FAKE_SERVICE_H_

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/formats/crc32c.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "proofmill/v1/uploads.grpc.pb.h"

namespace proofmill::client {

// An error as the service sends it. A negative `retry_delay_ms` leaves RetryInfo out.
inline grpc::Status ServiceError(grpc::StatusCode code, const std::string& reason, int retry_delay_ms = -1) {
  google::rpc::Status details;
  details.set_code(code);
  details.set_message("scripted");
  google::rpc::ErrorInfo info;
  info.set_domain("proofmill");
  info.set_reason(reason);
  details.add_details()->PackFrom(info);
  if (retry_delay_ms >= 0) {
    google::rpc::RetryInfo retry;
    retry.mutable_retry_delay()->set_seconds(retry_delay_ms / 1000);
    retry.mutable_retry_delay()->set_nanos(retry_delay_ms % 1000 * 1'000'000);
    details.add_details()->PackFrom(retry);
  }
  return {code, "scripted", details.SerializeAsString()};
}

class FakeService final : public v1::ProverService::Service, public v1::UploadService::Service {
 public:
  using Trailers = std::map<std::string, std::string>;

  FakeService() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(static_cast<v1::ProverService::Service*>(this));
    builder.RegisterService(static_cast<v1::UploadService::Service*>(this));
    builder.SetMaxReceiveMessageSize(message_bytes_max_);
    server_ = builder.BuildAndStart();
  }
  ~FakeService() override { server_->Shutdown(); }

  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }

  // Called at the begin of each Prove and each ProveStream with the number of calls before; an error ends the
  // call.
  std::function<grpc::Status(int attempt, grpc::ServerContext& context)> on_attempt;
  // The stream of this number breaks once it holds so many bytes; -1: none does.
  int break_stream = -1;
  uint64_t break_after_bytes = 0;
  // WriteUpload of this number takes the piece and then fails, as if its answer was lost; -1: none does.
  int lose_write_answer = -1;

  // What was seen.
  std::vector<std::string> request_ids;
  std::vector<std::string> authorizations;
  std::vector<uint64_t> first_offsets;  // of each stream, -1 in unsigned form without any chunk
  std::map<std::string, std::string> uploads;
  int writes = 0;
  int uploads_created = 0;
  std::string proved;  // the witness of the last proof

 private:
  static constexpr int message_bytes_max_ = 1 << 20;
  static constexpr uint64_t kChunkBytes = 1000;

  grpc::Status Begin(grpc::ServerContext& context, const v1::ProofSpec& spec) {
    request_ids.push_back(spec.request_id());
    const auto it = context.client_metadata().find("authorization");
    authorizations.emplace_back(it == context.client_metadata().end()
                                    ? std::string()
                                    : std::string(it->second.data(), it->second.size()));
    const int attempt = static_cast<int>(request_ids.size()) - 1;
    return on_attempt ? on_attempt(attempt, context) : grpc::Status::OK;
  }

  v1::ProofResult Result(std::string wtns, const v1::ProofSpec& spec) {
    proved = std::move(wtns);
    v1::ProofResult result;
    result.mutable_groth16();
    result.set_circuit(spec.circuit());
    return result;
  }

  grpc::Status Prove(grpc::ServerContext* context, const v1::ProveRequest* request,
                     v1::ProveResponse* response) override {
    const grpc::Status status = Begin(*context, request->spec());
    if (!status.ok()) return status;
    std::string wtns = request->groth16().wtns();
    if (request->groth16().has_upload()) {
      const auto it = uploads.find(request->groth16().upload());
      if (it == uploads.end()) return ServiceError(grpc::StatusCode::NOT_FOUND, "UPLOAD_UNKNOWN");
      wtns = it->second;
    }
    *response->mutable_result() = Result(wtns, request->spec());
    return grpc::Status::OK;
  }

  grpc::Status ProveStream(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ProveStreamResponse, v1::ProveStreamRequest>* stream) override {
    v1::ProveStreamRequest request;
    if (!stream->Read(&request) || !request.has_header())
      return {grpc::StatusCode::INVALID_ARGUMENT, "no header"};
    const v1::StreamHeader header = request.header();
    const int attempt = static_cast<int>(request_ids.size());
    const grpc::Status status = Begin(*context, header.spec());
    if (!status.ok()) return status;
    std::string name = header.upload();
    if (name.empty())
      name = "uploads/" + std::to_string(++uploads_created);
    else if (uploads.count(name) == 0)
      return ServiceError(grpc::StatusCode::NOT_FOUND, "UPLOAD_UNKNOWN");

    std::string& bytes = uploads[name];
    v1::ProveStreamResponse admitted;
    admitted.mutable_admitted()->set_upload(name);
    admitted.mutable_admitted()->set_chunk_bytes_max(kChunkBytes);
    admitted.mutable_admitted()->set_committed_bytes(bytes.size());
    stream->Write(admitted);
    first_offsets.push_back(UINT64_MAX);
    while (stream->Read(&request)) {
      if (first_offsets.back() == UINT64_MAX) first_offsets.back() = request.chunk().offset_bytes();
      if (request.chunk().offset_bytes() != bytes.size())
        return {grpc::StatusCode::INVALID_ARGUMENT, "a gap"};
      if (!request.chunk().has_crc32c() || request.chunk().crc32c() != engine::Crc32c(request.chunk().data()))
        return ServiceError(grpc::StatusCode::INVALID_ARGUMENT, "UPLOAD_CHECKSUM");
      bytes += request.chunk().data();
      if (attempt == break_stream && bytes.size() >= break_after_bytes) {
        return {grpc::StatusCode::UNAVAILABLE, "the connection broke"};
      }
    }
    if (bytes.size() != header.size_bytes()) return {grpc::StatusCode::CANCELLED, "incomplete"};
    v1::ProveStreamResponse done;
    *done.mutable_result() = Result(bytes, header.spec());
    stream->Write(done);
    return grpc::Status::OK;
  }

  void Describe(const std::string& name, v1::Upload* upload) {
    upload->set_name(name);
    upload->set_committed_bytes(uploads[name].size());
    upload->set_chunk_bytes_max(kChunkBytes);
  }

  grpc::Status CreateUpload(grpc::ServerContext*, const v1::CreateUploadRequest*,
                            v1::CreateUploadResponse* response) override {
    Describe("uploads/" + std::to_string(++uploads_created), response->mutable_upload());
    return grpc::Status::OK;
  }

  grpc::Status GetUpload(grpc::ServerContext*, const v1::GetUploadRequest* request,
                         v1::GetUploadResponse* response) override {
    if (uploads.count(request->name()) == 0)
      return ServiceError(grpc::StatusCode::NOT_FOUND, "UPLOAD_UNKNOWN");
    Describe(request->name(), response->mutable_upload());
    return grpc::Status::OK;
  }

  grpc::Status WriteUpload(grpc::ServerContext*, const v1::WriteUploadRequest* request,
                           v1::WriteUploadResponse* response) override {
    std::string& bytes = uploads[request->name()];
    if (request->offset_bytes() > bytes.size()) return {grpc::StatusCode::INVALID_ARGUMENT, "a gap"};
    bytes.resize(request->offset_bytes());
    bytes += request->data();
    if (writes++ == lose_write_answer) return {grpc::StatusCode::UNAVAILABLE, "the answer was lost"};
    Describe(request->name(), response->mutable_upload());
    return grpc::Status::OK;
  }

  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace proofmill::client

#endif  // PROOFMILL_TESTS_CLIENTS_FAKE_SERVICE_H_
