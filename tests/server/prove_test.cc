// Prove and Verify over a real channel: good requests, and every way in which a request can be wrong.

#include <map>
#include <set>

#include "kernels/field/bn254_fr.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

constexpr size_t kHeaderBytes = 76;

class ProveTest : public ServiceTest {
 protected:
  Outcome Verify(const v1::VerifyRequest& request, v1::VerifyResponse& response) {
    const auto context = ContextFor();
    return OutcomeOf(prover_->Verify(context.get(), request, &response), *context);
  }
  // Whether the service accepts the proof; fails the test if it does not answer.
  bool IsValid(const v1::ProofResult& result) {
    v1::VerifyRequest request;
    request.set_circuit(result.circuit());
    *request.mutable_groth16()->mutable_proof() = result.groth16();
    *request.mutable_groth16()->mutable_public_signals() = result.public_signals();
    v1::VerifyResponse response;
    const Outcome outcome = Verify(request, response);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.error_message();
    return response.valid();
  }
};

TEST_F(ProveTest, AProofComesBackWithAllThatBelongsToIt) {
  v1::ProveRequest request = Request(Wtns("medium", 7), "medium");
  request.mutable_spec()->set_request_id("my-id");
  request.mutable_spec()->set_include_snarkjs_json(true);
  v1::ProveResponse response;
  const Outcome outcome = Prove(request, &response);

  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error_message();
  const v1::ProofResult& result = response.result();
  EXPECT_TRUE(IsValid(result));
  EXPECT_EQ(result.public_signals_size(), 3);
  EXPECT_EQ(result.circuit(), "medium");
  EXPECT_EQ(result.circuit_version().size(), 128u);
  EXPECT_EQ(result.request_id(), "my-id");
  EXPECT_EQ(result.device(), "cpu");
  EXPECT_NE(result.snarkjs_proof_json().find("\"pi_a\""), std::string::npos);
  EXPECT_NE(result.snarkjs_public_json().find("\""), std::string::npos);
  EXPECT_GT(result.finish_time().seconds(), 1'700'000'000);
  std::set<std::string> stages;
  for (const auto& stage : result.stages()) stages.insert(stage.stage());
  for (const char* stage :
       {"gather", "ntt", "msm_a", "msm_b1", "msm_b2", "msm_c", "msm_h", "finish", "self_check"}) {
    EXPECT_EQ(stages.count(stage), 1u) << stage;
  }
}

TEST_F(ProveTest, TwoProofsOfOneWitnessDifferAndBothVerify) {
  v1::ProveResponse first, second;
  ASSERT_TRUE(Prove(Request(Wtns("small")), &first).status.ok());
  ASSERT_TRUE(Prove(Request(Wtns("small")), &second).status.ok());
  EXPECT_NE(first.result().groth16().SerializeAsString(), second.result().groth16().SerializeAsString());
  EXPECT_TRUE(IsValid(first.result()));
  EXPECT_TRUE(IsValid(second.result()));
  EXPECT_FALSE(first.result().request_id().empty()) << "the service chooses an id";
}

TEST_F(ProveTest, ARepeatedRequestIdGivesTheSameProof) {
  v1::ProveRequest request = Request(Wtns("small"));
  request.mutable_spec()->set_request_id("once");
  v1::ProveResponse first, second;
  ASSERT_TRUE(Prove(request, &first).status.ok());
  ASSERT_TRUE(Prove(request, &second).status.ok());
  EXPECT_EQ(first.result().groth16().SerializeAsString(), second.result().groth16().SerializeAsString());

  request.mutable_groth16()->set_wtns(Wtns("small", 1));
  const Outcome conflict = Prove(request);
  EXPECT_EQ(conflict.status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(conflict.reason, "REQUEST_ID_CONFLICT");
}

TEST_F(ProveTest, BadRequestsAreRefusedWithTheirReason) {
  const std::string good = Wtns("small");
  const auto changed = [&](const std::function<void(v1::ProveRequest&)>& change) {
    v1::ProveRequest request = Request(good);
    change(request);
    return request;
  };
  // A value of the witness, replaced.
  const auto with_value = [&](size_t index, const std::string& value) {
    std::string wtns = good;
    return Request(wtns.replace(kHeaderBytes + 32 * index, 32, value));
  };
  std::string modulus(32, '\0');
  kernels::U256ToLittleEndian(kernels::Fr::kModulus, reinterpret_cast<uint8_t*>(modulus.data()));
  std::string one(32, '\0');
  one[0] = '\1';
  const struct {
    const char* what;
    v1::ProveRequest request;
    grpc::StatusCode code;
    const char* reason;
  } cases[] = {
      {"no circuit", changed([](auto& r) { r.mutable_spec()->clear_circuit(); }),
       grpc::StatusCode::INVALID_ARGUMENT, "REQUEST_INVALID"},
      {"a path", changed([](auto& r) { r.mutable_spec()->set_circuit("../small"); }),
       grpc::StatusCode::INVALID_ARGUMENT, "REQUEST_INVALID"},
      {"unknown circuit", changed([](auto& r) { r.mutable_spec()->set_circuit("nobody"); }),
       grpc::StatusCode::NOT_FOUND, "CIRCUIT_UNKNOWN"},
      {"failed circuit", changed([](auto& r) { r.mutable_spec()->set_circuit("broken"); }),
       grpc::StatusCode::FAILED_PRECONDITION, "CIRCUIT_FAILED"},
      {"other version",
       changed([](auto& r) { r.mutable_spec()->set_circuit_version(std::string(128, '0')); }),
       grpc::StatusCode::FAILED_PRECONDITION, "VERSION_MISMATCH"},
      {"no input", changed([](auto& r) { r.clear_groth16(); }), grpc::StatusCode::INVALID_ARGUMENT,
       "REQUEST_INVALID"},
      {"no witness", changed([](auto& r) { r.mutable_groth16()->clear_wtns(); }),
       grpc::StatusCode::INVALID_ARGUMENT, "REQUEST_INVALID"},
      {"unknown upload", changed([](auto& r) { r.mutable_groth16()->set_upload("uploads/x"); }),
       grpc::StatusCode::NOT_FOUND, "UPLOAD_UNKNOWN"},
      {"empty witness", Request(""), grpc::StatusCode::INVALID_ARGUMENT, "WITNESS_MALFORMED"},
      {"no witness file", Request("hello"), grpc::StatusCode::INVALID_ARGUMENT, "WITNESS_MALFORMED"},
      {"cut short", Request(good.substr(0, good.size() - 1)), grpc::StatusCode::INVALID_ARGUMENT,
       "WITNESS_MALFORMED"},
      {"witness of another circuit", Request(Wtns("medium")), grpc::StatusCode::INVALID_ARGUMENT,
       "WITNESS_LENGTH"},
      {"a value of r", with_value(3, modulus), grpc::StatusCode::INVALID_ARGUMENT, "WITNESS_NOT_CANONICAL"},
      {"a value of 2^256 - 1", with_value(3, std::string(32, '\xff')), grpc::StatusCode::INVALID_ARGUMENT,
       "WITNESS_NOT_CANONICAL"},
      {"first value 0", with_value(0, std::string(32, '\0')), grpc::StatusCode::INVALID_ARGUMENT,
       "WITNESS_MALFORMED"},
      {"a wire flipped", with_value(kSmallWires - 1, one), grpc::StatusCode::INVALID_ARGUMENT,
       "WITNESS_UNSATISFIED"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = Prove(c.request);
    EXPECT_EQ(outcome.status.error_code(), c.code) << c.what << ": " << outcome.status.error_message();
    EXPECT_EQ(outcome.reason, c.reason) << c.what << ": " << outcome.status.error_message();
    EXPECT_FALSE(outcome.has_retry_info) << c.what;
  }
  EXPECT_TRUE(ProveSmall().status.ok()) << "and the next good one is proved";
}

TEST_F(ProveTest, AnErrorAboutTheCountNamesBothCounts) {
  const Outcome outcome = Prove(Request(Wtns("medium")));
  EXPECT_NE(outcome.status.error_message().find(std::to_string(kSmallWires)), std::string::npos);
  EXPECT_NE(outcome.status.error_message().find("1026"), std::string::npos);
}

TEST_F(ProveTest, MessagesThatAreTooLargeAreRefusedByTheirSize) {
  StartServer([](Config& config) {
    config.message_bytes_max.bytes = 1 << 17;
    config.chunk_bytes_max.bytes = 1 << 16;
  });
  const Outcome a_little = Prove(Request(std::string((1 << 17) + 1, 'x')));
  EXPECT_EQ(a_little.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(a_little.reason, "MESSAGE_TOO_LARGE");
  EXPECT_EQ(a_little.pushback, "-1") << "trying again cannot help";
  EXPECT_NE(a_little.status.error_message().find("131072"), std::string::npos)
      << a_little.status.error_message();

  const Outcome far = Prove(Request(std::string(3 << 20, 'x')));
  EXPECT_EQ(far.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << "gRPC itself refuses this";
  EXPECT_EQ(far.reason, "");
  EXPECT_TRUE(ProveSmall().status.ok());
}

TEST_F(ProveTest, TheFourMebibytesThatGrpcAllowsByDefaultAreNoLimit) {
  constexpr size_t kWires = 131'073;
  const Outcome outcome = Prove(Request(std::string(kHeaderBytes + 32 * kWires, 'x')));
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << "it was looked at";
  EXPECT_EQ(outcome.reason, "WITNESS_MALFORMED") << outcome.status.error_message();
}

TEST_F(ProveTest, VerifyTellsGoodFromBad) {
  v1::ProveResponse response;
  ASSERT_TRUE(Prove(Request(Wtns("small", 3)), &response).status.ok());
  ASSERT_TRUE(IsValid(response.result()));

  v1::ProofResult other_signal = response.result();
  other_signal.mutable_public_signals(0)->back() ^= 1;
  EXPECT_FALSE(IsValid(other_signal));
  v1::ProofResult swapped = response.result();
  swapped.mutable_groth16()->mutable_a()->Swap(swapped.mutable_groth16()->mutable_c());
  EXPECT_FALSE(IsValid(swapped));
  v1::ProofResult off_curve = response.result();
  off_curve.mutable_groth16()->mutable_a()->mutable_x()->back() ^= 1;
  EXPECT_FALSE(IsValid(off_curve));
}

TEST_F(ProveTest, VerifyRefusesWhatIsNoProof) {
  v1::VerifyRequest request;
  v1::VerifyResponse response;
  request.set_circuit("small");
  EXPECT_EQ(Verify(request, response).reason, "REQUEST_INVALID");
  request.mutable_groth16()->add_public_signals(std::string(32, '\1'));
  EXPECT_EQ(Verify(request, response).reason, "PROOF_MALFORMED");
  request.mutable_groth16()->add_public_signals(std::string(32, '\1'));
  EXPECT_EQ(Verify(request, response).reason, "PUBLIC_SIGNALS_MALFORMED");
  request.set_circuit("nobody");
  EXPECT_EQ(Verify(request, response).reason, "CIRCUIT_UNKNOWN");
}

TEST_F(ProveTest, SelfChecksAreCounted) {
  ASSERT_TRUE(ProveSmall(1).status.ok());
  ASSERT_TRUE(ProveSmall(2).status.ok());
  EXPECT_EQ(Metric("proofmill_self_check_proofs_count"), 2);
  EXPECT_EQ(Metric(R"(proofmill_self_check_proofs_bucket{le="1"})"), 2);
}

TEST_F(ProveTest, CallsAreCountedAndLoggedWithoutSecrets) {
  const std::string wtns = Wtns("small", 5);
  v1::ProveRequest request = Request(wtns);
  request.mutable_spec()->set_request_id("counted");
  ASSERT_TRUE(Prove(request).status.ok());
  Prove(Request("hello", "nobody"));

  EXPECT_TRUE(MetricBecomes(
      R"(proofmill_requests_total{circuit="small",code="OK",method="ProverService/Prove"})", 1));
  EXPECT_TRUE(MetricBecomes(
      R"(proofmill_requests_total{circuit="unknown",code="NOT_FOUND",method="ProverService/Prove"})", 1));
  EXPECT_EQ(Metric("proofmill_queue_witness_bytes"), 0);
  Drain();
  const std::string log = log_text_.str();
  EXPECT_NE(log.find(R"("request_id":"counted","circuit":"small")"), std::string::npos);
  EXPECT_NE(log.find(R"("reason":"CIRCUIT_UNKNOWN")"), std::string::npos);
  EXPECT_EQ(log.find(wtns.substr(kHeaderBytes + 32 * 5, 12)), std::string::npos);
}

}  // namespace
}  // namespace proofmill::server
