#include "server/rpc/prove_batch_call.h"

#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "nlohmann/json.hpp"
#include "server/rpc/convert.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/rpc_status.h"
#include "server/rpc/secret_message.h"

namespace proofmill::server {

using engine::ErrorReason;

namespace {

absl::Status CheckItemId(const std::string& item_id) {
  if (item_id.empty()) return InvalidRequest("item_id: expected a name for the item, got nothing");
  return CheckName(item_id, "item_id");
}

// `item_id` for an answer: whole characters of it, as many as a good one may have bytes.
std::string Cut(const std::string& item_id) {
  if (item_id.size() <= kNameCharsMax) return item_id;
  size_t size = kNameCharsMax;
  while (size > 0 && (static_cast<uint8_t>(item_id[size]) & 0xC0) == 0x80) --size;  // inside a character
  return item_id.substr(0, size);
}

}  // namespace

ProveBatchCall* ProveBatchCall::Start(ServiceContext& services, grpc::CallbackServerContext& context) {
  const auto call = std::make_shared<ProveBatchCall>(services, context);
  call->self_ = call;
  services.metrics.AddStreams(1);
  services.reaper.Add(call);
  if (call->record_.access().ok()) {
    call->StartRead(&call->request_bytes_);
  } else {
    call->Pump();
  }
  return call.get();
}

ProveBatchCall::ProveBatchCall(ServiceContext& services, grpc::CallbackServerContext& context)
    : services_(services),
      context_(context),
      deadline_(CallDeadline(services, context.deadline())),
      record_(services, Method::kProveBatch, context),
      tenant_(record_.caller().tenant) {
  if (!record_.access().ok()) outcome_ = record_.access();
}

void ProveBatchCall::OnReadDone(bool ok) {
  absl::Status status;
  if (ok) {
    try {
      status = HandleMessage();
    } catch (const std::exception& e) {
      status = engine::WithReason(absl::ResourceExhaustedError(absl::StrCat("no memory: ", e.what())),
                                  ErrorReason::kOutOfMemory);
    }
    engine::WipeThreadTraces();
  }
  bool more;
  {
    engine::MutexLock lock(mu_);
    if (!ok) half_closed_ = true;
    if (!status.ok() && !outcome_.has_value()) outcome_ = status;
    more = !half_closed_ && !outcome_.has_value() && TakesMoreLocked();
    reading_ = more;
  }
  if (!status.ok()) OnCancel();  // whatever is on its way is for nobody
  if (more) StartRead(&request_bytes_);
  Pump();
}

absl::Status ProveBatchCall::HandleMessage() {
  static const std::vector<FieldPath> kPaths = InputPaths({v1::ProveBatchRequest::kRequestFieldNumber});
  SecretField witness;
  request_.Clear();  // so that no name is left of the message before
  if (!ParseApart(request_bytes_, kPaths, request_, witness)) {
    // What was parsed until then stays: where the name is good, what is bad is behind it, a text that is not
    // UTF-8 most likely.
    const std::string name = request_.item_id();
    if (!CheckItemId(name).ok()) return InvalidRequest("not a ProveBatchRequest");
    Refuse(name, InvalidRequest("expected a ProveBatchRequest whose texts are UTF-8, got other bytes"));
    return absl::OkStatus();
  }
  const std::string item_id = request_.item_id();
  absl::Status named = CheckItemId(item_id);
  if (named.ok()) {
    engine::MutexLock lock(mu_);
    if (outcome_.has_value()) return absl::OkStatus();
    if (!items_.emplace(item_id, nullptr).second) {
      named =
          InvalidRequest(absl::StrCat("item_id: expected a name that no item on its way has, got ", item_id));
    }
  }
  if (!named.ok()) {
    Refuse(Cut(item_id), named);
    return absl::OkStatus();
  }
  TicketOr ticket = SubmitItem(request_, witness);
  if (!ticket.ok()) {
    Spec spec;
    spec.circuit = request_.request().spec().circuit();
    Complete(item_id, spec, ticket.status());
    return absl::OkStatus();
  }
  bool given_up;
  {
    engine::MutexLock lock(mu_);
    given_up = outcome_.has_value();
    const auto item = items_.find(item_id);
    if (item != items_.end()) item->second = *ticket;  // else it is answered already
  }
  if (given_up) (*ticket)->Cancel();
  return absl::OkStatus();
}

TicketOr ProveBatchCall::SubmitItem(const v1::ProveBatchRequest& message, SecretField& witness) {
  PROOFMILL_ASSIGN_OR_RETURN(Spec spec, ParseSpec(message.request().spec()));
  spec.tenant = tenant_;
  PROOFMILL_ASSIGN_OR_RETURN(const InputPlace input, FindInput(message.request(), witness));
  const auto done = [self = shared_from_this(), item_id = message.item_id(),
                     spec](const absl::StatusOr<engine::ProveResult>& result) {
    self->Complete(item_id, spec, result);
  };
  return SubmitInput(
      services_, input,
      {.spec = spec, .claims = *input.claims, .deadline = deadline_, .done = done, .progress = nullptr});
}

v1::ProveBatchResponse ProveBatchCall::AnswerOf(const std::string& item_id, const Spec& spec,
                                                const absl::StatusOr<engine::ProveResult>& result) {
  nlohmann::ordered_json fields{{"method", MethodName(Method::kProveBatch)},
                                {"code", CodeName(result.status().code())}};
  if (!spec.request_id.empty()) fields["request_id"] = spec.request_id;
  if (engine::IsCircuitId(spec.circuit)) fields["circuit"] = spec.circuit;
  v1::ProveBatchResponse answer;
  answer.set_item_id(item_id);
  if (result.ok()) {
    FillResult(*result, spec.include_snarkjs_json, spec.request_id, *answer.mutable_result());
  } else {
    fields["reason"] = engine::ReasonName(ReasonOf(result.status()));
    FillError(result.status(), *answer.mutable_error());
  }
  services_.metrics.CountBatchItem(CodeName(result.status().code()));
  services_.log.Info("batch_item", fields);
  return answer;
}

void ProveBatchCall::Complete(const std::string& item_id, const Spec& spec,
                              const absl::StatusOr<engine::ProveResult>& result) {
  v1::ProveBatchResponse answer = AnswerOf(item_id, spec, result);
  {
    engine::MutexLock lock(mu_);
    items_.erase(item_id);
    if (!outcome_.has_value()) answers_.push_back(std::move(answer));
  }
  Pump();
}

void ProveBatchCall::Refuse(const std::string& item_id, const absl::Status& error) {
  v1::ProveBatchResponse answer = AnswerOf(item_id, Spec(), error);
  {
    engine::MutexLock lock(mu_);
    if (!outcome_.has_value()) answers_.push_back(std::move(answer));
  }
  Pump();
}

void ProveBatchCall::OnWriteDone(bool ok) {
  services_.sends.End(context_);
  if (!ok) OnCancel();  // the connection is gone
  bool read;
  {
    engine::MutexLock lock(mu_);
    sending_ = false;
    read = !reading_ && !half_closed_ && !outcome_.has_value() && TakesMoreLocked();
    if (read) reading_ = true;
  }
  if (read) StartRead(&request_bytes_);
  Pump();
}

void ProveBatchCall::OnCancel() {
  std::vector<std::shared_ptr<engine::Ticket>> tickets;
  {
    engine::MutexLock lock(mu_);
    if (!outcome_.has_value()) outcome_ = absl::CancelledError("the client went away");
    answers_.clear();
    for (const auto& [item_id, ticket] : items_) {
      if (ticket != nullptr) tickets.push_back(ticket);
    }
  }
  for (const auto& ticket : tickets) ticket->Cancel();
  Pump();
}

void ProveBatchCall::OnDone() {
  services_.sends.End(context_);
  services_.metrics.AddStreams(-1);
  const auto self = std::move(self_);  // the last reference may be this one
}

void ProveBatchCall::EndIdle(engine::Clock::time_point now) {
  const bool draining = services_.draining;
  if (!draining && now < deadline_) return;
  {
    engine::MutexLock lock(mu_);
    if (!items_.empty() || !answers_.empty() || outcome_.has_value()) return;
    outcome_ = draining ? engine::WithReason(absl::UnavailableError("the service is shutting down"),
                                             ErrorReason::kDraining)
                        : engine::WithReason(absl::DeadlineExceededError("the deadline of the stream passed"),
                                             ErrorReason::kDeadlineExpired);
  }
  Pump();
}

bool ProveBatchCall::TakesMoreLocked() const {
  return items_.size() + answers_.size() < services_.limits.batch_items_max &&
         services_.engine.clock().Now() < deadline_;
}

void ProveBatchCall::Pump() {
  // After Finish() OnDone() may come at once, on another thread.
  const auto self = shared_from_this();
  std::optional<v1::ProveBatchResponse> answer;
  absl::Status outcome;
  {
    engine::MutexLock lock(mu_);
    if (sending_ || finished_) return;
    if (!outcome_.has_value() && !answers_.empty()) {
      answer = std::move(answers_.front());
      answers_.pop_front();
    } else if (outcome_.has_value()) {
      outcome = *outcome_;
    } else if (!half_closed_ || !items_.empty()) {
      return;
    }
    sending_ = true;
    finished_ = !answer.has_value();
  }
  services_.sends.Begin(context_);
  if (answer.has_value()) {
    response_bytes_ = Serialize(*answer);
    StartWrite(&response_bytes_);
  } else {
    Finish(record_.End(outcome));
  }
}

}  // namespace proofmill::server
