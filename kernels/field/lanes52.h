// Several elements of a prime field at once: eight in AVX-512 IFMA (montgomery_ifma.h) or four in AVX2 and
// FMA (montgomery_fma.h), by the flags of the translation unit that includes this. Code over their common
// face is written once, in the namespace PROOFMILL_LANES52 of the one that is chosen.

#ifndef PROOFMILL_KERNELS_FIELD_LANES52_H_
#define PROOFMILL_KERNELS_FIELD_LANES52_H_

#if defined(__AVX512IFMA__)
#define PROOFMILL_LANES52 ifma
#include "kernels/field/montgomery_ifma.h"
#else
#define PROOFMILL_LANES52 fma
#include "kernels/field/montgomery_fma.h"
#endif

#define PROOFMILL_LANES52_INLINE [[gnu::always_inline]] inline

#endif  // PROOFMILL_KERNELS_FIELD_LANES52_H_
