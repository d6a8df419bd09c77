#include "server/metrics.h"

#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace proofmill::server {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

std::unique_ptr<Metrics> MakeMetrics() {
  return std::make_unique<Metrics>(BuildInfo{"1.2.3", "abc", "none"},
                                   Metrics::Bounds{.queue_jobs_max = 7,
                                                   .queue_witness_bytes_max = 8,
                                                   .uploads_max = 9,
                                                   .upload_bytes_max = 10,
                                                   .verify_queue_max = 11,
                                                   .jobs_max = 12});
}

// Name to type, from the lines "# TYPE name type".
std::map<std::string, std::string> Types(const std::string& text) {
  std::map<std::string, std::string> types;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex("# TYPE (\\S+) (\\S+)"))) types[match[1]] = match[2];
  }
  return types;
}

const engine::DeviceInfo kDevice{.device = "cpu", .backend = "cpu", .gpu_uuid = ""};
const engine::JobInfo kJob{
    .circuit = "known", .tenant = "", .request_id = "r", .priority = engine::Priority::kNormal};

// One of everything.
void Exercise(Metrics& metrics) {
  engine::Circuit circuit;
  circuit.id = "known";
  circuit.state = engine::CircuitState::kReady;
  circuit.load_duration = milliseconds(1500);
  metrics.OnCircuit(circuit);
  metrics.OnDeviceUp(kDevice, true, "");
  metrics.OnDeviceMemory(kDevice, engine::DeviceMemoryKind::kKeys, 4096);
  metrics.OnDeviceError(kDevice, engine::DeviceErrorClass::kOutOfMemory, absl::InternalError("x"));
  metrics.OnDeviceCounts(kDevice, {.host_to_device_bytes = 3200,
                                   .device_to_host_bytes = 160,
                                   .allocations = 7,
                                   .key_evictions = 2,
                                   .key_reloads = 1,
                                   .batches = 4,
                                   .batched_proofs = 30});
  metrics.OnQueueDepthChange(engine::Priority::kHigh, 1);
  metrics.OnWitnessBytesChange(640);
  metrics.OnJobStarted(kJob, kDevice, milliseconds(2));
  metrics.OnStage(kJob, kDevice, "msm_h", milliseconds(3));
  metrics.OnJobDropped(kJob, engine::DropReason::kExpired);
  metrics.OnBlame(kJob, kDevice, engine::BlameVerdict::kWitness);
  metrics.OnSelfCheck(1);
  metrics.OnSelfCheck(5);
  metrics.OnCanary(kDevice, "known", true);
  metrics.CountCall(Method::kProve, "known", "OK", milliseconds(30));
  metrics.AddUploads(1, 100);
  metrics.AddStreams(1);
  metrics.AddVerifyQueue(1);
}

TEST(MetricsTest, EveryMetricOfTheListIsThereWithItsType) {
  const auto metrics = MakeMetrics();
  Exercise(*metrics);
  const auto types = Types(metrics->Text());

  const std::map<std::string, std::string> expected = {
      {"proofmill_requests_total", "counter"},
      {"proofmill_request_duration_seconds", "histogram"},
      {"proofmill_queue_depth", "gauge"},
      {"proofmill_queue_witness_bytes", "gauge"},
      {"proofmill_queue_wait_seconds", "histogram"},
      {"proofmill_proof_stage_duration_seconds", "histogram"},
      {"proofmill_proofs_in_flight", "gauge"},
      {"proofmill_jobs_dropped_total", "counter"},
      {"proofmill_device_up", "gauge"},
      {"proofmill_device_errors_total", "counter"},
      {"proofmill_device_memory_bytes", "gauge"},
      {"proofmill_circuit_loaded", "gauge"},
      {"proofmill_build_info", "gauge"},
      // Beyond the list of the specification: bounds with what they bound, and what they are for.
      {"proofmill_circuit_load_duration_seconds", "gauge"},
      {"proofmill_self_check_failures_total", "counter"},
      {"proofmill_self_check_proofs", "histogram"},
      {"proofmill_canary_proofs_total", "counter"},
      {"proofmill_device_last_proof_timestamp_seconds", "gauge"},
      {"proofmill_device_transfer_bytes_total", "counter"},
      {"proofmill_device_allocations_total", "counter"},
      {"proofmill_device_key_evictions_total", "counter"},
      {"proofmill_device_key_reloads_total", "counter"},
      {"proofmill_device_batches_total", "counter"},
      {"proofmill_device_batched_proofs_total", "counter"},
      {"proofmill_queue_depth_max", "gauge"},
      {"proofmill_queue_witness_bytes_max", "gauge"},
      {"proofmill_uploads", "gauge"},
      {"proofmill_uploads_max", "gauge"},
      {"proofmill_upload_bytes", "gauge"},
      {"proofmill_upload_bytes_max", "gauge"},
      {"proofmill_streams", "gauge"},
      {"proofmill_backlog_seconds", "gauge"},
      {"proofmill_tls_certificate_expiry_timestamp_seconds", "gauge"},
      {"proofmill_tls_reloads_total", "counter"},
      {"proofmill_api_keys", "gauge"},
      {"proofmill_api_key_expiry_timestamp_seconds", "gauge"},
      {"proofmill_access_file_reloads_total", "counter"},
      {"proofmill_access_refusals_total", "counter"},
      {"proofmill_audit_failures_total", "counter"},
      {"proofmill_jobs", "gauge"},
      {"proofmill_jobs_max", "gauge"},
      {"proofmill_batch_items_total", "counter"},
      {"proofmill_verify_queue_depth", "gauge"},
      {"proofmill_verify_queue_depth_max", "gauge"},
  };
  EXPECT_EQ(types, expected);
}

