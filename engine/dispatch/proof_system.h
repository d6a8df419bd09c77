// The kinds of proof that the engine makes.

#ifndef PROOFMILL_ENGINE_DISPATCH_PROOF_SYSTEM_H_
#define PROOFMILL_ENGINE_DISPATCH_PROOF_SYSTEM_H_

#include <cstddef>
#include <string_view>

namespace proofmill::engine {

// kGroth16: over BN254. kWhir: over BabyBear, strict profile; not hiding.
enum class ProofSystem { kGroth16, kWhir };
inline constexpr ProofSystem kProofSystems[] = {ProofSystem::kGroth16, ProofSystem::kWhir};
inline constexpr size_t kProofSystemCount = 2;

// "groth16", "whir": in metrics.
constexpr std::string_view ProofSystemName(ProofSystem system) {
  return system == ProofSystem::kGroth16 ? "groth16" : "whir";
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_DISPATCH_PROOF_SYSTEM_H_
