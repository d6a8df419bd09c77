#include "server/metrics.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/backend/backend.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/dispatch/proof_system.h"
#include "engine/whir/device.h"
#include "prometheus/text_serializer.h"
#include "server/access.h"
#include "server/metric_series.h"
#include "server/metrics_endpoint.h"

namespace proofmill::server {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;
using Buckets = Histogram::BucketBoundaries;

constexpr char kUnknownCircuit[] = "unknown";
constexpr char kNoCircuit[] = "";
constexpr char kAccepted[] = "accepted";
constexpr char kRefused[] = "refused";

// From below the fastest proof to the longest deadline that is the default.
const Buckets kRequestBuckets = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                 0.5,   1,      2.5,   5,    10,    30,   60,  600};
const Buckets kQueueWaitBuckets = {0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                   0.5,    1,     2.5,   5,    10,    30,   60,  600};
// Stages on a GPU take tens of microseconds for small circuits, on a CPU seconds for large ones.
const Buckets kStageBuckets = {0.00005, 0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                               0.05,    0.1,    0.25,   0.5,   1,      2.5,   10,   60};

// Proofs of a check; no more than engine::kProofBatchMax.
const Buckets kSelfCheckBuckets = {1, 2, 4, 8, 16};

double UnixSeconds() { return static_cast<double>(absl::ToUnixMillis(absl::Now())) / 1e3; }
double Seconds(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kProve:
      return "ProverService/Prove";
    case Method::kProveStream:
      return "ProverService/ProveStream";
    case Method::kProveBatch:
      return "ProverService/ProveBatch";
    case Method::kVerify:
      return "ProverService/Verify";
    case Method::kCreateUpload:
      return "UploadService/CreateUpload";
    case Method::kWriteUpload:
      return "UploadService/WriteUpload";
    case Method::kGetUpload:
      return "UploadService/GetUpload";
    case Method::kDeleteUpload:
      return "UploadService/DeleteUpload";
    case Method::kListCircuits:
      return "CircuitService/ListCircuits";
    case Method::kGetCircuit:
      return "CircuitService/GetCircuit";
    case Method::kWatchCircuit:
      return "CircuitService/WatchCircuit";
    case Method::kCreateJob:
      return "JobService/CreateJob";
    case Method::kGetJob:
      return "JobService/GetJob";
    case Method::kWatchJob:
      return "JobService/WatchJob";
    case Method::kCancelJob:
      return "JobService/CancelJob";
    case Method::kListJobs:
      return "JobService/ListJobs";
    case Method::kDeleteJob:
      return "JobService/DeleteJob";
    case Method::kLoadCircuit:
      return "CircuitAdminService/LoadCircuit";
    case Method::kUnloadCircuit:
      return "CircuitAdminService/UnloadCircuit";
    case Method::kSetAlias:
      return "CircuitAdminService/SetAlias";
    case Method::kGetStatus:
      return "StatusService/GetStatus";
    case Method::kSetLogLevel:
      return "LogAdminService/SetLogLevel";
  }
  return "unknown";
}

struct Metrics::Parts {
  SeriesFamily<Counter> Counters(const char* name, const char* help, std::vector<std::string> labels) {
    return {BuildCounter().Name(name).Help(help).Register(*registry), std::move(labels)};
  }
  SeriesFamily<Gauge> Gauges(const char* name, const char* help, std::vector<std::string> labels) {
    return {BuildGauge().Name(name).Help(help).Register(*registry), std::move(labels)};
  }
  SeriesFamily<Histogram> Histograms(const char* name, const char* help, std::vector<std::string> labels,
                                     const Buckets& buckets) {
    return {BuildHistogram().Name(name).Help(help).Register(*registry), std::move(labels), buckets};
  }
  Gauge& OneGauge(const char* name, const char* help, double value = 0) {
    Gauge& gauge = BuildGauge().Name(name).Help(help).Register(*registry).Add({});
    gauge.Set(value);
    return gauge;
  }

