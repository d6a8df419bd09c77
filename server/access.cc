#include "server/access.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "engine/base/error_reason.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "server/listen_address.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;

constexpr std::string_view kScheme = "Bearer ";

absl::Status Unauthenticated(absl::string_view message) {
  return engine::WithReason(absl::UnauthenticatedError(message), ErrorReason::kUnauthenticated);
}

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

std::string_view AccessRefusalName(AccessRefusal refusal) {
  switch (refusal) {
    case AccessRefusal::kNoCredential:
      return "no_credential";
    case AccessRefusal::kBadKey:
      return "bad_key";
    case AccessRefusal::kExpiredKey:
      return "expired_key";
    case AccessRefusal::kNotAdmin:
      return "not_admin";
  }
  return "unknown";
}

Access::Access(Keys keys, RefusalListener listener)
    : keys_(std::move(keys)), listener_(std::move(listener)) {}

absl::StatusOr<Caller> Access::Admit(Listener listener, const Credentials& credentials,
                                     absl::Time now) const {
  const std::shared_ptr<const ApiKeys> keys = keys_ ? keys_() : nullptr;
  const bool local_admin = listener == Listener::kAdmin && IsLoopbackPeer(credentials.peer);
  Caller caller{.tenant = credentials.certificate_name, .api_key_id = "", .admin = false};
  if (keys != nullptr && !credentials.authorization.empty()) {
    PROOFMILL_ASSIGN_OR_RETURN(caller, Identify(*keys, credentials, now));
  } else if (caller.tenant.empty() && !local_admin && (keys != nullptr || listener == Listener::kAdmin)) {
    return Refuse(AccessRefusal::kNoCredential);
  }
  if (listener == Listener::kAdmin && !local_admin && !caller.admin) return Refuse(AccessRefusal::kNotAdmin);
  return caller;
}

absl::StatusOr<Caller> Access::Identify(const ApiKeys& keys, const Credentials& credentials,
                                        absl::Time now) const {
  const std::string_view value = credentials.authorization.front();
  if (credentials.authorization.size() != 1 || !absl::StartsWithIgnoreCase(View(value), View(kScheme))) {
    return Refuse(AccessRefusal::kBadKey);
  }
  const ApiKey* const key = keys.Find(value.substr(kScheme.size()));
  engine::WipeThreadTraces();
  if (key == nullptr) return Refuse(AccessRefusal::kBadKey);
  if (now >= key->expiry) return Refuse(AccessRefusal::kExpiredKey);
  return Caller{.tenant = key->tenant, .api_key_id = key->id, .admin = key->admin};
}

absl::Status Access::Refuse(AccessRefusal refusal) const {
  if (listener_) listener_(refusal);
  switch (refusal) {
    case AccessRefusal::kNoCredential:
      return Unauthenticated("expected an API key or a client certificate, got neither");
    case AccessRefusal::kBadKey:
      return Unauthenticated(
          "expected the metadata 'authorization: Bearer KEY' once with a valid API key, "
          "got something else");
    case AccessRefusal::kExpiredKey:
      return Unauthenticated("expected an API key that is valid now, got one that has expired");
    case AccessRefusal::kNotAdmin:
      break;
  }
  return engine::WithReason(
      absl::PermissionDeniedError("expected an API key with the attribute admin, got another credential"),
      ErrorReason::kPermissionDenied);
}

}  // namespace proofmill::server
