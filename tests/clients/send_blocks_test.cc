#include "clients/cpp/send_blocks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "proofmill/v1/jobs.pb.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::client {
namespace {

std::string Secret(size_t size) {
  std::string secret(size, '\0');
  for (size_t i = 0; i < size; ++i) secret[i] = static_cast<char>(i * 7 + i / 256 + 1);
  return secret;
}

std::string Flatten(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(bytes.Dump(&slices).ok());
  std::string out;
  for (const grpc::Slice& slice : slices)
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return out;
}

constexpr size_t kSizes[] = {0, 1, 127, 128, 16383, 16384, 262143, 262144, 262145, 1 << 20, (5 << 20) + 3};

TEST(SendBlocksTest, AMessageIsThatOfItsParts) {
  const SendBlocks blocks;
  for (const size_t size : kSizes) {
    v1::ProveStreamRequest chunk;
    chunk.mutable_chunk()->set_offset_bytes(77);
    chunk.mutable_chunk()->set_crc32c(5);
    v1::ProveStreamRequest sent;
    ASSERT_TRUE(sent.ParseFromString(Flatten(blocks.Message(chunk, {2, 2}, Secret(size)))));
    EXPECT_EQ(sent.chunk().offset_bytes(), 77u);
    EXPECT_EQ(sent.chunk().crc32c(), 5u);
    EXPECT_TRUE(sent.chunk().data() == Secret(size)) << size;
  }
}

TEST(SendBlocksTest, FieldsBesideTheSecretAreKeptAtEveryLevel) {
  const SendBlocks blocks;
  v1::CreateJobRequest job;
  job.mutable_timeout()->set_seconds(9);
  job.mutable_request()->mutable_spec()->set_circuit("poly");
  job.mutable_request()->mutable_whir()->add_claims()->set_point("point");
  v1::CreateJobRequest sent;
  ASSERT_TRUE(sent.ParseFromString(
      Flatten(blocks.Message(job,
                             {v1::CreateJobRequest::kRequestFieldNumber, v1::ProveRequest::kWhirFieldNumber,
                              v1::WhirInput::kEvaluationsFieldNumber},
                             Secret(300)))));
  job.mutable_request()->mutable_whir()->set_evaluations(Secret(300));
  EXPECT_EQ(sent.SerializeAsString(), job.SerializeAsString());
}

TEST(SendBlocksTest, BytesAreWipedWhenTheMessageGoes) {
  const SendBlocks blocks;
  for (const size_t size : {size_t{1000}, size_t{1} << 20}) {
    std::vector<std::pair<const uint8_t*, size_t>> pieces;
    {
      const grpc::ByteBuffer message = blocks.Message(v1::ProveStreamRequest(), {2, 2}, Secret(size));
      std::vector<grpc::Slice> slices;
      ASSERT_TRUE(message.Dump(&slices).ok());
      for (size_t i = 1; i < slices.size(); ++i) pieces.emplace_back(slices[i].begin(), slices[i].size());
      ASSERT_FALSE(pieces.empty());
      ASSERT_NE(pieces[0].first[0], 0);
    }
    // The blocks are kept, so their memory may be looked at.
    for (const auto& [begin, bytes] : pieces) {
      EXPECT_TRUE(std::all_of(begin, begin + bytes, [](uint8_t byte) { return byte == 0; })) << size;
    }
  }
}

TEST(SendBlocksTest, AMessageMayOutliveItsMaker) {
  grpc::ByteBuffer message;
  {
    const SendBlocks blocks;
    message = blocks.Message(v1::ProveStreamRequest(), {2, 2}, Secret(1 << 20));
  }
  v1::ProveStreamRequest sent;
  ASSERT_TRUE(sent.ParseFromString(Flatten(message)));
  EXPECT_TRUE(sent.chunk().data() == Secret(1 << 20));
}

}  // namespace
}  // namespace proofmill::client
