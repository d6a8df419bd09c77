// W8: witnesses beyond the 4 MiB that gRPC lets a message have if nobody says more, and beyond what a service
// takes in one message.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "clients/cpp/error.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/proving_key.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/server_process.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::e2e {
namespace {

using ::testing::HasSubstr;

// x * y = z with z public, and so many wires that no constraint has that the witness is above 4 MiB.
constexpr uint32_t kWires = 131'073;
engine::TestCircuit ManyWires() {
  const kernels::Fr x = engine::FieldElement(3), y = engine::FieldElement(5);
  engine::TestCircuit circuit{"ManyWires", kWires, 1, {{{{2, 1}}, {{3, 1}}, {{1, 1}}}}, {}};
  circuit.witness = {kernels::Fr::One(), x * y, x, y};
  circuit.witness.resize(kWires, engine::FieldElement(7));
  return circuit;
}

class LargeMessageTest : public ::testing::Test {
 protected:
  LargeMessageTest() {
    const engine::TestCircuit circuit = ManyWires();
    const engine::Bytes key = engine::MakeKeyBytes(circuit);
    engine::WriteBytes(folder_.File("many.zkey"), key);
    const std::vector<kernels::U256> values = circuit.PlainWitness();
    const auto wtns = engine::SerializeWtns(absl::MakeConstSpan(values));
    wtns_.assign(wtns.begin(), wtns.end());
    engine::WriteBytes(outputs_.File("w.wtns"), {wtns_.begin(), wtns_.end()});
    vkey_ = (*engine::LoadProvingKey(folder_.File("many.zkey"), engine::TestKeyOptions()))->vk();
  }

  static v1::ProofSpec Spec() {
    v1::ProofSpec spec;
    spec.set_circuit("many");
    return spec;
  }
  static client::ProveOptions Over(client::Transfer transfer) {
    client::ProveOptions options;
    options.timeout = absl::Minutes(5);
    options.transfer = transfer;
    return options;
  }
  ::testing::AssertionResult IsProof(const absl::StatusOr<v1::ProofResult>& result) const {
    if (!result.ok()) return ::testing::AssertionFailure() << result.status();
    return IsProofOf(*result, vkey_, {std::string(31, '\0') + '\x0f'});
  }
  static double Calls(const ServerProcess& server, const std::string& method, const std::string& code) {
    return server.Metric("proofmill_requests_total", "code=\"" + code + "\",method=\"" + method + "\"");
  }

  TemporaryFolder folder_, outputs_;
  std::string wtns_;
  engine::VerificationKey vkey_;
};

TEST_F(LargeMessageTest, AWitnessOf131073WiresIsProvedFromOneMessage) {
  ASSERT_GT(wtns_.size(), 4u << 20);
  ServerProcess server(folder_.path());
  client::ClientOptions options;
  options.unary_bytes_max = wtns_.size();
  const auto client = server.MakeClient(options);

  EXPECT_TRUE(IsProof(client->Prove(Spec(), wtns_, Over(client::Transfer::kUnary))));
  EXPECT_TRUE(IsProof(client->ProveAsJob(Spec(), wtns_, Over(client::Transfer::kAuto))));

  EXPECT_EQ(Calls(server, "ProverService/Prove", "OK"), 1);
  EXPECT_EQ(Calls(server, "JobService/CreateJob", "OK"), 1);
  EXPECT_EQ(Calls(server, "UploadService/CreateUpload", "OK"), 0);
  server.Stop();
}

TEST_F(LargeMessageTest, WhatTheServiceTakesInNoMessageTravelsInPieces) {
  ServerProcess server(folder_.path(), {"--message_bytes_max=128KiB", "--chunk_bytes_max=64KiB"});
  client::ClientOptions options;
  options.unary_bytes_max = wtns_.size();
  const auto client = server.MakeClient(options);

  EXPECT_TRUE(IsProof(client->Prove(Spec(), wtns_, Over(client::Transfer::kAuto))));
  EXPECT_EQ(Calls(server, "ProverService/ProveStream", "OK"), 1);
  EXPECT_TRUE(IsProof(client->ProveAsJob(Spec(), wtns_, Over(client::Transfer::kAuto))));
  EXPECT_EQ(Calls(server, "UploadService/CreateUpload", "OK"), 1);

  const absl::Status refused = client->Prove(Spec(), wtns_, Over(client::Transfer::kUnary)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  server.Stop();
}

TEST_F(LargeMessageTest, TheCommandLineNamesTheLimitAndTheWayOut) {
  ServerProcess server(folder_.path(), {"--message_bytes_max=3MiB"});
  const auto prove = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"client",
                                      "prove",
                                      outputs_.File("w.wtns"),
                                      outputs_.File("proof.json"),
                                      outputs_.File("public.json"),
                                      "--circuit=many",
                                      "--target=" + server.data()};
    words.insert(words.end(), flags.begin(), flags.end());
    return Proofmill(words);
  };

  const Outcome unary = prove({"--unary"});
  EXPECT_EQ(unary.ending.exit_code, 2);
  EXPECT_THAT(unary.err, HasSubstr("vs. 4194304"));  // gRPC's limit is 1 MiB above ours
  EXPECT_THAT(unary.err, HasSubstr("--stream"));
  EXPECT_EQ(prove({}).ending.exit_code, 0);
  EXPECT_EQ(prove({"--job"}).ending.exit_code, 0);
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
