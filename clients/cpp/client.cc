#include "clients/cpp/client.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "clients/cpp/channel.h"
#include "clients/cpp/client_state.h"
#include "clients/cpp/error.h"

namespace proofmill::client {
namespace {

constexpr int kPageSize = 500;

}  // namespace

bool IsTooLargeForMessage(const absl::Status& error) {
  if (!absl::IsResourceExhausted(error) || RetryDelay(error)) return false;
  const std::string reason = ErrorReason(error);
  return reason.empty() || reason == "MESSAGE_TOO_LARGE";
}

bool FitsOneMessage(const ClientOptions& options, const Input& input) {
  return input.bytes().size() <= std::min(options.unary_bytes_max, options.message_bytes_max);
}

std::string RandomRequestId() {
  absl::BitGen random;
  return absl::StrFormat("%016x%016x", absl::Uniform<uint64_t>(random), absl::Uniform<uint64_t>(random));
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() { WipeText(state_->authorization); }

absl::StatusOr<std::unique_ptr<Client>> Client::Create(const ClientOptions& options) {
  absl::StatusOr<std::string> authorization = ReadAuthorization(options);
  if (!authorization.ok()) return authorization.status();
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = MakeChannel(options);
  if (!channel.ok()) return channel.status();

  auto state = std::make_unique<State>();
  state->options = options;
  state->authorization = *authorization;
  WipeText(*authorization);  // a short text would stay behind if it was moved
  state->prover = v1::ProverService::NewStub(*channel);
  state->uploads = v1::UploadService::NewStub(*channel);
  state->circuits = v1::CircuitService::NewStub(*channel);
  state->jobs = v1::JobService::NewStub(*channel);
  state->circuit_admin = v1::CircuitAdminService::NewStub(*channel);
  state->status_service = v1::StatusService::NewStub(*channel);
  state->log_admin = v1::LogAdminService::NewStub(*channel);
  state->health = grpc::health::v1::Health::NewStub(*channel);
  state->raw = std::make_unique<grpc::GenericStub>(*channel);
  state->stubs = {.prover = state->prover.get(),
                  .uploads = state->uploads.get(),
                  .jobs = state->jobs.get(),
                  .raw = state->raw.get(),
                  .blocks = &state->blocks,
                  .authorization = state->authorization};
  return std::unique_ptr<Client>(new Client(std::move(state)));
}

absl::StatusOr<v1::ProofResult> Client::Prove(v1::ProofSpec spec, const Input& input,
                                              const ProveOptions& options) {
  if (spec.request_id().empty()) spec.set_request_id(RandomRequestId());
  const size_t size = input.bytes().size();
  if (options.transfer == Transfer::kUnary && size > state_->options.message_bytes_max) {
    return MakeError(absl::StatusCode::kResourceExhausted,
                     absl::StrCat("expected at most ", state_->options.message_bytes_max,
                                  " bytes for one message, got a witness of ", size,
                                  "; a stream and an upload take larger ones"),
                     "MESSAGE_TOO_LARGE", std::nullopt);
  }
  const bool is_auto = options.transfer == Transfer::kAuto;
  const bool fits = FitsOneMessage(state_->options, input);
  const Transfer transfer = !is_auto ? options.transfer : fits ? Transfer::kUnary : Transfer::kStream;

  const absl::Time deadline = absl::Now() + options.timeout;
  ProveCall call(state_->stubs, state_->options.retry, spec, input, options);
  absl::StatusOr<v1::ProofResult> result = call.Run(transfer);
  if (result.ok() || !is_auto || transfer != Transfer::kUnary || !IsTooLargeForMessage(result.status())) {
    return result;
  }

  ProveOptions rest = options;
  rest.timeout = deadline - absl::Now();
  return ProveCall(state_->stubs, state_->options.retry, spec, input, rest).Run(Transfer::kStream);
}

absl::StatusOr<v1::VerifyResponse> Client::Verify(const v1::VerifyRequest& request, absl::Duration timeout) {
  return state_->Call(*state_->prover, &v1::ProverService::Stub::Verify, request, timeout);
}

absl::StatusOr<std::vector<v1::Circuit>> Client::ListCircuits(absl::Duration timeout) {
  std::vector<v1::Circuit> circuits;
  v1::ListCircuitsRequest request;
  request.set_page_size(kPageSize);
  const absl::Time deadline = absl::Now() + timeout;
  do {
    absl::StatusOr<v1::ListCircuitsResponse> page = state_->Call(
        *state_->circuits, &v1::CircuitService::Stub::ListCircuits, request, deadline - absl::Now());
    if (!page.ok()) return page.status();
    for (v1::Circuit& circuit : *page->mutable_circuits()) circuits.push_back(std::move(circuit));
    request.set_page_token(page->next_page_token());
  } while (!request.page_token().empty());
  return circuits;
}

absl::StatusOr<v1::Circuit> Client::GetCircuit(absl::string_view id, absl::Duration timeout) {
  v1::GetCircuitRequest request;
  request.set_id(std::string(id));
  absl::StatusOr<v1::GetCircuitResponse> response =
      state_->Call(*state_->circuits, &v1::CircuitService::Stub::GetCircuit, request, timeout);
  if (!response.ok()) return response.status();
  return std::move(*response->mutable_circuit());
}

absl::StatusOr<HealthState> Client::Health(absl::string_view service, absl::Duration timeout) {
  grpc::ClientContext context;
  PrepareContext(state_->stubs, absl::Now() + timeout, context);
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(std::string(service));
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status status = state_->health->Check(&context, request, &response);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND) return HealthState::kUnknownService;
  if (!status.ok()) return FromGrpc(status, context);
  return response.status() == grpc::health::v1::HealthCheckResponse::SERVING ? HealthState::kServing
                                                                             : HealthState::kNotServing;
}

absl::string_view PhaseName(Progress::Phase phase) {
  switch (phase) {
    case Progress::Phase::kConnecting:
      return "connecting";
    case Progress::Phase::kSending:
      return "sending";
    case Progress::Phase::kQueued:
      return "queued";
    case Progress::Phase::kRunning:
      return "running";
    case Progress::Phase::kWaitingToRetry:
      return "waiting to retry";
  }
  return "unknown";
}

}  // namespace proofmill::client
