// What a WHIR prover is told, what it reports, and the seam between it and a device that proves.
//
// A device computes what the CPU computes: one statement has the same proof everywhere, byte for byte.

#ifndef PROOFMILL_ENGINE_WHIR_DEVICE_H_
#define PROOFMILL_ENGINE_WHIR_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/base/cancellation.h"
#include "engine/base/stage_sink.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"
#include "kernels/field/babybear.h"

namespace proofmill::engine {

// Where the time of a proof went, in seconds.
struct WhirTimes {
  double upload = 0;    // of the polynomial to a device
  double encode = 0;    // Reed-Solomon encoding of all commitments
  double hash = 0;      // their Merkle trees
  double evaluate = 0;  // out-of-domain answers
  double weights = 0;   // constraints combined into the weight of the sumcheck
  double sumcheck = 0;
  double pow = 0;   // searches for nonces
  double open = 0;  // rows and paths
  double total = 0;
  uint64_t nonces = 0;  // tried
};

// The stages of a proof, as metrics and the API name them. `upload`: the polynomial goes to a device.
// `evaluate`: the values that are claimed. `commit`: codes, trees and out-of-domain answers of all
// commitments; `sumcheck`: weights and sums; `pow`: searches for nonces; `open`: rows and paths.
// `self_check`: the proof is verified. A GPU, which runs a round as one piece of work, has `commit` for all
// before round 0 and `open` for all after the last one.
inline constexpr std::string_view kWhirStages[] = {"upload", "evaluate", "commit",    "sumcheck",
                                                   "pow",    "open",     "self_check"};
// "round_0", ...: the whole of a round, which has parts of the others.
std::string WhirRoundStage(size_t round);

struct WhirProveOptions {
  WhirTimes* times = nullptr;
  // Whether `times` gets those of the stages. A device then makes many submissions in place of a few, so that
  // its total is longer; a CPU gives them always.
  bool stage_times = true;
  const CancellationToken* cancellation = nullptr;
  StageSink* stages = nullptr;  // hears the stages named below
  // Nonces that are tried for one proof of work: the whole field, unless a run is to be cut short.
  uint32_t nonce_end = kernels::kBabyBearP;
};

// Proves one set of parameters somewhere else than on the CPU.
//
// Thread safety: Prove() may be called from any thread; calls wait for one another.
class WhirDevice {
 public:
  virtual ~WhirDevice() = default;
  // As WhirProver::Prove(). REQUIRES: the polynomial and the claims have the right lengths.
  //   RESOURCE_EXHAUSTED  memory ran out (reason kOutOfMemory).
  //   INTERNAL            the device failed (reason kDeviceFault).
  virtual absl::StatusOr<WhirProof> Prove(absl::Span<const kernels::BabyBear> polynomial,
                                          absl::Span<const WhirClaim> claims,
                                          const WhirProveOptions& options) = 0;
  // The values of the polynomial at the points of `claims`, one element after the other. REQUIRES, errors: as
  // Prove().
  virtual absl::StatusOr<WhirElements> Evaluate(absl::Span<const kernels::BabyBear> polynomial,
                                                absl::Span<const WhirClaim> claims) = 0;
  // Bytes that are held between proofs, on a GPU those of its memory.
  virtual size_t device_bytes() const = 0;
};

// Makes the device for a set of parameters; empty: proofs are made on the CPU.
using WhirDeviceMaker = std::function<absl::StatusOr<std::unique_ptr<WhirDevice>>(const WhirConfig& config)>;

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_DEVICE_H_
