#include "server/rpc/convert.h"

#include <chrono>
#include <functional>
#include <string>

#include "engine/base/error_reason.h"
#include "engine/formats/snarkjs_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"
#include "server/rpc/rpc_status.h"
#include "tests/engine/base/fake_clock.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;

engine::Groth16Proof SomeProof() {
  return {.a = kernels::kG1Generator, .b = kernels::kG2Generator, .c = -kernels::kG1Generator};
}

v1::ProofSpec GoodSpec() {
  v1::ProofSpec spec;
  spec.set_circuit("semaphore-20.v1");
  return spec;
}

TEST(ConvertTest, AGoodSpecIsTaken) {
  v1::ProofSpec in = GoodSpec();
  in.set_circuit_version(std::string(128, 'a'));
  in.set_priority(v1::PRIORITY_HIGH);
  in.set_request_id("req:1/~");
  in.set_include_snarkjs_json(true);
  const auto spec = ParseSpec(in);

  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->circuit, "semaphore-20.v1");
  EXPECT_EQ(spec->priority, engine::Priority::kHigh);
  EXPECT_EQ(spec->request_id, "req:1/~");
  EXPECT_TRUE(spec->include_snarkjs_json);
  EXPECT_EQ(ParseSpec(GoodSpec())->priority, engine::Priority::kNormal);
}

TEST(ConvertTest, ABadSpecIsRefused) {
  const std::function<void(v1::ProofSpec&)> changes[] = {
      [](v1::ProofSpec& s) { s.set_circuit(""); },
      [](v1::ProofSpec& s) { s.set_circuit("../etc/passwd"); },
      [](v1::ProofSpec& s) { s.set_circuit("x;touch pwn"); },
      [](v1::ProofSpec& s) { s.set_circuit(std::string(129, 'a')); },
      [](v1::ProofSpec& s) { s.set_circuit(".hidden"); },
      [](v1::ProofSpec& s) { s.set_circuit_version("abc"); },
      [](v1::ProofSpec& s) { s.set_circuit_version(std::string(128, 'A')); },
      [](v1::ProofSpec& s) { s.set_request_id("with space"); },
      [](v1::ProofSpec& s) { s.set_request_id("line\nend"); },
      [](v1::ProofSpec& s) { s.set_request_id(std::string(129, 'r')); },
      [](v1::ProofSpec& s) { s.set_priority(static_cast<v1::Priority>(9)); }};
  for (const auto& change : changes) {
    v1::ProofSpec spec = GoodSpec();
    change(spec);
    EXPECT_EQ(ReasonOf(ParseSpec(spec).status()), ErrorReason::kRequestInvalid) << spec.ShortDebugString();
  }
}

