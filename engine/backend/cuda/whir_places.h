// Where the parts of a WHIR proof lie in the words that a device writes, and how they become a proof.
//
// Everything but the number of openings follows from the parameters, so each part has a fixed place, and the
// whole comes back in one copy. Words are Montgomery forms, counts plain integers.
//
// Thread safety: plain data and pure functions.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_PLACES_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"

namespace proofmill::engine {

// Places are counted in words from the beginning.
struct WhirCommitPlaces {
  size_t root = 0;
  size_t ood_answers = 0;
  uint32_t ood_samples = 0;
};
struct WhirSumcheckPlaces {
  size_t evaluations = 0;
  size_t nonces = 0;
  uint32_t rounds = 0;
  uint32_t pow_bits = 0;
};
struct WhirOpeningPlaces {
  size_t count = 0;  // of distinct positions
  size_t rows = 0;   // each row followed by its path
  uint32_t queries = 0;
  uint32_t width = 0;  // words of a row
  uint32_t log_height = 0;
  bool extension = false;

  size_t words_each() const { return width + 8 * size_t{log_height}; }
};
struct WhirRoundPlaces {
  WhirCommitPlaces commit;
  size_t nonce = 0;
  WhirOpeningPlaces openings;  // of the commitment before
  WhirSumcheckPlaces sumcheck;
};
struct WhirPlaces {
  WhirCommitPlaces commit;
  WhirSumcheckPlaces sumcheck;
  std::vector<WhirRoundPlaces> rounds;
  size_t final_polynomial = 0;
  size_t final_nonce = 0;
  WhirOpeningPlaces final_openings;
  WhirSumcheckPlaces final_sumcheck;
  size_t words = 0;
};

WhirPlaces PlaceWhirProof(const WhirConfig& config);

// The proof in `words`.
WhirProof ReadWhirProof(const WhirConfig& config, const WhirPlaces& places, const uint32_t* words);

// Nonces that were tried for a proof.
uint64_t WhirNoncesTried(const WhirConfig& config, const WhirProof& proof);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_PLACES_H_
