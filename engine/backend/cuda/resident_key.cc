#include "engine/backend/cuda/resident_key.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/base/status_macros.h"
#include "kernels/cuda/msm.h"

namespace proofmill::engine {

using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;

absl::StatusOr<std::shared_ptr<const DomainTables>> DomainTables::Make(CudaCalls& calls, uint32_t log2_n,
                                                                       cudaStream_t stream,
                                                                       KeyBytes key_bytes) {
  std::shared_ptr<DomainTables> tables(new DomainTables());
  const size_t n = size_t{1} << log2_n;
  PROOFMILL_ASSIGN_OR_RETURN(tables->roots_, DeviceBuffer<Fr>::Make(calls, std::max<size_t>(n / 2, 1)));
  PROOFMILL_ASSIGN_OR_RETURN(tables->coset_, DeviceBuffer<Fr>::Make(calls, n));
  tables->view_ = {log2_n, tables->roots_.data(), tables->coset_.data()};
  PROOFMILL_RETURN_IF_ERROR(
      calls.Call("transform tables", [&] { return kernels::LaunchNttTables(tables->view_, stream); }));
  PROOFMILL_RETURN_IF_ERROR(calls.Call("transform tables", [&] { return cudaStreamSynchronize(stream); }));
  tables->claim_ = KeyBytesClaim(std::move(key_bytes), tables->size_bytes());
  return std::shared_ptr<const DomainTables>(std::move(tables));
}

BaseCounts CountBases(const ProvingKey& key) {
  const auto count = [](const auto& set) { return static_cast<uint32_t>(set.size()); };
  return {count(key.a()), count(key.b1()), count(key.b2()), count(key.c()), count(key.h())};
}

// What uploading takes, bound together for the length of one load.
class CudaResidentKey::Loader {
 public:
  Loader(CudaCalls& calls, PinnedUpload& upload, cudaStream_t stream)
      : calls_(calls), upload_(upload), stream_(stream) {}

  template <typename T>
  absl::Status Upload(DeviceBuffer<T>& target, const T* source, size_t count) {
    PROOFMILL_ASSIGN_OR_RETURN(target, DeviceBuffer<T>::Make(calls_, count));
    return upload_.Upload(target.data(), source, count * sizeof(T), stream_);
  }

  absl::Status UploadMatrix(const CsrMatrix& matrix, DeviceMatrix& out) {
    // The number of coefficients of a key fits 32 bits.
    const std::vector<uint32_t> row_offsets(matrix.row_offsets.begin(), matrix.row_offsets.end());
    PROOFMILL_RETURN_IF_ERROR(Upload(out.row_offsets, row_offsets.data(), row_offsets.size()));
    PROOFMILL_RETURN_IF_ERROR(Upload(out.columns, matrix.columns.data(), matrix.columns.size()));
    return Upload(out.values, matrix.values.data(), matrix.values.size());
  }

  absl::Status UploadLongRows(const CsrMatrix& a, const CsrMatrix& b, DeviceBuffer<uint32_t>& out) {
    std::vector<uint32_t> rows;
    for (size_t row = 0; row < a.rows(); ++row) {
      const uint64_t terms =
          a.row_offsets[row + 1] - a.row_offsets[row] + b.row_offsets[row + 1] - b.row_offsets[row];
      if (terms > kernels::kGatherShortRowTerms) rows.push_back(static_cast<uint32_t>(row));
    }
    return Upload(out, rows.data(), rows.size());
  }

  template <typename F>
  absl::Status UploadBases(const BaseSet<F>& set, const kernels::MsmShape& shape, DeviceBases<F>& out) {
    out.first_scalar = set.first_scalar;
    if (set.size() == 0) return absl::OkStatus();
    const size_t n = set.size();
    if (set.index() != nullptr) PROOFMILL_RETURN_IF_ERROR(Upload(out.scalar_index, set.index(), n));
    PROOFMILL_ASSIGN_OR_RETURN(out.tables, DeviceBuffer<kernels::Affine<F>>::Make(calls_, n * shape.tables));
    PROOFMILL_RETURN_IF_ERROR(
        upload_.Upload(out.tables.data(), set.bases.data(), n * sizeof(kernels::Affine<F>), stream_));
    const uint32_t doublings = shape.window_bits * shape.sets();
    for (uint32_t t = 1; t < shape.tables; ++t) {
      kernels::Affine<F>* next = out.tables.data() + size_t{t} * n;
      PROOFMILL_RETURN_IF_ERROR(calls_.Call("multiples of the bases", [&] {
        return kernels::LaunchMsmTableStep<F>(next - n, next, static_cast<uint32_t>(n), doublings, stream_);
      }));
    }
    return absl::OkStatus();
  }

  absl::Status Wait() {
    return calls_.Call("key upload", [&] { return cudaStreamSynchronize(stream_); });
  }

 private:
  CudaCalls& calls_;
  PinnedUpload& upload_;
  const cudaStream_t stream_;
};

absl::StatusOr<std::unique_ptr<CudaResidentKey>> CudaResidentKey::Make(
    CudaCalls& calls, const std::shared_ptr<const ProvingKey>& key, const MsmPlan& plan,
    std::shared_ptr<const DomainTables> domain, PinnedUpload& upload, cudaStream_t stream,
    KeyBytes key_bytes) {
  std::unique_ptr<CudaResidentKey> out(new CudaResidentKey(key, plan, std::move(domain)));
  Loader loader(calls, upload, stream);
  PROOFMILL_RETURN_IF_ERROR(loader.UploadMatrix(key->a_matrix(), out->a_matrix_));
  PROOFMILL_RETURN_IF_ERROR(loader.UploadMatrix(key->b_matrix(), out->b_matrix_));
  PROOFMILL_RETURN_IF_ERROR(loader.UploadLongRows(key->a_matrix(), key->b_matrix(), out->long_rows_));
  const std::array<std::pair<BaseSetId, const BaseSet<Fq>*>, 4> g1_sets = {{{BaseSetId::kA, &key->a()},
                                                                            {BaseSetId::kB1, &key->b1()},
                                                                            {BaseSetId::kC, &key->c()},
                                                                            {BaseSetId::kH, &key->h()}}};
  for (const auto& [id, set] : g1_sets) {
    PROOFMILL_RETURN_IF_ERROR(loader.UploadBases(*set, plan.shape(id), out->g1_[static_cast<size_t>(id)]));
  }
  PROOFMILL_RETURN_IF_ERROR(loader.UploadBases(key->b2(), plan.shape(BaseSetId::kB2), out->b2_));
  PROOFMILL_RETURN_IF_ERROR(loader.Wait());
  out->claim_ = KeyBytesClaim(std::move(key_bytes), out->device_bytes());
  return out;
}

size_t CudaResidentKey::device_bytes() const {
  size_t sum = a_matrix_.size_bytes() + b_matrix_.size_bytes() + long_rows_.size_bytes() + b2_.size_bytes();
  for (const DeviceBases<Fq>& set : g1_) sum += set.size_bytes();
  return sum;
}

size_t CudaResidentKey::MatrixBytes(const ProvingKey& key) {
  const size_t entries = key.a_matrix().entries() + key.b_matrix().entries();
  size_t indices = 0;
  for (const uint32_t count : CountBases(key)) indices += count;
  return entries * (sizeof(uint32_t) + sizeof(Fr)) + 3 * sizeof(uint32_t) * (size_t{key.domain_size()} + 1) +
         indices * sizeof(uint32_t);
}

}  // namespace proofmill::engine
