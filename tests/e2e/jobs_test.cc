// Jobs of real services: two replicas behind one client, a rolling restart, and tenants that do not see each
// other.

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "clients/cpp/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/certificates.h"
#include "tests/e2e/server_process.h"

namespace proofmill::e2e {
namespace {

using ::testing::HasSubstr;

void Write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

class JobsTest : public ::testing::Test {
 protected:
  JobsTest() {
    circuits_.Add("c", Synthetic(6, engine::SynthProfile::kDense, 2));
    circuits_.Add("slow", Synthetic(15, engine::SynthProfile::kDense, 2));
  }

  static v1::ProofSpec Spec(const std::string& circuit) {
    v1::ProofSpec spec;
    spec.set_circuit(circuit);
    return spec;
  }
  std::string File(const std::string& name) const { return folder_.File(name); }

  CircuitFolder circuits_;
  TemporaryFolder folder_;
};

TEST_F(JobsTest, AJobIsFoundWhicheverReplicaIsAsked) {
  ServerProcess first(circuits_.path()), second(circuits_.path());
  const auto owner = first.MakeClient(), other = second.MakeClient();

  const auto job = owner->CreateJob(Spec("c"), circuits_.Wtns("c", 5));
  ASSERT_TRUE(job.ok()) << job.status();
  const auto watched = other->WatchJob(job->name(), absl::Seconds(60));
  ASSERT_TRUE(watched.ok()) << watched.status();
  EXPECT_TRUE(IsProofOf(watched->result(), circuits_.vkey("c"), circuits_.PublicSignals("c", 5)));
  const auto got = other->GetJob(job->name());
  EXPECT_TRUE(got.ok()) << got.status();
  EXPECT_GE(second.Metric("proofmill_requests_total", "JobService/WatchJob"), 1)
      << "it was asked, and told where";
  EXPECT_TRUE(other->ListJobs()->empty()) << "that of the process that answers";
  EXPECT_EQ(owner->ListJobs()->size(), 1u);
  EXPECT_TRUE(other->DeleteJob(job->name()).ok());
  EXPECT_EQ(client::ErrorReason(owner->GetJob(job->name()).status()), "JOB_UNKNOWN");

  const auto slow = owner->CreateJob(Spec("slow"), circuits_.Wtns("slow", 5));
  ASSERT_TRUE(slow.ok()) << slow.status();
  EXPECT_TRUE(other->CancelJob(slow->name()).ok());
  EXPECT_EQ(other->WatchJob(slow->name(), absl::Seconds(60))->state(), v1::Job::STATE_CANCELLED);
  first.Stop();
  second.Stop();
}

TEST_F(JobsTest, ARestartOfOneReplicaAfterTheOtherLosesNoRequest) {
  auto first = std::make_unique<ServerProcess>(circuits_.path());
  auto second = std::make_unique<ServerProcess>(circuits_.path());
  const std::string first_address = first->data(), second_address = second->data();
  std::atomic<bool> stop{false};
  std::atomic<int> proofs{0};
  std::vector<std::thread> callers;
  for (uint64_t i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      client::ClientOptions options;
      options.target = absl::StrCat("ipv4:", i % 2 == 0 ? first_address : second_address, ",",
                                    i % 2 == 0 ? second_address : first_address);
      const auto client = client::Client::Create(options).value();
      for (uint64_t n = 0; !stop; ++n) {
        const uint64_t seed = i * 1000 + n;
        client::ProveOptions prove;
        prove.timeout = absl::Minutes(2);
        // By turns as jobs, and over every way that a witness may take.
        prove.transfer = n % 4 == 1   ? client::Transfer::kUnary
                         : n % 4 == 2 ? client::Transfer::kStream
                                      : client::Transfer::kUpload;
        const auto result = n % 4 == 0 ? client->ProveAsJob(Spec("c"), circuits_.Wtns("c", seed), prove)
                                       : client->Prove(Spec("c"), circuits_.Wtns("c", seed), prove);
        ASSERT_TRUE(result.ok()) << result.status();
        ASSERT_TRUE(IsProofOf(*result, circuits_.vkey("c"), circuits_.PublicSignals("c", seed)));
        ++proofs;
      }
    });
  }
  const auto await_more = [&] {
    const int before = proofs;
    const absl::Time deadline = absl::Now() + absl::Minutes(1);
    while (proofs < before + 20 && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(5));
    EXPECT_GE(proofs, before + 20);
  };
  await_more();
  first->Stop();
  await_more();
  first = std::make_unique<ServerProcess>(circuits_.path(),
                                          std::vector<std::string>{"--listen=" + first_address});
  await_more();
  second->Stop();
  await_more();
  stop = true;
  for (std::thread& caller : callers) caller.join();
  first->Stop();
}

TEST_F(JobsTest, ARepeatedRequestAfterARestartMakesTheJobAnew) {
  auto server = std::make_unique<ServerProcess>(circuits_.path());
  const std::string address = server->data();
  const auto client = server->MakeClient();
  v1::ProofSpec spec = Spec("c");
  spec.set_request_id("order-1");
  const auto before = client->CreateJob(spec, circuits_.Wtns("c", 1));
  ASSERT_TRUE(before.ok()) << before.status();
  server->Stop();
  server = std::make_unique<ServerProcess>(circuits_.path(), std::vector<std::string>{"--listen=" + address});

  EXPECT_EQ(client::ErrorReason(client->GetJob(before->name()).status()), "JOB_UNKNOWN")
      << "it was in a process that had this address";
  const auto after = client->CreateJob(spec, circuits_.Wtns("c", 1));
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_NE(after->name(), before->name());
  EXPECT_TRUE(client->WatchJob(after->name(), absl::Seconds(60))->has_result());
  server->Stop();
}

