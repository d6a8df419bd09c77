// The TLS files of the data listener while it runs: read anew when they change, and taken over only when they
// are good.
//
// A rotation changes several files, one after the other, so for a moment a key and a certificate do not
// belong together, or a file is half written. Whatever does not pass LoadTls() is left alone, and the files
// that were good stay in use; connections that are open keep theirs in any case.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_SERVER_TLS_STORE_H_
#define PROOFMILL_SERVER_TLS_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "engine/base/mutex.h"
#include "server/idle_reaper.h"
#include "server/tls.h"

namespace proofmill::server {

class TlsStore final : public Idler {
 public:
  // Told of each change of the files, with no lock held: OK and what is in use now, or why they were refused.
  // The same reason is told once in a row.
  using Listener = std::function<void(const absl::Status&, const TlsMaterial& in_use)>;

  // `first` is what LoadTls() gave for `files`.
  TlsStore(TlsFiles files, TlsMaterial first, Listener listener);

  struct Current {
    std::shared_ptr<const TlsMaterial> material;
    uint64_t generation;  // grows with every change
  };
  Current current() const;

  // Looks at the files.
  void EndIdle(engine::Clock::time_point now) override;

 private:
  const TlsFiles files_;
  const Listener listener_;
  mutable engine::Mutex mu_;
  Current current_ ABSL_GUARDED_BY(mu_);
  std::string refusal_ ABSL_GUARDED_BY(mu_);  // the last one since the files were good
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_TLS_STORE_H_
