// Who is let in, over real channels: API keys on both listeners, their file while the service runs, quotas of
// tenants, and the audit log.

#include <arpa/inet.h>
#include <grpcpp/generic/generic_stub.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "google/protobuf/descriptor.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "nlohmann/json.hpp"
#include "server/api_keys.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

// The files of the API whose services a listener may have.
constexpr const char* kProtoFiles[] = {"proofmill/v1/prover.proto", "proofmill/v1/uploads.proto",
                                       "proofmill/v1/jobs.proto", "proofmill/v1/circuits.proto"};

// An address of this machine that is not loopback.
std::string OwnAddress() {
  ifaddrs* all = nullptr;
  EXPECT_EQ(getifaddrs(&all), 0);
  std::string address;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const in_addr ip = reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    if ((ntohl(ip.s_addr) >> 24) == 127) continue;
    char text[INET_ADDRSTRLEN];
    address = inet_ntop(AF_INET, &ip, text, sizeof(text));
  }
  freeifaddrs(all);
  EXPECT_NE(address, "") << "expected a network interface besides loopback, got none";
  return address;
}

class AccessCallsTest : public ServiceTest {
 protected:
  ~AccessCallsTest() override {
    for (const char* const name : {"keys", "audit", "tenants"}) unlink(PathOf(name).c_str());
  }

  static NewApiKey Make(const std::string& tenant, bool admin = false,
                        absl::Time expiry = absl::InfiniteFuture()) {
    return *MakeApiKey(tenant, admin, expiry);
  }
  // Of this process, since tests run side by side from several builds.
  static std::string PathOf(const std::string& name) {
    return absl::StrCat(::testing::TempDir(), "access_calls_test_", getpid(), "_", name);
  }
  static void Write(const std::string& name, const std::string& text) { std::ofstream(PathOf(name)) << text; }
  std::string AllKeys() const {
    return absl::StrCat(rollup_.line, "\n", wallet_.line, "\n", ops_.line, "\n");
  }

  void SetUp() override { StartWithKeys(); }
  void StartWithKeys(const std::function<void(Config&)>& change = [](Config&) {}) {
    Write("keys", AllKeys());
    unlink(PathOf("audit").c_str());
    StartServer([&](Config& config) {
      config.api_key_file = PathOf("keys");
      config.audit_log = PathOf("audit");
      config.upload_idle_timeout = absl::Milliseconds(100);  // looks at the files each 25 ms
      change(config);
    });
  }

