// The part of Client that deals with jobs. A job lives in one process of a service: whoever is asked for it
// elsewhere tells that process's address, and it is asked there.

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/cpp/channel.h"
#include "clients/cpp/client_state.h"

namespace proofmill::client {
namespace {

// Processes whose jobs this client has asked for; more are forgotten, and found again.
constexpr size_t kOwnersMax = 64;
constexpr int kHopsMax = 2;
constexpr int kPageSize = 500;

std::string InstanceOf(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  return parts.size() == 3 ? std::string(parts[1]) : std::string();
}

bool HasEnded(const v1::Job& job) {
  return job.state() == v1::Job::STATE_SUCCEEDED || job.state() == v1::Job::STATE_FAILED ||
         job.state() == v1::Job::STATE_CANCELLED;
}

absl::Status ErrorOf(const v1::Job& job) {
  const v1::ItemError& error = job.error();
  return MakeError(static_cast<absl::StatusCode>(error.code()), error.message(), error.reason(),
                   error.has_retry_delay() ? std::optional(absl::Seconds(error.retry_delay().seconds()) +
                                                           absl::Nanoseconds(error.retry_delay().nanos()))
                                           : std::nullopt);
}

// The process that held the job has gone, or is going, and the job with it.
bool IsLost(const absl::Status& status) {
  const std::string reason = ErrorReason(status);
  return reason == "JOB_UNKNOWN" || reason == "DRAINING" || (absl::IsUnavailable(status) && reason.empty());
}

// Calls `call` with the stub of the process that holds the job `name`, wherever that is; one attempt.
template <typename Call>
absl::Status AtOwner(std::mutex& mu, std::map<std::string, JobStub>& owners, const JobStub& first,
                     const ClientOptions& options, const std::string& name, const Call& call) {
  const std::string instance = InstanceOf(name);
  JobStub stub = first;
  {
    const std::lock_guard<std::mutex> lock(mu);
    if (const auto known = owners.find(instance); known != owners.end()) stub = known->second;
  }
  absl::Status status = call(*stub);
  for (int hop = 0; hop < kHopsMax; ++hop) {
    const std::optional<std::string> address = OwnerAddress(status);
    if (!address.has_value()) return status;
    const absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = MakeChannelToReplica(options, *address);
    if (!channel.ok()) return channel.status();
    stub = v1::JobService::NewStub(*channel);
    {
      const std::lock_guard<std::mutex> lock(mu);
      if (owners.size() >= kOwnersMax) owners.clear();
      owners[instance] = stub;
    }
    status = call(*stub);
  }
  return status;
}

}  // namespace

absl::StatusOr<v1::Job> Client::CreateJob(v1::ProofSpec spec, const Input& input, const JobOptions& options) {
  if (spec.request_id().empty()) spec.set_request_id(RandomRequestId());
  ProveOptions prove;
  prove.on_progress = options.on_progress;
  JobTarget target{.timeout = options.job_timeout, .job = {}};
  const absl::Time deadline = absl::Now() + options.timeout;
  const auto run = [&](Transfer transfer) {
    prove.timeout = deadline - absl::Now();
    prove.transfer = transfer;
    return ProveCall(state_->stubs, state_->options.retry, spec, input, prove, &target).RunJob(transfer);
  };
  const bool fits = FitsOneMessage(state_->options, input);
  absl::Status status = run(fits ? Transfer::kUnary : Transfer::kUpload);
  if (fits && IsTooLargeForMessage(status)) status = run(Transfer::kUpload);
  if (!status.ok()) return status;
  return std::move(target.job);
}

template <typename Request, typename Response>
absl::StatusOr<Response> Client::CallJob(grpc::Status (v1::JobService::Stub::*method)(grpc::ClientContext*,
                                                                                      const Request&,
                                                                                      Response*),
                                         absl::string_view name, absl::Duration timeout) {
  Request request;
  request.set_name(std::string(name));
  const absl::Time deadline = absl::Now() + timeout;
  Retrier retrier(state_->options.retry, deadline);
  Response response;
  const absl::Status status = retrier.Run([&] {
    return AtOwner(state_->owners_mu, state_->owners, state_->jobs, state_->options, request.name(),
                   [&](v1::JobService::Stub& stub) {
                     grpc::ClientContext context;
                     PrepareContext(state_->stubs, deadline, context);
                     return FromGrpc((stub.*method)(&context, request, &response), context);
                   });
  });
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<v1::Job> Client::GetJob(absl::string_view name, absl::Duration timeout) {
  auto response = CallJob(&v1::JobService::Stub::GetJob, name, timeout);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_job());
}

absl::StatusOr<v1::Job> Client::CancelJob(absl::string_view name, absl::Duration timeout) {
  auto response = CallJob(&v1::JobService::Stub::CancelJob, name, timeout);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_job());
}