  explicit Parts(const Bounds& bounds)
      : queue_witness_bytes(OneGauge("proofmill_queue_witness_bytes",
                                     "Bytes of witness in memory: arriving, waiting and being proved.")),
        uploads(OneGauge("proofmill_uploads", "Uploads that are open, those of streams included.")),
        upload_bytes(OneGauge("proofmill_upload_bytes", "Bytes that open uploads have room for.")),
        streams(OneGauge("proofmill_streams", "Calls of ProveStream and ProveBatch that are open.")),
        backlog(OneGauge("proofmill_backlog_seconds",
                         "How long the devices that are up need for all that is queued and running, as "
                         "learned from recent proofs.")),
        tls_expiry(
            OneGauge("proofmill_tls_certificate_expiry_timestamp_seconds",
                     "When the certificate of the data listener ends, in Unix seconds; 0 without TLS.")),
        api_keys(OneGauge("proofmill_api_keys", "API keys that are in use, expired ones included.")),
        api_key_expiry(OneGauge("proofmill_api_key_expiry_timestamp_seconds",
                                "When the next API key expires, in Unix seconds; 0 if none does.")),
        jobs(OneGauge("proofmill_jobs", "Jobs that JobService keeps: on their way, and ended.")),
        verify_queue(OneGauge("proofmill_verify_queue_depth", "Calls of Verify that wait for a thread.")),
        self_check_proofs(BuildHistogram()
                              .Name("proofmill_self_check_proofs")
                              .Help("How many proofs of Groth16 a self-check was of: 1 for one that met no "
                                    "other of its circuit.")
                              .Register(*registry)
                              .Add({}, kSelfCheckBuckets)) {
    OneGauge("proofmill_queue_depth_max", "The bound of proofmill_queue_depth over all priorities.",
             static_cast<double>(bounds.queue_jobs_max));
    OneGauge("proofmill_queue_witness_bytes_max", "The bound of proofmill_queue_witness_bytes.",
             static_cast<double>(bounds.queue_witness_bytes_max));
    OneGauge("proofmill_uploads_max", "The bound of proofmill_uploads.",
             static_cast<double>(bounds.uploads_max));
    OneGauge("proofmill_upload_bytes_max", "The bound of proofmill_upload_bytes.",
             static_cast<double>(bounds.upload_bytes_max));
    OneGauge("proofmill_jobs_max", "The bound of proofmill_jobs.", static_cast<double>(bounds.jobs_max));
    OneGauge("proofmill_verify_queue_depth_max", "The bound of proofmill_verify_queue_depth.",
             static_cast<double>(bounds.verify_queue_max));
  }

  // The label for what a client asked for.
  std::string_view CircuitLabel(std::string_view circuit) {
    if (circuit.empty()) return kNoCircuit;
    engine::MutexLock lock(mu);
    const auto known = circuits.find(circuit);
    return known == circuits.end() ? std::string_view(kUnknownCircuit) : std::string_view(*known);
  }

  // First, so that it is there when the families are made.
  const std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();

