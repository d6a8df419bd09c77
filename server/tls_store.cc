#include "server/tls_store.h"

#include <utility>

#include "absl/time/clock.h"

namespace proofmill::server {

TlsStore::TlsStore(TlsFiles files, TlsMaterial first, Listener listener)
    : files_(std::move(files)),
      listener_(std::move(listener)),
      current_{std::make_shared<const TlsMaterial>(std::move(first)), 1} {}

TlsStore::Current TlsStore::current() const {
  engine::MutexLock lock(mu_);
  return current_;
}

void TlsStore::EndIdle(engine::Clock::time_point) {
  absl::StatusOr<TlsMaterial> read = LoadTls(files_, absl::Now());
  const absl::Status status = read.status();
  std::shared_ptr<const TlsMaterial> in_use;
  {
    engine::MutexLock lock(mu_);
    if (!status.ok()) {
      if (refusal_ == status.message()) return;
      refusal_ = std::string(status.message());
    } else {
      refusal_.clear();
      const TlsMaterial& old = *current_.material;
      if (read->cert_pem == old.cert_pem && read->key_pem == old.key_pem &&
          read->client_ca_pem == old.client_ca_pem) {
        return;
      }
      current_ = {std::make_shared<const TlsMaterial>(*std::move(read)), current_.generation + 1};
    }
    in_use = current_.material;
  }
  listener_(status, *in_use);
}

}  // namespace proofmill::server
