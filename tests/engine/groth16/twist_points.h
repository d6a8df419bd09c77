// Points of the twist outside the subgroup of order r, for tests of subgroup checks.

#ifndef PROOFMILL_TESTS_ENGINE_GROTH16_TWIST_POINTS_H_
#define PROOFMILL_TESTS_ENGINE_GROTH16_TWIST_POINTS_H_

#include "kernels/curve/bn254.h"

namespace proofmill::engine {

// A point whose order is divided by the large factor of the cofactor 2q - r.
kernels::G2Affine PointOutsideSubgroup();
// A point of order 10069.
kernels::G2Affine PointOfOrder10069();
// The generator plus the point above: order 10069 * r. The hardest to notice.
kernels::G2Affine PointOfOrder10069TimesR();

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_GROTH16_TWIST_POINTS_H_
