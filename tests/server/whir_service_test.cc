// WHIR in the service of this process: batches, streams that go on, jobs, and what a request may hold.

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "engine/formats/endian.h"
#include "engine/whir/files.h"
#include "engine/whir/parameters.h"
#include "engine/whir/prover.h"
#include "engine/whir/verifier.h"
#include "gtest/gtest.h"
#include "kernels/field/small_rng.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

constexpr char kParameters[] =
    R"({"num_variables": 9, "folding": {"constant": 3}, "security_level": 30, "max_pow_bits": 6})";
constexpr size_t kPolynomialBytes = 4 << 9;

class WhirServiceTest : public ServiceTest {
 protected:
  static void SetUpTestSuite() {
    ServiceTest::SetUpTestSuite();
    std::ofstream(*folder_ + "/poly.whir.json") << kParameters;
  }

  static std::string Words(kernels::SmallRng& random, size_t count) {
    std::string bytes(4 * count, '\0');
    for (size_t i = 0; i < count; ++i) {
      engine::StoreU32(random.NextBabyBear().ToCanonical(), reinterpret_cast<uint8_t*>(bytes.data()) + 4 * i);
    }
    return bytes;
  }
  static v1::ProveRequest WhirRequest(uint64_t seed) {
    kernels::SmallRng random(seed);
    v1::ProveRequest request;
    request.mutable_spec()->set_circuit("poly");
    request.mutable_whir()->set_evaluations(Words(random, kPolynomialBytes / 4));
    request.mutable_whir()->add_claims()->set_point(Words(random, size_t{9} * 5));
    return request;
  }
  static engine::WhirElements Elements(const std::string& bytes) {
    engine::WhirElements out;
    for (size_t at = 0; at < bytes.size(); at += 4) {
      out.push_back(kernels::BabyBear::FromCanonical(
          engine::LoadU32(reinterpret_cast<const uint8_t*>(bytes.data()) + at)));
    }
    return out;
  }
  // Checked without any code of the service.
  static bool IsGood(const v1::ProofResult& result, const v1::ProveRequest& request) {
    const engine::WhirConfig config =
        engine::DeriveWhirConfig(engine::ParseWhirParameters(kParameters).value()).value();
    const v1::WhirProof& proof = result.whir();
    if (proof.claims_size() != 1 || proof.claims(0).point() != request.whir().claims(0).point()) return false;
    const engine::WhirClaim claim{Elements(proof.claims(0).point()), Elements(proof.claims(0).value())};
    const engine::WhirElements polynomial = Elements(request.whir().evaluations());
    const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(proof.proof().data()),
                                          proof.proof().size());
    return claim.value == engine::EvaluateWhir(polynomial, claim.point, 5) &&
           engine::VerifyWhirBytes(config, {claim}, bytes).valid && proof.commitment().size() == 32;
  }
};

TEST_F(WhirServiceTest, AProofCarriesWhatBelongsToIt) {
  const v1::ProveRequest request = WhirRequest(1);
  v1::ProveResponse response;
  const Outcome outcome = Prove(request, &response);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.error_message();
  const v1::ProofResult& result = response.result();
  EXPECT_TRUE(IsGood(result, request));
  EXPECT_EQ(result.circuit(), "poly");
  EXPECT_EQ(result.circuit_version().size(), 128u);
  EXPECT_EQ(result.public_signals_size(), 0);
  EXPECT_FALSE(result.has_groth16());
  EXPECT_GE(result.stages_size(), 6);
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0));
}

TEST_F(WhirServiceTest, ABatchTakesBothProofSystemsAndAnItemFailsAlone) {
  const auto context = ContextFor();
  const auto stream = prover_->ProveBatch(context.get());
  std::map<std::string, v1::ProveRequest> sent;
  sent["groth16"] = Request(Wtns("small", 3));
  sent["whir"] = WhirRequest(3);
  sent["bad"] = WhirRequest(4);
  sent["bad"].mutable_whir()->mutable_evaluations()->replace(8, 4, "\xff\xff\xff\x7f");
  sent["empty"] = WhirRequest(4);
  sent["empty"].clear_whir();
  sent["whir2"] = WhirRequest(5);
  for (const auto& [id, request] : sent) {
    v1::ProveBatchRequest item;
    item.set_item_id(id);
    *item.mutable_request() = request;
    ASSERT_TRUE(stream->Write(item));
  }
  stream->WritesDone();
  std::map<std::string, v1::ProveBatchResponse> answers;
  for (v1::ProveBatchResponse answer; stream->Read(&answer);) answers[answer.item_id()] = answer;
  EXPECT_TRUE(stream->Finish().ok());
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_TRUE(answers["groth16"].result().has_groth16());
  EXPECT_TRUE(IsGood(answers["whir"].result(), sent["whir"]));
  EXPECT_TRUE(IsGood(answers["whir2"].result(), sent["whir2"]));
  EXPECT_EQ(answers["bad"].error().reason(), "WITNESS_NOT_CANONICAL");
  EXPECT_EQ(answers["empty"].error().reason(), "REQUEST_INVALID");
}

