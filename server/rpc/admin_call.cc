#include "server/rpc/admin_call.h"

#include <chrono>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"

namespace proofmill::server {
namespace {

constexpr auto kRetryDelay = std::chrono::milliseconds(200);

}  // namespace

AdminCall* AdminCall::Start(ServiceContext& services, Method method, grpc::CallbackServerContext& context,
                            Work work) {
  auto* const call = new AdminCall(services, method, context, std::move(work));
  absl::Status status = call->record_.access();
  if (status.ok() && !services.admin_pool.TryRun("", {.run = [call] { call->Run(); }, .refuse = nullptr})) {
    status = engine::WithRetryDelay(
        engine::WithReason(absl::ResourceExhaustedError("too many calls of operators wait"),
                           engine::ErrorReason::kQueueFull),
        kRetryDelay);
  }
  if (!status.ok()) call->Finish(call->record_.End(status));
  return call;
}

AdminCall::AdminCall(ServiceContext& services, Method method, grpc::CallbackServerContext& context, Work work)
    : record_(services, method, context, Listener::kAdmin), work_(std::move(work)) {}

void AdminCall::Run() {
  absl::Status status;
  try {
    status = work_(record_);
  } catch (const std::exception& e) {
    status = engine::WithReason(absl::ResourceExhaustedError(absl::StrCat("no memory: ", e.what())),
                                engine::ErrorReason::kOutOfMemory);
  }
  Finish(record_.End(status));
}

}  // namespace proofmill::server
