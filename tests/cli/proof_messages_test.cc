#include "cli/proof_messages.h"

#include <string>

#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"

namespace proofmill::cli {
namespace {

engine::Groth16Proof SomeProof() {
  return {.a = kernels::kG1Generator, .b = kernels::kG2Generator, .c = kernels::G1Affine{}};
}

TEST(ToMessageTest, NumbersAreThirtyTwoBytesBigEndian) {
  const v1::Groth16Proof message = ToMessage(SomeProof());

  EXPECT_EQ(message.a().x(), std::string(31, '\0') + '\1');
  EXPECT_EQ(message.a().y(), std::string(31, '\0') + '\2');
  EXPECT_EQ(message.c().x(), std::string(32, '\0')) << "infinity is all zero";
  EXPECT_EQ(ToBytes(kernels::Fr::FromUint64(258)), std::string(30, '\0') + "\1\2");
}

TEST(ToProofTest, IsTheInverseOfToMessage) {
  const absl::StatusOr<engine::Groth16Proof> proof = ToProof(ToMessage(SomeProof()));

  ASSERT_TRUE(proof.ok()) << proof.status();
  EXPECT_EQ(*proof, SomeProof());
}

TEST(ToProofTest, WhatIsNoProofIsRefused) {
  v1::Groth16Proof short_number = ToMessage(SomeProof());
  short_number.mutable_a()->set_x("\1");
  EXPECT_TRUE(absl::IsInvalidArgument(ToProof(short_number).status()));

  v1::Groth16Proof large_number = ToMessage(SomeProof());
  large_number.mutable_b()->set_y_c1(std::string(32, '\xff'));
  EXPECT_TRUE(absl::IsInvalidArgument(ToProof(large_number).status()));

  v1::Groth16Proof off_curve = ToMessage(SomeProof());
  off_curve.mutable_a()->set_y(off_curve.a().x());
  EXPECT_TRUE(absl::IsInvalidArgument(ToProof(off_curve).status()));

  EXPECT_TRUE(absl::IsInvalidArgument(ToProof(v1::Groth16Proof()).status()));
}

TEST(ToSignalsTest, SignalsMustBeCanonical) {
  v1::ProofResult result;
  result.add_public_signals(ToBytes(kernels::Fr::FromUint64(7)));
  ASSERT_TRUE(ToSignals(result.public_signals()).ok());
  EXPECT_EQ(ToSignals(result.public_signals())->at(0), kernels::Fr::FromUint64(7));

  result.add_public_signals(std::string(32, '\xff'));
  EXPECT_TRUE(absl::IsInvalidArgument(ToSignals(result.public_signals()).status()));
}

}  // namespace
}  // namespace proofmill::cli
