#include "server/rpc/secret_message.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <new>
#include <vector>

#include "engine/base/secure_memory.h"

namespace proofmill::server {

// The slices of an uncompressed message refer to the memory that it was read into, and nobody else reads
// those bytes.
void WipeMessage(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return;
  for (const grpc::Slice& slice : slices)
    engine::WipeMemory(const_cast<uint8_t*>(slice.begin()), slice.size());
}

bool ParseAndWipe(const grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  bool parsed = false;
  try {
    // Another reference to the same slices: the reader wants one that it may change.
    grpc::ByteBuffer view(bytes);
    grpc::ProtoBufferReader reader(&view);
    parsed = reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
  } catch (const std::bad_alloc&) {
    WipeMessage(bytes);
    throw;
  }
  WipeMessage(bytes);
  return parsed;
}

grpc::ByteBuffer Serialize(const google::protobuf::Message& message) {
  const std::string text = message.SerializeAsString();
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

void WipeField(std::string& field) {
  engine::WipeMemory(field.data(), field.size());
  field.clear();
}

}  // namespace proofmill::server
