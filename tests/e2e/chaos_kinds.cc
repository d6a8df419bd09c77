// The kinds of callers that speak gRPC; chaos_outsiders.cc has those that do not, and the operator.

#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proofmill/v1/jobs.grpc.pb.h"
#include "proofmill/v1/uploads.grpc.pb.h"
#include "tests/e2e/chaos_actors.h"
#include "tests/e2e/chaos_outsiders.h"

namespace proofmill::e2e {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Longer than anything takes here: who waits this long was forgotten.
constexpr auto kPatience = std::chrono::minutes(2);
constexpr size_t kHeaderBytes = 76;  // of a .wtns file, before its values
constexpr size_t kValueBytes = 32;

// Proves and expects to be served, or to be told why not.
class Steady final : public ChaosActor {
 public:
  Steady(const ChaosScene& scene, uint64_t seed)
      : ChaosActor(scene, "steady", seed, {}), stub_(v1::ProverService::NewStub(channel_)) {}

  void Act() override {
    const uint64_t seed = Pick(1, 1'000'000);
    v1::ProveResponse response;
    const auto context = Context(kPatience);
    const grpc::Status status =
        stub_->Prove(context.get(), Request("steady", scene_.circuits.Wtns("steady", seed)), &response);
    Answered(status, *context);
    if (status.ok()) Judge(response.result(), "steady", seed);
  }

 private:
  const std::unique_ptr<v1::ProverService::Stub> stub_;
};

// Has no time.
class Hasty final : public ChaosActor {
 public:
  Hasty(const ChaosScene& scene, uint64_t seed)
      : ChaosActor(scene, "hasty", seed,
                   {"DEADLINE_EXCEEDED", "DEADLINE_EXPIRED", "DEADLINE_UNREACHABLE", "CANCELLED"}),
        stub_(v1::ProverService::NewStub(channel_)),
        wtns_(scene.circuits.Wtns("busy", seed)) {}

  void Act() override {
    const auto context = Context(microseconds(Pick(1000, 5000)));
    if (Pick(0, 1) == 0) {
      v1::ProveResponse response;
      Answered(stub_->Prove(context.get(), Request("busy", wtns_), &response), *context);
      return;
    }
    const auto stream = stub_->ProveStream(context.get());
    v1::ProveStreamResponse response;
    if (stream->Write(Header("busy", wtns_.size())) && stream->Read(&response)) {
      v1::ProveStreamRequest chunk;
      chunk.mutable_chunk()->set_data(wtns_);
      stream->Write(chunk);
      while (stream->Read(&response)) {
      }
    }
    Answered(stream->Finish(), *context);
  }

 private:
  const std::unique_ptr<v1::ProverService::Stub> stub_;
  const std::string wtns_;
};

// Changes its mind: every kind of call is cancelled at some time between its beginning and its end.
class Fickle final : public ChaosActor {
 public:
  Fickle(const ChaosScene& scene, uint64_t seed)
      : ChaosActor(scene, "fickle", seed, {"CANCELLED", "JOB_UNKNOWN"}),
        prover_(v1::ProverService::NewStub(channel_)),
        jobs_(v1::JobService::NewStub(channel_)),
        wtns_(scene.circuits.Wtns("busy", seed)) {}