TEST_F(JobsTest, TenantsAreWhoTheirCertificatesNameAndDoNotSeeEachOther) {
  const Authority authority("test authority");
  const Authority::Identity service = authority.Issue("prover"), alice = authority.Issue("alice"),
                            bob = authority.Issue("bob");
  Write(File("ca.pem"), authority.CertificatePem());
  Write(File("server.pem"), service.certificate_pem);
  Write(File("server.key"), service.key_pem);
  Write(File("alice.pem"), alice.certificate_pem);
  Write(File("alice.key"), alice.key_pem);
  Write(File("bob.pem"), bob.certificate_pem);
  Write(File("bob.key"), bob.key_pem);
  ServerProcess server(circuits_.path(),
                       {"--tls_cert=" + File("server.pem"), "--tls_key=" + File("server.key"),
                        "--tls_client_ca=" + File("ca.pem")});
  const auto client_of = [&](const std::string& name) {
    client::ClientOptions options;
    options.ca_file = File("ca.pem");
    options.cert_file = File(name + ".pem");
    options.key_file = File(name + ".key");
    return server.MakeClient(options);
  };
  const auto alices = client_of("alice"), bobs = client_of("bob");
  v1::ProofSpec spec = Spec("c");
  spec.set_request_id("same-id");

  const auto job = alices->CreateJob(spec, circuits_.Wtns("c", 1));
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(client::ErrorReason(bobs->GetJob(job->name()).status()), "JOB_UNKNOWN");
  EXPECT_EQ(client::ErrorReason(bobs->CancelJob(job->name()).status()), "JOB_UNKNOWN");
  EXPECT_EQ(client::ErrorReason(bobs->DeleteJob(job->name())), "JOB_UNKNOWN");
  EXPECT_TRUE(bobs->ListJobs()->empty());
  // Another tenant's request id is another request, whatever its content.
  const auto bobs_job = bobs->CreateJob(spec, circuits_.Wtns("c", 2));
  ASSERT_TRUE(bobs_job.ok()) << bobs_job.status();
  EXPECT_TRUE(alices->WatchJob(job->name(), absl::Seconds(60))->has_result());
  EXPECT_EQ(alices->ListJobs()->size(), 1u);
  server.Stop();
}

TEST_F(JobsTest, TheCommandLineMakesWatchesAndForgetsJobs) {
  ServerProcess server(circuits_.path());
  Write(File("w.wtns"), circuits_.Wtns("c", 3));
  Write(File("slow.wtns"), circuits_.Wtns("slow", 3));
  const auto client = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "client");
    words.push_back("--target=" + server.data());
    return Proofmill(words);
  };

  const Outcome submit = client({"submit", "--circuit=c", "--request_id=one", File("w.wtns")});
  ASSERT_EQ(submit.ending.exit_code, 0) << submit.err;
  const std::string name(absl::StripSuffix(submit.out, "\n"));
  EXPECT_TRUE(absl::StartsWith(name, "jobs/")) << name;
  EXPECT_EQ(client({"submit", "--circuit=c", "--request_id=one", File("w.wtns")}).out, submit.out);
  const Outcome watch =
      client({"watch", name, "--proof=" + File("proof.json"), "--public=" + File("public.json")});
  EXPECT_EQ(watch.ending.exit_code, 0) << watch.err;
  EXPECT_THAT(watch.out, HasSubstr(" succeeded"));
  EXPECT_TRUE(FileExists(File("proof.json")) && FileExists(File("public.json")));
  const auto shown = nlohmann::json::parse(client({"job", name, "--json"}).out, nullptr, false);
  EXPECT_EQ(shown["state"], "succeeded");
  EXPECT_EQ(shown["request_id"], "one");

  const std::string slow(
      absl::StripSuffix(client({"submit", "--circuit=slow", File("slow.wtns")}).out, "\n"));
  EXPECT_EQ(client({"cancel", slow}).ending.exit_code, 0);
  const Outcome cancelled = client({"watch", slow});
  EXPECT_EQ(cancelled.ending.exit_code, 1);
  EXPECT_THAT(cancelled.out, HasSubstr("cancelled: CANCELLED: "));
  EXPECT_THAT(client({"jobs"}).out, HasSubstr(name));
  EXPECT_EQ(client({"delete", name}).ending.exit_code, 0);
  const Outcome gone = client({"job", name});
  EXPECT_EQ(gone.ending.exit_code, 2);
  EXPECT_THAT(gone.err, HasSubstr("JOB_UNKNOWN"));

  const Outcome prove =
      client({"prove", "--job", "--circuit=c", File("w.wtns"), File("p2.json"), File("s2.json")});
  EXPECT_EQ(prove.ending.exit_code, 0) << prove.err;
  EXPECT_TRUE(FileExists(File("p2.json")));
  server.Stop();
}

}  // namespace
}  // namespace proofmill::e2e
