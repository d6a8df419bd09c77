// CUDA backends whose memory is short, for tests on a GPU.

#ifndef PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_LEAST_MEMORY_H_
#define PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_LEAST_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "engine/backend/cuda/cuda_backend.h"
#include "engine/groth16/proving_key.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {

// The bytes that a refusal of `key` says it needs, with one proof.
inline size_t LeastMemoryFor(const std::shared_ptr<const ProvingKey>& key) {
  auto tiny = MakeCudaBackend({.device = 0, .device_memory_limit = size_t{64} << 10});
  EXPECT_OK(tiny);
  const absl::Status refused = (*tiny)->LoadKey(key).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  const std::string message(refused.message());
  constexpr char kBefore[] = "together ";
  const size_t at = message.find(kBefore);
  EXPECT_NE(at, std::string::npos) << message;
  return at == std::string::npos ? 0 : std::strtoull(message.c_str() + at + sizeof(kBefore) - 1, nullptr, 10);
}

inline std::unique_ptr<CudaBackend> BackendWithLimit(size_t bytes) {
  auto backend = MakeCudaBackend({.device = 0, .device_memory_limit = bytes});
  EXPECT_OK(backend);
  return *std::move(backend);
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_BACKEND_CUDA_LEAST_MEMORY_H_
