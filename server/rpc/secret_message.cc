#include "server/rpc/secret_message.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <climits>
#include <iterator>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/secure_memory.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

// The slices of an uncompressed message refer to the memory that it was read into, and nobody else reads
// those bytes.
void WipeMessage(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return;
  for (const grpc::Slice& slice : slices)
    engine::WipeMemory(const_cast<uint8_t*>(slice.begin()), slice.size());
}

void SecretField::Drain(absl::FunctionRef<void(std::string_view piece)> use) {
  for (const std::string_view piece : pieces_) {
    use(piece);
    engine::WipeMemory(const_cast<char*>(piece.data()), piece.size());
  }
  pieces_.clear();
  size_ = 0;
}

void SecretField::Wipe() {
  Drain([](std::string_view) {});
}

// Reads a message and writes it again without its secret.
class MessageSplitter {
 public:
  MessageSplitter(const grpc::ByteBuffer& bytes, SecretField& secret) : secret_(secret) {
    secret.Wipe();
    secret.bytes_ = bytes;  // another reference to the same slices
  }

  // Adds the message without the last field that one of `paths` leads to to `rest`. False if it is malformed.
  bool Split(absl::Span<const FieldPath> paths, std::string& rest) {
    grpc::ProtoBufferReader reader(&secret_.bytes_);
    if (!reader.status().ok()) return false;
    CodedInputStream in(&reader);
    Paths all;
    for (const FieldPath& path : paths) all.push_back(&path);
    return SplitMessage(in, all, 0, rest);
  }

 private:
  using Paths = std::vector<const FieldPath*>;

  // Reads to the end of the message, or of the field that the input is limited to. Of each of `paths` the
  // first `depth` numbers are behind.
  bool SplitMessage(CodedInputStream& in, const Paths& paths, size_t depth, std::string& rest) {
    StringOutputStream sink(&rest);
    CodedOutputStream out(&sink);
    while (const uint32_t tag = in.ReadTag()) {
      Paths within;
      if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
        const int number = WireFormatLite::GetTagFieldNumber(tag);
        std::copy_if(paths.begin(), paths.end(), std::back_inserter(within),
                     [&](const FieldPath* path) { return (*path)[depth] == number; });
      }
      const bool good = within.empty() ? WireFormatLite::SkipField(&in, tag, &out)
                                       : SplitField(in, tag, within, depth + 1, out);
      if (!good) return false;
    }
    return in.ConsumedEntireMessage();
  }

  bool SplitField(CodedInputStream& in, uint32_t tag, const Paths& paths, size_t depth,
                  CodedOutputStream& out) {
    uint32_t length = 0;
    if (!in.ReadVarint32(&length) || length > static_cast<uint32_t>(INT_MAX)) return false;
    std::string inner;
    if (paths.front()->size() == depth) {
      if (!Take(in, length)) return false;
    } else {
      const CodedInputStream::Limit limit = in.PushLimit(static_cast<int>(length));
      if (!SplitMessage(in, paths, depth, inner) || in.BytesUntilLimit() != 0) return false;
      in.PopLimit(limit);
    }
    out.WriteTag(tag);
    out.WriteVarint32(static_cast<uint32_t>(inner.size()));
    out.WriteString(inner);
    return true;
  }

  // Notes where the next `length` bytes lie, and overwrites what was noted before.
  bool Take(CodedInputStream& in, size_t length) {
    secret_.Wipe();
    while (secret_.size_ < length) {
      const void* data = nullptr;
      int there = 0;
      if (!in.GetDirectBufferPointer(&data, &there)) return false;
      const size_t size = std::min(static_cast<size_t>(there), length - secret_.size_);
      secret_.pieces_.emplace_back(static_cast<const char*>(data), size);
      secret_.size_ += size;
      if (!in.Skip(static_cast<int>(size))) return false;
    }
    return true;
  }

  SecretField& secret_;
};

bool ParseApart(const grpc::ByteBuffer& bytes, absl::Span<const FieldPath> paths,
                google::protobuf::Message& message, SecretField& secret) {
  if (!bytes.Valid()) return false;
  bool parsed = false;
  try {
    std::string rest;
    parsed = MessageSplitter(bytes, secret).Split(paths, rest) && message.ParseFromString(rest);
  } catch (const std::bad_alloc&) {
    WipeMessage(bytes);
    throw;
  }
  if (!parsed) WipeMessage(bytes);
  return parsed;
}

absl::Status NoSuchMessage(const grpc::ByteBuffer& bytes, std::string_view type) {
  if (!bytes.Valid()) return absl::CancelledError("the client went away before its message was whole");
  return InvalidRequest(absl::StrCat("not a ", std::string(type)));
}

grpc::ByteBuffer Serialize(const google::protobuf::Message& message) {
  const std::string text = message.SerializeAsString();
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace proofmill::server
