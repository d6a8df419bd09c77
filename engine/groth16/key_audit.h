// The key audit: what must hold for a proving key before proofs are made with it.
//
// ReadZkey() has checked structure; here the points are checked. A key that passes makes valid proofs for
// every witness that satisfies its circuit, unless coefficients or points were replaced by other valid ones:
// that is what the self-check of each proof is for.
//
//   1. Every point of sections 2, 3, 5 to 9 has canonical coordinates (below q) and lies on its curve.
//   2. alpha1, beta1, delta1, beta2, gamma2 and delta2 are not infinity. Nor are points of H: an honest
//      set-up gives infinity there with probability 2^-250, a zeroed section always.
//   3. beta2, gamma2 and delta2 are in the subgroup of order r (exact test). The points of section 7 are, by
//      random combinations with an exact test each: see subgroup_check.h; a bad point is missed with
//      probability at most 2^-77.
//   4. e(delta1, G2) = e(G1, delta2), e(beta1, G2) = e(G1, beta2).
//   5. B1 and B2 hold the same scalars: the same random combination of both, compared by a pairing; missed
//      with probability at most 2^-77.
//   6. A, B1 and B2 are at infinity exactly for the wires that have no coefficient in section 4; a wire with
//      infinity in C has infinity in A and B too. (Zeroed or shifted sections.)
//   7. gamma2 differs from delta2. Equal means that nobody contributed to the second phase, and anybody can
//      forge proofs. Judged by the points alone: many good keys carry no contribution records.
//   8. No point of IC is infinity: that public signal would not be bound by the proof.
//   9. The verification key given with the key, if any, equals the one inside it.
//   10. The key was not made by proofmill's own test set-up, whose trapdoor is known.
// 7 and 8 are refused unless allow_unsafe_setup is set, 10 unless allow_insecure_test_keys is; accepted, they
// are warnings.
//
// Thread safety: pure functions; they run on the thread arena of the caller.

#ifndef PROOFMILL_ENGINE_GROTH16_KEY_AUDIT_H_
#define PROOFMILL_ENGINE_GROTH16_KEY_AUDIT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/formats/zkey.h"
#include "engine/groth16/types.h"

namespace proofmill::engine {

// The name in section 10 of keys that engine/groth16/setup.h and synth.h make.
inline constexpr std::string_view kInsecureTestSetupName = "proofmill insecure test setup";

struct AuditOptions {
  // 1 to 6 are known to hold for these very bytes, from an earlier audit.
  bool content_audited = false;
  bool allow_unsafe_setup = false;
  bool allow_insecure_test_keys = false;
  // Compared with the key when not null.
  const VerificationKey* expected_vk = nullptr;
  std::string expected_vk_name = "the expected verification key";  // in errors, usually its path
};

struct AuditReport {
  std::vector<std::string> warnings = {};
  bool gamma_equals_delta = false;
  bool insecure_test_setup = false;
  double seconds = 0;
};

// All checks; the first that fails is the error. Messages name section, index, what was expected and found.
//   INVALID_ARGUMENT     1 to 6: the key is damaged (reason kKeyMalformed).
//   FAILED_PRECONDITION  7, 8, 10 (reason kKeyUnsafe), 9 (reason kKeyMalformed).
//   INTERNAL             no randomness could be had.
absl::StatusOr<AuditReport> AuditZkey(const Zkey& zkey, const AuditOptions& options = {});

// Whether section 10 says that the key comes from proofmill's own test set-up.
bool IsInsecureTestSetup(const Zkey& zkey);

// The verification key inside a proving key.
VerificationKey VerificationKeyOf(const Zkey& zkey);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_KEY_AUDIT_H_
