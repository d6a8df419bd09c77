// Messages that hold witnesses: taken from gRPC as raw bytes, and parsed but for the witness, which is copied
// once, to where it is used, and wiped where it was received.
//
// gRPC hands out slices of the very buffers that it read from the connection. It keeps the last such buffer
// alive as long as the connection is open, so wiping freed memory (process.h) does not reach it (measured:
// the whole of a small witness stayed there). Overwriting the slices does. What it cannot reach is a piece of
// up to 23 bytes that gRPC has copied into the slice itself, if it is the last piece of a message; that goes
// with the next bytes on the connection, or its end.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_RPC_SECRET_MESSAGE_H_
#define PROOFMILL_SERVER_RPC_SECRET_MESSAGE_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "google/protobuf/message.h"

namespace proofmill::server {

// A field of a message that holds a secret, left in the memory that gRPC received it in. It is wiped when it
// has been used, or with this object. Neither copied nor moved.
class SecretField {
 public:
  SecretField() = default;
  ~SecretField() { Wipe(); }
  SecretField(const SecretField&) = delete;
  SecretField& operator=(const SecretField&) = delete;

  size_t size() const { return size_; }
  // Its bytes, in order.
  const std::vector<std::string_view>& pieces() const { return pieces_; }
  // Calls `use` with each piece, which is overwritten right after, while it is in the cache; empties it.
  void Drain(absl::FunctionRef<void(std::string_view piece)> use);
  // Overwrites and empties it.
  void Wipe();

 private:
  friend class MessageSplitter;
  grpc::ByteBuffer bytes_;  // what the pieces lie in
  std::vector<std::string_view> pieces_;
  size_t size_ = 0;
};

// From the number of a field of a message to that of a bytes field within.
using FieldPath = std::vector<int>;

// Parses `bytes` into `message`, all but one field: the last one that any of `paths` leads to. `message` has
// it as empty; what it holds is left in `secret`, and what others of them held is overwritten. False, with
// everything overwritten and `message` in any state, if they are no such message. Throws std::bad_alloc,
// having overwritten them too.
bool ParseApart(const grpc::ByteBuffer& bytes, absl::Span<const FieldPath> paths,
                google::protobuf::Message& message, SecretField& secret);

// What is answered where `bytes` are not the `type` that the call takes. Where a client goes away before its
// message is whole, gRPC calls the handler without one.
//   CANCELLED                         there is no message.
//   INVALID_ARGUMENT REQUEST_INVALID  it is something else.
absl::Status NoSuchMessage(const grpc::ByteBuffer& bytes, std::string_view type);

// Overwrites the bytes of a message that nobody will read.
void WipeMessage(const grpc::ByteBuffer& bytes);

// The bytes of a message that holds no secret.
grpc::ByteBuffer Serialize(const google::protobuf::Message& message);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_SECRET_MESSAGE_H_
