// A backend that makes bad proofs on demand, for tests of the self-check and of the canary rule.

#ifndef PROOFMILL_TESTS_ENGINE_GROTH16_FAULTY_BACKEND_H_
#define PROOFMILL_TESTS_ENGINE_GROTH16_FAULTY_BACKEND_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/backend/backend.h"

namespace proofmill::engine {

// The cpu backend behind a fault. Keys that it made resident work with it alone.
class FaultyBackend : public Groth16Backend {
 public:
  enum class Fault { kNone, kWrongSum, kError, kLost };  // kLost: kError, and the device is lost
  // `fault` is asked before each proof, with its number from 0.
  explicit FaultyBackend(std::function<Fault(int proof)> fault);

  int proofs() const { return proofs_; }
  const std::string& name() const override { return name_; }
  BackendKind kind() const override { return BackendKind::kCpu; }
  bool lost() const override { return lost_; }
  absl::StatusOr<std::unique_ptr<ResidentKey>> LoadKey(std::shared_ptr<const ProvingKey> key) override;
  absl::StatusOr<Groth16Sums> ComputeSums(ResidentKey& key, absl::Span<const kernels::U256> witness,
                                          const ComputeContext& context) override;

 private:
  const std::string name_ = "faulty";
  const std::function<Fault(int)> fault_;
  const std::unique_ptr<Groth16Backend> cpu_;
  int proofs_ = 0;
  bool lost_ = false;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_GROTH16_FAULTY_BACKEND_H_
