#include "server/server.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/time/clock.h"
#include "engine/base/status_macros.h"
#include "engine/groth16/host_memory.h"
#include "nlohmann/json.hpp"
#include "server/access.h"
#include "server/api_keys.h"
#include "server/audit_log.h"
#include "server/build_info.h"
#include "server/engine_events.h"
#include "server/grpc_server.h"
#include "server/idle_reaper.h"
#include "server/job_name.h"
#include "server/job_store.h"
#include "server/listen_address.h"
#include "server/memory_budget.h"
#include "server/metrics.h"
#include "server/process_facts.h"
#include "server/reloaded_file.h"
#include "server/rpc/circuit_admin_service.h"
#include "server/rpc/circuit_service.h"
#include "server/rpc/health_service.h"
#include "server/rpc/job_service.h"
#include "server/rpc/prover_service.h"
#include "server/rpc/send_guard.h"
#include "server/rpc/service_context.h"
#include "server/rpc/status_service.h"
#include "server/rpc/upload_service.h"
#include "server/tenant_policies.h"
#include "server/tls.h"
#include "server/tls_store.h"
#include "server/upload_store.h"
#include "server/work_pool.h"

namespace proofmill::server {
namespace {

using std::chrono::milliseconds;

// How long new jobs are refused with a reason before the listener ends. A call that reaches gRPC 1.51 between
// its shutdown and the client's hearing of it ends as CANCELLED, which looks like no refusal at all; so
// clients are told before, and those that wait for their next try are quiet in that moment.
constexpr absl::Duration kRefusalTime = absl::Milliseconds(100);

// gRPC's shutdown also waits for connections, of which a peer that has fallen silent keeps its own open for
// as long as it may. When no call is open any more it gets this long.
constexpr absl::Duration kIdleConnectionTime = absl::Seconds(1);

// Calls of operators that may wait for the one before them.
constexpr size_t kAdminCallsMax = 32;

// Results of jobs that have ended: a few hundred bytes each, and 32 for each public signal.
constexpr uint64_t kJobResultBytesMax = uint64_t{64} << 20;

// What the files of access are called in metrics and logs.
constexpr std::string_view kApiKeysFile = "api_keys";
constexpr std::string_view kTenantsFile = "tenants";

milliseconds ToMilliseconds(absl::Duration duration) {
  return milliseconds(absl::ToInt64Milliseconds(duration));
}

Metrics::Bounds MetricBounds(const Config& config) {
  return {.queue_jobs_max = config.queue_jobs_max,
          .queue_witness_bytes_max = config.queue_witness_bytes_max.bytes,
          .uploads_max = config.upload_count_max,
          .upload_bytes_max = config.upload_bytes_max.bytes,
          .verify_queue_max = config.verify_queue_max,
          .jobs_max = config.job_count_max};
}

engine::EngineOptions ToEngineOptions(const Config& config) {
  engine::EngineOptions options;
  options.circuits.directory = config.circuits;
  options.circuits.allow_unsafe_setup = config.allow_unsafe_setup;
  options.circuits.allow_insecure_test_keys = config.allow_insecure_keys;
  options.circuits.state_dir = config.state_dir;
  options.circuits.load_threads = config.load_threads;
  options.jobs_max = config.queue_jobs_max;
  options.witness_bytes_max = config.queue_witness_bytes_max.bytes;
  options.default_deadline = ToMilliseconds(config.deadline_max);
  options.maximum_deadline = ToMilliseconds(config.deadline_max);
  options.canary_interval = ToMilliseconds(config.canary_interval);
  options.request_id_ttl = ToMilliseconds(config.job_result_ttl);
  return options;
}

// Where others reach the data listener, as far as is known.
std::string AdvertisedAddress(const Config& config, const std::string& bound) {
  if (!config.advertise_address.empty()) return config.advertise_address;
  const auto address = ParseListenAddress(bound);
  return address.ok() && !address->IsWildcard() ? bound : "";
}

// Often enough that "idle" is ended not much later than announced, seldom enough to cost nothing.
milliseconds ReaperPeriod(const Config& config) {
  const absl::Duration shortest =
      std::min({config.upload_idle_timeout, config.send_timeout, config.job_result_ttl});
  return std::clamp(ToMilliseconds(shortest) / 4, milliseconds(10), milliseconds(1000));
}

// Tells the metrics how much there is to do, about once a second.
class BacklogGauge final : public Idler {
 public:
  BacklogGauge(engine::Engine& engine, Metrics& metrics) : engine_(&engine), metrics_(metrics) {}
  void EndIdle(engine::Clock::time_point) override {
    engine::MutexLock lock(mu_);
    if (engine_ != nullptr) metrics_.SetBacklog(engine_->Backlog());
  }
  // The engine goes.
  void Detach() {
    engine::MutexLock lock(mu_);
    engine_ = nullptr;
  }

