#include "engine/backend/cpu/cpu_whir.h"

#include <algorithm>
#include <new>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/host_memory.h"
#include "engine/whir/prover.h"
#include "kernels/cpu/poseidon2_hash.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;

absl::Status OutOfMemory(const std::string& message) {
  return WithReason(absl::ResourceExhaustedError(message), ErrorReason::kOutOfMemory);
}

class CpuWhirDevice final : public WhirDevice {
 public:
  CpuWhirDevice(const WhirConfig& config, kernels::ThreadArena& arena, Mutex& proof_mu)
      : prover_(config), arena_(arena), proof_mu_(proof_mu) {}

  absl::StatusOr<WhirProof> Prove(absl::Span<const BabyBear> polynomial, absl::Span<const WhirClaim> claims,
                                  const WhirProveOptions& options) override {
    absl::StatusOr<WhirProof> proof;
    const absl::Status run = RunInArena([&] { proof = prover_.Prove(polynomial, claims, options); });
    return run.ok() ? std::move(proof) : run;
  }

  absl::StatusOr<WhirElements> Evaluate(absl::Span<const BabyBear> polynomial,
                                        absl::Span<const WhirClaim> claims) override {
    WhirElements values;
    const absl::Status run = RunInArena([&] {
      for (const WhirClaim& claim : claims) {
        const WhirElements value = prover_.Evaluate(polynomial, claim.point);
        values.insert(values.end(), value.begin(), value.end());
      }
    });
    return run.ok() ? absl::StatusOr<WhirElements>(std::move(values)) : run;
  }

  size_t device_bytes() const override { return prover_.memory_bytes(); }

 private:
  template <typename F>
  absl::Status RunInArena(const F& body) {
    MutexLock lock(proof_mu_);
    try {
      arena_.Execute(body);
      return absl::OkStatus();
    } catch (const std::bad_alloc&) {
      return OutOfMemory("cpu backend: memory ran out during a WHIR proof");
    }
  }

  const WhirProver prover_;
  kernels::ThreadArena& arena_;
  Mutex& proof_mu_;
};

}  // namespace

uint64_t CpuWhirProofBytes(const WhirConfig& config) {
  const WhirParameters& p = config.parameters;
  // The polynomial, f after the first fold and w, of elements.
  const uint64_t bytes = (uint64_t{6} * config.degree() + sizeof(BabyBear)) << p.num_variables;
  // Two commitments at a time: rows and digests.
  uint64_t largest = 0, before = 0;
  for (size_t i = 0; i <= config.rounds.size(); ++i) {
    const uint64_t width = (i == 0 ? 1 : uint64_t{config.degree()}) << p.folding.at(i);
    const uint64_t height = uint64_t{1} << config.log_height(i);
    const uint64_t here = height * (width * sizeof(BabyBear) + 2 * sizeof(kernels::Digest));
    largest = std::max(largest, before + here);
    before = here;
  }
  return bytes + largest;
}

absl::StatusOr<std::unique_ptr<WhirDevice>> MakeCpuWhirDevice(const WhirConfig& config,
                                                              kernels::ThreadArena& arena, Mutex& proof_mu) {
  const uint64_t wanted = CpuWhirProofBytes(config);
  const std::optional<uint64_t> available = AvailableHostMemory();
  if (available.has_value() && wanted > *available) {
    return OutOfMemory(absl::StrCat("cpu backend: a WHIR proof of 2^", config.parameters.num_variables,
                                    " values needs ", wanted, " bytes, the system has ", *available));
  }
  try {
    return std::make_unique<CpuWhirDevice>(config, arena, proof_mu);
  } catch (const std::bad_alloc&) {
    return OutOfMemory("cpu backend: there is no memory for the tables of WHIR proofs");
  }
}

}  // namespace proofmill::engine
