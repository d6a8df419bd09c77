// Calls whose requests are bytes that were put together by hand (send_blocks.h). They block, as those of the
// generated stubs do.
//
// Thread safety: an object serves one call on one thread.

#ifndef PROOFMILL_CLIENTS_CPP_RAW_CALL_H_
#define PROOFMILL_CLIENTS_CPP_RAW_CALL_H_

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <memory>
#include <string>

#include "google/protobuf/message.h"

namespace proofmill::client {

// A unary call of `method`, "/package.Service/Method".
grpc::Status CallUnary(grpc::GenericStub& stub, grpc::ClientContext& context, const std::string& method,
                       const grpc::ByteBuffer& request, google::protobuf::Message& response);

// A call with streams both ways. Methods that return false say that the call has ended; Finish() tells how.
class RawStream {
 public:
  // `stub` and `context` must outlive the stream. The call goes out with the first message.
  RawStream(grpc::GenericStub& stub, grpc::ClientContext& context, const std::string& method);

  bool Write(const google::protobuf::Message& message);
  bool Write(const grpc::ByteBuffer& message) { return Write(message, /*is_last=*/false); }
  // Nothing is written after it.
  bool WriteLast(const grpc::ByteBuffer& message) { return Write(message, /*is_last=*/true); }
  bool WritesDone();
  // False too for what is no such message.
  bool Read(google::protobuf::Message& message);
  grpc::Status Finish();

 private:
  bool Write(const grpc::ByteBuffer& message, bool is_last);
  bool Wait();

  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_RAW_CALL_H_
