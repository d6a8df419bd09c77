// Memory that messages with secrets are sent from. gRPC holds a message until the kernel has all of it, which
// may be after the call has ended, so the caller's memory cannot be lent to it: the bytes are copied, once,
// into blocks, and a block is wiped when gRPC lets go of it, and kept for the next message.
//
// Thread safety: every method may be called from any thread.
// Lifetime: what was copied may outlive the object that copied it.

#ifndef PROOFMILL_CLIENTS_CPP_SEND_BLOCKS_H_
#define PROOFMILL_CLIENTS_CPP_SEND_BLOCKS_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"

namespace proofmill::client {

class SendBlocks {
 public:
  SendBlocks();

  // The message `rest` with one field more: the bytes field that `path` leads to, from the number of a field
  // of `rest` on. Fields of one message that are said twice are one message, so `rest` may have the messages
  // on the way, without that field.
  grpc::ByteBuffer Message(const google::protobuf::MessageLite& rest, std::initializer_list<int> path,
                           absl::string_view secret) const;

 private:
  class Pool;
  struct Block;
  static void Release(void* block);

  const std::shared_ptr<Pool> pool_;
};

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_SEND_BLOCKS_H_
