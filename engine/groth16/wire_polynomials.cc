#include "engine/groth16/wire_polynomials.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/base/status_macros.h"
#include "engine/groth16/lagrange.h"
#include "engine/groth16/setup_stages.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;

constexpr size_t kFillGrain = size_t{1} << 16;

HostBuffer<Fr> Zeros(size_t n) {
  HostBuffer<Fr> out(n);
  kernels::ParallelFor(0, n, kFillGrain, [&](size_t begin, size_t end) {
    std::fill(out.data() + begin, out.data() + end, Fr::Zero());
  });
  return out;
}

// What some neighbouring constraints add to the wires that they name.
struct Shares {
  std::vector<LinearTerm> a, b, c;
  void Clear() {
    a.clear();
    b.clear();
    c.clear();
  }
};

void AppendScaled(const std::vector<LinearTerm>& terms, const Fr& factor, std::vector<LinearTerm>& out) {
  for (const LinearTerm& term : terms) out.push_back({term.wire, term.value * factor});
}

void AddUp(absl::Span<const Shares> parts, std::vector<LinearTerm> Shares::*which, HostBuffer<Fr>& sums) {
  for (const Shares& part : parts) {
    for (const LinearTerm& share : part.*which) sums[share.wire] += share.value;
  }
}

}  // namespace

absl::StatusOr<WirePolynomials> EvaluateWires(const ConstraintSystem& system, const WireEvaluation& options) {
  const size_t rows = size_t{system.n_constraints()} + system.n_public() + 1;
  HostBuffer<Fr> lagrange(rows);
  LagrangeAt({.log2_n = options.log2_domain}, options.tau, Fr::One(), lagrange.data(), rows);

  const size_t wires = system.n_wires();
  WirePolynomials out{Zeros(wires), Zeros(wires), Zeros(wires)};
  const auto begin = [&](size_t block, size_t blocks) {
    if (options.progress) options.progress(static_cast<double>(block) / static_cast<double>(blocks));
  };
  const auto add = [&](uint32_t i, const ConstraintRow& row, Shares& part) {
    AppendScaled(row.a, lagrange[i], part.a);
    AppendScaled(row.b, lagrange[i], part.b);
    AppendScaled(row.c, lagrange[i], part.c);
  };
  const auto take = [&](absl::Span<const Shares> parts) {
    for (const Shares& part : parts) out.n_coefs += part.a.size() + part.b.size();
    kernels::ParallelInvoke([&] { AddUp(parts, &Shares::a, out.a); },
                            [&] { AddUp(parts, &Shares::b, out.b); },
                            [&] { AddUp(parts, &Shares::c, out.c); });
    return absl::OkStatus();
  };
  PROOFMILL_RETURN_IF_ERROR(ForRows<Shares>(system, options.block_rows, begin, add, take));

  // The extra rows, which bind the public signals to the proof.
  for (size_t s = 0; s <= system.n_public(); ++s) out.a[s] += lagrange[system.n_constraints() + s];
  out.n_coefs += uint64_t{system.n_public()} + 1;
  if (out.n_coefs > std::numeric_limits<uint32_t>::max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("setup: expected at most 2^32 - 1 coefficients in A and B, got ", out.n_coefs));
  }
  return out;
}

}  // namespace proofmill::engine