 private:
  engine::Mutex mu_;
  engine::Engine* engine_ ABSL_GUARDED_BY(mu_);
  Metrics& metrics_;
};

}  // namespace

struct Server::Parts {
  Parts(const Config& the_config, Log& the_log)
      : config(the_config),
        log(the_log),
        metrics(ThisBuild(), MetricBounds(config)),
        events(metrics, log),
        uploads(std::make_shared<UploadStore>(
            UploadStore::Options{.count_max = config.upload_count_max,
                                 .bytes_max = config.upload_bytes_max.bytes,
                                 .idle_timeout = ToMilliseconds(config.upload_idle_timeout)},
            engine::Clock::Real(), [this](int count, int64_t bytes) { metrics.AddUploads(count, bytes); })),
        sends(std::make_shared<SendGuard>(ToMilliseconds(config.send_timeout), engine::Clock::Real())),
        jobs(std::make_shared<JobStore>(
            JobStore::Options{.jobs_max = config.job_count_max,
                              .result_bytes_max = kJobResultBytesMax,
                              .result_ttl = ToMilliseconds(config.job_result_ttl)},
            engine::Clock::Real(), [this](int change) { metrics.AddJobs(change); })),
        reaper(ReaperPeriod(config), engine::Clock::Real()),
        access([this] { return api_keys == nullptr ? nullptr : api_keys->current(); },
               [this](AccessRefusal why) { metrics.CountAccessRefusal(AccessRefusalName(why)); }),
        audit(config.audit_log, log, [this] { metrics.CountAuditFailure(); }),
        verify_pool({.threads = config.verify_threads, .queue_max = config.verify_queue_max},
                    [this](int change) { metrics.AddVerifyQueue(change); }),
        admin_pool({.threads = 1, .queue_max = kAdminCallsMax}) {
    reaper.Add(uploads);
    reaper.Add(sends);
    reaper.Add(jobs);
  }

  absl::Status OpenAccessFiles();
  template <typename T>
  std::function<void(const absl::Status&, const T&)> ReloadListener(std::string_view name);
  void ShowApiKeys(const ApiKeys& keys);
  void MakeServices();
  absl::Status LoadTlsFiles();
  absl::Status StartListeners();