  static std::unique_ptr<grpc::ClientContext> ContextWith(const std::string& key) {
    auto context = ContextFor();
    if (!key.empty()) context->AddMetadata("authorization", "Bearer " + key);
    return context;
  }
  Outcome ProveWith(const std::string& key, uint64_t seed = 0) {
    v1::ProveResponse response;
    const auto context = ContextWith(key);
    const grpc::Status status = prover_->Prove(context.get(), Request(Wtns("small", seed)), &response);
    return OutcomeOf(status, *context);
  }
  v1::Job CreateJob(const std::string& key, Outcome* outcome = nullptr) {
    v1::CreateJobRequest request;
    *request.mutable_request() = Request(Wtns("small", 1));
    v1::CreateJobResponse response;
    const auto context = ContextWith(key);
    const Outcome got = OutcomeOf(jobs_->CreateJob(context.get(), request, &response), *context);
    if (outcome != nullptr) *outcome = got;
    return response.job();
  }
  // Any method, with an empty message and the end of the client's messages.
  static Outcome Call(const std::shared_ptr<grpc::Channel>& channel, const std::string& method,
                      const std::string& key) {
    grpc::GenericStub stub(channel);
    grpc::CompletionQueue queue;
    const auto context = ContextWith(key);
    const auto next = [&queue] {
      void* tag;
      bool ok = false;
      queue.Next(&tag, &ok);
      return ok;
    };
    auto call = stub.PrepareCall(context.get(), method, &queue);
    call->StartCall(nullptr);
    next();
    const grpc::Slice empty;
    call->WriteLast(grpc::ByteBuffer(&empty, 1), grpc::WriteOptions(), nullptr);
    next();
    grpc::ByteBuffer reply;
    do {
      call->Read(&reply, nullptr);
    } while (next());
    grpc::Status status;
    call->Finish(&status, nullptr);
    next();
    return OutcomeOf(status, *context);
  }
  // The methods of the API that a channel's listener has, as somebody with an admin's key finds them.
  std::vector<std::string> MethodsOf(const std::shared_ptr<grpc::Channel>& channel) const {
    std::vector<std::string> methods;
    for (const char* name : kProtoFiles) {
      const auto* const file = google::protobuf::DescriptorPool::generated_pool()->FindFileByName(name);
      EXPECT_NE(file, nullptr) << name;
      for (int s = 0; s < file->service_count(); ++s) {
        for (int m = 0; m < file->service(s)->method_count(); ++m) {
          const std::string method =
              absl::StrCat("/", file->service(s)->full_name(), "/", file->service(s)->method(m)->name());
          const Outcome outcome = Call(channel, method, ops_.key);
          if (outcome.status.error_code() == grpc::StatusCode::UNIMPLEMENTED && outcome.reason.empty())
            continue;
          EXPECT_NE(outcome.reason, "UNAUTHENTICATED") << method;
          EXPECT_NE(outcome.reason, "PERMISSION_DENIED") << method;
          methods.push_back(method);
        }
      }
    }
    return methods;
  }
  std::vector<nlohmann::json> AuditLines() const {
    std::vector<nlohmann::json> lines;
    std::ifstream in(PathOf("audit"));
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  const NewApiKey rollup_ = Make("rollup"), wallet_ = Make("wallet"), ops_ = Make("ops", /*admin=*/true);
};

TEST_F(AccessCallsTest, EveryCallOfTheDataListenerNeedsACredential) {
  const std::vector<std::string> methods = MethodsOf(channel_);

  EXPECT_GE(methods.size(), 16u);
  for (const std::string& method : methods) {
    const Outcome without = Call(channel_, method, "");
    EXPECT_EQ(without.status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
    EXPECT_EQ(without.reason, "UNAUTHENTICATED") << method;
    EXPECT_EQ(Call(channel_, method, Make("rollup").key).reason, "UNAUTHENTICATED") << method;
  }
  EXPECT_TRUE(MetricBecomes(R"(proofmill_access_refusals_total{why="no_credential"})",
                            static_cast<double>(methods.size())));
  EXPECT_TRUE(MetricBecomes(R"(proofmill_access_refusals_total{why="bad_key"})",
                            static_cast<double>(methods.size())));
  EXPECT_TRUE(ProveWith(rollup_.key).status.ok());
}

TEST_F(AccessCallsTest, HealthNeedsNoCredentialAndExpiredKeysAreNone) {
  const auto context = ContextFor();
  grpc::health::v1::HealthCheckResponse health;
  EXPECT_TRUE(grpc::health::v1::Health::NewStub(channel_)->Check(context.get(), {}, &health).ok());

  const NewApiKey late = Make("late", false, absl::Now() - absl::Seconds(1));
  Write("keys", AllKeys() + late.line + "\n");
  ASSERT_TRUE(MetricBecomes(R"(proofmill_access_file_reloads_total{file="api_keys",outcome="accepted"})", 1));
  EXPECT_EQ(ProveWith(late.key).reason, "UNAUTHENTICATED");
  EXPECT_EQ(Metric(R"(proofmill_access_refusals_total{why="expired_key"})"), 1);
}

TEST_F(AccessCallsTest, ATenantIsWhoTheKeyNamesAndSeesNoOthersJobs) {
  const v1::Job job = CreateJob(rollup_.key);
  ASSERT_NE(job.name(), "");
  v1::GetJobRequest request;
  request.set_name(job.name());
  v1::GetJobResponse response;
  auto context = ContextWith(wallet_.key);
  EXPECT_EQ(OutcomeOf(jobs_->GetJob(context.get(), request, &response), *context).reason, "JOB_UNKNOWN");
  context = ContextWith(rollup_.key);
  EXPECT_TRUE(jobs_->GetJob(context.get(), request, &response).ok());
  EXPECT_TRUE(absl::StrContains(log_text_.str(), R"("tenant":"rollup")"));
  EXPECT_TRUE(absl::StrContains(log_text_.str(), absl::StrCat("\"api_key\":\"", rollup_.key.substr(4, 12))));
}

TEST_F(AccessCallsTest, KeysComeAndGoWhileTheServiceRunsAndABrokenFileChangesNothing) {
  const NewApiKey fresh = Make("rollup");
  std::atomic<bool> stop{false};
  std::atomic<int> calls{0}, failed{0};
  std::thread load([&] {
    while (!stop) {
      failed += ProveWith(wallet_.key).status.ok() ? 0 : 1;
      ++calls;
    }
  });
  constexpr char kAccepted[] = R"(proofmill_access_file_reloads_total{file="api_keys",outcome="accepted"})";
  constexpr char kRefused[] = R"(proofmill_access_file_reloads_total{file="api_keys",outcome="refused"})";
  double accepted = 0, refused = 0;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(ProveWith(fresh.key).reason, "UNAUTHENTICATED");
    Write("keys", AllKeys() + fresh.line + "\n");
    ASSERT_TRUE(MetricBecomes(kAccepted, ++accepted));
    EXPECT_EQ(Metric("proofmill_api_keys"), 4);
    EXPECT_TRUE(ProveWith(fresh.key).status.ok());
    for (const std::string& broken :
         {std::string(), AllKeys().substr(0, AllKeys().size() - 20), AllKeys() + "what\n"}) {
      Write("keys", broken);
      ASSERT_TRUE(MetricBecomes(kRefused, ++refused)) << broken;
      EXPECT_TRUE(ProveWith(fresh.key).status.ok()) << "the good file stays in use";
    }
    Write("keys", AllKeys());
    ASSERT_TRUE(MetricBecomes(kAccepted, ++accepted));
  }
  stop = true;
  load.join();

  EXPECT_GT(calls, 0);
  EXPECT_EQ(failed, 0) << "a key that stays is good all the time";
  EXPECT_EQ(ProveWith(fresh.key).reason, "UNAUTHENTICATED");
  EXPECT_TRUE(
      absl::StrContains(log_text_.str(), R"("event":"access_file","file":"api_keys","accepted":false)"));
}

TEST_F(AccessCallsTest, ATenantsQuotaIsItsOwnAndChangesWithTheFile) {
  Write("tenants", "wallet jobs_max=1\n");
  StartWithKeys([](Config& config) { config.tenant_file = PathOf("tenants"); });
  gate_.Close();
  CreateJob(rollup_.key);  // on the device
  ASSERT_TRUE(MetricBecomes(R"(proofmill_proofs_in_flight{device="cpu"})", 1));
  Outcome outcome;
  CreateJob(wallet_.key, &outcome);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.error_message();
  CreateJob(wallet_.key, &outcome);
  EXPECT_EQ(outcome.reason, "QUOTA_EXCEEDED");
  EXPECT_TRUE(outcome.has_retry_info);
  CreateJob(rollup_.key, &outcome);
  EXPECT_TRUE(outcome.status.ok()) << "another tenant's quota";

  Write("tenants", "wallet jobs_max=2 weight=2\n");
  ASSERT_TRUE(MetricBecomes(R"(proofmill_access_file_reloads_total{file="tenants",outcome="accepted"})", 1));
  CreateJob(wallet_.key, &outcome);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.error_message();
  gate_.Open();
}

TEST_F(AccessCallsTest, ATenantThatOpensAllTheUploadsItCanLeavesSomeToOthers) {
  StartWithKeys([](Config& config) {
    config.upload_count_max = 10;
    config.upload_idle_timeout = absl::Minutes(1);
  });
  const std::string wtns = Wtns("small");
  const auto begin = [&](const std::string& key) {
    v1::CreateUploadRequest request;
    request.set_circuit("small");
    request.set_size_bytes(wtns.size());
    v1::CreateUploadResponse response;
    const auto context = ContextWith(key);
    return OutcomeOf(uploads_->CreateUpload(context.get(), request, &response), *context);
  };
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(begin(wallet_.key).status.ok()) << i;
  const Outcome outcome = begin(wallet_.key);
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(outcome.reason, "QUOTA_EXCEEDED");
  EXPECT_TRUE(outcome.has_retry_info);

  EXPECT_TRUE(begin(rollup_.key).status.ok());
  const auto context = ContextWith(rollup_.key);
  const auto stream = prover_->ProveStream(context.get());
  v1::ProveStreamRequest request;
  request.mutable_header()->mutable_spec()->set_circuit("small");
  request.mutable_header()->set_size_bytes(wtns.size());
  ASSERT_TRUE(stream->Write(request));
  v1::ProveStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(response.has_admitted());
  request.mutable_chunk()->set_data(wtns);
  ASSERT_TRUE(stream->Write(request));
  while (stream->Read(&response) && !response.has_result()) {
  }
  EXPECT_TRUE(response.has_result());
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(AccessCallsTest, TheAdminListenerWantsAnAdminsKeyFromOtherMachinesAndKeepsAnAudit) {
  StartWithKeys([](Config& config) {
    config.admin_listen = "0.0.0.0:0";
    config.allow_plaintext = true;
  });
  const std::vector<std::string> admin_parts = absl::StrSplit(server_->admin_address(), ':');
  const auto remote = grpc::CreateChannel(absl::StrCat(OwnAddress(), ":", admin_parts.back()),
                                          grpc::InsecureChannelCredentials());
  const auto local =
      grpc::CreateChannel(absl::StrCat("127.0.0.1:", admin_parts.back()), grpc::InsecureChannelCredentials());
  const std::vector<std::string> methods = MethodsOf(remote);
  EXPECT_GE(methods.size(), 2u);
  for (const std::string& method : methods) {
    EXPECT_EQ(Call(remote, method, "").status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << method;
    const Outcome tenant = Call(remote, method, rollup_.key);
    EXPECT_EQ(tenant.status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << method;
    EXPECT_EQ(tenant.reason, "PERMISSION_DENIED") << method;
    EXPECT_NE(Call(local, method, "").reason, "UNAUTHENTICATED") << method;
  }
  const auto context = ContextFor();
  grpc::health::v1::HealthCheckResponse health;
  EXPECT_TRUE(grpc::health::v1::Health::NewStub(remote)->Check(context.get(), {}, &health).ok());

  const std::vector<nlohmann::json> lines = AuditLines();
  ASSERT_EQ(lines.size(), 4 * methods.size()) << "one for each call, none for health";
  for (const nlohmann::json& line : lines) {
    for (const char* field : {"time", "method", "code", "request_id", "peer", "arguments", "duration_ms"}) {
      EXPECT_TRUE(line.contains(field)) << field << " in " << line;
    }
  }
  EXPECT_EQ(lines[0]["tenant"], "ops");
  EXPECT_EQ(lines[0]["api_key"], ops_.key.substr(4, 12));
  EXPECT_EQ(lines[0]["admin"], true);
  EXPECT_EQ(lines[methods.size()]["code"], "UNAUTHENTICATED");
  EXPECT_TRUE(absl::StrContains(lines[0]["peer"].get<std::string>(), OwnAddress()));
}

TEST_F(AccessCallsTest, TheAuditShowsTheTraceAndWhatWasAskedFor) {
  const auto admin = grpc::CreateChannel(server_->admin_address(), grpc::InsecureChannelCredentials());
  v1::GetCircuitRequest request;
  request.set_id("nothing");
  v1::GetCircuitResponse response;
  const auto context = ContextFor();
  context->AddMetadata("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  EXPECT_EQ(v1::CircuitService::NewStub(admin)->GetCircuit(context.get(), request, &response).error_code(),
            grpc::StatusCode::NOT_FOUND);

  const std::vector<nlohmann::json> lines = AuditLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["method"], "CircuitService/GetCircuit");
  EXPECT_EQ(lines[0]["trace_id"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(lines[0]["arguments"]["circuit"], "nothing");
  EXPECT_EQ(lines[0]["code"], "NOT_FOUND");
  EXPECT_EQ(lines[0]["reason"], "CIRCUIT_UNKNOWN");
  EXPECT_EQ(lines[0]["admin"], false);
}

TEST_F(AccessCallsTest, NoKeyStandsInLogsMetricsOrTheAudit) {
  const NewApiKey unknown = Make("nobody");
  const auto admin = grpc::CreateChannel(server_->admin_address(), grpc::InsecureChannelCredentials());
  for (const std::string& key : {rollup_.key, ops_.key, unknown.key}) {
    ProveWith(key);
    CreateJob(key);
    Call(admin, "/proofmill.v1.CircuitService/ListCircuits", key);
    Write("keys", AllKeys() + key + "\n");  // a mistake that people make
    ASSERT_TRUE(
        MetricBecomes(R"(proofmill_access_file_reloads_total{file="api_keys",outcome="refused"})", 1));
    const std::string text = absl::StrCat(log_text_.str(), Metrics(), nlohmann::json(AuditLines()).dump());
    EXPECT_FALSE(absl::StrContains(text, key.substr(17))) << "a key was shown";
    StartWithKeys();
  }
}

}  // namespace
}  // namespace proofmill::server
