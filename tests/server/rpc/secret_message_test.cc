#include "server/rpc/secret_message.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proofmill/v1/prover.pb.h"
#include "server/rpc/proof_api.h"

namespace proofmill::server {
namespace {

using v1::ProveRequest;

// The bytes, in slices of `piece` bytes.
grpc::ByteBuffer InSlices(const std::string& bytes, size_t piece) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += piece) slices.emplace_back(bytes.substr(at, piece));
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::string Join(const SecretField& field) {
  std::string out;
  for (const std::string_view piece : field.pieces()) out += piece;
  EXPECT_EQ(out.size(), field.size());
  return out;
}

// In four slices of about the same size: what gRPC keeps within a slice, up to 23 bytes, cannot be wiped.
grpc::ByteBuffer InFourSlices(const std::string& bytes) { return InSlices(bytes, bytes.size() / 4 + 1); }

// What remains in the slices of `bytes`.
std::string Remains(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  EXPECT_TRUE(bytes.Dump(&slices).ok());
  std::string out;
  for (const grpc::Slice& slice : slices)
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return out;
}

std::string Random(std::mt19937& random, size_t size) {
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

std::vector<FieldPath> Paths() { return InputPaths({}); }

// What ParseApart() makes of `bytes` is what the parser of Protobuf makes of them.
void ExpectSame(const std::string& bytes, size_t piece) {
  ProveRequest expected;
  const bool good = expected.ParseFromString(bytes);
  ProveRequest request;
  SecretField secret;
  ASSERT_EQ(ParseApart(InSlices(bytes, piece), Paths(), request, secret), good);
  if (!good) return;
  if (request.groth16().has_wtns()) {
    EXPECT_EQ(request.groth16().wtns(), "");
    request.mutable_groth16()->set_wtns(Join(secret));
  }
  if (request.whir().has_evaluations()) {
    EXPECT_EQ(request.whir().evaluations(), "");
    request.mutable_whir()->set_evaluations(Join(secret));
  }
  EXPECT_EQ(request.SerializeAsString(), expected.SerializeAsString());
}

ProveRequest Groth16(const std::string& wtns) {
  ProveRequest request;
  request.mutable_spec()->set_circuit("circuit");
  request.mutable_groth16()->set_wtns(wtns);
  return request;
}
ProveRequest Whir(const std::string& evaluations) {
  ProveRequest request;
  request.mutable_whir()->add_claims()->set_point("point");
  request.mutable_whir()->set_evaluations(evaluations);
  return request;
}

TEST(SecretMessageTest, AMessageOfAnySizeInSlicesOfAnySizeIsWhatProtobufReads) {
  std::mt19937 random(1);
  for (const size_t size : {0u, 1u, 20u, 127u, 128u, 1000u, 70000u}) {
    for (const size_t piece : {1u, 5u, 24u, 1000u, 100000u}) {
      if (size / piece > 20000) continue;
      ExpectSame(Groth16(Random(random, size)).SerializeAsString(), piece);
      ExpectSame(Whir(Random(random, size)).SerializeAsString(), piece);
    }
  }
}

TEST(SecretMessageTest, WhatIsSaidTwiceIsReadAsProtobufReadsIt) {
  ProveRequest upload, empty_groth16, empty_whir;
  upload.mutable_groth16()->set_upload("uploads/1");
  empty_groth16.mutable_groth16();
  empty_whir.mutable_whir();
  const std::vector<std::string> parts = {Groth16("first").SerializeAsString(),
                                          Groth16("second").SerializeAsString(),
                                          Groth16("").SerializeAsString(),
                                          Whir("third").SerializeAsString(),
                                          upload.SerializeAsString(),
                                          empty_groth16.SerializeAsString(),
                                          empty_whir.SerializeAsString(),
                                          "\x98\x06\x07",              // field 99, a number
                                          "\x9b\x06\x08\x01\x9c\x06",  // field 99, a group
                                          "\x10\x05"};                 // field 2, of another type
  for (const std::string& a : parts) {
    for (const std::string& b : parts) {
      for (const std::string& c : parts) ExpectSame(absl::StrCat(a, b, c), 7);
    }
  }
}

TEST(SecretMessageTest, DamagedMessagesAreRefusedAsProtobufRefusesThem) {
  std::mt19937 random(2);
  const std::string good = Groth16(Random(random, 60)).SerializeAsString() + Whir("x").SerializeAsString();
  for (size_t size = 0; size < good.size(); ++size) ExpectSame(good.substr(0, size), 9);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int change = 0; change < 1 + i % 3; ++change)
      bad[random() % bad.size()] = static_cast<char>(random());
    ExpectSame(bad, 1 + random() % 50);
  }
}

TEST(SecretMessageTest, TheSecretIsWipedWhereItWasReceived) {
  const std::string secret(1000, 'S');
  const grpc::ByteBuffer bytes = InFourSlices(Groth16(secret).SerializeAsString());
  {
    ProveRequest request;
    SecretField field;
    ASSERT_TRUE(ParseApart(bytes, Paths(), request, field));
    EXPECT_EQ(Join(field), secret);
    EXPECT_NE(Remains(bytes).find('S'), std::string::npos) << "the control";
  }
  EXPECT_EQ(Remains(bytes).find('S'), std::string::npos);
}

TEST(SecretMessageTest, ASecretThatIsDrainedIsHandedOnWholeAndWiped) {
  const std::string wtns(5000, 'w');
  const grpc::ByteBuffer bytes = InFourSlices(Groth16(wtns).SerializeAsString());
  ProveRequest request;
  SecretField secret;
  ASSERT_TRUE(ParseApart(bytes, Paths(), request, secret));
  std::string drained;
  secret.Drain([&](std::string_view piece) { drained += piece; });
  EXPECT_EQ(drained, wtns);
  EXPECT_EQ(secret.size(), 0u);
  EXPECT_TRUE(secret.pieces().empty());
  EXPECT_EQ(Remains(bytes).find("ww"), std::string::npos);
}

TEST(SecretMessageTest, SecretsThatAreSaidBeforeTheLastAreWiped) {
  const grpc::ByteBuffer bytes = InFourSlices(Groth16(std::string(500, 'S')).SerializeAsString() +
                                              Whir(std::string(500, 'T')).SerializeAsString() +
                                              Groth16(std::string(500, 'U')).SerializeAsString());
  ProveRequest request;
  SecretField field;
  ASSERT_TRUE(ParseApart(bytes, Paths(), request, field));
  EXPECT_EQ(Remains(bytes).find('S'), std::string::npos);
  EXPECT_EQ(Remains(bytes).find('T'), std::string::npos);
  EXPECT_EQ(Join(field), std::string(500, 'U'));
}

TEST(SecretMessageTest, AllOfAMalformedMessageIsWiped) {
  const grpc::ByteBuffer bytes =
      InFourSlices(Groth16(std::string(500, 'S')).SerializeAsString() + "\x12\x7f" + std::string(90, 'T'));
  ProveRequest request;
  SecretField field;
  ASSERT_FALSE(ParseApart(bytes, Paths(), request, field));
  const std::string remains = Remains(bytes);
  EXPECT_TRUE(std::all_of(remains.begin(), remains.end(), [](char c) { return c == 0; }));
}

}  // namespace
}  // namespace proofmill::server