  SeriesFamily<Counter> requests =
      Counters("proofmill_requests_total", "Calls that were answered, by the status code of the answer.",
               {"method", "circuit", "code"});
  SeriesFamily<Histogram> request_duration =
      Histograms("proofmill_request_duration_seconds",
                 "From the arrival of a call (its first message, or the opening of a stream) to its answer.",
                 {"method", "circuit"}, kRequestBuckets);
  SeriesFamily<Counter> batch_items = Counters(
      "proofmill_batch_items_total", "Items of ProveBatch that were answered, by status code.", {"code"});
  SeriesFamily<Counter> tls_reloads =
      Counters("proofmill_tls_reloads_total",
               "Changes of the TLS files that were taken over, or refused: the old ones are in use then.",
               {"outcome"});
  SeriesFamily<Counter> access_reloads = Counters("proofmill_access_file_reloads_total",
                                                  "Changes of the files of API keys and tenants that were "
                                                  "taken over, or refused: the old ones are in use then.",
                                                  {"file", "outcome"});
  SeriesFamily<Counter> access_refusals =
      Counters("proofmill_access_refusals_total", "Calls that were not let in, by what was wrong.", {"why"});
  SeriesFamily<Counter> audit_failures =
      Counters("proofmill_audit_failures_total",
               "Lines of the audit log that could not be written to its file and went to the logs.", {});
  SeriesFamily<Gauge> queue_depth =
      Gauges("proofmill_queue_depth", "Jobs that wait for a device.", {"priority"});
  Gauge& queue_witness_bytes;
  SeriesFamily<Histogram> queue_wait =
      Histograms("proofmill_queue_wait_seconds", "From a job's place in the queue to its start on a device.",
                 {"priority"}, kQueueWaitBuckets);
  SeriesFamily<Histogram> stage_duration =
      Histograms("proofmill_proof_stage_duration_seconds",
                 "From the begin to the end of one stage of a proof; stages may overlap.",
                 {"system", "stage"}, kStageBuckets);
  SeriesFamily<Gauge> proofs_in_flight =
      Gauges("proofmill_proofs_in_flight", "Jobs that a device works on.", {"device"});
  SeriesFamily<Counter> jobs_dropped =
      Counters("proofmill_jobs_dropped_total",
               "Jobs that were refused or given up before their proof was made.", {"reason"});
  SeriesFamily<Gauge> device_up = Gauges("proofmill_device_up", "1 if the device proves, 0 if it is down.",
                                         {"device", "gpu_uuid", "backend"});
  SeriesFamily<Gauge> last_proof = Gauges(
      "proofmill_device_last_proof_timestamp_seconds",
      "When the device last made a proof that verifies, of a job or of a canary, in Unix seconds; 0 if it "
      "has made none.",
      {"device"});
  SeriesFamily<Counter> device_errors =
      Counters("proofmill_device_errors_total", "What devices did wrong.", {"device", "class"});
  SeriesFamily<Gauge> device_memory =
      Gauges("proofmill_device_memory_bytes", "Memory of a device, by use.", {"device", "kind"});
  SeriesFamily<Counter> device_transfers =
      Counters("proofmill_device_transfer_bytes_total", "Bytes over the bus of a GPU, of keys and of proofs.",
               {"device", "direction"});
  SeriesFamily<Counter> device_allocations =
      Counters("proofmill_device_allocations_total",
               "Allocations of device and page-locked memory; proofs make none.", {"device"});
  SeriesFamily<Counter> key_evictions =
      Counters("proofmill_device_key_evictions_total",
               "Keys that gave way for another where a device's memory is short.", {"device"});
  SeriesFamily<Counter> key_reloads = Counters("proofmill_device_key_reloads_total",
                                               "Keys that came back for a proof after that.", {"device"});
  SeriesFamily<Counter> batches = Counters(
      "proofmill_device_batches_total",
      "Batches of proofs of one circuit that a GPU made together, as it does under load.", {"device"});
  SeriesFamily<Counter> batched_proofs =
      Counters("proofmill_device_batched_proofs_total", "Proofs of these batches.", {"device"});
  SeriesFamily<Gauge> circuit_loaded = Gauges(
      "proofmill_circuit_loaded",
      "1 if the circuit can be proved, 0 if it is loading, unloading or was refused.", {"circuit", "system"});
  SeriesFamily<Gauge> circuit_load_seconds =
      Gauges("proofmill_circuit_load_duration_seconds", "How long reading and checking the key took.",
             {"circuit", "system"});
  SeriesFamily<Counter> blame =
      Counters("proofmill_self_check_failures_total",
               "Proofs that did not verify and were not sent, by who was to blame.", {"verdict"});
  SeriesFamily<Counter> canary_proofs = Counters("proofmill_canary_proofs_total",
                                                 "Proofs of canary witnesses, made when a key comes to a "
                                                 "device, when a proof did not verify, and by idle "
                                                 "devices.",
                                                 {"device", "circuit", "outcome"});
  SeriesFamily<Gauge> build_info =
      Gauges("proofmill_build_info", "Always 1; the labels say what runs.", {"version", "revision", "cuda"});
  Gauge& uploads;
  Gauge& upload_bytes;
  Gauge& streams;
  Gauge& backlog;
  Gauge& tls_expiry;
  Gauge& api_keys;
  Gauge& api_key_expiry;
  Gauge& jobs;
  Gauge& verify_queue;
  Histogram& self_check_proofs;

  engine::Mutex mu;
  // Ids of circuits in the directory: the only values that the label `circuit` takes, apart from "unknown"
  // and "".
  std::set<std::string, std::less<>> circuits ABSL_GUARDED_BY(mu);

  engine::Mutex counts_mu;
  // What the counters of each device stand at.
  std::map<std::string, engine::DeviceCounts, std::less<>> counts ABSL_GUARDED_BY(counts_mu);

  // Last, so that it ends first: nothing is scraped while the rest goes.
  std::unique_ptr<MetricsEndpoint> endpoint;
};

