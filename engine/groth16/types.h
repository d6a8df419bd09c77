// The values that travel between the Groth16 prover, the verifier and the file formats.
//
// Plain values: copy freely. Points are affine, in Montgomery form; nothing here says that they are on their
// curve: parsers and the key audit check that where the bytes come in.

#ifndef PROOFMILL_ENGINE_GROTH16_TYPES_H_
#define PROOFMILL_ENGINE_GROTH16_TYPES_H_

#include <cstddef>
#include <vector>

#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

// [A]1, [B]2, [C]1 of Groth16 (Groth 2016, section 3.2).
struct Groth16Proof {
  kernels::G1Affine a;
  kernels::G2Affine b;
  kernels::G1Affine c;

  friend bool operator==(const Groth16Proof& x, const Groth16Proof& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
  friend bool operator!=(const Groth16Proof& x, const Groth16Proof& y) { return !(x == y); }
};

// What a verifier needs of a key. `ic` has one point for the constant wire and one per public signal.
struct VerificationKey {
  kernels::G1Affine alpha1;
  kernels::G2Affine beta2;
  kernels::G2Affine gamma2;
  kernels::G2Affine delta2;
  std::vector<kernels::G1Affine> ic;

  // REQUIRES: ic is not empty.
  size_t n_public() const { return ic.size() - 1; }

  friend bool operator==(const VerificationKey& x, const VerificationKey& y) {
    return x.alpha1 == y.alpha1 && x.beta2 == y.beta2 && x.gamma2 == y.gamma2 && x.delta2 == y.delta2 &&
           x.ic == y.ic;
  }
  friend bool operator!=(const VerificationKey& x, const VerificationKey& y) { return !(x == y); }
};

// The r and s that make a proof zero-knowledge: uniform, fresh for each proof, secret. Wipe after use.
struct Blinding {
  kernels::Fr r;
  kernels::Fr s;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_TYPES_H_