TEST_F(WhirServiceTest, AStreamGoesOnWhereAnEarlierOneStopped) {
  const v1::ProveRequest request = WhirRequest(6);
  const std::string& bytes = request.whir().evaluations();
  std::string upload;
  for (const bool second : {false, true}) {
    const auto context = ContextFor();
    const auto stream = prover_->ProveStream(context.get());
    v1::ProveStreamRequest message;
    *message.mutable_header()->mutable_spec() = request.spec();
    message.mutable_header()->set_size_bytes(bytes.size());
    message.mutable_header()->set_upload(upload);
    *message.mutable_header()->mutable_whir_claims() = request.whir().claims();
    ASSERT_TRUE(stream->Write(message));
    v1::ProveStreamResponse response;
    ASSERT_TRUE(stream->Read(&response));
    upload = response.admitted().upload();
    const uint64_t committed = response.admitted().committed_bytes();
    EXPECT_EQ(committed, second ? 1001u : 0u);
    message.mutable_chunk()->set_offset_bytes(committed);
    message.mutable_chunk()->set_data(second ? bytes.substr(committed) : bytes.substr(0, 1001));
    ASSERT_TRUE(stream->Write(message));
    if (!second) {
      while (true) {  // until it has arrived
        v1::GetUploadRequest get;
        get.set_name(upload);
        v1::GetUploadResponse got;
        const auto get_context = ContextFor();
        ASSERT_TRUE(uploads_->GetUpload(get_context.get(), get, &got).ok());
        if (got.upload().committed_bytes() == 1001) break;
      }
      context->TryCancel();
      stream->Finish();
      continue;
    }
    v1::ProofResult result;
    while (stream->Read(&response)) {
      if (response.has_result()) result = response.result();
    }
    EXPECT_TRUE(stream->Finish().ok());
    EXPECT_TRUE(IsGood(result, request));
  }
}

TEST_F(WhirServiceTest, AStreamIsRefusedBeforeAnyByteIsAskedFor) {
  const v1::ProveRequest request = WhirRequest(7);
  const auto refusal = [&](const auto& change) {
    v1::ProveStreamRequest message;
    *message.mutable_header()->mutable_spec() = request.spec();
    message.mutable_header()->set_size_bytes(kPolynomialBytes);
    *message.mutable_header()->mutable_whir_claims() = request.whir().claims();
    change(*message.mutable_header());
    const auto context = ContextFor();
    const auto stream = prover_->ProveStream(context.get());
    stream->Write(message);
    v1::ProveStreamResponse response;
    EXPECT_FALSE(stream->Read(&response)) << response.DebugString();
    return OutcomeOf(stream->Finish(), *context).reason;
  };
  EXPECT_EQ(refusal([](v1::StreamHeader& h) { h.set_size_bytes(UINT64_MAX); }), "WITNESS_LENGTH");
  EXPECT_EQ(refusal([](v1::StreamHeader& h) { h.set_size_bytes(0); }), "WITNESS_LENGTH");
  EXPECT_EQ(refusal([](v1::StreamHeader& h) { h.clear_whir_claims(); }), "REQUEST_INVALID");
  EXPECT_EQ(refusal([](v1::StreamHeader& h) { h.mutable_whir_claims(0)->set_point("short"); }),
            "REQUEST_INVALID");
  EXPECT_EQ(refusal([](v1::StreamHeader& h) { h.mutable_spec()->set_circuit("small"); }), "REQUEST_INVALID");
}

TEST_F(WhirServiceTest, AJobsResultIsKept) {
  v1::CreateJobRequest create;
  *create.mutable_request() = WhirRequest(8);
  v1::CreateJobResponse created;
  const auto create_context = ContextFor();
  ASSERT_TRUE(jobs_->CreateJob(create_context.get(), create, &created).ok());
  v1::WatchJobRequest watch;
  watch.set_name(created.job().name());
  const auto context = ContextFor();
  const auto stream = jobs_->WatchJob(context.get(), watch);
  v1::WatchJobResponse last;
  for (v1::WatchJobResponse response; stream->Read(&response);) last = response;
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(last.job().state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_TRUE(IsGood(last.job().result(), create.request()));
}

TEST_F(WhirServiceTest, TheListSaysWhatWhirIs) {
  v1::GetCircuitRequest request;
  request.set_id("poly");
  v1::GetCircuitResponse response;
  const auto context = ContextFor();
  ASSERT_TRUE(circuits_->GetCircuit(context.get(), request, &response).ok());
  const v1::Circuit& circuit = response.circuit();
  EXPECT_EQ(circuit.proof_system(), v1::PROOF_SYSTEM_WHIR_BABYBEAR);
  EXPECT_EQ(circuit.state(), v1::Circuit::STATE_READY) << circuit.failure();
  EXPECT_EQ(circuit.whir_parameters().num_variables(), 9u);
  EXPECT_EQ(circuit.whir_parameters().assumption(), v1::WhirParameters::ASSUMPTION_JOHNSON_BOUND);
  EXPECT_EQ(circuit.limits().witness_bytes(), kPolynomialBytes);
  EXPECT_EQ(circuit.limits().witness_bytes_max(), kPolynomialBytes);
  EXPECT_FALSE(circuit.has_groth16_sizes());
  EXPECT_FALSE(circuit.has_verification_key());
  ASSERT_GE(circuit.warnings_size(), 1);
  EXPECT_NE(circuit.warnings(0).find("not hiding"), std::string::npos);
}

}  // namespace
}  // namespace proofmill::server