// Makes the series that have no event of their own to begin with, so that rates are right from the first one
// on.
Metrics::Metrics(const BuildInfo& build, const Bounds& bounds) : parts_(std::make_unique<Parts>(bounds)) {
  parts_->batch_items.At({"OK"});
  parts_->tls_reloads.At({kAccepted});
  parts_->tls_reloads.At({kRefused});
  for (const auto refusal : {AccessRefusal::kNoCredential, AccessRefusal::kBadKey, AccessRefusal::kExpiredKey,
                             AccessRefusal::kNotAdmin}) {
    parts_->access_refusals.At({AccessRefusalName(refusal)});
  }
  parts_->audit_failures.At({});
  for (const char* file : {"api_keys", "tenants"}) {
    parts_->access_reloads.At({file, kAccepted});
    parts_->access_reloads.At({file, kRefused});
  }
  parts_->build_info.At({build.version, build.revision, build.cuda}).Set(1);
  for (const auto priority : {engine::Priority::kLow, engine::Priority::kNormal, engine::Priority::kHigh}) {
    parts_->queue_depth.At({engine::PriorityName(priority)});
    parts_->queue_wait.At({engine::PriorityName(priority)});
  }
  for (const auto reason :
       {engine::DropReason::kQueueFull, engine::DropReason::kQuota, engine::DropReason::kExpired,
        engine::DropReason::kCancelled, engine::DropReason::kDraining}) {
    parts_->jobs_dropped.At({engine::DropReasonName(reason)});
  }
  for (const auto verdict : {engine::BlameVerdict::kWitness, engine::BlameVerdict::kDevice}) {
    parts_->blame.At({engine::BlameVerdictName(verdict)});
  }
  for (size_t i = 0; i < engine::kStageCount; ++i) {
    parts_->stage_duration.At({engine::ProofSystemName(engine::ProofSystem::kGroth16),
                               engine::StageName(static_cast<engine::Stage>(i))});
  }
  for (const std::string_view stage : engine::kWhirStages) {
    parts_->stage_duration.At({engine::ProofSystemName(engine::ProofSystem::kWhir), stage});
  }
}

Metrics::~Metrics() = default;

absl::StatusOr<std::string> Metrics::Serve(const std::string& address) {
  PROOFMILL_ASSIGN_OR_RETURN(parts_->endpoint, MetricsEndpoint::Start(address, parts_->registry));
  return parts_->endpoint->address();
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(parts_->registry->Collect());
}

void Metrics::CountCall(Method method, std::string_view circuit, std::string_view code,
                        std::chrono::nanoseconds duration) {
  const std::string_view label = parts_->CircuitLabel(circuit);
  parts_->requests.At({MethodName(method), label, code}).Increment();
  parts_->request_duration.At({MethodName(method), label}).Observe(Seconds(duration));
}

void Metrics::CountBatchItem(std::string_view code) { parts_->batch_items.At({code}).Increment(); }
void Metrics::SetBacklog(std::chrono::nanoseconds backlog) { parts_->backlog.Set(Seconds(backlog)); }
void Metrics::SetTlsExpiry(double unix_seconds) { parts_->tls_expiry.Set(unix_seconds); }
void Metrics::CountTlsReload(bool accepted) {
  parts_->tls_reloads.At({accepted ? kAccepted : kRefused}).Increment();
}
void Metrics::SetApiKeys(size_t count, int64_t next_expiry) {
  parts_->api_keys.Set(static_cast<double>(count));
  parts_->api_key_expiry.Set(static_cast<double>(next_expiry));
}
void Metrics::CountAccessReload(std::string_view file, bool accepted) {
  parts_->access_reloads.At({file, accepted ? kAccepted : kRefused}).Increment();
}
void Metrics::CountAccessRefusal(std::string_view why) { parts_->access_refusals.At({why}).Increment(); }
void Metrics::CountAuditFailure() { parts_->audit_failures.At({}).Increment(); }
void Metrics::AddJobs(int change) { parts_->jobs.Increment(change); }

void Metrics::AddUploads(int count_change, int64_t bytes_change) {
  parts_->uploads.Increment(count_change);
  parts_->upload_bytes.Increment(static_cast<double>(bytes_change));
}

void Metrics::AddStreams(int change) { parts_->streams.Increment(change); }
void Metrics::AddVerifyQueue(int change) { parts_->verify_queue.Increment(change); }

void Metrics::OnQueueDepthChange(engine::Priority priority, int change) {
  parts_->queue_depth.At({engine::PriorityName(priority)}).Increment(change);
}

void Metrics::OnWitnessBytesChange(int64_t change) {
  parts_->queue_witness_bytes.Increment(static_cast<double>(change));
}

void Metrics::OnJobDropped(const engine::JobInfo&, engine::DropReason reason) {
  parts_->jobs_dropped.At({engine::DropReasonName(reason)}).Increment();
}

void Metrics::OnJobStarted(const engine::JobInfo& job, const engine::DeviceInfo& device,
                           std::chrono::nanoseconds queue_wait) {
  parts_->queue_wait.At({engine::PriorityName(job.priority)}).Observe(Seconds(queue_wait));
  parts_->proofs_in_flight.At({device.device}).Increment();
}

void Metrics::OnStage(const engine::JobInfo& job, const engine::DeviceInfo&, std::string_view stage,
                      std::chrono::nanoseconds duration) {
  parts_->stage_duration.At({engine::ProofSystemName(job.system), stage}).Observe(Seconds(duration));
}

