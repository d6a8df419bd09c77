#include "tests/e2e/chaos_actors.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "clients/cpp/error.h"

namespace proofmill::e2e {

const std::set<std::string>& ChaosActor::Refusals() {
  static const auto& refusals = *new std::set<std::string>{"OK", "QUEUE_FULL", "QUOTA_EXCEEDED"};
  return refusals;
}

ChaosActor::ChaosActor(const ChaosScene& scene, std::string name, uint64_t seed, std::set<std::string> right)
    : scene_(scene), name_(std::move(name)), right_(std::move(right)), random_(seed) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  channel_ = grpc::CreateCustomChannel(scene.server.data(), grpc::InsecureChannelCredentials(), arguments);
}

void ChaosActor::Answered(const absl::Status& status) {
  std::string answer = status.ok() ? "OK" : client::ErrorReason(status);
  if (answer.empty()) answer = absl::StatusCodeToString(status.code());
  ++answers_[answer];
  if (Refusals().count(answer) == 0 && right_.count(answer) == 0) Wrong(status.ToString());
}

void ChaosActor::Answered(const grpc::Status& status, const grpc::ClientContext& context) {
  Answered(client::FromGrpc(status, context));
}

void ChaosActor::Wrong(const std::string& what) {
  if (wrong_.empty()) wrong_ = absl::StrCat(name_, ": ", what);
}

void ChaosActor::Judge(const v1::ProofResult& result, const std::string& circuit, uint64_t witness_seed) {
  const auto verdict =
      IsProofOf(result, scene_.circuits.vkey(circuit), scene_.circuits.PublicSignals(circuit, witness_seed));
  if (!verdict) Wrong(absl::StrCat("a proof of ", circuit, ": ", verdict.message()));
}

uint64_t ChaosActor::Pick(uint64_t least, uint64_t most) {
  return std::uniform_int_distribution<uint64_t>(least, most)(random_);
}

std::unique_ptr<grpc::ClientContext> ChaosActor::Context(std::chrono::microseconds timeout) const {
  auto context = std::make_unique<grpc::ClientContext>();
  context->set_deadline(std::chrono::system_clock::now() + timeout);
  return context;
}

v1::ProveRequest ChaosActor::Request(const std::string& circuit, const std::string& wtns) const {
  v1::ProveRequest request;
  request.mutable_spec()->set_circuit(circuit);
  request.mutable_groth16()->set_wtns(wtns);
  return request;
}

v1::ProveStreamRequest ChaosActor::Header(const std::string& circuit, uint64_t size_bytes) const {
  v1::ProveStreamRequest header;
  header.mutable_header()->mutable_spec()->set_circuit(circuit);
  header.mutable_header()->set_size_bytes(size_bytes);
  return header;
}

}  // namespace proofmill::e2e
