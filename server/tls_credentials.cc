#include "server/tls_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <string>
#include <utility>

#include "engine/base/mutex.h"

namespace proofmill::server {
namespace {

class TlsCredentials final : public grpc::ServerCredentials {
 public:
  TlsCredentials(std::shared_ptr<const TlsStore> store, bool require_client_certificate)
      : store_(std::move(store)),
        credentials_(
            grpc_ssl_server_credentials_create_with_options(
                grpc_ssl_server_credentials_create_options_using_config_fetcher(
                    require_client_certificate ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                               : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
                    &TlsCredentials::Fetch, this)),
            &grpc_server_credentials_release) {}

  // There is one processor of metadata in the service, and it is not gRPC's.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    return grpc_server_add_http2_port(server, address.c_str(), credentials_.get());
  }

  // Called for each new connection, and once when the port is added, which needs an answer then.
  static grpc_ssl_certificate_config_reload_status Fetch(void* self,
                                                         grpc_ssl_server_certificate_config** config) {
    return static_cast<TlsCredentials*>(self)->Fetch(*config);
  }
  grpc_ssl_certificate_config_reload_status Fetch(grpc_ssl_server_certificate_config*& config) {
    const TlsStore::Current current = store_->current();
    engine::MutexLock lock(mu_);
    if (current.generation <= told_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const TlsMaterial& material = *current.material;
    const grpc_ssl_pem_key_cert_pair pair{material.key_pem.c_str(), material.cert_pem.c_str()};
    // gRPC 1.51 insists on roots (it aborts without), also where clients are not asked for a certificate and
    // none is looked at.
    const std::string& roots = material.client_ca_pem.empty() ? material.cert_pem : material.client_ca_pem;
    config = grpc_ssl_server_certificate_config_create(roots.c_str(), &pair, 1);  // copies
    told_ = current.generation;
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<const TlsStore> store_;
  engine::Mutex mu_;
  uint64_t told_ ABSL_GUARDED_BY(mu_) = 0;
  const std::unique_ptr<grpc_server_credentials, decltype(&grpc_server_credentials_release)> credentials_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeTlsCredentials(std::shared_ptr<const TlsStore> store,
                                                            bool require_client_certificate) {
  return std::make_shared<TlsCredentials>(std::move(store), require_client_certificate);
}

}  // namespace proofmill::server
