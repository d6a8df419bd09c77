// Those of the chaos whom the data listener does not answer call by call.
//
// Thread safety: as ChaosActor.

#ifndef PROOFMILL_TESTS_E2E_CHAOS_OUTSIDERS_H_
#define PROOFMILL_TESTS_E2E_CHAOS_OUTSIDERS_H_

#include <cstdint>
#include <memory>

#include "clients/cpp/client.h"
#include "tests/e2e/chaos_actors.h"

namespace proofmill::e2e {

// A whole client process with many requests under way, killed at some time.
class KilledClient final : public ChaosActor {
 public:
  KilledClient(const ChaosScene& scene, uint64_t seed);
  void Act() override;

 private:
  TemporaryFolder folder_;
};

// Loads and unloads the circuit `guest`, and points the alias `visitor` at it and away.
class Operator final : public ChaosActor {
 public:
  Operator(const ChaosScene& scene, uint64_t seed);
  void Act() override;

 private:
  const std::unique_ptr<client::Client> admin_;
};

// Sends bytes that are no HTTP/2, or begin as if they were, and is gone.
class Vandal final : public ChaosActor {
 public:
  Vandal(const ChaosScene& scene, uint64_t seed);
  void Act() override;
};

}  // namespace proofmill::e2e

#endif  // PROOFMILL_TESTS_E2E_CHAOS_OUTSIDERS_H_
