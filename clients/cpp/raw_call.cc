#include "clients/cpp/raw_call.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

namespace proofmill::client {
namespace {

bool WaitIn(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  return queue.Next(&tag, &ok) && ok;
}

bool Parse(grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  if (!bytes.Valid()) return false;
  grpc::ProtoBufferReader reader(&bytes);
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

grpc::Status NoSuchMessage() {
  return {grpc::StatusCode::INTERNAL, "expected an answer of the API in use, got other bytes"};
}

}  // namespace

grpc::Status CallUnary(grpc::GenericStub& stub, grpc::ClientContext& context, const std::string& method,
                       const grpc::ByteBuffer& request, google::protobuf::Message& response) {
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  grpc::ByteBuffer bytes;
  grpc::Status status;
  call->Finish(&bytes, &status, nullptr);
  WaitIn(queue);
  if (status.ok() && !Parse(bytes, response)) return NoSuchMessage();
  return status;
}

RawStream::RawStream(grpc::GenericStub& stub, grpc::ClientContext& context, const std::string& method) {
  context.set_initial_metadata_corked(true);
  call_ = stub.PrepareCall(&context, method, &queue_);
  call_->StartCall(nullptr);
}

bool RawStream::Write(const google::protobuf::Message& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return Write(grpc::ByteBuffer(&slice, 1));
}

bool RawStream::Write(const grpc::ByteBuffer& message, bool is_last) {
  if (is_last) {
    call_->WriteLast(message, grpc::WriteOptions(), nullptr);
  } else {
    call_->Write(message, nullptr);
  }
  return Wait();
}

bool RawStream::WritesDone() {
  call_->WritesDone(nullptr);
  return Wait();
}

bool RawStream::Read(google::protobuf::Message& message) {
  grpc::ByteBuffer bytes;
  call_->Read(&bytes, nullptr);
  return Wait() && Parse(bytes, message);
}

grpc::Status RawStream::Finish() {
  grpc::Status status;
  call_->Finish(&status, nullptr);
  Wait();
  return status;
}

bool RawStream::Wait() { return WaitIn(queue_); }

}  // namespace proofmill::client
