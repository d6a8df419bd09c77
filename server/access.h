// Who makes a call, and whether it is let in.
//
// A caller shows an API key, a client certificate, both, or nothing. A key that is shown must be good, and
// says who the caller is, also where there is a certificate: a gateway has one of its own and hands on the
// keys of those behind it. Without a key the certificate says it. Without either a call is let in only where
// no keys are configured; all such callers are one tenant without a name.
//
// On the admin listener a caller must show a key with the attribute `admin`, unless its peer is on this
// machine.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_SERVER_ACCESS_H_
#define PROOFMILL_SERVER_ACCESS_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/api_keys.h"

namespace proofmill::server {

// The two listeners of calls (grpc_server.h).
enum class Listener { kData, kAdmin };

struct Caller {
  std::string tenant;      // never taken from a field of a request; empty: nobody is known by name
  std::string api_key_id;  // empty: no key was shown
  bool admin = false;      // the key has the attribute
};

// What a call shows of its caller. Views that live as long as the call.
struct Credentials {
  std::vector<std::string_view> authorization;  // the values of the metadata of that name
  std::string certificate_name;                 // that the client's certificate names; empty: there is none
  std::string_view peer;                        // as gRPC names it
};

// Why a call was not let in: the label `why` of a metric.
enum class AccessRefusal { kNoCredential, kBadKey, kExpiredKey, kNotAdmin };
std::string_view AccessRefusalName(AccessRefusal refusal);

class Access {
 public:
  // Gives the keys that count now; null where none are configured.
  using Keys = std::function<std::shared_ptr<const ApiKeys>()>;
  // Told of each refusal.
  using RefusalListener = std::function<void(AccessRefusal)>;

  explicit Access(Keys keys = nullptr, RefusalListener listener = nullptr);

  //   UNAUTHENTICATED kUnauthenticated      no credential where one is needed, or one that is not good.
  //   PERMISSION_DENIED kPermissionDenied   a good one that does not open the admin listener.
  absl::StatusOr<Caller> Admit(Listener listener, const Credentials& credentials, absl::Time now) const;

 private:
  absl::StatusOr<Caller> Identify(const ApiKeys& keys, const Credentials& credentials, absl::Time now) const;
  absl::Status Refuse(AccessRefusal refusal) const;

  const Keys keys_;
  const RefusalListener listener_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_ACCESS_H_