  const Config config;
  Log& log;
  Metrics metrics;
  EngineEvents events;
  std::shared_ptr<UploadStore> uploads;
  const std::shared_ptr<SendGuard> sends;
  std::shared_ptr<JobStore> jobs;
  std::shared_ptr<TlsStore> tls;                          // null: no TLS
  std::shared_ptr<ReloadedFile<ApiKeys>> api_keys;        // null: none are configured
  std::shared_ptr<ReloadedFile<TenantPolicies>> tenants;  // null: all have the same
  // Outlives the reaper, which may be looking at a stream that has just ended by itself.
  std::unique_ptr<ServiceContext> context;
  IdleReaper reaper;
  const Access access;
  AuditLog audit;
  WorkPool verify_pool;
  WorkPool admin_pool;
  ProcessFacts process;
  // Told by the engine, so they end after it.
  HealthService data_health;
  HealthService admin_health;
  std::unique_ptr<engine::Engine> engine;
  std::shared_ptr<BacklogGauge> backlog;
  std::optional<ProverService> prover_service;
  std::optional<UploadService> upload_service;
  std::optional<JobService> job_service;
  std::optional<CircuitService> data_circuits;
  std::optional<CircuitService> admin_circuits;
  std::optional<CircuitAdminService> circuit_admin;
  std::optional<StatusService> status_service;
  std::optional<LogAdminService> log_admin;
  std::unique_ptr<GrpcServer> admin;
  std::unique_ptr<GrpcServer> data;
  std::string metrics_address;
  bool stopped = false;
};

template <typename T>
std::function<void(const absl::Status&, const T&)> Server::Parts::ReloadListener(std::string_view name) {
  return [this, name](const absl::Status& status, const T& in_use) {
    metrics.CountAccessReload(name, status.ok());
    if constexpr (std::is_same_v<T, ApiKeys>) ShowApiKeys(in_use);
    const nlohmann::ordered_json fields = {{"file", name},
                                           {"accepted", status.ok()},
                                           {"message", std::string(status.message())},
                                           {"entries", in_use.size()}};
    if (status.ok()) {
      log.Info("access_file", fields);
    } else {
      log.Warn("access_file", fields);
    }
  };
}

void Server::Parts::ShowApiKeys(const ApiKeys& keys) {
  const absl::Time expiry = keys.NextExpiry(absl::Now());
  metrics.SetApiKeys(keys.size(), expiry == absl::InfiniteFuture() ? 0 : absl::ToUnixSeconds(expiry));
}

absl::Status Server::Parts::OpenAccessFiles() {
  PROOFMILL_RETURN_IF_ERROR(audit.Check());
  if (!config.api_key_file.empty()) {
    PROOFMILL_ASSIGN_OR_RETURN(api_keys, ReloadedFile<ApiKeys>::Open(config.api_key_file, ApiKeys::Parse,
                                                                     ReloadListener<ApiKeys>(kApiKeysFile)));
    ShowApiKeys(*api_keys->current());
    reaper.Add(api_keys);
    const auto address = ParseListenAddress(config.listen);
    if (!config.tls() && address.ok() && !address->IsLoopback()) {
      log.Warn("plaintext_api_keys", {{"message", "API keys reach the data listener without TLS"}});
    }
  }
  if (!config.tenant_file.empty()) {
    PROOFMILL_ASSIGN_OR_RETURN(
        tenants, ReloadedFile<TenantPolicies>::Open(config.tenant_file, TenantPolicies::Parse,
                                                    ReloadListener<TenantPolicies>(kTenantsFile)));
    reaper.Add(tenants);
  }
  return absl::OkStatus();
}

void Server::Parts::MakeServices() {
  context.reset(new ServiceContext{.engine = *engine,
                                   .metrics = metrics,
                                   .log = log,
                                   .access = access,
                                   .audit = audit,
                                   .uploads = *uploads,
                                   .jobs = *jobs,
                                   .sends = *sends,
                                   .reaper = reaper,
                                   .verify_pool = verify_pool,
                                   .admin_pool = admin_pool,
                                   .process = process,
                                   .limits = {.message_bytes_max = config.message_bytes_max.bytes,
                                              .chunk_bytes_max = config.chunk_bytes_max.bytes,
                                              .idle_timeout = ToMilliseconds(config.upload_idle_timeout),
                                              .deadline_max = ToMilliseconds(config.deadline_max),
                                              .batch_items_max = config.batch_items_max,
                                              .uploads_max = config.upload_count_max}});
  backlog = std::make_shared<BacklogGauge>(*engine, metrics);
  reaper.Add(backlog);
  prover_service.emplace(*context);
  upload_service.emplace(*context);
  job_service.emplace(*context);
  data_circuits.emplace(*context, Listener::kData);
  admin_circuits.emplace(*context, Listener::kAdmin);
  circuit_admin.emplace(*context);
  status_service.emplace(*context);
  log_admin.emplace(*context);
  engine->health().AddListener([this](const engine::HealthStatus& health) {
    data_health.Set(health);
    admin_health.Set(health);
    log.Info("health", {{"live", health.live},
                        {"started", health.started},
                        {"ready", health.ready},
                        {"why_not_ready", health.why_not_ready}});
  });
}

absl::Status Server::Parts::LoadTlsFiles() {
  const TlsFiles files{.cert = config.tls_cert, .key = config.tls_key, .client_ca = config.tls_client_ca};
  PROOFMILL_ASSIGN_OR_RETURN(TlsMaterial material, LoadTls(files, absl::Now()));
  metrics.SetTlsExpiry(absl::ToDoubleSeconds(material.expiry - absl::UnixEpoch()));
  tls = std::make_shared<TlsStore>(
      files, std::move(material), [this](const absl::Status& status, const TlsMaterial& in_use) {
        metrics.CountTlsReload(status.ok());
        metrics.SetTlsExpiry(absl::ToDoubleSeconds(in_use.expiry - absl::UnixEpoch()));
        const nlohmann::ordered_json fields = {
            {"accepted", status.ok()},
            {"message", std::string(status.message())},
            {"expiry", absl::FormatTime(absl::RFC3339_sec, in_use.expiry, absl::UTCTimeZone())}};
        if (status.ok()) {
          log.Info("tls_files", fields);
        } else {
          log.Warn("tls_files", fields);
        }
      });
  reaper.Add(tls);
  return absl::OkStatus();
}

absl::Status Server::Parts::StartListeners() {
  if (config.tls()) PROOFMILL_RETURN_IF_ERROR(LoadTlsFiles());
  PROOFMILL_ASSIGN_OR_RETURN(
      admin, GrpcServer::Start({.name = "admin",
                                .setting = "admin_listen",
                                .address = config.admin_listen,
                                .tls = config.admin_tls ? tls : nullptr,
                                .services = {&*admin_circuits, &*circuit_admin, &*status_service, &*log_admin,
                                             &admin_health}},
                               config));
  PROOFMILL_ASSIGN_OR_RETURN(
      data, GrpcServer::Start({.name = "data",
                               .setting = "listen",
                               .address = config.listen,
                               .tls = tls,
                               .require_client_certificate = !config.tls_client_ca.empty(),
                               .services = {&*prover_service, &*upload_service, &*job_service,
                                            &*data_circuits, &data_health}},
                              config));
  PROOFMILL_ASSIGN_OR_RETURN(Instance instance, MakeInstance(AdvertisedAddress(config, data->address())));
  jobs->Open(std::move(instance));
  PROOFMILL_ASSIGN_OR_RETURN(metrics_address, metrics.Serve(config.metrics_listen));
  process.SetListeners({.data = data->address(),
                        .admin = admin->address(),
                        .metrics = metrics_address,
                        .data_tls = config.tls()});
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const Config& config, Runners runners, Log& log) {
  auto parts = std::make_unique<Parts>(config, log);
  PROOFMILL_RETURN_IF_ERROR(parts->OpenAccessFiles());
  TellMemoryBudget(PlanMemory(config), engine::FindHostMemoryLimit(), log);
  engine::EngineOptions options = ToEngineOptions(config);
  if (parts->tenants != nullptr) {
    options.tenant_policy = [tenants = parts->tenants](std::string_view tenant) {
      return tenants->current()->Of(tenant);
    };
  }
  if (config.cpu_takeover && runners.size() > 1 && runners.back()->info().backend == "cpu") {
    options.standby_runners = 1;
  }
  PROOFMILL_ASSIGN_OR_RETURN(parts->engine,
                             engine::Engine::Start(std::move(options), std::move(runners), parts->events));
  // From here on the destructor ends what was started.
  auto server = std::unique_ptr<Server>(new Server(std::move(parts)));
  server->parts_->MakeServices();
  PROOFMILL_RETURN_IF_ERROR(server->parts_->StartListeners());
  return server;
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { Stop(absl::ZeroDuration()); }

const std::string& Server::data_address() const { return parts_->data->address(); }
const std::string& Server::admin_address() const { return parts_->admin->address(); }
const std::string& Server::metrics_address() const { return parts_->metrics_address; }
engine::Engine& Server::engine() { return *parts_->engine; }

void Server::Drain(const std::function<void(absl::Duration)>& wait) {
  if (parts_->stopped) return;
  parts_->log.Info("drain", {{"step", "not_ready"}});
  parts_->engine->health().SetDraining();
  wait(parts_->config.drain_delay);
  parts_->log.Info("drain", {{"step", "refuse_new_jobs"}});
  parts_->engine->BeginDrain();
  wait(kRefusalTime);
  Stop(parts_->config.shutdown_grace);
}

void Server::Stop(absl::Duration grace) {
  if (parts_->stopped) return;
  parts_->stopped = true;
  const absl::Time deadline = absl::Now() + grace;
  parts_->engine->BeginDrain();
  // Streams whose witness has not arrived are told now; nothing would come of them.
  if (parts_->context != nullptr) parts_->context->draining = true;
  parts_->reaper.Sweep();
  parts_->data_health.EndWatches();
  // The listener stays open meanwhile and refuses what comes, with a reason. Jobs have no call that waits for
  // them; who asks for one is told how it ended.
  const auto grace_end = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(grace);
  const bool idle = parts_->engine->WaitUntilIdle(grace_end) &&
                    (parts_->context == nullptr || parts_->context->open_calls.WaitForNone(grace_end));
  // What the grace cuts ends for our reason, and not as if its client had gone.
  if (!idle) parts_->engine->Shutdown(engine::Clock::Real().Now());
  const auto shut_down = [deadline](GrpcServer& server) {
    server.Shutdown(absl::ToChronoTime(std::min(deadline, absl::Now() + kIdleConnectionTime)));
  };
  if (parts_->data != nullptr) shut_down(*parts_->data);
  parts_->admin_health.EndWatches();
  if (parts_->admin != nullptr) shut_down(*parts_->admin);
  if (parts_->backlog != nullptr) parts_->backlog->Detach();
  // No call is open, so whatever the engine still does is for nobody.
  parts_->engine->Shutdown(engine::Clock::Real().Now());
  parts_->log.Info("drain", {{"step", "done"}});
}

}  // namespace proofmill::server
