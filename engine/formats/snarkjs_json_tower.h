// The order in which snarkjs writes an element of Fq12. Internal to engine/formats.

#ifndef PROOFMILL_ENGINE_FORMATS_SNARKJS_JSON_TOWER_H_
#define PROOFMILL_ENGINE_FORMATS_SNARKJS_JSON_TOWER_H_

#include <array>

#include "kernels/curve/tower.h"

namespace proofmill::engine {

// Entry [i][j] is the coefficient of w^i v^j.
using TowerCoefficients = std::array<std::array<kernels::Fq2, 3>, 2>;

inline TowerCoefficients TowerCoefficientsOf(const kernels::Fq12& x) {
  return {{{x.c0.c0, x.c0.c1, x.c0.c2}, {x.c1.c0, x.c1.c1, x.c1.c2}}};
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_SNARKJS_JSON_TOWER_H_