TEST(ConvertTest, ABadNameIsToldInOneLineAndNotAtAnyLength) {
  EXPECT_THAT(std::string(CheckCircuitId("a\n\"b\"").message()), testing::EndsWith(R"(, got "a\n\"b\"")"));
  EXPECT_THAT(std::string(CheckVersion("xyz").message()), testing::EndsWith(R"(, got "xyz")"));
  EXPECT_THAT(std::string(CheckName("b b\x01\xc3", "item_id").message()),
              testing::AllOf(testing::StartsWith("item_id: "), testing::EndsWith(R"(, got "b b\x01\xc3")")));
  EXPECT_THAT(std::string(CheckName(std::string(200, 'n'), "name").message()),
              testing::EndsWith(", got \"" + std::string(64, 'n') + "\"..."));
}

TEST(ConvertTest, TheSizeOfAWitnessIsJudgedBeforeItIsThere) {
  EXPECT_TRUE(CheckWitnessSize(76 + 32 * 10, 10).ok());
  EXPECT_TRUE(CheckWitnessSize(WitnessBytesMax(10), 10).ok());
  for (const uint64_t size : {uint64_t{0}, uint64_t{76 + 32 * 10 - 1}, WitnessBytesMax(10) + 1, UINT64_MAX}) {
    const absl::Status status = CheckWitnessSize(size, 10);
    EXPECT_EQ(engine::GetReason(status), ErrorReason::kWitnessLength) << size;
  }
  EXPECT_EQ(WitnessBytes(UINT32_MAX), 76 + 32 * uint64_t{UINT32_MAX});
}

TEST(ConvertTest, AStatementSurvivesItsMessage) {
  const engine::Groth16Output output{SomeProof(), {kernels::Fr::FromUint64(0), -kernels::Fr::One()}};
  engine::ProveResult result;
  result.output = output;
  v1::ProofResult message;
  FillResult(result, /*include_snarkjs_json=*/true, "r", message);
  v1::VerifyRequest request;
  *request.mutable_groth16()->mutable_proof() = message.groth16();
  *request.mutable_groth16()->mutable_public_signals() = message.public_signals();

  const auto statement = ParseStatement(request, 2);
  ASSERT_TRUE(statement.ok()) << statement.status();
  EXPECT_EQ(statement->proof, output.proof);
  EXPECT_EQ(statement->public_signals, output.public_signals);

  request.mutable_snarkjs()->set_proof_json(message.snarkjs_proof_json());
  request.mutable_snarkjs()->set_public_json(message.snarkjs_public_json());
  const auto from_json = ParseStatement(request, 2);
  ASSERT_TRUE(from_json.ok()) << from_json.status();
  EXPECT_EQ(from_json->proof, output.proof);
  EXPECT_EQ(from_json->public_signals, output.public_signals);
}

TEST(ConvertTest, AStatementWithoutSignalsHasAnEmptyListAndNotNull) {
  engine::ProveResult result;
  result.output = engine::Groth16Output{SomeProof(), {}};
  v1::ProofResult message;
  FillResult(result, /*include_snarkjs_json=*/true, "r", message);
  EXPECT_EQ(message.public_signals_size(), 0);
  EXPECT_EQ(message.snarkjs_public_json(), "[]");

  v1::VerifyRequest request;
  *request.mutable_groth16()->mutable_proof() = message.groth16();
  EXPECT_TRUE(ParseStatement(request, 0).ok());
  request.mutable_snarkjs()->set_proof_json(message.snarkjs_proof_json());
  for (const char* signals : {"[]", "null"}) {
    request.mutable_snarkjs()->set_public_json(signals);
    const auto statement = ParseStatement(request, 0);
    ASSERT_TRUE(statement.ok()) << statement.status();
    EXPECT_TRUE(statement->public_signals.empty());
  }
}

TEST(ConvertTest, CoordinatesAreBigEndianInTheOrderOfTheirNames) {
  v1::Groth16Proof message;
  FillProof(SomeProof(), message);

  EXPECT_EQ(message.a().x(), std::string(31, '\0') + '\1');
  EXPECT_EQ(message.a().y(), std::string(31, '\0') + '\2');
  // The generator of G2 as EIP-197 prints it: x = c0 + c1 * u with c0 = 0x1800deef...
  EXPECT_EQ(message.b().x_c0().substr(0, 4), std::string("\x18\x00\xde\xef", 4));
  EXPECT_EQ(message.b().x_c1().substr(0, 4), "\x19\x8e\x93\x93");
}

// The modulus of the scalar field, big-endian: the smallest number that is no signal (CVE-2023-33252's alias
// of 0).
std::string ScalarModulus() {
  std::string bytes(32, '\0');
  kernels::U256ToBigEndian(kernels::Fr::kModulus, reinterpret_cast<uint8_t*>(bytes.data()));
  return bytes;
}

TEST(ConvertTest, WhatIsNoStatementByItsFormIsRefused) {
  v1::VerifyRequest good;
  FillProof(SomeProof(), *good.mutable_groth16()->mutable_proof());
  good.mutable_groth16()->add_public_signals(std::string(32, '\1'));
  ASSERT_TRUE(ParseStatement(good, 1).ok());

  EXPECT_EQ(ReasonOf(ParseStatement(good, 2).status()), ErrorReason::kPublicSignalsMalformed);
  EXPECT_EQ(ReasonOf(ParseStatement(good, 0).status()), ErrorReason::kPublicSignalsMalformed);
  EXPECT_EQ(ReasonOf(ParseStatement(v1::VerifyRequest(), 0).status()), ErrorReason::kRequestInvalid);

  v1::VerifyRequest alias = good;
  alias.mutable_groth16()->set_public_signals(0, ScalarModulus());
  EXPECT_EQ(ReasonOf(ParseStatement(alias, 1).status()), ErrorReason::kPublicSignalsMalformed);
  v1::VerifyRequest short_signal = good;
  short_signal.mutable_groth16()->set_public_signals(0, std::string(31, '\1'));
  EXPECT_EQ(ReasonOf(ParseStatement(short_signal, 1).status()), ErrorReason::kPublicSignalsMalformed);
  v1::VerifyRequest large = good;
  large.mutable_groth16()->mutable_proof()->mutable_b()->set_y_c1(std::string(32, '\xff'));
  EXPECT_EQ(ReasonOf(ParseStatement(large, 1).status()), ErrorReason::kProofMalformed);
  v1::VerifyRequest missing = good;
  missing.mutable_groth16()->mutable_proof()->clear_c();
  EXPECT_EQ(ReasonOf(ParseStatement(missing, 1).status()), ErrorReason::kProofMalformed);
}

TEST(ConvertTest, JsonThatIsNoStatementIsRefused) {
  v1::VerifyRequest request;
  request.mutable_snarkjs()->set_proof_json(engine::ProofToJson(SomeProof()));
  for (const char* signals :
       {"", "{}", "[1]", "[\"-1\"]", "[\"0x1\"]", "[\"01\"]", "[\"1.0\"]", "[\"1\",\"2\"]", "[]",
        "[\"21888242871839275222246405745257275088548364400416034343698204186575808495617\"]"}) {
    request.mutable_snarkjs()->set_public_json(signals);
    EXPECT_EQ(ReasonOf(ParseStatement(request, 1).status()), ErrorReason::kPublicSignalsMalformed) << signals;
  }
  request.mutable_snarkjs()->set_public_json("[\"1\"]");
  EXPECT_TRUE(ParseStatement(request, 1).ok());
  for (const char* proof : {"", "[]", "{}", "{\"pi_a\":[\"1\",\"2\",\"1\"]}"}) {
    request.mutable_snarkjs()->set_proof_json(proof);
    EXPECT_EQ(ReasonOf(ParseStatement(request, 1).status()), ErrorReason::kProofMalformed) << proof;
  }
}

TEST(ConvertTest, ADeadlineKeepsItsDistance) {
  engine::FakeClock clock;
  const auto deadline = ToEngineDeadline(std::chrono::system_clock::now() + std::chrono::seconds(100), clock);
  ASSERT_TRUE(deadline.has_value());
  EXPECT_LT(*deadline - clock.Now(), std::chrono::seconds(101));
  EXPECT_GT(*deadline - clock.Now(), std::chrono::seconds(90));
  EXPECT_FALSE(ToEngineDeadline(std::chrono::system_clock::time_point::max(), clock).has_value());
}

TEST(ConvertTest, ADeadlineTooFarToCountWithIsNone) {
  engine::FakeClock clock;
  using std::chrono::system_clock;
  const auto now = system_clock::now();
  EXPECT_FALSE(ToEngineDeadline(now + std::chrono::hours(24 * 366), clock).has_value());
  // What gRPC makes of a timeout of 292 years.
  EXPECT_FALSE(ToEngineDeadline(system_clock::time_point(system_clock::duration::min()), clock).has_value());
  EXPECT_TRUE(ToEngineDeadline(now - std::chrono::seconds(1), clock).has_value());
}

TEST(ConvertTest, TimesBecomeSecondsAndNanos) {
  EXPECT_EQ(ToProto(std::chrono::nanoseconds(1'500'000'007)).seconds(), 1);
  EXPECT_EQ(ToProto(std::chrono::nanoseconds(1'500'000'007)).nanos(), 500'000'007);
  const auto timestamp = ToProto(absl::FromUnixNanos(1'800'000'000'000'000'123));
  EXPECT_EQ(timestamp.seconds(), 1'800'000'000);
  EXPECT_EQ(timestamp.nanos(), 123);
}

}  // namespace
}  // namespace proofmill::server