void Metrics::OnJobFinished(const engine::JobInfo&, const engine::DeviceInfo& device,
                            const absl::Status& status, std::chrono::nanoseconds) {
  parts_->proofs_in_flight.At({device.device}).Decrement();
  if (status.ok()) parts_->last_proof.At({device.device}).Set(UnixSeconds());
}

void Metrics::OnBlame(const engine::JobInfo&, const engine::DeviceInfo&, engine::BlameVerdict verdict) {
  parts_->blame.At({engine::BlameVerdictName(verdict)}).Increment();
}

void Metrics::OnSelfCheck(size_t proofs) { parts_->self_check_proofs.Observe(static_cast<double>(proofs)); }

void Metrics::OnDeviceUp(const engine::DeviceInfo& device, bool up, std::string_view) {
  parts_->device_up.At({device.device, device.gpu_uuid, device.backend}).Set(up ? 1 : 0);
  parts_->proofs_in_flight.At({device.device});
  parts_->last_proof.At({device.device});
  for (const auto error_class : {engine::DeviceErrorClass::kOutOfMemory, engine::DeviceErrorClass::kLaunch,
                                 engine::DeviceErrorClass::kSticky, engine::DeviceErrorClass::kTimeout,
                                 engine::DeviceErrorClass::kSelfCheck}) {
    parts_->device_errors.At({device.device, engine::DeviceErrorClassName(error_class)});
  }
}

void Metrics::OnDeviceError(const engine::DeviceInfo& device, engine::DeviceErrorClass error_class,
                            const absl::Status&) {
  parts_->device_errors.At({device.device, engine::DeviceErrorClassName(error_class)}).Increment();
}

void Metrics::OnDeviceMemory(const engine::DeviceInfo& device, engine::DeviceMemoryKind kind,
                             uint64_t bytes) {
  parts_->device_memory.At({device.device, engine::DeviceMemoryKindName(kind)})
      .Set(static_cast<double>(bytes));
}

void Metrics::OnDeviceCounts(const engine::DeviceInfo& device, const engine::DeviceCounts& counts) {
  engine::MutexLock lock(parts_->counts_mu);
  engine::DeviceCounts& counted = parts_->counts[std::string(device.device)];
  // Totals of several threads may come out of order.
  const auto raise = [](SeriesFamily<Counter>& family, const LabelValues& labels, uint64_t& from,
                        uint64_t to) {
    Counter& counter = family.At(labels);
    if (to <= from) return;
    counter.Increment(static_cast<double>(to - from));
    from = to;
  };
  raise(parts_->device_transfers, {device.device, "host_to_device"}, counted.host_to_device_bytes,
        counts.host_to_device_bytes);
  raise(parts_->device_transfers, {device.device, "device_to_host"}, counted.device_to_host_bytes,
        counts.device_to_host_bytes);
  raise(parts_->device_allocations, {device.device}, counted.allocations, counts.allocations);
  raise(parts_->key_evictions, {device.device}, counted.key_evictions, counts.key_evictions);
  raise(parts_->key_reloads, {device.device}, counted.key_reloads, counts.key_reloads);
  raise(parts_->batches, {device.device}, counted.batches, counts.batches);
  raise(parts_->batched_proofs, {device.device}, counted.batched_proofs, counts.batched_proofs);
}

// Both series at once, so that the first failure of a canary that was good before is a step and no beginning.
void Metrics::OnCanary(const engine::DeviceInfo& device, std::string_view circuit, bool proved) {
  Counter& good = parts_->canary_proofs.At({device.device, circuit, "proved"});
  Counter& bad = parts_->canary_proofs.At({device.device, circuit, "failed"});
  (proved ? good : bad).Increment();
  if (proved) parts_->last_proof.At({device.device}).Set(UnixSeconds());
}

void Metrics::OnCircuit(const engine::Circuit& circuit) {
  {
    engine::MutexLock lock(parts_->mu);
    parts_->circuits.insert(circuit.id);
  }
  const std::string_view system = engine::ProofSystemName(circuit.system);
  // Nobody but this function touches the two, and it is called by one thread at a time.
  if (circuit.state == engine::CircuitState::kUnloaded) {
    parts_->circuit_loaded.Remove({circuit.id, system});
    parts_->circuit_load_seconds.Remove({circuit.id, system});
    return;
  }
  parts_->circuit_loaded.At({circuit.id, system}).Set(circuit.state == engine::CircuitState::kReady ? 1 : 0);
  if (circuit.state == engine::CircuitState::kReady) {
    parts_->circuit_load_seconds.At({circuit.id, system}).Set(Seconds(circuit.load_duration));
  }
}

}  // namespace proofmill::server
