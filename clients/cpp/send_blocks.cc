#include "clients/cpp/send_blocks.h"

#include <string.h>  // explicit_bzero

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "google/protobuf/wire_format_lite.h"

namespace proofmill::client {
namespace {

using google::protobuf::internal::WireFormatLite;

constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr size_t kKeptBlocksMax = 16;  // 4 MiB: those of a stream, whose chunks follow each other

// The tags and lengths before the innermost bytes.
std::string FieldHeaders(std::initializer_list<int> path, size_t secret_bytes) {
  std::string headers;
  for (size_t level = path.size(); level > 0; --level) {
    const int number = path.begin()[level - 1];
    std::string header(size_t{2} * 10, '\0');  // the longest tag and length
    auto* const begin = reinterpret_cast<uint8_t*>(header.data());
    uint8_t* end = WireFormatLite::WriteTagToArray(number, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, begin);
    end = google::protobuf::io::CodedOutputStream::WriteVarint64ToArray(headers.size() + secret_bytes, end);
    header.resize(static_cast<size_t>(end - begin));
    headers.insert(0, header);
  }
  return headers;
}

}  // namespace

// Blocks that wait for the next message.
class SendBlocks::Pool {
 public:
  std::unique_ptr<Block> Take();
  // Keeps it, if there are not too many.
  void Put(std::unique_ptr<Block> block);

 private:
  std::mutex mu_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

struct SendBlocks::Block {
  std::shared_ptr<Pool> pool;  // set while it is in use
  size_t used = 0;
  uint8_t bytes[kBlockBytes];
};

std::unique_ptr<SendBlocks::Block> SendBlocks::Pool::Take() {
  {
    const std::lock_guard<std::mutex> lock(mu_);
    if (!blocks_.empty()) {
      std::unique_ptr<Block> block = std::move(blocks_.back());
      blocks_.pop_back();
      return block;
    }
  }
  return std::unique_ptr<Block>(new Block);  // its bytes are not written twice
}

void SendBlocks::Pool::Put(std::unique_ptr<Block> block) {
  const std::lock_guard<std::mutex> lock(mu_);
  if (blocks_.size() < kKeptBlocksMax) blocks_.push_back(std::move(block));
}

SendBlocks::SendBlocks() : pool_(std::make_shared<Pool>()) {}

void SendBlocks::Release(void* block) {
  std::unique_ptr<Block> owned(static_cast<Block*>(block));
  explicit_bzero(owned->bytes, owned->used);  // a quarter of the time of OPENSSL_cleanse()
  const std::shared_ptr<Pool> pool = std::move(owned->pool);
  pool->Put(std::move(owned));
}

grpc::ByteBuffer SendBlocks::Message(const google::protobuf::MessageLite& rest,
                                     std::initializer_list<int> path, absl::string_view secret) const {
  std::vector<grpc::Slice> slices;
  slices.reserve(1 + secret.size() / kBlockBytes + 1);
  slices.emplace_back(rest.SerializeAsString() + FieldHeaders(path, secret.size()));
  for (size_t at = 0; at < secret.size(); at += kBlockBytes) {
    const absl::string_view piece = secret.substr(at, kBlockBytes);
    std::unique_ptr<Block> block = pool_->Take();
    block->pool = pool_;
    block->used = piece.size();
    std::memcpy(block->bytes, piece.data(), piece.size());
    uint8_t* const bytes = block->bytes;
    slices.emplace_back(bytes, piece.size(), &Release, block.release());
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

}  // namespace proofmill::client