TEST(MetricsTest, LabelsAndValuesAreThoseOfTheEvents) {
  const auto metrics = MakeMetrics();
  Exercise(*metrics);
  const std::string text = metrics->Text();

  EXPECT_THAT(
      text,
      HasSubstr(R"(proofmill_requests_total{circuit="known",code="OK",method="ProverService/Prove"} 1)"));
  EXPECT_THAT(
      text,
      HasSubstr(
          R"(proofmill_request_duration_seconds_sum{circuit="known",method="ProverService/Prove"} 0.03)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_queue_depth{priority="high"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_queue_depth{priority="low"} 0)"));
  EXPECT_THAT(text, HasSubstr("proofmill_queue_witness_bytes 640"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_queue_wait_seconds_sum{priority="normal"} 0.002)"));
  EXPECT_THAT(
      text, HasSubstr(R"(proofmill_proof_stage_duration_seconds_sum{stage="msm_h",system="groth16"} 0.003)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_proofs_in_flight{device="cpu"} 1)"));
  EXPECT_THAT(text, HasSubstr("proofmill_self_check_proofs_count 2"));
  EXPECT_THAT(text, HasSubstr("proofmill_self_check_proofs_sum 6"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_self_check_proofs_bucket{le="1"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_self_check_proofs_bucket{le="4"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_self_check_proofs_bucket{le="8"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_jobs_dropped_total{reason="expired"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_jobs_dropped_total{reason="queue_full"} 0)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_device_up{backend="cpu",device="cpu",gpu_uuid=""} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_device_errors_total{class="oom",device="cpu"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_device_memory_bytes{device="cpu",kind="keys"} 4096)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_circuit_loaded{circuit="known",system="groth16"} 1)"));
  EXPECT_THAT(text,
              HasSubstr(R"(proofmill_circuit_load_duration_seconds{circuit="known",system="groth16"} 1.5)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_self_check_failures_total{verdict="witness"} 1)"));
  EXPECT_THAT(text,
              HasSubstr(R"(proofmill_canary_proofs_total{circuit="known",device="cpu",outcome="proved"} 1)"));
  EXPECT_THAT(text,
              HasSubstr(R"(proofmill_canary_proofs_total{circuit="known",device="cpu",outcome="failed"} 0)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_build_info{cuda="none",revision="abc",version="1.2.3"} 1)"));
  EXPECT_THAT(text, HasSubstr("proofmill_queue_depth_max 7"));
  EXPECT_THAT(text, HasSubstr("proofmill_verify_queue_depth_max 11"));
}

TEST(MetricsTest, CountersOfADeviceFollowItsTotalsInWhateverOrderTheyCome) {
  const auto metrics = MakeMetrics();
  Exercise(*metrics);
  metrics->OnDeviceCounts(kDevice,
                          {.host_to_device_bytes = 6400, .device_to_host_bytes = 160, .allocations = 7});
  metrics->OnDeviceCounts(kDevice,
                          {.host_to_device_bytes = 4800, .device_to_host_bytes = 320, .allocations = 7});
  const std::string text = metrics->Text();

  EXPECT_THAT(
      text,
      HasSubstr(R"(proofmill_device_transfer_bytes_total{device="cpu",direction="host_to_device"} 6400)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(proofmill_device_transfer_bytes_total{device="cpu",direction="device_to_host"} 320)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_device_allocations_total{device="cpu"} 7)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_device_key_evictions_total{device="cpu"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_device_key_reloads_total{device="cpu"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_device_batches_total{device="cpu"} 4)"));
  EXPECT_THAT(text, HasSubstr(R"(proofmill_device_batched_proofs_total{device="cpu"} 30)"));
}

TEST(MetricsTest, ACircuitThatIsNotLoadedCountsAsUnknown) {
  const auto metrics = MakeMetrics();
  for (int i = 0; i < 1000; ++i) {
    metrics->CountCall(Method::kProve, "guess" + std::to_string(i), "NOT_FOUND", milliseconds(1));
  }
  const std::string text = metrics->Text();

  EXPECT_THAT(
      text,
      HasSubstr(
          R"(proofmill_requests_total{circuit="unknown",code="NOT_FOUND",method="ProverService/Prove"} 1000)"));
  EXPECT_THAT(text, Not(HasSubstr("guess")));
}

TEST(MetricsTest, AFailedCircuitIsThereWithZero) {
  const auto metrics = MakeMetrics();
  engine::Circuit circuit;
  circuit.id = "broken";
  circuit.state = engine::CircuitState::kFailed;
  metrics->OnCircuit(circuit);

  EXPECT_THAT(metrics->Text(), HasSubstr(R"(proofmill_circuit_loaded{circuit="broken",system="groth16"} 0)"));
}

TEST(MetricsTest, AnAddressThatIsTakenIsAnError) {
  const auto first = MakeMetrics();
  const auto address = first->Serve("127.0.0.1:0");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_THAT(*address, Not(HasSubstr(":0")));

  const auto second = MakeMetrics();
  const absl::Status taken = second->Serve(*address).status();
  EXPECT_TRUE(absl::IsUnavailable(taken));
  EXPECT_EQ(taken.message(), "cannot bind the metrics listener to " + *address +
                                 ": Address already in use; --metrics_listen takes another address");
}

}  // namespace
}  // namespace proofmill::server
