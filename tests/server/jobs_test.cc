// JobService over a real channel, and clients that do not read what they are sent.

#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/server/service_fixture.h"

namespace proofmill::server {
namespace {

constexpr char kDepth[] = R"(proofmill_queue_depth{priority="normal"})";

class JobsTest : public ServiceTest {
 protected:
  v1::CreateJobRequest JobRequest(uint64_t seed, const std::string& request_id = "") {
    v1::CreateJobRequest request;
    *request.mutable_request() = Request(Wtns("small", seed));
    request.mutable_request()->mutable_spec()->set_request_id(request_id);
    return request;
  }
  Outcome Create(const v1::CreateJobRequest& request, v1::Job& job) {
    v1::CreateJobResponse response;
    const auto context = ContextFor();
    const Outcome outcome = OutcomeOf(jobs_->CreateJob(context.get(), request, &response), *context);
    job = response.job();
    return outcome;
  }
  v1::Job Create(uint64_t seed, const std::string& request_id = "") {
    v1::Job job;
    const Outcome outcome = Create(JobRequest(seed, request_id), job);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.error_message();
    return job;
  }
  Outcome Get(const std::string& name, v1::Job& job) {
    v1::GetJobRequest request;
    request.set_name(name);
    v1::GetJobResponse response;
    const auto context = ContextFor();
    const Outcome outcome = OutcomeOf(jobs_->GetJob(context.get(), request, &response), *context);
    job = response.job();
    return outcome;
  }
  Outcome Cancel(const std::string& name) {
    v1::CancelJobRequest request;
    request.set_name(name);
    v1::CancelJobResponse response;
    const auto context = ContextFor();
    return OutcomeOf(jobs_->CancelJob(context.get(), request, &response), *context);
  }
  Outcome Delete(const std::string& name) {
    v1::DeleteJobRequest request;
    request.set_name(name);
    v1::DeleteJobResponse response;
    const auto context = ContextFor();
    return OutcomeOf(jobs_->DeleteJob(context.get(), request, &response), *context);
  }
  // Every state that a watch tells, to its end.
  std::vector<v1::Job> Watch(const std::string& name, Outcome* outcome = nullptr) {
    v1::WatchJobRequest request;
    request.set_name(name);
    const auto context = ContextFor();
    const auto stream = jobs_->WatchJob(context.get(), request);
    std::vector<v1::Job> states;
    v1::WatchJobResponse response;
    while (stream->Read(&response)) states.push_back(response.job());
    const grpc::Status status = stream->Finish();
    if (outcome != nullptr) *outcome = OutcomeOf(status, *context);
    return states;
  }

  // A channel whose client takes hardly a byte before the application reads.
  std::shared_ptr<grpc::Channel> NarrowChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 5);
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->data_address(), grpc::InsecureChannelCredentials(), arguments);
  }
};

TEST_F(JobsTest, AJobIsWatchedFromTheQueueToItsProofAndOutlivesItsConnection) {
  gate_.Close();
  const v1::Job running = Create(0);
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  const v1::Job queued = Create(1), last = Create(2);
  EXPECT_EQ(queued.state(), v1::Job::STATE_QUEUED);
  EXPECT_EQ(queued.circuit(), "small");
  EXPECT_EQ(queued.circuit_version().size(), 128u);
  EXPECT_EQ(last.jobs_ahead(), 1u);
  v1::Job now;
  ASSERT_TRUE(Get(running.name(), now).status.ok());
  EXPECT_EQ(now.state(), v1::Job::STATE_RUNNING);

  std::vector<v1::Job> states;
  std::thread watcher([&] { states = Watch(last.name()); });
  gate_.Open();
  watcher.join();

  ASSERT_GE(states.size(), 2u);
  std::set<int> seen;
  for (const v1::Job& state : states) seen.insert(state.state());
  EXPECT_EQ(seen.count(v1::Job::STATE_QUEUED), 1u);
  EXPECT_EQ(states.back().state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(states.back().result().circuit(), "small");
  EXPECT_EQ(states.back().result().public_signals_size(), 1);
  channel_ = MakeChannel();
  jobs_ = v1::JobService::NewStub(channel_);
  ASSERT_TRUE(Get(last.name(), now).status.ok());
  EXPECT_EQ(now.result().SerializeAsString(), states.back().result().SerializeAsString());
  EXPECT_GT(now.expire_time().seconds(), now.end_time().seconds());
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0)) << "no witness is kept after the proof";
  EXPECT_EQ(Watch(last.name()).size(), 1u) << "a job that has ended is told once";
}

