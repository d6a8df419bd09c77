#include "server/rpc/secret_message.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <new>
#include <vector>

#include "engine/base/secure_memory.h"

namespace proofmill::server {
namespace {

// The slices of an uncompressed message refer to the memory that it was read into, and nobody else reads
// those bytes.
void Wipe(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return;
  for (const grpc::Slice& slice : slices)
    engine::WipeMemory(const_cast<uint8_t*>(slice.begin()), slice.size());
}

// Not inlined, so that its array lies where the frames of functions called before lay.
__attribute__((noinline)) void WipeStack() {
  constexpr size_t kStackBytes = 64 << 10;  // deeper than the calls that touch a witness on gRPC's threads
  unsigned char frame[kStackBytes];
  engine::WipeMemory(frame, sizeof(frame));
}

// All of them are the caller's to save, so none holds anything that is still needed after a call.
void WipeVectorRegisters() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    // Zeroing by exclusive or; only AVX-512 has these registers, and this file is not compiled for it, so
    // that the compiler uses none of them.
    asm volatile(
        "vpxorq %zmm16, %zmm16, %zmm16\n\tvpxorq %zmm17, %zmm17, %zmm17\n\tvpxorq %zmm18, %zmm18, %zmm18\n\t"
        "vpxorq %zmm19, %zmm19, %zmm19\n\tvpxorq %zmm20, %zmm20, %zmm20\n\tvpxorq %zmm21, %zmm21, %zmm21\n\t"
        "vpxorq %zmm22, %zmm22, %zmm22\n\tvpxorq %zmm23, %zmm23, %zmm23\n\tvpxorq %zmm24, %zmm24, %zmm24\n\t"
        "vpxorq %zmm25, %zmm25, %zmm25\n\tvpxorq %zmm26, %zmm26, %zmm26\n\tvpxorq %zmm27, %zmm27, %zmm27\n\t"
        "vpxorq %zmm28, %zmm28, %zmm28\n\tvpxorq %zmm29, %zmm29, %zmm29\n\tvpxorq %zmm30, %zmm30, %zmm30\n\t"
        "vpxorq %zmm31, %zmm31, %zmm31");
  }
  if (__builtin_cpu_supports("avx")) {
    asm volatile("vzeroall" ::
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  }
#endif
}

}  // namespace

bool ParseAndWipe(const grpc::ByteBuffer& bytes, google::protobuf::Message& message) {
  bool parsed = false;
  try {
    // Another reference to the same slices: the reader wants one that it may change.
    grpc::ByteBuffer view(bytes);
    grpc::ProtoBufferReader reader(&view);
    parsed = reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
  } catch (const std::bad_alloc&) {
    Wipe(bytes);
    throw;
  }
  Wipe(bytes);
  return parsed;
}

grpc::ByteBuffer Serialize(const google::protobuf::Message& message) {
  const std::string text = message.SerializeAsString();
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

__attribute__((noinline)) void WipeThreadTraces() {
  WipeStack();
  WipeVectorRegisters();
}

void WipeField(std::string& field) {
  engine::WipeMemory(field.data(), field.size());
  field.clear();
}

}  // namespace proofmill::server
