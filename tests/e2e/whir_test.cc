// WHIR beside Groth16 in the real service: the same queue, every way for a polynomial to travel, what is
// refused, and the command line.

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "clients/cpp/error.h"
#include "engine/formats/endian.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/server_process.h"
#include "tests/e2e/whir_circuit.h"

namespace proofmill::e2e {
namespace {

using ::testing::HasSubstr;

v1::ProofSpec SpecOf(const std::string& circuit) {
  v1::ProofSpec spec;
  spec.set_circuit(circuit);
  return spec;
}

client::ProveOptions Over(client::Transfer transfer) {
  client::ProveOptions options;
  options.timeout = absl::Minutes(5);
  options.transfer = transfer;
  return options;
}

class WhirTest : public ::testing::Test {
 protected:
  WhirTest() : poly_(circuits_.path(), "poly", kSmallWhir) {
    circuits_.Add("g", Synthetic(6, engine::SynthProfile::kDense, 1));
  }

  std::string File(const std::string& name) const { return folder_.File(name); }
  void Write(const std::string& name, const std::string& content) {
    std::ofstream(File(name), std::ios::binary) << content;
  }
  // A statement file with these claims; without values if `values` is false.
  void WriteStatement(const std::string& name, const WhirRequest& request, bool values) {
    engine::WhirStatement statement{poly_.config().parameters, request.claims};
    auto json = nlohmann::json::parse(engine::WhirStatementToJson(statement));
    for (auto& claim : json["claims"]) {
      if (!values) claim.erase("value");
    }
    Write(name, json.dump());
  }

  CircuitFolder circuits_;
  const WhirCircuit poly_;
  TemporaryFolder folder_;
};

TEST_F(WhirTest, BothProofSystemsShareTheServiceAndEveryProofIsGood) {
  const WhirCircuit wide(circuits_.path(), "wide",
                         R"({"num_variables": 13, "extension_degree": 4, "folding": {"first": 4, "rest": 3},
                             "security_level": 50, "max_pow_bits": 10, "assumption": "UniqueDecoding"})");
  ServerProcess server(circuits_.path());
  constexpr client::Transfer kWays[] = {client::Transfer::kUnary, client::Transfer::kStream,
                                        client::Transfer::kUpload};
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  for (uint64_t client_number = 0; client_number < 6; ++client_number) {
    clients.emplace_back([&, client_number] {
      const auto client = server.MakeClient();
      for (uint64_t i = 0; i < 6; ++i) {
        const uint64_t seed = 100 * client_number + i;
        const client::ProveOptions options = Over(kWays[(client_number + i) % 3]);
        if (i % 3 == 0) {
          const auto result = client->Prove(SpecOf("g"), circuits_.Wtns("g", seed), options);
          ASSERT_TRUE(result.ok()) << result.status();
          EXPECT_TRUE(IsProofOf(*result, circuits_.vkey("g"), circuits_.PublicSignals("g", seed)));
        } else {
          const WhirCircuit& circuit = i % 3 == 1 ? poly_ : wide;
          const WhirRequest request = circuit.Request(seed);
          const client::Input input = request.Input(/*with_values=*/i % 2 == 0);
          const auto result = i == 5 ? client->ProveAsJob(SpecOf(circuit.id()), input, options)
                                     : client->Prove(SpecOf(circuit.id()), input, options);
          ASSERT_TRUE(result.ok()) << result.status();
          EXPECT_TRUE(circuit.IsProofOf(*result, request));
        }
        ++good;
      }
    });
  }
  for (std::thread& client : clients) client.join();

