// A Groth16 proving key in device memory: the matrices in CSR form, the bases with their resident multiples,
// and the transform tables that circuits of one domain share.
//
// Thread safety: immutable once made. It must end before the CudaCalls it was made with.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_DEVICE_KEY_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_DEVICE_KEY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "engine/backend/cuda/cuda_calls.h"
#include "engine/backend/cuda/cuda_objects.h"
#include "engine/backend/cuda/key_plan.h"
#include "engine/backend/cuda/msm_plan.h"
#include "engine/backend/cuda/pinned_upload.h"
#include "engine/groth16/proving_key.h"
#include "kernels/cuda/gather.h"
#include "kernels/cuda/ntt.h"

namespace proofmill::engine {

// Device bytes that keys take, shared by a backend and what it made.
using KeyBytes = std::shared_ptr<std::atomic<size_t>>;

// Adds bytes to such a count for as long as it lives.
class KeyBytesClaim {
 public:
  KeyBytesClaim() = default;
  KeyBytesClaim(KeyBytes total, size_t bytes) : total_(std::move(total)), bytes_(bytes) {
    total_->fetch_add(bytes_, std::memory_order_relaxed);
  }
  ~KeyBytesClaim() {
    if (total_ != nullptr) total_->fetch_sub(bytes_, std::memory_order_relaxed);
  }
  KeyBytesClaim(KeyBytesClaim&& other) noexcept : total_(std::move(other.total_)), bytes_(other.bytes_) {}
  KeyBytesClaim& operator=(KeyBytesClaim&& other) noexcept {
    std::swap(total_, other.total_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

 private:
  KeyBytes total_;
  size_t bytes_ = 0;
};

// Roots and coset powers of one domain, in device memory.
class DomainTables {
 public:
  // Fills the tables on `stream` and waits for them. REQUIRES: the device is current.
  static absl::StatusOr<std::shared_ptr<const DomainTables>> Make(CudaCalls& calls, uint32_t log2_n,
                                                                  cudaStream_t stream, KeyBytes key_bytes);

  const kernels::NttTables& view() const { return view_; }
  size_t size_bytes() const { return BytesFor(view_.log2_n); }
  static size_t BytesFor(uint32_t log2_n);

 private:
  DomainTables() = default;
  DeviceBuffer<kernels::Fr> roots_, coset_;
  kernels::NttTables view_;
  KeyBytesClaim claim_;
};

// One matrix in device memory.
struct DeviceMatrix {
  DeviceBuffer<uint32_t> row_offsets, columns;
  DeviceBuffer<kernels::Fr> values;

  kernels::DeviceCsr view() const { return {row_offsets.data(), columns.data(), values.data()}; }
  size_t size_bytes() const;
};

// The bases of one MSM with their multiples: multiple t of base i at t * bases + i.
template <typename F>
struct DeviceBases {
  DeviceBuffer<kernels::Affine<F>> tables;
  DeviceBuffer<uint32_t> scalar_index;  // empty: base i has scalar first_scalar + i
  uint32_t first_scalar = 0;

  size_t size_bytes() const {
    return DeviceAllocationBytes(tables.size_bytes()) + DeviceAllocationBytes(scalar_index.size_bytes());
  }
};

class DeviceKey {
 public:
  // Uploads `key` through `upload` and makes the multiples that `plan` asks for; waits until all is there.
  static absl::StatusOr<std::unique_ptr<DeviceKey>> Make(CudaCalls& calls, const ProvingKey& key,
                                                         const KeyPlan& plan,
                                                         std::shared_ptr<const DomainTables> domain,
                                                         PinnedUpload& upload, cudaStream_t stream,
                                                         KeyBytes key_bytes);

  // As the device counts them, without the transform tables.
  size_t size_bytes() const;
  const KeyPlan& plan() const { return plan_; }
  const kernels::NttTables& domain() const { return domain_->view(); }
  kernels::DeviceCsr a_matrix() const { return a_matrix_.view(); }
  kernels::DeviceCsr b_matrix() const { return b_matrix_.view(); }
  const DeviceBuffer<uint32_t>& long_rows() const { return long_rows_; }
  // kA, kB1, kC or kH.
  const DeviceBases<kernels::Fq>& g1(BaseSetId id) const { return g1_[static_cast<size_t>(id)]; }
  const DeviceBases<kernels::Fq2>& b2() const { return b2_; }

 private:
  class Loader;
  DeviceKey(const KeyPlan& plan, std::shared_ptr<const DomainTables> domain)
      : plan_(plan), domain_(std::move(domain)) {}

  const KeyPlan plan_;
  const std::shared_ptr<const DomainTables> domain_;
  DeviceMatrix a_matrix_, b_matrix_;
  DeviceBuffer<uint32_t> long_rows_;
  std::array<DeviceBases<kernels::Fq>, kBaseSetCount> g1_;  // the place of kB2 stays empty
  DeviceBases<kernels::Fq2> b2_;
  KeyBytesClaim claim_;
};

// What `key` takes on a device beside the points of its MSMs. The transform tables are counted as its own,
// although keys of one domain share them.
KeySizes SizesOf(const ProvingKey& key);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_DEVICE_KEY_H_
