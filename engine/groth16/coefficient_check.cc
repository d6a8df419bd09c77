#include "engine/groth16/coefficient_check.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/host_buffer.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "kernels/cpu/parallel.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

Fr ValueOf(const ZkeyCoefficient& record) {
  U256 value;
  static_assert(sizeof(value) == sizeof(record.value));
  std::memcpy(&value, record.value, sizeof(value));
  return Fr::FromMontgomery(value);
}

// For each wire the sum of its records in `matrix`, each times the factor of its row.
std::vector<Fr> SumByWire(const Zkey& zkey, uint32_t matrix, const HostBuffer<uint64_t>& factors) {
  std::vector<Fr> sums(zkey.header.n_vars);
  for (const ZkeyCoefficient& record : zkey.coefficients) {
    if (record.matrix != matrix) continue;
    const Fr factor = Fr::FromMontgomery(U256{{factors[record.constraint], 0, 0, 0}});
    sums[record.signal] += ValueOf(record) * factor;
  }
  return sums;
}

// The lowest wire where infinity and "no coefficients" differ.
template <typename Point>
std::optional<std::string> Compare(absl::string_view section, absl::string_view matrix,
                                   const HostBuffer<Point>& points, const std::vector<Fr>& sums) {
  for (size_t s = 0; s < points.size(); ++s) {
    const bool infinity = points[s].IsInfinity();
    if (infinity == sums[s].IsZero()) continue;
    return absl::StrCat("section ", section, ", point ", s, ": expected ",
                        infinity ? "a finite point, because wire " : "infinity, because wire ", s, " has ",
                        infinity ? "" : "no ", "coefficients in matrix ", matrix, " of section 4, got ",
                        infinity ? "infinity" : "a finite point");
  }
  return std::nullopt;
}

std::optional<std::string> CompareC(const Zkey& zkey) {
  for (size_t i = 0; i < zkey.c.size(); ++i) {
    const size_t wire = zkey.header.n_public + 1 + i;
    if (!zkey.c[i].IsInfinity() || (zkey.a[wire].IsInfinity() && zkey.b1[wire].IsInfinity())) continue;
    return absl::StrCat("section 8 (C), point ", i, ": expected a finite point, because wire ", wire,
                        " has coefficients in section 4, got infinity");
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::optional<std::string>> FindCoefficientMismatch(const Zkey& zkey) {
  HostBuffer<uint64_t> factors(zkey.header.domain_size);
  PROOFMILL_RETURN_IF_ERROR(FillRandom(factors.data(), factors.size_bytes()));
  std::vector<Fr> a_sums;
  std::vector<Fr> b_sums;
  kernels::ParallelInvoke([&] { a_sums = SumByWire(zkey, 0, factors); },
                          [&] { b_sums = SumByWire(zkey, 1, factors); });
  std::optional<std::string> fault = Compare("5 (A)", "A", zkey.a, a_sums);
  if (!fault.has_value()) fault = Compare("6 (B1)", "B", zkey.b1, b_sums);
  if (!fault.has_value()) fault = Compare("7 (B2)", "B", zkey.b2, b_sums);
  if (!fault.has_value()) fault = CompareC(zkey);
  return fault;
}

}  // namespace proofmill::engine