  EXPECT_EQ(good, 36);
  EXPECT_EQ(server.Metric("proofmill_circuit_loaded", "system=\"whir\""), 2);
  for (const char* const stage : {"commit", "sumcheck", "pow", "open", "round_0", "self_check", "evaluate"}) {
    EXPECT_GE(
        server.Metric("proofmill_proof_stage_duration_seconds_count", std::string("stage=\"") + stage + "\""),
        24)
        << stage;
  }
  EXPECT_EQ(server.Metric("proofmill_queue_witness_bytes"), 0);
  server.Stop();
}

TEST_F(WhirTest, TheServiceVerifiesWhatItMadeAndNothingElse) {
  ServerProcess server(circuits_.path());
  const auto client = server.MakeClient();
  const WhirRequest request = poly_.Request(1);
  const auto result = client->Prove(SpecOf("poly"), request.Input());
  ASSERT_TRUE(result.ok()) << result.status();

  v1::VerifyRequest good;
  good.set_circuit("poly");
  good.mutable_whir()->set_proof(result->whir().proof());
  *good.mutable_whir()->mutable_claims() = result->whir().claims();
  good.mutable_whir()->set_commitment(result->whir().commitment());
  const auto valid = [&](const v1::VerifyRequest& verify) {
    const auto response = client->Verify(verify);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() && response->valid();
  };
  EXPECT_TRUE(valid(good));

  v1::VerifyRequest bad = good;
  (*bad.mutable_whir()->mutable_proof())[100] ^= 1;
  EXPECT_FALSE(valid(bad));
  bad = good;
  bad.mutable_whir()->mutable_claims()->SwapElements(0, 1);
  EXPECT_FALSE(valid(bad)) << "the claims are an ordered list";
  bad = good;
  (*bad.mutable_whir()->mutable_commitment())[0] ^= 1;
  EXPECT_FALSE(valid(bad)) << "a proof for another commitment";
  for (const std::string& proof : {std::string(), std::string("PMW1"), std::string(3'000'000, '\0')}) {
    bad = good;
    bad.mutable_whir()->set_proof(proof);
    EXPECT_FALSE(valid(bad)) << proof.size();
  }

  const auto reason = [&](const v1::VerifyRequest& verify) {
    return client::ErrorReason(client->Verify(verify).status());
  };
  bad = good;
  bad.mutable_whir()->mutable_claims(0)->clear_value();
  EXPECT_EQ(reason(bad), "REQUEST_INVALID");
  bad = good;
  bad.mutable_whir()->mutable_claims()->RemoveLast();
  EXPECT_EQ(reason(bad), "REQUEST_INVALID");
  bad = good;
  bad.set_circuit("g");
  EXPECT_EQ(reason(bad), "REQUEST_INVALID") << "a WHIR statement for a circuit of Groth16";
  bad.mutable_groth16();
  bad.set_circuit("poly");
  EXPECT_EQ(reason(bad), "REQUEST_INVALID");
  server.Stop();
}

TEST_F(WhirTest, WhatIsMalformedIsRefusedWithAReasonOnEveryWay) {
  ServerProcess server(circuits_.path());
  client::ClientOptions once;
  once.retry.attempts_max = 1;
  const auto client = server.MakeClient(once);
  const WhirRequest good = poly_.Request(1);
  struct Case {
    const char* name;
    const char* reason;
    std::string evaluations;
    std::vector<engine::WhirClaim> claims;
    std::string circuit = "poly";
  };
  std::vector<Case> cases;
  const auto add = [&](const char* name, const char* reason, const auto& change) {
    cases.push_back({.name = name, .reason = reason, .evaluations = good.evaluations, .claims = good.claims});
    change(cases.back());
  };
  add("a word short", "WITNESS_LENGTH", [](Case& c) { c.evaluations.resize(c.evaluations.size() - 4); });
  add("a byte short", "WITNESS_LENGTH", [](Case& c) { c.evaluations.pop_back(); });
  add("a word too many", "WITNESS_LENGTH", [](Case& c) { c.evaluations.append(4, '\0'); });
  add("p itself", "WITNESS_NOT_CANONICAL", [](Case& c) {
    engine::StoreU32(kernels::kBabyBearP, reinterpret_cast<uint8_t*>(c.evaluations.data()) + 40);
  });
  add("the largest word at the end", "WITNESS_NOT_CANONICAL",
      [](Case& c) { c.evaluations.replace(c.evaluations.size() - 4, 4, "\xff\xff\xff\xff"); });
  add("a claim short", "REQUEST_INVALID", [](Case& c) { c.claims.pop_back(); });
  add("a claim too many", "REQUEST_INVALID", [](Case& c) { c.claims.push_back(c.claims[0]); });
  add("a short point", "REQUEST_INVALID", [](Case& c) { c.claims[1].point.pop_back(); });
  add("a short value", "REQUEST_INVALID", [](Case& c) { c.claims[1].value.pop_back(); });
  add("a wrong value", "WITNESS_UNSATISFIED",
      [](Case& c) { c.claims[1].value[0] += kernels::BabyBear::One(); });
  add("another proof system", "REQUEST_INVALID", [](Case& c) { c.circuit = "g"; });
  for (const client::Transfer way :
       {client::Transfer::kUnary, client::Transfer::kStream, client::Transfer::kUpload}) {
    for (const Case& one : cases) {
      std::vector<v1::WhirClaim> claims;
      for (const engine::WhirClaim& claim : one.claims) claims.push_back(cli::ToMessage(claim));
      const auto result =
          client->Prove(SpecOf(one.circuit), client::Input::Whir(one.evaluations, claims), Over(way));
      EXPECT_TRUE(absl::IsInvalidArgument(result.status())) << one.name << ": " << result.status();
      EXPECT_EQ(client::ErrorReason(result.status()), one.reason) << one.name << ": " << result.status();
    }
    v1::WhirClaim large = cli::ToMessage(good.claims[0]);
    large.mutable_point()->replace(0, 4, "\xff\xff\xff\xff");
    const auto result = client->Prove(
        SpecOf("poly"), client::Input::Whir(good.evaluations, {large, cli::ToMessage(good.claims[1])}),
        Over(way));
    EXPECT_EQ(client::ErrorReason(result.status()), "REQUEST_INVALID") << result.status();
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("claims[0].point"));
    const auto witness = client->Prove(SpecOf("poly"), circuits_.Wtns("g", 1), Over(way));
    EXPECT_TRUE(absl::IsInvalidArgument(witness.status())) << witness.status();
  }
  // Nothing of it has hurt the service.
  const auto after = client->Prove(SpecOf("poly"), good.Input());
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(poly_.IsProofOf(*after, good));
  // The upload for the circuit of Groth16 waits for a request that it fits.
  EXPECT_EQ(server.Metric("proofmill_uploads"), 1);
  EXPECT_EQ(server.Metric("proofmill_queue_witness_bytes"), server.Metric("proofmill_upload_bytes"));
  EXPECT_EQ(server.Metric("proofmill_device_errors_total"), 0);
  server.Stop();
}

