// The whole service in this process, on loopback, with two small circuits, one broken one and a gate before
// its device; and one-word calls over real channels.

#ifndef PROOFMILL_TESTS_SERVER_SERVICE_FIXTURE_H_
#define PROOFMILL_TESTS_SERVER_SERVICE_FIXTURE_H_

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <memory>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "proofmill/v1/circuits.grpc.pb.h"
#include "proofmill/v1/jobs.grpc.pb.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "proofmill/v1/uploads.grpc.pb.h"
#include "server/config.h"
#include "server/log.h"
#include "server/server.h"
#include "tests/server/gated_runner.h"

namespace proofmill::server {

inline constexpr std::chrono::seconds kPatience{60};
// Values in a witness of the circuit `small`.
inline constexpr uint32_t kSmallWires = (1 << 5) + 2;

// What a call ended with.
struct Outcome {
  grpc::Status status;
  std::string reason;  // of ErrorInfo, empty without
  bool has_retry_info = false;
  std::string pushback;  // the trailer, empty without
};
Outcome OutcomeOf(const grpc::Status& status, const grpc::ClientContext& context);

class ServiceTest : public ::testing::Test {
 protected:
  // Makes the circuits once: `small`, `medium` and the broken `broken`.
  static void SetUpTestSuite();

  void SetUp() override { StartServer(); }
  void TearDown() override;

  // Ends the server, if any, and starts one whose configuration `change` has changed.
  void StartServer(const std::function<void(Config&)>& change = [](Config&) {});
  void Drain();
  // One CPU device behind the gate.
  Server::Runners MakeRunners();

  // The bytes of a witness file of `small` or `medium`. Different seeds have different public signals.
  static std::string Wtns(const std::string& circuit, uint64_t seed = 0);

  v1::ProveRequest Request(const std::string& wtns, const std::string& circuit = "small");
  Outcome Prove(const v1::ProveRequest& request, v1::ProveResponse* response = nullptr,
                std::chrono::milliseconds timeout = kPatience);
  Outcome ProveSmall(uint64_t seed = 0) { return Prove(Request(Wtns("small", seed))); }

  std::string Metrics() const;
  // The value of a metric line that begins with `series`, or -1.
  double Metric(const std::string& series) const;
  // Waits until a metric has a value.
  ::testing::AssertionResult MetricBecomes(const std::string& series, double value) const;

  std::shared_ptr<grpc::Channel> MakeChannel() const;

  Gate gate_;
  std::ostringstream log_text_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::ProverService::Stub> prover_;
  std::unique_ptr<v1::UploadService::Stub> uploads_;
  std::unique_ptr<v1::JobService::Stub> jobs_;
  std::unique_ptr<v1::CircuitService::Stub> circuits_;

  static std::string* folder_;
};

// A context whose deadline is `timeout` away.
std::unique_ptr<grpc::ClientContext> ContextFor(std::chrono::milliseconds timeout = kPatience);

}  // namespace proofmill::server

#endif  // PROOFMILL_TESTS_SERVER_SERVICE_FIXTURE_H_