  void Act() override {
    const auto context = Context(kPatience);
    const uint64_t kind = Pick(0, 3);
    std::string job;
    if (kind == 3 && (job = MakeJob()).empty()) return;
    std::thread mind([&context, delay = microseconds(Pick(0, 60'000))] {
      std::this_thread::sleep_for(delay);
      context->TryCancel();
    });
    grpc::Status status;
    if (kind == 0) {
      v1::ProveResponse response;
      status = prover_->Prove(context.get(), Request("busy", wtns_), &response);
    } else if (kind == 1) {
      status = Stream(*context);
    } else if (kind == 2) {
      status = Batch(*context);
    } else {
      status = Watch(*context, job);
    }
    mind.join();
    Answered(status, *context);
  }

 private:
  grpc::Status Stream(grpc::ClientContext& context) {
    const auto stream = prover_->ProveStream(&context);
    v1::ProveStreamResponse response;
    if (stream->Write(Header("busy", wtns_.size())) && stream->Read(&response)) {
      const size_t piece = Pick(1, 1 << 14);
      for (size_t at = 0; at < wtns_.size(); at += piece) {
        v1::ProveStreamRequest chunk;
        chunk.mutable_chunk()->set_offset_bytes(at);
        chunk.mutable_chunk()->set_data(wtns_.substr(at, piece));
        if (!stream->Write(chunk)) break;
      }
      while (stream->Read(&response)) {
      }
    }
    return stream->Finish();
  }
  grpc::Status Batch(grpc::ClientContext& context) {
    const auto stream = prover_->ProveBatch(&context);
    for (int i = 0; i < 4; ++i) {
      v1::ProveBatchRequest item;
      item.set_item_id(absl::StrCat("item-", i));
      *item.mutable_request() = Request(i == 3 ? "unknown" : "busy", wtns_);
      if (!stream->Write(item)) break;
    }
    if (Pick(0, 1) == 0) stream->WritesDone();
    v1::ProveBatchResponse response;
    while (stream->Read(&response)) {
    }
    return stream->Finish();
  }
  std::string MakeJob() {
    v1::CreateJobRequest request;
    *request.mutable_request() = Request("busy", wtns_);
    v1::CreateJobResponse response;
    const auto context = Context(kPatience);
    Answered(jobs_->CreateJob(context.get(), request, &response), *context);
    return response.job().name();
  }
  grpc::Status Watch(grpc::ClientContext& context, const std::string& job) {
    v1::WatchJobRequest request;
    request.set_name(job);
    const auto stream = jobs_->WatchJob(&context, request);
    v1::WatchJobResponse response;
    while (stream->Read(&response)) {
    }
    return stream->Finish();
  }

  const std::unique_ptr<v1::ProverService::Stub> prover_;
  const std::unique_ptr<v1::JobService::Stub> jobs_;
  const std::string wtns_;
};

// Sends what is no witness, or none of this circuit, or one that satisfies nothing.
class Liar final : public ChaosActor {
 public:
  Liar(const ChaosScene& scene, uint64_t seed)
      : ChaosActor(scene, "liar", seed,
                   {"WITNESS_MALFORMED", "WITNESS_LENGTH", "WITNESS_NOT_CANONICAL", "WITNESS_UNSATISFIED"}),
        stub_(v1::ProverService::NewStub(channel_)),
        wtns_(scene.circuits.Wtns("damaged", seed)) {}

  void Act() override {
    v1::ProveResponse response;
    const auto context = Context(kPatience);
    const grpc::Status status = stub_->Prove(context.get(), Request("damaged", Damage()), &response);
    Answered(status, *context);
    if (status.ok()) Wrong("a damaged witness was proved");
  }

 private:
  std::string Damage() {
    std::string bad = wtns_;
    switch (Pick(0, 4)) {
      case 0: {  // another value for a wire that a constraint defines: those are in the upper half
        const size_t values = (bad.size() - kHeaderBytes) / kValueBytes;
        bad[kHeaderBytes + kValueBytes * Pick(values / 2, values - 1)] ^= static_cast<char>(Pick(1, 255));
        break;
      }
      case 1:  // 2^256 - 1
        std::memset(&bad[bad.size() - kValueBytes], 0xFF, kValueBytes);
        break;
      case 2:
        bad.resize(Pick(0, bad.size() - 1));
        break;
      case 3:
        for (char& byte : bad) byte = static_cast<char>(Pick(0, 255));
        break;
      default:
        bad = scene_.circuits.Wtns("busy", 1);
    }
    return bad;
  }

  const std::unique_ptr<v1::ProverService::Stub> stub_;
  const std::string wtns_;
};

// Begins uploads and streams, and ends none as it should.
class Uploader final : public ChaosActor {
 public:
  Uploader(const ChaosScene& scene, uint64_t seed)
      : ChaosActor(
            scene, "uploader", seed,
            {"UPLOAD_UNKNOWN", "UPLOAD_INCOMPLETE", "UPLOAD_OFFSET", "UPLOAD_CHECKSUM", "REQUEST_INVALID",
             "WITNESS_LENGTH", "DEADLINE_EXPIRED"}),  // on a busy machine it may owe a message for too long
        uploads_(v1::UploadService::NewStub(channel_)),
        prover_(v1::ProverService::NewStub(channel_)),
        wtns_(scene.circuits.Wtns("busy", seed)) {}

  void Act() override {
    if (Pick(0, 3) == 0) {
      BreakStream();
      return;
    }
    v1::CreateUploadRequest create;
    create.set_circuit("busy");
    create.set_size_bytes(wtns_.size() - (Pick(0, 9) == 0 ? 1 : 0));
    if (Pick(0, 3) == 0) create.set_sha256(std::string(32, 'x'));
    v1::CreateUploadResponse created;
    const auto context = Context(kPatience);
    const grpc::Status status = uploads_->CreateUpload(context.get(), create, &created);
    Answered(status, *context);
    if (!status.ok()) {
      std::this_thread::sleep_for(milliseconds(Pick(0, 20)));
      return;
    }
    const std::string& name = created.upload().name();
    Write(name, 0, wtns_.substr(0, wtns_.size() / 2));
    switch (Pick(0, 4)) {
      case 0:
        Write(name, wtns_.size() / 2 + 1, "a gap");
        break;
      case 1:
        Write(name, wtns_.size() / 2, std::string(wtns_.size(), 'x'));
        break;
      case 2:
        Prove(name);
        break;
      case 3:
        Write(name, wtns_.size() / 2, wtns_.substr(wtns_.size() / 2));
        Prove(name);
        Prove(name);
        break;
      default:
        return;  // left to the service
    }
    if (Pick(0, 1) == 0) Delete(name);
  }

 private:
  void Write(const std::string& name, uint64_t offset, const std::string& data) {
    v1::WriteUploadRequest request;
    request.set_name(name);
    request.set_offset_bytes(offset);
    request.set_data(data);
    if (Pick(0, 3) == 0) request.set_crc32c(static_cast<uint32_t>(Pick(0, UINT32_MAX)));
    v1::WriteUploadResponse response;
    const auto context = Context(kPatience);
    Answered(uploads_->WriteUpload(context.get(), request, &response), *context);
  }
  void Prove(const std::string& name) {
    v1::ProveRequest request;
    request.mutable_spec()->set_circuit("busy");
    request.mutable_groth16()->set_upload(name);
    v1::ProveResponse response;
    const auto context = Context(kPatience);
    Answered(prover_->Prove(context.get(), request, &response), *context);
  }
  void Delete(const std::string& name) {
    v1::DeleteUploadRequest request;
    request.set_name(name);
    v1::DeleteUploadResponse response;
    const auto context = Context(kPatience);
    Answered(uploads_->DeleteUpload(context.get(), request, &response), *context);
  }
  void BreakStream() {
    const auto context = Context(kPatience);
    const auto stream = prover_->ProveStream(context.get());
    v1::ProveStreamResponse response;
    if (stream->Write(Header("busy", wtns_.size())) && stream->Read(&response)) {
      v1::ProveStreamRequest chunk;
      chunk.mutable_chunk()->set_offset_bytes(Pick(0, 1));
      chunk.mutable_chunk()->set_data(wtns_.substr(0, Pick(1, wtns_.size() - 1)));
      stream->Write(chunk);
      stream->WritesDone();
      while (stream->Read(&response)) {
      }
    }
    const grpc::Status status = stream->Finish();
    Answered(status, *context);
    if (status.ok()) Wrong("a stream that lacks bytes was proved");
  }

  const std::unique_ptr<v1::UploadService::Stub> uploads_;
  const std::unique_ptr<v1::ProverService::Stub> prover_;
  const std::string wtns_;
};

// Makes jobs, repeats them, and cancels or deletes some.
class Submitter final : public ChaosActor {
 public:
  Submitter(const ChaosScene& scene, uint64_t seed)
      : ChaosActor(scene, "submitter", seed, {"JOB_UNKNOWN", "CANCELLED", "REQUEST_ID_CONFLICT"}),
        stub_(v1::JobService::NewStub(channel_)) {}

  void Act() override {
    const uint64_t seed = Pick(1, 3);
    v1::CreateJobRequest request;
    *request.mutable_request() = Request("busy", scene_.circuits.Wtns("busy", seed));
    // At times the same id with another witness.
    if (Pick(0, 1) == 0)
      request.mutable_request()->mutable_spec()->set_request_id(absl::StrCat("order-", Pick(1, 4)));
    v1::CreateJobResponse created;
    Call(&v1::JobService::Stub::CreateJob, request, created);
    const std::string& name = created.job().name();
    if (name.empty()) return;  // refused
    switch (Pick(0, 3)) {
      case 0: {
        v1::CancelJobRequest cancel;
        cancel.set_name(name);
        v1::CancelJobResponse response;
        Call(&v1::JobService::Stub::CancelJob, cancel, response);
        break;
      }
      case 1: {
        v1::DeleteJobRequest remove;
        remove.set_name(name);
        v1::DeleteJobResponse response;
        Call(&v1::JobService::Stub::DeleteJob, remove, response);
        break;
      }
      case 2: {
        v1::ListJobsResponse response;
        Call(&v1::JobService::Stub::ListJobs, v1::ListJobsRequest(), response);
        break;
      }
      default: {
        v1::GetJobRequest get;
        get.set_name(name);
        v1::GetJobResponse response;
        Call(&v1::JobService::Stub::GetJob, get, response);
        if (response.job().has_result()) Judge(response.job().result(), "busy", seed);
      }
    }
  }

 private:
  template <typename Request, typename Response>
  void Call(grpc::Status (v1::JobService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
            const Request& request, Response& response) {
    const auto context = Context(kPatience);
    Answered(((*stub_).*method)(context.get(), request, &response), *context);
  }

  const std::unique_ptr<v1::JobService::Stub> stub_;
};

// Proves a circuit that comes and goes, by its name or its alias, and checks proofs, good ones and bad.
class Guest final : public ChaosActor {
 public:
  Guest(const ChaosScene& scene, uint64_t seed)
      : ChaosActor(scene, "guest", seed, {"CIRCUIT_UNKNOWN", "CIRCUIT_LOADING"}),
        stub_(v1::ProverService::NewStub(channel_)) {}

  void Act() override {
    const uint64_t seed = Pick(1, 1'000'000);
    v1::ProveResponse response;
    const auto context = Context(kPatience);
    const std::string name = Pick(0, 1) == 0 ? "guest" : "visitor";
    const grpc::Status status =
        stub_->Prove(context.get(), Request(name, scene_.circuits.Wtns("guest", seed)), &response);
    Answered(status, *context);
    if (!status.ok()) return;
    Judge(response.result(), "guest", seed);
    Verify(response.result(), Pick(0, 1) == 0);
  }

 private:
  void Verify(const v1::ProofResult& result, bool spoil) {
    v1::VerifyRequest request;
    request.set_circuit("guest");
    *request.mutable_groth16()->mutable_proof() = result.groth16();
    *request.mutable_groth16()->mutable_public_signals() = result.public_signals();
    if (spoil) request.mutable_groth16()->mutable_public_signals(0)->back() ^= 1;
    v1::VerifyResponse response;
    const auto context = Context(kPatience);
    const grpc::Status status = stub_->Verify(context.get(), request, &response);
    Answered(status, *context);
    if (status.ok() && response.valid() == spoil) Wrong("the service verifies wrongly");
  }

  const std::unique_ptr<v1::ProverService::Stub> stub_;
};

template <typename Actor>
void Add(std::vector<std::unique_ptr<ChaosActor>>& actors, const ChaosScene& scene, uint64_t& seed,
         int count) {
  for (int i = 0; i < count; ++i) actors.push_back(std::make_unique<Actor>(scene, ++seed));
}

}  // namespace

std::vector<std::unique_ptr<ChaosActor>> MakeChaosActors(const ChaosScene& scene, uint64_t seed) {
  std::vector<std::unique_ptr<ChaosActor>> actors;
  Add<Steady>(actors, scene, seed, 2);
  Add<Hasty>(actors, scene, seed, 3);
  Add<Fickle>(actors, scene, seed, 3);
  Add<Liar>(actors, scene, seed, 1);
  Add<Uploader>(actors, scene, seed, 2);
  Add<Submitter>(actors, scene, seed, 1);
  Add<Guest>(actors, scene, seed, 1);
  Add<KilledClient>(actors, scene, seed, 1);
  Add<Operator>(actors, scene, seed, 1);
  Add<Vandal>(actors, scene, seed, 1);
  return actors;
}

}  // namespace proofmill::e2e
