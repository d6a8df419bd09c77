#include "engine/backend/cuda/device_key.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/backend/cuda/proof_scratch.h"
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
  PROOFMILL_ASSIGN_OR_RETURN(tables->roots_, DeviceBuffer<Fr>::Make(calls, n));
  PROOFMILL_ASSIGN_OR_RETURN(tables->coset_, DeviceBuffer<Fr>::Make(calls, n));
  tables->view_ = {log2_n, tables->roots_.data(), tables->coset_.data()};
  PROOFMILL_RETURN_IF_ERROR(
      calls.Call("transform tables", [&] { return kernels::LaunchNttTables(tables->view_, stream); }));
  PROOFMILL_RETURN_IF_ERROR(calls.Call("transform tables", [&] { return cudaStreamSynchronize(stream); }));
  tables->claim_ = KeyBytesClaim(std::move(key_bytes), tables->size_bytes());
  return std::shared_ptr<const DomainTables>(std::move(tables));
}

size_t DomainTables::BytesFor(uint32_t log2_n) {
  return 2 * DeviceAllocationBytes((size_t{1} << log2_n) * sizeof(Fr));
}

size_t DeviceMatrix::size_bytes() const {
  return DeviceAllocationBytes(row_offsets.size_bytes()) + DeviceAllocationBytes(columns.size_bytes()) +
         DeviceAllocationBytes(values.size_bytes());
}

namespace {

std::vector<uint32_t> LongRows(const CsrMatrix& a, const CsrMatrix& b) {
  std::vector<uint32_t> rows;
  for (size_t row = 0; row < a.rows(); ++row) {
    const uint64_t terms =
        a.row_offsets[row + 1] - a.row_offsets[row] + b.row_offsets[row + 1] - b.row_offsets[row];
    if (terms > kernels::kGatherShortRowTerms) rows.push_back(static_cast<uint32_t>(row));
  }
  return rows;
}

}  // namespace

// What uploading takes, bound together for the length of one load.
class DeviceKey::Loader {
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
    const std::vector<uint32_t> rows = LongRows(a, b);
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

absl::StatusOr<std::unique_ptr<DeviceKey>> DeviceKey::Make(CudaCalls& calls, const ProvingKey& key,
                                                           const KeyPlan& plan,
                                                           std::shared_ptr<const DomainTables> domain,
                                                           PinnedUpload& upload, cudaStream_t stream,
                                                           KeyBytes key_bytes) {
  std::unique_ptr<DeviceKey> out(new DeviceKey(plan, std::move(domain)));
  Loader loader(calls, upload, stream);
  const auto load = [&]() -> absl::Status {
    PROOFMILL_RETURN_IF_ERROR(loader.UploadMatrix(key.a_matrix(), out->a_matrix_));
    PROOFMILL_RETURN_IF_ERROR(loader.UploadMatrix(key.b_matrix(), out->b_matrix_));
    PROOFMILL_RETURN_IF_ERROR(loader.UploadLongRows(key.a_matrix(), key.b_matrix(), out->long_rows_));
    const std::array<std::pair<BaseSetId, const BaseSet<Fq>*>, 4> g1_sets = {{{BaseSetId::kA, &key.a()},
                                                                              {BaseSetId::kB1, &key.b1()},
                                                                              {BaseSetId::kC, &key.c()},
                                                                              {BaseSetId::kH, &key.h()}}};
    for (const auto& [id, set] : g1_sets) {
      PROOFMILL_RETURN_IF_ERROR(
          loader.UploadBases(*set, plan.msms.shape(id), out->g1_[static_cast<size_t>(id)]));
    }
    return loader.UploadBases(key.b2(), plan.msms.shape(BaseSetId::kB2), out->b2_);
  };
  const absl::Status loaded = load();
  // Waited for even after an error: the stream may still write to what is about to be freed.
  const absl::Status done = loader.Wait();
  PROOFMILL_RETURN_IF_ERROR(loaded);
  PROOFMILL_RETURN_IF_ERROR(done);
  out->claim_ = KeyBytesClaim(std::move(key_bytes), out->size_bytes());
  return out;
}

size_t DeviceKey::size_bytes() const {
  size_t sum = a_matrix_.size_bytes() + b_matrix_.size_bytes() +
               DeviceAllocationBytes(long_rows_.size_bytes()) + b2_.size_bytes();
  for (const DeviceBases<Fq>& set : g1_) sum += set.size_bytes();
  return sum;
}

KeySizes SizesOf(const ProvingKey& key) {
  const auto count = [](const auto& set) { return static_cast<uint32_t>(set.size()); };
  const auto index_bytes = [](const auto& set) {
    return set.index() == nullptr ? 0 : DeviceAllocationBytes(set.size() * sizeof(uint32_t));
  };
  const auto matrix_bytes = [](const CsrMatrix& matrix) {
    return DeviceAllocationBytes(matrix.row_offsets.size() * sizeof(uint32_t)) +
           DeviceAllocationBytes(matrix.entries() * sizeof(uint32_t)) +
           DeviceAllocationBytes(matrix.entries() * sizeof(Fr));
  };
  KeySizes sizes;
  sizes.bases = {count(key.a()), count(key.b1()), count(key.b2()), count(key.c()), count(key.h())};
  sizes.key_bytes =
      matrix_bytes(key.a_matrix()) + matrix_bytes(key.b_matrix()) +
      DeviceAllocationBytes(LongRows(key.a_matrix(), key.b_matrix()).size() * sizeof(uint32_t)) +
      index_bytes(key.a()) + index_bytes(key.b1()) + index_bytes(key.b2()) + index_bytes(key.c()) +
      index_bytes(key.h()) + DomainTables::BytesFor(key.log2_domain());
  sizes.proof_bytes = ProofVectorBytes({key.n_vars(), key.domain_size()});
  return sizes;
}

}  // namespace proofmill::engine
