// What tenants may have: a text file of their weights and quotas.
//
//   # TENANT                          any of weight, jobs_max, witness_bytes_max
//   spiffe://example.org/rollup       weight=4 jobs_max=128 witness_bytes_max=1GiB
//   wallet                            jobs_max=16
//   *                                 weight=0.5
//
// A tenant is who an API key names (api_keys.h), or a client certificate (rpc/caller.h). The line * is for
// all who have no line of their own, those without a name among them. What a line does not say is without a
// limit of its own, with the weight 1.
//
// Thread safety: immutable once made.

#ifndef PROOFMILL_SERVER_TENANT_POLICIES_H_
#define PROOFMILL_SERVER_TENANT_POLICIES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "engine/dispatch/engine.h"

namespace proofmill::server {

class TenantPolicies {
 public:
  // Reads the text of such a file, which errors call `name`.
  //   INVALID_ARGUMENT  lines that are no policies, or a tenant twice: up to ten mistakes with line numbers;
  //   or an
  //                     end without a line end, as half a file has it.
  static absl::StatusOr<TenantPolicies> Parse(std::string_view name, std::string_view text);

  engine::TenantPolicy Of(std::string_view tenant) const;

  size_t size() const { return policies_.size(); }

 private:
  std::map<std::string, engine::TenantPolicy, std::less<>> policies_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_TENANT_POLICIES_H_
