#include "server/rpc/caller.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>

#include <memory>
#include <string>
#include <vector>

namespace proofmill::server {
namespace {

std::string CertificateName(const grpc::CallbackServerContext& call) {
  const std::shared_ptr<const grpc::AuthContext> auth = call.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return "";
  for (const char* property : {GRPC_PEER_URI_PROPERTY_NAME, GRPC_PEER_DNS_PROPERTY_NAME,
                               GRPC_PEER_EMAIL_PROPERTY_NAME, GRPC_X509_CN_PROPERTY_NAME}) {
    const std::vector<grpc::string_ref> values = auth->FindPropertyValues(property);
    if (!values.empty()) return std::string(values[0].data(), values[0].size());
  }
  return "";
}

}  // namespace

Credentials CredentialsOf(const grpc::CallbackServerContext& call, std::string_view peer) {
  Credentials credentials{.authorization = {}, .certificate_name = CertificateName(call), .peer = peer};
  const auto [begin, end] = call.client_metadata().equal_range(kAuthorizationHeader);
  for (auto it = begin; it != end; ++it)
    credentials.authorization.emplace_back(it->second.data(), it->second.size());
  return credentials;
}

}  // namespace proofmill::server
