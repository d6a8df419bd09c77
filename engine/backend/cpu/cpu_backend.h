// The backend that runs on the host's cores.
//
// A proof is one task graph: the chain gather -> NTT -> MSM H beside the MSMs B2, A, B1 and C, on a thread
// arena of the backend's own, so that no core idles at a stage border. Results do not depend on the number of
// threads.
//
// Scratch (the vectors a, b and c, 96 bytes a domain point) belongs to the backend and is as large as its
// largest key asked for: LoadKey() grows it, waiting for a proof that runs; it never shrinks. It is wiped
// after each proof.
//
// Thread safety: as Groth16Backend.

#ifndef PROOFMILL_ENGINE_BACKEND_CPU_CPU_BACKEND_H_
#define PROOFMILL_ENGINE_BACKEND_CPU_CPU_BACKEND_H_

#include <cstddef>
#include <memory>
#include <string>

#include "engine/backend/backend.h"

namespace proofmill::engine {

struct CpuBackendOptions {
  size_t threads = 0;  // 0: one per hardware thread
  std::string name = "cpu";
};

std::unique_ptr<Groth16Backend> MakeCpuBackend(const CpuBackendOptions& options = {});

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CPU_CPU_BACKEND_H_
