// The metrics of the service, for Prometheus.
//
// Names and labels are a contract with dashboards and alerts: base units, closed sets of label values, no
// label that a client can choose (a circuit that is not loaded counts as "unknown"). Histograms say in their
// help text from where to where they measure. Series are looked up once and kept, since a look-up by labels
// costs twenty times an increment.
//
// Thread safety: every method may be called from any thread.
// Lifetime: series live as long as this object, but for those of circuits that were unloaded.

#ifndef PROOFMILL_SERVER_METRICS_H_
#define PROOFMILL_SERVER_METRICS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/dispatch/observer.h"
#include "server/build_info.h"

namespace proofmill::server {

// The calls that are counted.
enum class Method {
  kProve,
  kProveStream,
  kProveBatch,
  kVerify,
  kCreateUpload,
  kWriteUpload,
  kGetUpload,
  kDeleteUpload,
  kListCircuits,
  kGetCircuit,
  kWatchCircuit,
  kCreateJob,
  kGetJob,
  kWatchJob,
  kCancelJob,
  kListJobs,
  kDeleteJob,
  kLoadCircuit,
  kUnloadCircuit,
  kSetAlias,
  kGetStatus,
  kSetLogLevel,
};
// "ProverService/Prove" and so on: the label `method`.
std::string_view MethodName(Method method);

class Metrics final : public engine::Observer {
 public:
  // The bounds of what the gauges show, exported beside them.
  struct Bounds {
    uint64_t queue_jobs_max;
    uint64_t queue_witness_bytes_max;
    uint64_t uploads_max;
    uint64_t upload_bytes_max;
    uint64_t verify_queue_max;
    uint64_t jobs_max;
  };

  Metrics(const BuildInfo& build, const Bounds& bounds);
  ~Metrics() override;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Begins to answer http://ADDRESS/metrics; returns the address with the port that was chosen. Called at
  // most once; the endpoint ends with this object.
  //   UNAVAILABLE  the address cannot be bound.
  absl::StatusOr<std::string> Serve(const std::string& address);

  // The metrics in Prometheus's text format.
  std::string Text() const;

  // One finished call. `circuit` is what the client asked for, or empty; `code` is a name such as "OK".
  void CountCall(Method method, std::string_view circuit, std::string_view code,
                 std::chrono::nanoseconds duration);
  // How long the devices need for all that is queued and running.
  void SetBacklog(std::chrono::nanoseconds backlog);
  // When the certificate of the data listener ends, in Unix seconds; and files that were read anew since the
  // start.
  void SetTlsExpiry(double unix_seconds);
  void CountTlsReload(bool accepted);
  // API keys in use, and when the next one expires, in Unix seconds, or 0.
  void SetApiKeys(size_t count, int64_t next_expiry);
  // Changes of the files of API keys and of tenants since the start.
  void CountAccessReload(std::string_view file, bool accepted);
  // Calls that were not let in, and lines of the audit log that its file did not take.
  void CountAccessRefusal(std::string_view why);
  void CountAuditFailure();
  // One item of a batch that was answered.
  void CountBatchItem(std::string_view code);
  // Jobs that JobService keeps.
  void AddJobs(int change);
  void AddUploads(int count_change, int64_t bytes_change);
  void AddStreams(int change);
  void AddVerifyQueue(int change);

  // From the engine.
  void OnQueueDepthChange(engine::Priority priority, int change) override;
  void OnWitnessBytesChange(int64_t change) override;
  void OnJobDropped(const engine::JobInfo& job, engine::DropReason reason) override;
  void OnJobStarted(const engine::JobInfo& job, const engine::DeviceInfo& device,
                    std::chrono::nanoseconds queue_wait) override;
  void OnStage(const engine::JobInfo& job, const engine::DeviceInfo& device, std::string_view stage,
               std::chrono::nanoseconds duration) override;
  void OnJobFinished(const engine::JobInfo& job, const engine::DeviceInfo& device, const absl::Status& status,
                     std::chrono::nanoseconds run_time) override;
  void OnBlame(const engine::JobInfo& job, const engine::DeviceInfo& device,
               engine::BlameVerdict verdict) override;
  void OnSelfCheck(size_t proofs) override;
  void OnDeviceUp(const engine::DeviceInfo& device, bool up, std::string_view why) override;
  void OnDeviceError(const engine::DeviceInfo& device, engine::DeviceErrorClass error_class,
                     const absl::Status& status) override;
  void OnDeviceMemory(const engine::DeviceInfo& device, engine::DeviceMemoryKind kind,
                      uint64_t bytes) override;
  void OnDeviceCounts(const engine::DeviceInfo& device, const engine::DeviceCounts& counts) override;
  void OnCanary(const engine::DeviceInfo& device, std::string_view circuit, bool proved) override;
  void OnCircuit(const engine::Circuit& circuit) override;

 private:
  struct Parts;
  const std::unique_ptr<Parts> parts_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_METRICS_H_