TEST_F(WhirTest, AProofThatNobodyWantsAnyMoreEnds) {
  // Seconds on one thread.
  const WhirCircuit slow(
      circuits_.path(), "slow",
      R"({"num_variables": 18, "folding": {"constant": 1}, "domain_reduction": 1, "log_inv_rate": 3,
                             "security_level": 90})");
  ServerProcess server(circuits_.path(), {"--threads=1"});
  const auto client = server.MakeClient();
  const WhirRequest request = slow.Request(1);
  client::ProveOptions options = Over(client::Transfer::kStream);
  options.timeout = absl::Milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();

  const auto result = client->Prove(SpecOf("slow"), request.Input(), options);
  EXPECT_TRUE(absl::IsDeadlineExceeded(result.status())) << result.status();

  const auto job = client->CreateJob(SpecOf("slow"), request.Input(), {});
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_TRUE(client->CancelJob(job->name()).ok());
  const auto ended = client->WatchJob(job->name(), absl::Minutes(1));
  ASSERT_TRUE(ended.ok()) << ended.status();
  EXPECT_EQ(ended->state(), v1::Job::STATE_CANCELLED);
  // The device is free for others.
  const WhirRequest small = poly_.Request(2);
  const auto after = client->Prove(SpecOf("poly"), small.Input(), Over(client::Transfer::kUnary));
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_TRUE(poly_.IsProofOf(*after, small));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(2));
  EXPECT_EQ(server.Metric("proofmill_queue_witness_bytes"), 0);
  server.Stop();
}

TEST_F(WhirTest, TheSameRequestIdGetsTheSameProofAndAnotherPointNone) {
  ServerProcess server(circuits_.path());
  const auto client = server.MakeClient();
  v1::ProofSpec spec = SpecOf("poly");
  spec.set_request_id("order-1");
  const WhirRequest request = poly_.Request(3);
  const auto first = client->Prove(spec, request.Input());
  const auto again = client->Prove(spec, request.Input(), Over(client::Transfer::kStream));
  ASSERT_TRUE(first.ok() && again.ok()) << first.status() << again.status();
  EXPECT_EQ(again->finish_time().nanos(), first->finish_time().nanos()) << "not made twice";
  WhirRequest other = request;
  other.claims[0].point[0] += kernels::BabyBear::One();
  EXPECT_EQ(client::ErrorReason(client->Prove(spec, other.Input()).status()), "REQUEST_ID_CONFLICT");
  server.Stop();
}

