#include "engine/dispatch/engine.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/dispatch/dispatcher.h"
#include "engine/dispatch/job.h"
#include "engine/dispatch/worker.h"

namespace proofmill::engine {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr size_t kRequestIdBytesMax = 128;
constexpr size_t kRequestIdResultBytesMax = size_t{64} << 20;
constexpr milliseconds kPlacesInterval{250};
constexpr double kWeightMin = 0.001;
constexpr double kWeightMax = 1000;
// Advice for a full queue: never shorter or longer than these, and the first where nothing has been learned
// yet.
constexpr milliseconds kRetryDelayUnknown{1000};
constexpr milliseconds kRetryDelayMin{50};
constexpr milliseconds kRetryDelayMax{30'000};
// Beyond the longest deadline: a proof that nobody wants any more ends with its stage.
constexpr milliseconds kStageMarginMin{60'000};

absl::Status CheckOptions(const EngineOptions& options, size_t runners) {
  const auto invalid = [](std::string_view what) { return absl::InvalidArgumentError(std::string(what)); };
  if (runners == 0) return invalid("there is no device to prove on");
  if (options.jobs_max == 0) return invalid("jobs_max must be at least 1, got 0");
  if (options.witness_bytes_max == 0) return invalid("witness_bytes_max must be at least 1, got 0");
  if (options.default_deadline.count() <= 0) return invalid("default_deadline must be positive");
  if (options.maximum_deadline < options.default_deadline) {
    return invalid("maximum_deadline must not be shorter than default_deadline");
  }
  if (options.priority_aging.count() < 0) return invalid("priority_aging must not be negative");
  if (options.request_id_ttl.count() <= 0) return invalid("request_id_ttl must be positive");
  if (options.canary_interval.count() < 0) return invalid("canary_interval must not be negative");
  if (options.device_faults_max < 1) return invalid("device_faults_max must be at least 1");
  if (options.standby_runners >= runners) return invalid("not every device can stand by");
  if (options.circuits.loads_max == 0) return invalid("loads_max must be at least 1, got 0");
  return absl::OkStatus();
}

// A job whose stage takes longer has nobody who waits for it, however late it was begun.
Clock::duration StageMax(const EngineOptions& options) {
  return options.maximum_deadline + std::max(options.maximum_deadline / 2, kStageMarginMin);
}

// Threads a device: what the one that works on the most jobs at a time can use.
size_t WorkersPerDevice(const std::vector<std::unique_ptr<JobRunner>>& runners) {
  size_t most = 1;
  for (const auto& runner : runners) most = std::max(most, runner->jobs_in_flight());
  return most;
}

Dispatcher::Options DispatcherOptions(const EngineOptions& options,
                                      const std::vector<std::unique_ptr<JobRunner>>& runners) {
  const size_t per_device = WorkersPerDevice(runners);
  std::vector<size_t> slots;
  slots.reserve(runners.size());
  for (const auto& runner : runners) slots.push_back(runner->jobs_in_flight());
  return {.queue = {.workers = runners.size() * per_device,
                    .aging = options.priority_aging,
                    .workers_per_device = per_device,
                    .standby_workers = options.standby_runners * per_device,
                    .device_slots = std::move(slots)},
          .request_ids = {.ttl = options.request_id_ttl,
                          .results_max = options.request_ids_max,
                          .result_bytes_max = kRequestIdResultBytesMax},
          .places_interval = kPlacesInterval};
}

}  // namespace

// Members are in the order of their making; the destructor undoes it after Shutdown() has stopped everything.
struct Engine::Parts {
  Parts(EngineOptions options_in, std::vector<std::unique_ptr<JobRunner>> runners, Observer& observer_in,
        Clock& clock_in);

  // The deadline that counts for a request.
  Clock::time_point CutDeadline(std::optional<Clock::time_point> deadline) const;
  // Whether a proof can be had in time, as far as can be known.
  absl::Status CheckTime(const JobInfo& job, Clock::time_point deadline) const;
  // Room for a job that brings none, and time.
  absl::Status Admit(Job& job, Clock::time_point deadline);
  // Adds the delay to a refusal for want of room.
  absl::Status WithAdvice(const JobInfo& job, absl::Status status);
  TenantPolicy PolicyOf(std::string_view tenant) const;
  void ObserveRefusal(const JobInfo& info, const absl::Status& status);
  // Makes a circuit provable on every device that is in service, or on none.
  absl::Status Install(const Circuit& circuit);
  // Takes it off all of them.
  void Remove(const Circuit& circuit);
  // The circuit of a request.
  absl::StatusOr<CircuitPtr> Find(const CircuitPtr& found, std::string_view name,
                                  std::string_view version) const;
  std::optional<Clock::duration> EstimatedWait(Priority priority, std::string_view tenant) const;
  // What a job of `circuit` takes up of a device: so much that no device gets more of them than it gains
  // from.
  size_t SlotsOf(const Circuit& circuit) const;

  const EngineOptions options;
  Observer& observer;
  Clock& clock;
  Health health;
  Admission admission;
  const size_t workers_per_device;
  const std::shared_ptr<Dispatcher> dispatcher;
  std::vector<std::unique_ptr<Worker>> workers;
  CircuitRegistry registry;

  Mutex jitter_mu;
  std::minstd_rand jitter ABSL_GUARDED_BY(jitter_mu);

  // Held for the whole of Shutdown(), so that a second call waits for the first.
  Mutex shutdown_mu;
  bool shut_down ABSL_GUARDED_BY(shutdown_mu) = false;
};

Engine::Parts::Parts(EngineOptions options_in, std::vector<std::unique_ptr<JobRunner>> runners,
                     Observer& observer_in, Clock& clock_in)
    : options(std::move(options_in)),
      observer(observer_in),
      clock(clock_in),
      admission({.jobs_max = options.jobs_max, .witness_bytes_max = options.witness_bytes_max},
                [observer = &observer_in](int64_t change) { observer->OnWitnessBytesChange(change); }),
      workers_per_device(WorkersPerDevice(runners)),
      dispatcher(std::make_shared<Dispatcher>(DispatcherOptions(options, runners), observer, clock)),
      registry(options.circuits,
               {.install = [this](const Circuit& circuit) { return Install(circuit); },
                .remove = [this](const Circuit& circuit) { Remove(circuit); },
                .listener = [this](const Circuit&,
                                   const CircuitRegistry::Counts& counts) { health.SetCircuits(counts); }},
               observer),
      jitter(std::random_device{}()) {
  std::optional<Clock::duration> canary_interval;
  if (options.canary_interval.count() != 0) canary_interval = options.canary_interval;
  const auto canary_circuits = [this] {
    return health.status().draining ? std::vector<CircuitPtr>() : registry.List();
  };
  for (size_t i = 0; i < runners.size(); ++i) {
    workers.push_back(std::make_unique<Worker>(Worker::Options{.index = i * workers_per_device,
                                                               .faults_max = options.device_faults_max,
                                                               .thread_name = absl::StrCat("pm-worker-", i),
                                                               .threads = workers_per_device,
                                                               .stage_max = StageMax(options),
                                                               .canary_interval = canary_interval,
                                                               .canary_circuits = canary_circuits},
                                               std::move(runners[i]),
                                               Worker::Context{*dispatcher, health, observer, clock}));
  }
}

Clock::time_point Engine::Parts::CutDeadline(std::optional<Clock::time_point> deadline) const {
  const Clock::time_point now = clock.Now();
  if (!deadline.has_value()) return now + options.default_deadline;
  return std::min(*deadline, now + options.maximum_deadline);
}

TenantPolicy Engine::Parts::PolicyOf(std::string_view tenant) const {
  TenantPolicy policy;
  if (options.tenant_policy) policy = options.tenant_policy(tenant);
  policy.weight = std::clamp(policy.weight, kWeightMin, kWeightMax);
  return policy;
}

std::optional<Clock::duration> Engine::Parts::EstimatedWait(Priority priority,
                                                            std::string_view tenant) const {
  const std::optional<Clock::duration> average = dispatcher->proof_times().Average();
  if (!average.has_value()) return std::nullopt;
  const Clock::duration wait =
      dispatcher->queue().EstimatedWait(priority, *average, tenant, PolicyOf(tenant).weight);
  if (wait == Clock::duration::max()) return std::nullopt;  // no device is up
  return wait;
}

absl::Status Engine::Parts::CheckTime(const JobInfo& job, Clock::time_point deadline) const {
  const Clock::duration left = deadline - clock.Now();
  if (left.count() <= 0) {
    return WithReason(absl::DeadlineExceededError("the deadline had passed when the request came"),
                      ErrorReason::kDeadlineExpired);
  }
  // On an idle device every job may try, or a few slow proofs would keep all others out and the estimate
  // would never recover. Of the proof itself half of what is expected counts: it may well be faster this
  // time.
  const std::optional<Clock::duration> wait = EstimatedWait(job.priority, job.tenant);
  if (!wait.has_value() || wait->count() == 0) return absl::OkStatus();
  const Clock::duration run = dispatcher->proof_times().Of(job.circuit).value_or(Clock::duration{0});
  if (*wait + run / 2 <= left) return absl::OkStatus();
  const auto wait_ms = duration_cast<milliseconds>(*wait);
  return WithRetryDelay(
      WithReason(absl::DeadlineExceededError(
                     absl::StrCat("the deadline cannot be met: ", duration_cast<milliseconds>(left).count(),
                                  " ms are left, the wait in the queue is estimated at ", wait_ms.count(),
                                  " ms, and the proof at ", duration_cast<milliseconds>(run).count(), " ms")),
                 ErrorReason::kDeadlineUnreachable),
      wait_ms);
}

absl::Status Engine::Parts::Admit(Job& job, Clock::time_point deadline) {
  absl::Status status = CheckTime(job.info(), deadline);
  if (status.ok()) status = WithAdvice(job.info(), job.Reserve(admission));
  if (!status.ok()) ObserveRefusal(job.info(), status);
  return status;
}

void Engine::Parts::ObserveRefusal(const JobInfo& info, const absl::Status& status) {
  const auto reason = GetReason(status);
  if (reason == ErrorReason::kQueueFull) observer.OnJobDropped(info, DropReason::kQueueFull);
  if (reason == ErrorReason::kQuotaExceeded) observer.OnJobDropped(info, DropReason::kQuota);
  if (reason == ErrorReason::kDraining) observer.OnJobDropped(info, DropReason::kDraining);
  if (reason == ErrorReason::kDeadlineExpired || reason == ErrorReason::kDeadlineUnreachable) {
    observer.OnJobDropped(info, DropReason::kExpired);
  }
}

// When what waits now will have been proved, as far as it is ahead of this one. With jitter, so that those
// who were refused together do not come back together.
absl::Status Engine::Parts::WithAdvice(const JobInfo& job, absl::Status status) {
  const auto reason = GetReason(status);
  if (reason != ErrorReason::kQueueFull && reason != ErrorReason::kQuotaExceeded) return status;
  milliseconds delay = kRetryDelayUnknown;
  if (const auto wait = EstimatedWait(job.priority, job.tenant)) delay = duration_cast<milliseconds>(*wait);
  {
    MutexLock lock(jitter_mu);
    delay = delay * std::uniform_int_distribution<int>(75, 125)(jitter) / 100;
  }
  return WithRetryDelay(std::move(status), std::clamp(delay, kRetryDelayMin, kRetryDelayMax));
}

absl::Status Engine::Parts::Install(const Circuit& circuit) {
  // What was learned of an earlier key under this id says nothing about this one.
  dispatcher->proof_times().Forget(circuit.id);
  size_t installed = 0;
  for (size_t i = 0; i < workers.size(); ++i) {
    // Nothing will run there again, and it would refuse a key that others can prove with.
    if (workers[i]->out_of_service()) continue;
    JobRunner& runner = workers[i]->runner();
    const absl::Status status = runner.Install(circuit);
    ReportDevice(runner, observer);
    if (status.ok()) {
      ++installed;
      if (runner.HasCanary(circuit)) workers[i]->NoteProof();
      continue;
    }
    for (size_t j = 0; j < i; ++j) workers[j]->runner().Remove(circuit);
    absl::Status named(status.code(),
                       absl::StrCat("device ", std::string(runner.info().device), ": ", status.message()));
    const auto reason = GetReason(status);
    return reason.has_value() ? WithReason(std::move(named), *reason) : named;
  }
  if (installed != 0) return absl::OkStatus();
  return WithReason(absl::UnavailableError("no device can prove now"), ErrorReason::kNoDevice);
}

void Engine::Parts::Remove(const Circuit& circuit) {
  for (const auto& worker : workers) {
    worker->runner().Remove(circuit);
    ReportDevice(worker->runner(), observer);
  }
}

absl::StatusOr<CircuitPtr> Engine::Parts::Find(const CircuitPtr& found, std::string_view name,
                                               std::string_view version) const {
  if (found != nullptr) return found;
  return registry.FindReady(name, version);
}

absl::StatusOr<std::unique_ptr<Engine>> Engine::Start(EngineOptions options,
                                                      std::vector<std::unique_ptr<JobRunner>> runners,
                                                      Observer& observer, Clock& clock) {
  PROOFMILL_RETURN_IF_ERROR(CheckOptions(options, runners.size()));
  std::unique_ptr<Engine> engine(
      new Engine(std::make_unique<Parts>(std::move(options), std::move(runners), observer, clock)));
  Parts& parts = *engine->parts_;
  parts.dispatcher->Start();
  for (const auto& worker : parts.workers) worker->Start();
  PROOFMILL_RETURN_IF_ERROR(parts.registry.Start());
  parts.health.SetCircuits(parts.registry.counts());  // an empty directory has no change to tell of
  return engine;
}

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Engine::~Engine() { Shutdown(parts_->clock.Now()); }

absl::StatusOr<Reservation> Engine::Reserve(const ReserveRequest& request) {
  Parts& parts = *parts_;
  PROOFMILL_ASSIGN_OR_RETURN(const CircuitPtr circuit,
                             parts.Find(request.found, request.circuit, request.version));
  if (parts.dispatcher->queue().workers_up() == 0) {
    return WithReason(absl::UnavailableError("no device can prove now"), ErrorReason::kNoDevice);
  }
  const JobInfo info{.circuit = circuit->id,
                     .system = circuit->system,
                     .tenant = request.tenant,
                     .request_id = request.request_id,
                     .priority = request.priority};
  const TenantPolicy policy = parts.PolicyOf(request.tenant);
  const absl::Status in_time = parts.CheckTime(info, parts.CutDeadline(request.deadline));
  absl::StatusOr<Reservation> reservation =
      in_time.ok() ? parts.admission.Reserve(request.witness_bytes, request.with_job_slot,
                                             {.name = request.tenant,
                                              .jobs_max = policy.jobs_max,
                                              .witness_bytes_max = policy.witness_bytes_max})
                   : absl::StatusOr<Reservation>(in_time);
  if (reservation.ok()) return reservation;
  const absl::Status refusal = parts.WithAdvice(info, reservation.status());
  parts.ObserveRefusal(info, refusal);
  return refusal;
}

void Engine::Expect() { parts_->dispatcher->queue().Announce(); }

absl::StatusOr<std::shared_ptr<Ticket>> Engine::Submit(ProveRequest&& request, ProveCallback done,
                                                       ProgressCallback progress) {
  Parts& parts = *parts_;
  PROOFMILL_ASSIGN_OR_RETURN(CircuitPtr circuit, parts.Find(request.found, request.circuit, request.version));
  if (request.request_id.size() > kRequestIdBytesMax) {
    return WithReason(
        absl::InvalidArgumentError(absl::StrCat("the request id has ", request.request_id.size(),
                                                " bytes; at most ", kRequestIdBytesMax, " are allowed")),
        ErrorReason::kRequestInvalid);
  }
  PROOFMILL_RETURN_IF_ERROR(CheckInput(*circuit, request.witness));
  std::optional<RequestContent> content;
  if (!request.request_id.empty()) {
    content = RequestContent{.witness = parts.dispatcher->request_ids().Digest(request.witness),
                             .circuit = request.circuit,
                             .version = request.version};
  }

  const Clock::time_point deadline = parts.CutDeadline(request.deadline);
  const TenantPolicy policy = parts.PolicyOf(request.tenant);
  Job::Params params{
      .circuit = circuit,
      .witness = std::move(request.witness),
      .reservation = std::move(request.reservation).value_or(Reservation()),
      .priority = request.priority,
      .tenant = std::move(request.tenant),
      .weight = policy.weight,
      .tenant_jobs_max = policy.jobs_max,
      .tenant_witness_bytes_max = policy.witness_bytes_max,
      .request_id = std::move(request.request_id),
      .enqueue_time = parts.clock.Now(),
      .expected_run = parts.dispatcher->proof_times().Of(circuit->id).value_or(Clock::duration{0}),
      .slots = parts.SlotsOf(*circuit)};
  const auto job = std::make_shared<Job>(std::move(params));
  auto ticket = parts.dispatcher->Submit(job, content, deadline,
                                         {.done = std::move(done), .progress = std::move(progress)},
                                         [&](Job& its_job) { return parts.Admit(its_job, deadline); });
  if (!ticket.ok()) request.witness = job->TakeWitness();
  return ticket;
}

size_t Engine::Parts::SlotsOf(const Circuit& circuit) const {
  size_t slots = 0;
  for (size_t i = 0; i < workers.size(); ++i) {
    // Those that stand by count once nobody else is left.
    if (i == workers.size() - options.standby_runners && slots != 0) break;
    if (workers[i]->out_of_service().has_value()) continue;
    const JobRunner& runner = workers[i]->runner();
    const size_t in_flight = runner.JobsInFlight(circuit);
    slots = std::max(slots, (runner.jobs_in_flight() + in_flight - 1) / in_flight);
  }
  return std::max<size_t>(slots, 1);
}

std::optional<Clock::duration> Engine::EstimatedWait(Priority priority, std::string_view tenant) const {
  return parts_->EstimatedWait(priority, tenant);
}

Clock::duration Engine::Backlog() const {
  const auto average = parts_->dispatcher->proof_times().Average();
  return parts_->dispatcher->queue().Backlog(average.value_or(Clock::duration{0}));
}

const CircuitRegistry& Engine::circuits() const { return parts_->registry; }
CircuitRegistry& Engine::circuits() { return parts_->registry; }
Health& Engine::health() { return parts_->health; }
Clock& Engine::clock() const { return parts_->clock; }

EngineStats Engine::stats() const {
  const JobQueue& queue = parts_->dispatcher->queue();
  return {.queued = queue.depth(),
          .running = queue.running().size(),
          .reserved = parts_->admission.usage(),
          .devices_up = queue.workers_up() / parts_->workers_per_device,
          .devices = parts_->workers.size()};
}

std::vector<DeviceStatus> Engine::devices() const {
  std::vector<DeviceStatus> devices;
  const std::vector<size_t> running = parts_->dispatcher->queue().RunningByDevice();
  const size_t standby_from = parts_->workers.size() - parts_->options.standby_runners;
  for (size_t i = 0; i < parts_->workers.size(); ++i) {
    Worker& worker = *parts_->workers[i];
    const std::optional<std::string> why = worker.out_of_service();
    devices.push_back({.info = worker.runner().info(),
                       .up = !why.has_value(),
                       .why = why.value_or(""),
                       .running = running[i],
                       .running_max = worker.runner().jobs_in_flight(),
                       .standby = i >= standby_from,
                       .memory = worker.runner().Memory(),
                       .counts = worker.runner().Counts(),
                       .last_proof = worker.last_proof()});
  }
  return devices;
}

const EngineOptions& Engine::options() const { return parts_->options; }

void Engine::BeginDrain() {
  parts_->health.SetDraining();
  parts_->admission.Close();
  parts_->dispatcher->queue().EndSpareTime();
}

bool Engine::WaitUntilIdle(Clock::time_point deadline) {
  // A job has its place until a worker takes it, and counts as running from then on.
  return parts_->admission.WaitUntilNoJobs(parts_->clock, deadline) &&
         parts_->dispatcher->queue().WaitUntilIdle(deadline);
}

void Engine::Shutdown(Clock::time_point deadline) {
  Parts& parts = *parts_;
  BeginDrain();
  MutexLock lock(parts.shutdown_mu);
  if (parts.shut_down) return;
  parts.shut_down = true;
  WaitUntilIdle(deadline);
  parts.dispatcher->queue().Close();
  parts.dispatcher->AbandonAll();
  for (const auto& worker : parts.workers) worker->Join();
  parts.registry.Stop();
  parts.dispatcher->Stop();
}

}  // namespace proofmill::engine
