// What a Client holds. Internal to clients/cpp.
//
// Thread safety: every method may be called from any thread; the rest is constant once the client is made.

#ifndef PROOFMILL_CLIENTS_CPP_CLIENT_STATE_H_
#define PROOFMILL_CLIENTS_CPP_CLIENT_STATE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "clients/cpp/client.h"
#include "clients/cpp/error.h"
#include "clients/cpp/prove_call.h"
#include "clients/cpp/retry.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "proofmill/v1/circuit_admin.grpc.pb.h"
#include "proofmill/v1/circuits.grpc.pb.h"
#include "proofmill/v1/jobs.grpc.pb.h"
#include "proofmill/v1/prover.grpc.pb.h"
#include "proofmill/v1/status.grpc.pb.h"
#include "proofmill/v1/uploads.grpc.pb.h"

namespace proofmill::client {

// JobService at the process that holds a job.
using JobStub = std::shared_ptr<v1::JobService::Stub>;

struct Client::State {
  ClientOptions options;
  std::string authorization;
  std::unique_ptr<v1::ProverService::Stub> prover;
  std::unique_ptr<v1::UploadService::Stub> uploads;
  std::unique_ptr<v1::CircuitService::Stub> circuits;
  JobStub jobs;
  std::unique_ptr<v1::CircuitAdminService::Stub> circuit_admin;
  std::unique_ptr<v1::StatusService::Stub> status_service;
  std::unique_ptr<v1::LogAdminService::Stub> log_admin;
  std::unique_ptr<grpc::health::v1::Health::Stub> health;
  std::unique_ptr<grpc::GenericStub> raw;
  const SendBlocks blocks;
  Stubs stubs{};

  std::mutex owners_mu;
  // Where jobs of other processes were found, by the INSTANCE of their names.
  std::map<std::string, JobStub> owners;

  // Calls a unary method until it succeeds or fails for good.
  template <typename Stub, typename Request, typename Response>
  absl::StatusOr<Response> Call(Stub& stub,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                                const Request& request, absl::Duration timeout) {
    const absl::Time deadline = absl::Now() + timeout;
    Retrier retrier(options.retry, deadline);
    Response response;
    const absl::Status status = retrier.Run([&] {
      grpc::ClientContext context;
      PrepareContext(stubs, deadline, context);
      return FromGrpc((stub.*method)(&context, request, &response), context);
    });
    if (!status.ok()) return status;
    return response;
  }
};

// Whether an input is sent in one message if nobody says how.
bool FitsOneMessage(const ClientOptions& options, const Input& input);

// Whether a call failed since its message was more than the service, or gRPC there, takes. Uploads and
// streams have no such limit.
bool IsTooLargeForMessage(const absl::Status& error);

// A random request id: 32 hexadecimal digits.
std::string RandomRequestId();

}  // namespace proofmill::client

#endif  // PROOFMILL_CLIENTS_CPP_CLIENT_STATE_H_
