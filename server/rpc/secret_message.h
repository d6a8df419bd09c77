// Messages that hold witnesses: taken from gRPC as raw bytes, parsed, and wiped where they were received.
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

#include <string>

#include "google/protobuf/message.h"

namespace proofmill::server {

// Parses `bytes` into `message` and overwrites them. False, with `message` in any state, if they are no such
// message. Throws std::bad_alloc, having overwritten them, when there is no memory for the message.
bool ParseAndWipe(const grpc::ByteBuffer& bytes, google::protobuf::Message& message);

// Overwrites the bytes of a message that nobody will read.
void WipeMessage(const grpc::ByteBuffer& bytes);

// The bytes of a message that holds no secret.
grpc::ByteBuffer Serialize(const google::protobuf::Message& message);

// Overwrites the bytes of a field that held a secret and empties it.
void WipeField(std::string& field);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_SECRET_MESSAGE_H_