TEST_F(WhirTest, ParametersThatAreNotOfferedDoNotStopTheOthers) {
  std::ofstream(circuits_.path() + "/conjectural.whir.json")
      << R"({"num_variables": 10, "assumption": "CapacityBound"})";
  ServerProcess server(circuits_.path());
  const auto list = nlohmann::json::parse(
      Proofmill({"client", "circuits", "--target=" + server.data(), "--json"}).out, nullptr, false);
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0]["id"], "conjectural");
  EXPECT_EQ(list[0]["state"], "failed");
  EXPECT_THAT(list[0]["failure"].get<std::string>(), HasSubstr("conjectural and not offered"));
  EXPECT_EQ(list[2]["id"], "poly");
  EXPECT_EQ(list[2]["state"], "ready");
  EXPECT_EQ(list[2]["system"], "whir");
  EXPECT_EQ(list[2]["whir_parameters"]["num_variables"], 10);
  EXPECT_EQ(list[2]["witness_bytes"], 4096);
  EXPECT_THAT(list[2]["warnings"][0].get<std::string>(), HasSubstr("not hiding"));
  server.Stop();
}

TEST_F(WhirTest, TheCommandLineProvesAndVerifiesWithTheFilesOfWhirProve) {
  ServerProcess server(circuits_.path());
  const WhirRequest request = poly_.Request(4);
  Write("polynomial", request.evaluations);
  WriteStatement("points.json", request, false);
  const std::string target = "--target=" + server.data();

  for (const char* const way : {"auto", "stream", "job"}) {
    const Outcome proved =
        Proofmill({"client", "whir-prove", target, "--circuit=poly", std::string("--transfer=") + way,
                   "--statement_out=" + File("statement.json"), File("points.json"), File("polynomial"),
                   File("proof")});
    ASSERT_EQ(proved.ending.exit_code, 0) << proved.err;
  }
  EXPECT_EQ(Proofmill({"whir", "verify", File("statement.json"), File("proof")}).out, "OK\n")
      << "without the service";
  EXPECT_EQ(
      Proofmill({"client", "whir-verify", target, "--circuit=poly", File("statement.json"), File("proof")})
          .out,
      "OK\n");
  Write("proof2", std::string(100, '\0'));
  const Outcome bad =
      Proofmill({"client", "whir-verify", target, "--circuit=poly", File("statement.json"), File("proof2")});
  EXPECT_EQ(bad.ending.exit_code, 1);
  EXPECT_EQ(bad.out, "INVALID\n");

  auto other =
      nlohmann::json::parse(R"({"parameters": {"num_variables": 10, "num_claims": 0}, "claims": []})");
  Write("other.json", other.dump());
  const Outcome refused = Proofmill({"client", "whir-prove", target, "--circuit=poly", File("other.json"),
                                     File("polynomial"), File("proof3")});
  EXPECT_EQ(refused.ending.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("got those of the circuit"));
  EXPECT_THAT(Proofmill({"client", "whir-prove", "--help"}).out, HasSubstr("NOT hiding"));
  server.Stop();
}

TEST_F(WhirTest, TheLoadGeneratorMixesBothAndVerifiesAll) {
  ServerProcess server(circuits_.path());
  Write("polynomial", poly_.Request(5).evaluations);
  Write("w.wtns", circuits_.Wtns("g", 5));
  const Outcome run = Proofmill(
      {"load", "--target=" + server.data(), "--circuit=g", "--witness=" + File("w.wtns"), "--circuit=poly",
       "--witness=" + File("polynomial"), "--concurrency=4", "--requests=40", "--slo_failed=0", "--json"});
  ASSERT_EQ(run.ending.exit_code, 0) << run.out << run.err;
  const auto step = nlohmann::json::parse(run.out)["steps"][0];
  EXPECT_EQ(step["verified"], 40);
  EXPECT_EQ(step["bad"], 0);
  EXPECT_GT(step["by_circuit"]["poly"]["proved"].get<int>(), 5);
  EXPECT_GT(step["by_circuit"]["g"]["proved"].get<int>(), 5);
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
