// What a device must be able to do for WHIR proofs: hold all that proofs with one set of parameters need.
//
// A set of parameters stands where a proving key stands for Groth16. Its memory comes out of the same budget,
// and may give way for another circuit between proofs in the same way (backend.h).
//
// Thread safety: LoadWhir() and the end of what it gave may come from any thread, while proofs of others run.

#ifndef PROOFMILL_ENGINE_BACKEND_WHIR_BACKEND_H_
#define PROOFMILL_ENGINE_BACKEND_WHIR_BACKEND_H_

#include <memory>

#include "absl/status/statusor.h"
#include "engine/whir/device.h"
#include "engine/whir/parameters.h"

namespace proofmill::engine {

class WhirBackend {
 public:
  virtual ~WhirBackend() = default;

  // Takes all that a proof of `config` will need. The result must end before the backend, and not while it
  // proves.
  //   RESOURCE_EXHAUSTED  it does not fit (reason kOutOfMemory); the message names the bytes.
  //   INTERNAL            the device failed (reason kDeviceFault).
  virtual absl::StatusOr<std::unique_ptr<WhirDevice>> LoadWhir(std::shared_ptr<const WhirConfig> config) = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_WHIR_BACKEND_H_
