// Makes WHIR proofs on the CPU, or on a device that is given. Nonces are the smallest that pass, so one
// statement has one proof, whatever the device, the number of threads and the arithmetic.
//
// A proof is NOT hiding: it reveals values of the polynomial (parameters.h). Working memory that holds the
// polynomial or its encodings, here and on a device, and page-locked memory on the way there, is wiped after
// its use. A prover keeps the memory of as many proofs as it made at once.
//
// Thread safety: Prove() may be called from several threads at once; each call uses all threads of its
// current arena.

#ifndef PROOFMILL_ENGINE_WHIR_PROVER_H_
#define PROOFMILL_ENGINE_WHIR_PROVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/whir/buffer_pool.h"
#include "engine/whir/device.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"
#include "kernels/cpu/babybear_ntt.h"

namespace proofmill::engine {

// The value at `point`, an element of degree 4 or 5, of the multilinear polynomial with these values. Uses
// all threads of the current arena. REQUIRES: polynomial and point have the right lengths.
WhirElements EvaluateWhir(absl::Span<const kernels::BabyBear> polynomial, const WhirElements& point,
                          uint32_t degree);

class WhirProver {
 public:
  using Options = WhirProveOptions;

  // Makes the tables of the transform. With a device, made for these parameters, proofs are made there and no
  // tables here.
  explicit WhirProver(WhirConfig config, std::unique_ptr<WhirDevice> device = nullptr);

  const WhirConfig& config() const { return config_; }

  // Proves `claims` of the multilinear polynomial with these values. A claim that does not hold gives a proof
  // that does not verify. In strict, use ProveWhirBytes(), which checks its result.
  //   INVALID_ARGUMENT    the polynomial or the claims have a wrong length.
  //   ABORTED             no nonce below nonce_end passes some proof of work: there is no such proof.
  //   CANCELLED, DEADLINE_EXCEEDED  from the token of `options`.
  //   RESOURCE_EXHAUSTED, INTERNAL  from the device.
  absl::StatusOr<WhirProof> Prove(absl::Span<const kernels::BabyBear> polynomial,
                                  absl::Span<const WhirClaim> claims, const Options& options) const;

  // The polynomial's value at `point`, an element. REQUIRES: the polynomial and the point have the right
  // lengths.
  WhirElements Evaluate(absl::Span<const kernels::BabyBear> polynomial, const WhirElements& point) const;

  // What is held between proofs: tables, and the memory of proofs made so far.
  size_t memory_bytes() const;

 private:
  const WhirConfig config_;
  const std::unique_ptr<WhirDevice> device_;
  const kernels::BabyBearNtt ntt_;
  mutable BufferPool pool_;
};

// Proves in the strict profile, checks the proof and encodes it.
//   INVALID_ARGUMENT  besides Prove()'s: a claim does not hold.
//   other codes       Prove()'s.
// REQUIRES: prover.config() is strict.
absl::StatusOr<std::vector<uint8_t>> ProveWhirBytes(const WhirProver& prover,
                                                    absl::Span<const kernels::BabyBear> polynomial,
                                                    absl::Span<const WhirClaim> claims,
                                                    const WhirProver::Options& options);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_PROVER_H_
