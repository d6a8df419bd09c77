#include "engine/groth16/proving_key.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/parallel.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fr;
using kernels::U256;

// A counting sort of the records of one matrix by row; within a row they keep the order of the file.
CsrMatrix Regroup(const HostBuffer<ZkeyCoefficient>& records, uint32_t matrix, size_t rows) {
  CsrMatrix out;
  out.row_offsets = HostBuffer<uint64_t>(rows + 1);
  uint64_t* const offsets = out.row_offsets.data();
  std::fill(offsets, offsets + rows + 1, uint64_t{0});
  for (const ZkeyCoefficient& record : records) {
    if (record.matrix == matrix) ++offsets[record.constraint + 1];
  }
  for (size_t i = 0; i < rows; ++i) offsets[i + 1] += offsets[i];

  out.columns = HostBuffer<uint32_t>(offsets[rows]);
  out.values = HostBuffer<Fr>(offsets[rows]);
  for (const ZkeyCoefficient& record : records) {
    if (record.matrix != matrix) continue;
    const uint64_t place = offsets[record.constraint]++;
    out.columns[place] = record.signal;
    U256 value;
    std::memcpy(&value, record.value, sizeof(value));
    out.values[place] = Fr::FromMontgomery(value);
  }
  // Each offset has moved on to the start of the next row: move them back by one row.
  std::memmove(offsets + 1, offsets, rows * sizeof(uint64_t));
  offsets[0] = 0;
  return out;
}

// Takes the points over; when some are infinity, copies the others. `first_scalar` is the wire of point 0.
template <typename F>
BaseSet<F> WithoutInfinities(HostBuffer<Affine<F>>&& points, uint32_t first_scalar) {
  const size_t finite = static_cast<size_t>(
      std::count_if(points.begin(), points.end(), [](const Affine<F>& p) { return !p.IsInfinity(); }));
  BaseSet<F> out;
  if (finite == points.size()) {
    out.bases = std::move(points);
    out.first_scalar = first_scalar;
    return out;
  }
  const HostBuffer<Affine<F>> all = std::move(points);
  out.bases = HostBuffer<Affine<F>>(finite);
  out.scalar_index = HostBuffer<uint32_t>(finite);
  size_t place = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].IsInfinity()) continue;
    out.bases[place] = all[i];
    out.scalar_index[place] = first_scalar + static_cast<uint32_t>(i);
    ++place;
  }
  return out;
}

size_t BytesOf(const CsrMatrix& m) {
  return m.row_offsets.size_bytes() + m.columns.size_bytes() + m.values.size_bytes();
}
template <typename F>
size_t BytesOf(const BaseSet<F>& set) {
  return set.bases.size_bytes() + set.scalar_index.size_bytes();
}

}  // namespace

std::shared_ptr<const ProvingKey> ProvingKey::FromZkey(Zkey&& zkey, AuditReport report) {
  const std::shared_ptr<ProvingKey> key(new ProvingKey());
  key->header_ = zkey.header;
  key->vk_ = VerificationKeyOf(zkey);
  key->prepared_pairings_.emplace(key->vk_);
  key->checks_.emplace(key->vk_, *key->prepared_pairings_);
  key->hash_ = zkey.hash;
  key->file_size_ = zkey.file_size;
  key->warnings_ = std::move(zkey.warnings);
  key->warnings_.insert(key->warnings_.end(), report.warnings.begin(), report.warnings.end());
  key->audit_ = std::move(report);

  const size_t rows = zkey.header.domain_size;
  kernels::ParallelInvoke([&] { key->a_matrix_ = Regroup(zkey.coefficients, 0, rows); },
                          [&] { key->b_matrix_ = Regroup(zkey.coefficients, 1, rows); });
  zkey.coefficients = {};
  // One after another, so that at most one section is there twice.
  key->a_ = WithoutInfinities(std::move(zkey.a), 0);
  key->b1_ = WithoutInfinities(std::move(zkey.b1), 0);
  key->b2_ = WithoutInfinities(std::move(zkey.b2), 0);
  key->c_ = WithoutInfinities(std::move(zkey.c), zkey.header.n_public + 1);
  key->h_ = WithoutInfinities(std::move(zkey.h), 0);
  return key;
}

void ProvingKey::MakeTables() const {
  std::call_once(tables_made_, [this] {
    tables_memory_.emplace(vk_, header_.delta1);
    tables_.store(&*tables_memory_, std::memory_order_release);
  });
}

size_t ProvingKey::memory_bytes() const {
  return sizeof(*this) + vk_.ic.size() * sizeof(kernels::G1Affine) + BytesOf(a_matrix_) + BytesOf(b_matrix_) +
         BytesOf(a_) + BytesOf(b1_) + BytesOf(b2_) + BytesOf(c_) + BytesOf(h_);
}

}  // namespace proofmill::engine
