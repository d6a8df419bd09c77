// The device memory of proofs of one set of parameters: one piece, cut when it is made.
//
// Thread safety: as a plain object.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_MEMORY_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_MEMORY_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/whir_places.h"
#include "engine/whir/parameters.h"
#include "kernels/cuda/sumcheck.h"
#include "kernels/cuda/transcript.h"

namespace proofmill::engine {

// Eq terms whose tables are held at a time: more claims are added in turn.
inline constexpr size_t kWhirEqTermsMax = 32;

// Pointers into device memory. The host writes the polynomial, and sponge and points and values of the
// claims, which follow one another.
struct WhirViews {
  kernels::DeviceSponge* sponge;
  uint32_t* points;  // of claims, then of out-of-domain samples; rounds use it again
  uint32_t* values;  // of the terms of a combination
  uint32_t* coefficients;
  uint32_t* polynomial;
  kernels::DevicePlanes f, w;
  uint32_t* matrices[2];  // commitments take turns
  uint32_t* trees[2];
  uint32_t* twiddles;
  uint32_t* tables;
  uint32_t* partials;
  uint32_t* sum;
  uint32_t* challenges;  // of the last folds
  kernels::NonceResult* nonce;
  uint32_t* arrived;  // of kernels whose last block goes on
  uint32_t* positions;
  uint32_t* draw_scratch;
  uint32_t* proof;  // as WhirPlaces says
};

class WhirMemory {
 public:
  // For proofs of up to `claims` claims. Everything but the twiddles is zero.
  //   RESOURCE_EXHAUSTED, INTERNAL  as CudaStatus().
  static absl::StatusOr<WhirMemory> Make(CudaCalls& calls, const WhirConfig& config, const WhirPlaces& places,
                                         size_t claims, cudaStream_t stream);
  // Bytes of device memory that Make() asks for.
  static size_t BytesFor(const WhirConfig& config, const WhirPlaces& places, size_t claims);
  WhirMemory() = default;

  const WhirViews& views() const { return views_; }
  size_t claims() const { return claims_; }
  // From the sponge to the last of `claims` values.
  size_t head_words(size_t claims) const;
  size_t size_bytes() const { return memory_.size_bytes(); }
  // Overwrites what a proof left: all is zero before the next one.
  absl::Status Wipe(CudaCalls& calls, cudaStream_t stream) const;

 private:
  DeviceBuffer<uint32_t> memory_;
  size_t wiped_words_ = 0;  // twiddles follow
  WhirViews views_{};
  size_t claims_ = 0;
  size_t degree_ = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_WHIR_MEMORY_H_
