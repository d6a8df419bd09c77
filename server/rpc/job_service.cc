#include "server/rpc/job_service.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "server/rpc/call_record.h"
#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/secret_message.h"
#include "server/rpc/submit.h"
#include "server/rpc/watch_job_call.h"

namespace proofmill::server {
namespace {

constexpr int kPageSizeDefault = 100;
constexpr int kPageSizeMax = 1000;

grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext& context, CallRecord& record,
                                 const absl::Status& status) {
  grpc::ServerUnaryReactor* const reactor = context.DefaultReactor();
  reactor->Finish(record.End(status));
  return reactor;
}

// The time that a job may take, cut to what the service allows.
absl::StatusOr<absl::Duration> ParseTimeout(const v1::CreateJobRequest& request,
                                            std::chrono::milliseconds max) {
  if (!request.has_timeout()) return absl::FromChrono(max);
  const absl::Duration timeout =
      absl::Seconds(request.timeout().seconds()) + absl::Nanoseconds(request.timeout().nanos());
  if (timeout <= absl::ZeroDuration()) {
    return InvalidRequest(
        absl::StrCat("timeout: expected a positive time, got ", absl::FormatDuration(timeout)));
  }
  return std::min(timeout, absl::FromChrono(max));
}

}  // namespace

grpc::ServerUnaryReactor* JobService::CreateJob(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request_bytes,
                                                grpc::ByteBuffer* response_bytes) {
  CallRecord record(services_, Method::kCreateJob, *context);
  Spec spec;
  const absl::StatusOr<JobView> job = TakeJob(record, *request_bytes, spec);
  engine::WipeThreadTraces();
  record.SetCircuit(spec.circuit);
  record.SetRequestId(spec.request_id);
  if (job.ok()) {
    v1::CreateJobResponse response;
    FillJob(*job, /*with_result=*/true, *response.mutable_job());
    *response_bytes = Serialize(response);
  }
  return Answer(*context, record, job.status());
}

absl::StatusOr<JobView> JobService::TakeJob(const CallRecord& record, const grpc::ByteBuffer& bytes,
                                            Spec& spec) try {
  if (!record.access().ok()) {
    WipeMessage(bytes);
    return record.access();
  }
  static const std::vector<FieldPath> kPaths = InputPaths({v1::CreateJobRequest::kRequestFieldNumber});
  v1::CreateJobRequest request;
  SecretField witness;
  if (!ParseApart(bytes, kPaths, request, witness)) return NoSuchMessage(bytes, "CreateJobRequest");
  return Create(record.caller().tenant, request, witness, spec);
} catch (const std::bad_alloc&) {
  return NoMemoryForWitness();
}

absl::StatusOr<JobView> JobService::Create(const std::string& tenant, const v1::CreateJobRequest& request,
                                           SecretField& witness, Spec& spec) {
  PROOFMILL_ASSIGN_OR_RETURN(spec, ParseSpec(request.request().spec()));
  spec.tenant = tenant;
  PROOFMILL_ASSIGN_OR_RETURN(const InputPlace input, FindInput(request.request(), witness));
  PROOFMILL_ASSIGN_OR_RETURN(const absl::Duration timeout,
                             ParseTimeout(request, services_.limits.deadline_max));
  PROOFMILL_ASSIGN_OR_RETURN(const engine::CircuitPtr circuit, FindCircuit(services_, spec));
  const engine::Clock::time_point deadline =
      services_.engine.clock().Now() + absl::ToChronoNanoseconds(timeout);
  return services_.jobs.Create({.tenant = spec.tenant,
                                .circuit = circuit->id,
                                .version = circuit->version,
                                .request_id = spec.request_id,
                                .upload = std::string(input.upload),
                                .priority = spec.priority,
                                .include_snarkjs_json = spec.include_snarkjs_json,
                                .timeout = timeout},
                               [&](engine::ProveCallback done, engine::ProgressCallback progress) {
                                 return SubmitInput(services_, input,
                                                    {.spec = spec,
                                                     .claims = *input.claims,
                                                     .circuit = circuit,
                                                     .deadline = deadline,
                                                     .done = std::move(done),
                                                     .progress = std::move(progress)});
                               });
}

grpc::ServerUnaryReactor* JobService::GetJob(grpc::CallbackServerContext* context,
                                             const v1::GetJobRequest* request, v1::GetJobResponse* response) {
  CallRecord record(services_, Method::kGetJob, *context);
  if (!record.access().ok()) return Answer(*context, record, record.access());
  const auto job = services_.jobs.Get(record.caller().tenant, request->name());
  if (job.ok()) FillJob(*job, /*with_result=*/true, *response->mutable_job());
  return Answer(*context, record, job.status());
}

grpc::ServerWriteReactor<v1::WatchJobResponse>* JobService::WatchJob(grpc::CallbackServerContext* context,
                                                                     const v1::WatchJobRequest* request) {
  return WatchJobCall::Start(services_, *context, request->name());
}

grpc::ServerUnaryReactor* JobService::CancelJob(grpc::CallbackServerContext* context,
                                                const v1::CancelJobRequest* request,
                                                v1::CancelJobResponse* response) {
  CallRecord record(services_, Method::kCancelJob, *context);
  if (!record.access().ok()) return Answer(*context, record, record.access());
  const auto job = services_.jobs.Cancel(record.caller().tenant, request->name());
  if (job.ok()) FillJob(*job, /*with_result=*/true, *response->mutable_job());
  return Answer(*context, record, job.status());
}

// A page token is the number of the first job of the page, in base64 so that nobody builds one by hand.
grpc::ServerUnaryReactor* JobService::ListJobs(grpc::CallbackServerContext* context,
                                               const v1::ListJobsRequest* request,
                                               v1::ListJobsResponse* response) {
  CallRecord record(services_, Method::kListJobs, *context);
  if (!record.access().ok()) return Answer(*context, record, record.access());
  std::string token;
  uint64_t from = 0;
  if (request->page_size() < 0) {
    return Answer(*context, record,
                  InvalidRequest(absl::StrCat("page_size: expected 0 or more, got ", request->page_size())));
  }
  if (!request->page_token().empty() &&
      (!absl::WebSafeBase64Unescape(request->page_token(), &token) || !absl::SimpleAtoi(token, &from))) {
    return Answer(*context, record,
                  InvalidRequest(absl::StrCat("page_token: expected what the page before gave, or nothing",
                                              Got(request->page_token()))));
  }
  const int size =
      request->page_size() == 0 ? kPageSizeDefault : std::min(request->page_size(), kPageSizeMax);
  const JobStore::Page page = services_.jobs.List(record.caller().tenant, static_cast<size_t>(size), from);
  for (const JobView& job : page.jobs) FillJob(job, /*with_result=*/false, *response->add_jobs());
  if (page.next.has_value()) {
    response->set_next_page_token(absl::WebSafeBase64Escape(absl::StrCat(*page.next)));
  }
  return Answer(*context, record, absl::OkStatus());
}

grpc::ServerUnaryReactor* JobService::DeleteJob(grpc::CallbackServerContext* context,
                                                const v1::DeleteJobRequest* request, v1::DeleteJobResponse*) {
  CallRecord record(services_, Method::kDeleteJob, *context);
  if (!record.access().ok()) return Answer(*context, record, record.access());
  return Answer(*context, record, services_.jobs.Delete(record.caller().tenant, request->name()));
}

}  // namespace proofmill::server
