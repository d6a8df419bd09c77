#include "server/rpc/call_record.h"

#include <array>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/base/secure_memory.h"
#include "server/rpc/caller.h"
#include "server/rpc/rpc_status.h"
#include "server/trace_context.h"

namespace proofmill::server {
namespace {

double Milliseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

std::string RandomRequestId() {
  std::array<char, 12> random{};
  // The id is only for finding the call in logs, so it may be poor if the kernel gives no randomness.
  engine::FillRandom(random.data(), random.size()).IgnoreError();
  return absl::StrCat("r-", absl::BytesToHexString(absl::string_view(random.data(), random.size())));
}

// A view into the metadata of the call, which live as long as it does.
std::optional<std::string_view> TraceIdOf(const grpc::CallbackServerContext& call) {
  const auto header = call.client_metadata().find(kTraceparentHeader);
  if (header == call.client_metadata().end()) return std::nullopt;
  return ParseTraceId({header->second.data(), header->second.size()});
}

}  // namespace

CallRecord::CallRecord(ServiceContext& services, Method method, grpc::CallbackServerContext& call,
                       Listener listener)
    : services_(services),
      method_(method),
      listener_(listener),
      call_(call),
      peer_(call.peer()),
      caller_(services.access.Admit(listener, CredentialsOf(call, peer_), absl::Now())),
      start_(std::chrono::steady_clock::now()) {
  services_.open_calls.Add();
  if (listener_ == Listener::kAdmin) SetRequestId("");
}

const Caller& CallRecord::caller() const {
  static const Caller& nobody = *new Caller;
  return caller_.ok() ? *caller_ : nobody;
}

void CallRecord::SetCircuit(std::string_view circuit) {
  const engine::CircuitPtr found = services_.engine.circuits().Find(circuit);
  circuit_ = found != nullptr ? found->id : std::string(circuit);
}

void CallRecord::SetRequestId(std::string_view request_id) {
  request_id_ = request_id.empty() ? RandomRequestId() : std::string(request_id);
}

void CallRecord::SetResult(const engine::ProveResult& result) {
  circuit_ = result.circuit;
  device_ = result.device;
  queue_wait_ = result.queue_wait;
}

void CallRecord::AddArgument(std::string_view name, const nlohmann::ordered_json& value) {
  arguments_[std::string(name)] = value;
}

grpc::Status CallRecord::End(const absl::Status& status) {
  grpc::Status answer = EndBeforeLog(status);
  Log();
  return answer;
}

grpc::Status CallRecord::EndBeforeLog(const absl::Status& status) {
  const auto duration = std::chrono::steady_clock::now() - start_;
  services_.metrics.CountCall(method_, circuit_, CodeName(status.code()), duration);
  ended_ = {status, duration};
  if (const auto trace = TraceIdOf(call_)) call_.AddTrailingMetadata(kTraceIdTrailer, std::string(*trace));
  if (const auto pushback = PushbackOf(status)) call_.AddTrailingMetadata(kPushbackTrailer, *pushback);
  return ToGrpc(status, request_id_);
}

void CallRecord::Log() const {
  const absl::Status& status = ended_->status;
  nlohmann::ordered_json fields = Describe();
  if (!circuit_.empty()) fields["circuit"] = circuit_;
  if (witness_bytes_ != 0) fields["witness_bytes"] = witness_bytes_;
  if (!device_.empty()) {
    fields["device"] = device_;
    fields["queue_wait_ms"] = Milliseconds(queue_wait_);
  }
  if (absl::IsInternal(status) || absl::IsUnknown(status)) {
    services_.log.Error("rpc", fields);
  } else {
    services_.log.Info("rpc", fields);
  }
  if (listener_ == Listener::kAdmin) Audit();
}

nlohmann::ordered_json CallRecord::Describe() const {
  const absl::Status& status = ended_->status;
  nlohmann::ordered_json fields;
  fields["method"] = MethodName(method_);
  fields["code"] = CodeName(status.code());
  if (!status.ok()) {
    fields["reason"] = engine::ReasonName(ReasonOf(status));
    fields["message"] = std::string(status.message());
  }
  if (!request_id_.empty()) fields["request_id"] = request_id_;
  if (const auto trace = TraceIdOf(call_)) fields["trace_id"] = *trace;
  fields["duration_ms"] = Milliseconds(ended_->duration);
  if (!caller().tenant.empty()) fields["tenant"] = caller().tenant;
  if (!caller().api_key_id.empty()) fields["api_key"] = caller().api_key_id;
  fields["peer"] = peer_;
  return fields;
}

void CallRecord::Audit() const {
  nlohmann::ordered_json fields = Describe();
  nlohmann::ordered_json arguments = nlohmann::ordered_json::object();
  if (!circuit_.empty()) arguments["circuit"] = circuit_;
  if (arguments_.is_object()) arguments.update(arguments_);
  fields["admin"] = caller().admin;
  fields["arguments"] = std::move(arguments);
  services_.audit.Write(fields);
}

}  // namespace proofmill::server