TEST_F(JobsTest, ARepeatedRequestGetsTheSameJobAndOtherContentIsRefused) {
  gate_.Close();
  const v1::Job first = Create(7, "order-1"), again = Create(7, "order-1");
  EXPECT_EQ(first.name(), again.name());
  v1::Job job;
  const Outcome other = Create(JobRequest(8, "order-1"), job);
  EXPECT_EQ(other.status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(other.reason, "REQUEST_ID_CONFLICT");
  gate_.Open();
  ASSERT_EQ(Watch(first.name()).back().state(), v1::Job::STATE_SUCCEEDED);

  EXPECT_EQ(Create(7, "order-1").name(), first.name()) << "finished jobs are found too";
  EXPECT_EQ(Metric("proofmill_jobs"), 1);
  // The same id over another call stands for the same proof.
  v1::ProveRequest request = JobRequest(7, "order-1").request();
  v1::ProveResponse response;
  ASSERT_TRUE(Prove(request, &response).status.ok());
  ASSERT_TRUE(Get(first.name(), job).status.ok());
  EXPECT_EQ(response.result().groth16().SerializeAsString(), job.result().groth16().SerializeAsString());
}

TEST_F(JobsTest, ManyRequestsWithOneIdAtTheSameTimeMakeOneJob) {
  gate_.Close();
  std::vector<std::thread> callers;
  std::vector<std::string> names(8);
  callers.reserve(names.size());
  for (std::string& name : names) callers.emplace_back([&] { name = Create(3, "same").name(); });
  for (std::thread& caller : callers) caller.join();

  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 1u);
  EXPECT_EQ(Metric("proofmill_jobs"), 1);
  gate_.Open();
  EXPECT_EQ(Watch(names[0]).back().state(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(JobsTest, CancellingEndsAQueuedAndARunningJobAndFreesTheId) {
  gate_.Close();
  const v1::Job running = Create(0, "a");
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  const v1::Job queued = Create(1, "b");

  for (const v1::Job& job : {queued, running}) {
    ASSERT_TRUE(Cancel(job.name()).status.ok());
    const v1::Job ended = Watch(job.name()).back();
    EXPECT_EQ(ended.state(), v1::Job::STATE_CANCELLED);
    EXPECT_EQ(ended.error().code(), static_cast<int>(grpc::StatusCode::CANCELLED));
    EXPECT_EQ(ended.error().reason(), "CANCELLED");
    EXPECT_TRUE(Cancel(job.name()).status.ok()) << "a second time changes nothing";
  }
  EXPECT_TRUE(MetricBecomes(kDepth, 0));
  gate_.Open();
  const v1::Job retried = Create(1, "b");
  EXPECT_NE(retried.name(), queued.name());
  EXPECT_EQ(Watch(retried.name()).back().state(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(JobsTest, AJobWhoseTimeIsUpFailsAndSaysWhy) {
  gate_.Close();
  v1::CreateJobRequest request = JobRequest(0);
  request.mutable_timeout()->set_nanos(50'000'000);
  v1::Job job;
  ASSERT_TRUE(Create(request, job).status.ok());

  const v1::Job ended = Watch(job.name()).back();
  EXPECT_EQ(ended.state(), v1::Job::STATE_FAILED);
  EXPECT_EQ(ended.error().reason(), "DEADLINE_EXPIRED");
  request.mutable_timeout()->set_nanos(0);
  EXPECT_EQ(Create(request, job).reason, "REQUEST_INVALID");
}

TEST_F(JobsTest, ABadWitnessIsRefusedAtOnceOrBlamedInTheEnd) {
  v1::CreateJobRequest request = JobRequest(0);
  v1::Job job;
  request.mutable_request()->mutable_groth16()->set_wtns("not a witness");
  EXPECT_EQ(Create(request, job).reason, "WITNESS_MALFORMED");
  request.mutable_request()->clear_input();
  EXPECT_EQ(Create(request, job).reason, "REQUEST_INVALID");
  EXPECT_EQ(Metric("proofmill_jobs"), 0);

  std::string wtns = Wtns("small");
  wtns[wtns.size() - 32] = static_cast<char>(wtns[wtns.size() - 32] ^ 1);
  request = JobRequest(0);
  request.mutable_request()->mutable_groth16()->set_wtns(wtns);
  ASSERT_TRUE(Create(request, job).status.ok());
  const v1::Job ended = Watch(job.name()).back();
  EXPECT_EQ(ended.state(), v1::Job::STATE_FAILED);
  EXPECT_EQ(ended.error().reason(), "WITNESS_UNSATISFIED");
}

TEST_F(JobsTest, DeletedAndExpiredAndUnknownJobsAreNotFound) {
  StartServer([](Config& config) { config.job_result_ttl = absl::Milliseconds(50); });
  v1::Job job = Create(0);
  ASSERT_TRUE(Delete(job.name()).status.ok());
  EXPECT_EQ(Get(job.name(), job).reason, "JOB_UNKNOWN");
  const std::string expires = Create(1).name();
  EXPECT_TRUE(MetricBecomes("proofmill_jobs", 0));
  EXPECT_EQ(Get(expires, job).reason, "JOB_UNKNOWN");
  Outcome outcome;
  EXPECT_TRUE(Watch(expires, &outcome).empty());
  EXPECT_EQ(outcome.status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Cancel("jobs/elsewhere/1").reason, "REQUEST_INVALID");
}

TEST_F(JobsTest, ErrorsAboutNamesSayWhatWasGot) {
  const std::string gone = Create(0).name();
  ASSERT_TRUE(Delete(gone).status.ok());
  v1::Job job;

  EXPECT_THAT(Get(gone, job).status.error_message(),
              ::testing::EndsWith(", got \"" + gone.substr(0, 64) + "\"" + (gone.size() > 64 ? "..." : "")));
  EXPECT_THAT(Get("jobs/a\nb", job).status.error_message(),
              ::testing::EndsWith("expected jobs/INSTANCE/ID, as CreateJob gave it, got \"jobs/a\\nb\""));
  v1::ListJobsRequest request;
  request.set_page_size(-3);
  v1::ListJobsResponse response;
  EXPECT_THAT(jobs_->ListJobs(ContextFor().get(), request, &response).error_message(),
              ::testing::EndsWith("page_size: expected 0 or more, got -3"));
}

TEST_F(JobsTest, AListIsPagedAndHoldsNoResults) {
  std::vector<std::string> names;
  for (uint64_t i = 0; i < 3; ++i) names.push_back(Create(i).name());
  Watch(names.back());
  v1::ListJobsRequest request;
  request.set_page_size(2);
  v1::ListJobsResponse first, second;
  ASSERT_TRUE(jobs_->ListJobs(ContextFor().get(), request, &first).ok());
  request.set_page_token(first.next_page_token());
  ASSERT_TRUE(jobs_->ListJobs(ContextFor().get(), request, &second).ok());

  ASSERT_EQ(first.jobs_size(), 2);
  ASSERT_EQ(second.jobs_size(), 1);
  EXPECT_EQ(first.jobs(0).name(), names[0]);
  EXPECT_EQ(second.jobs(0).name(), names[2]);
  EXPECT_EQ(second.jobs(0).state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_FALSE(second.jobs(0).has_result());
  EXPECT_EQ(second.next_page_token(), "");
  request.set_page_token("***");
  const auto context = ContextFor();
  EXPECT_EQ(jobs_->ListJobs(context.get(), request, &second).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_F(JobsTest, AnUploadThatWasUsedUpIsNoObstacleToARepeatedRequest) {
  const std::string wtns = Wtns("small", 5);
  v1::CreateUploadRequest create;
  create.set_circuit("small");
  create.set_size_bytes(wtns.size());
  v1::CreateUploadResponse created;
  ASSERT_TRUE(uploads_->CreateUpload(ContextFor().get(), create, &created).ok());
  v1::WriteUploadRequest write;
  write.set_name(created.upload().name());
  write.set_data(wtns);
  v1::WriteUploadResponse written;
  ASSERT_TRUE(uploads_->WriteUpload(ContextFor().get(), write, &written).ok());
  v1::CreateJobRequest request = JobRequest(5, "up");
  request.mutable_request()->mutable_groth16()->set_upload(created.upload().name());

  v1::Job first, again;
  ASSERT_TRUE(Create(request, first).status.ok());
  ASSERT_TRUE(Create(request, again).status.ok());
  EXPECT_EQ(first.name(), again.name());
  EXPECT_EQ(Watch(first.name()).back().state(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(JobsTest, AStopWaitsForJobsAndTellsWhatTheGraceCutsThatItIsDraining) {
  gate_.Close();
  const v1::Job job = Create(0);
  std::vector<v1::Job> states;
  std::thread watcher([&] { states = Watch(job.name()); });
  int waits = 0;
  server_->Drain([&](absl::Duration) {
    if (++waits == 2) gate_.Open();
  });
  watcher.join();
  ASSERT_FALSE(states.empty());
  EXPECT_EQ(states.back().state(), v1::Job::STATE_SUCCEEDED);

  StartServer([](Config& config) { config.shutdown_grace = absl::Milliseconds(100); });
  gate_.Close();
  const v1::Job cut = Create(0);
  std::thread second([&] { states = Watch(cut.name()); });
  ASSERT_TRUE(gate_.AwaitWaiting(1));
  Drain();
  second.join();
  ASSERT_FALSE(states.empty());
  EXPECT_EQ(states.back().error().reason(), "DRAINING");
}

TEST_F(JobsTest, AClientThatNeverReadsIsCutAndHoldsNothing) {
  StartServer([](Config& config) { config.send_timeout = absl::Milliseconds(100); });
  gate_.Close();
  const auto channel = NarrowChannel();
  const auto prover = v1::ProverService::NewStub(channel);
  const std::string wtns = Wtns("small");

  const auto stream_context = ContextFor();
  const auto stream = prover->ProveStream(stream_context.get());
  v1::ProveStreamRequest message;
  message.mutable_header()->mutable_spec()->set_circuit("small");
  message.mutable_header()->set_size_bytes(wtns.size());
  ASSERT_TRUE(stream->Write(message));
  message.mutable_chunk()->set_data(wtns);
  stream->Write(message);
  const auto batch_context = ContextFor();
  const auto batch = prover->ProveBatch(batch_context.get());
  v1::ProveBatchRequest item;
  item.set_item_id("1");
  *item.mutable_request() = Request(wtns);
  ASSERT_TRUE(batch->Write(item));
  item.set_item_id("2");
  item.mutable_request()->mutable_groth16()->set_wtns("an answer that can be given at once");
  ASSERT_TRUE(batch->Write(item));

  // Both have ended, and not merely not begun.
  for (const char* call : {R"(circuit="small",code="CANCELLED",method="ProverService/ProveStream")",
                           R"(circuit="",code="CANCELLED",method="ProverService/ProveBatch")"}) {
    EXPECT_TRUE(MetricBecomes(absl::StrCat("proofmill_requests_total{", call, "}"), 1)) << call;
  }
  EXPECT_TRUE(MetricBecomes("proofmill_streams", 0));
  EXPECT_TRUE(MetricBecomes(kDepth, 0));
  EXPECT_TRUE(MetricBecomes("proofmill_queue_witness_bytes", 0)) << "neither has a witness in memory";
  v1::ProveStreamResponse stream_response;
  EXPECT_FALSE(stream->Read(&stream_response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  v1::ProveBatchResponse batch_response;
  EXPECT_FALSE(batch->Read(&batch_response));
  EXPECT_EQ(batch->Finish().error_code(), grpc::StatusCode::CANCELLED);
  gate_.Open();
  EXPECT_TRUE(ProveSmall().status.ok()) << "others go on";
}

}  // namespace
}  // namespace proofmill::server