absl::Status Client::DeleteJob(absl::string_view name, absl::Duration timeout) {
  return CallJob(&v1::JobService::Stub::DeleteJob, name, timeout).status();
}

absl::StatusOr<std::vector<v1::Job>> Client::ListJobs(absl::Duration timeout) {
  std::vector<v1::Job> jobs;
  v1::ListJobsRequest request;
  request.set_page_size(kPageSize);
  const absl::Time deadline = absl::Now() + timeout;
  do {
    auto page = state_->Call(*state_->jobs, &v1::JobService::Stub::ListJobs, request, deadline - absl::Now());
    if (!page.ok()) return page.status();
    for (v1::Job& job : *page->mutable_jobs()) jobs.push_back(std::move(job));
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return jobs;
}

absl::StatusOr<v1::Job> Client::WatchJob(absl::string_view name, absl::Duration timeout,
                                         const std::function<void(const v1::Job&)>& on_change) {
  v1::WatchJobRequest request;
  request.set_name(std::string(name));
  const absl::Time deadline = absl::Now() + timeout;
  Retrier retrier(state_->options.retry, deadline);
  v1::Job last;
  const auto watch = [&](v1::JobService::Stub& stub) {
    grpc::ClientContext context;
    PrepareContext(state_->stubs, deadline, context);
    const auto stream = stub.WatchJob(&context, request);
    v1::WatchJobResponse response;
    while (stream->Read(&response)) {
      retrier.NoteProgress();
      last = std::move(*response.mutable_job());
      if (on_change) on_change(last);
    }
    const absl::Status status = FromGrpc(stream->Finish(), context);
    if (!status.ok() || HasEnded(last)) return HasEnded(last) ? absl::OkStatus() : status;
    return absl::UnavailableError("expected the end of the job on its stream, got the end of the stream");
  };
  const absl::Status status = retrier.Run([&] {
    return AtOwner(state_->owners_mu, state_->owners, state_->jobs, state_->options, request.name(), watch);
  });
  if (!status.ok()) return status;
  return last;
}

absl::StatusOr<v1::ProofResult> Client::ProveAsJob(v1::ProofSpec spec, const Input& input,
                                                   const ProveOptions& options) {
  if (spec.request_id().empty()) spec.set_request_id(RandomRequestId());
  const absl::Time deadline = absl::Now() + options.timeout;
  Progress progress;
  progress.size_bytes = progress.sent_bytes = input.bytes().size();
  const auto on_change = [&](const v1::Job& job) {
    progress.phase =
        job.state() == v1::Job::STATE_QUEUED ? Progress::Phase::kQueued : Progress::Phase::kRunning;
    progress.jobs_ahead = job.jobs_ahead();
    progress.stage = job.stage();
    if (options.on_progress && !HasEnded(job)) options.on_progress(progress);
  };
  while (true) {
    JobOptions job_options;
    job_options.timeout = job_options.job_timeout = deadline - absl::Now();
    job_options.on_progress = options.on_progress;
    absl::StatusOr<v1::Job> job = CreateJob(spec, input, job_options);
    if (!job.ok()) return job.status();
    job = WatchJob(job->name(), deadline - absl::Now(), on_change);
    if (job.ok() && job->has_result()) return std::move(*job->mutable_result());
    const absl::Status status = job.ok() ? ErrorOf(*job) : job.status();
    // The same request id finds the job again if it is still there, and makes it anew elsewhere if not.
    if (!IsLost(status) || absl::Now() >= deadline) return status;
    absl::SleepFor(std::min(state_->options.retry.backoff_first, deadline - absl::Now()));
  }
}

}  // namespace proofmill::client
