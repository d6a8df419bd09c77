#include "engine/groth16/wire_polynomials.h"

#include <memory>
#include <vector>

#include "engine/groth16/lagrange.h"
#include "engine/groth16/synth.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;

struct Sums {
  explicit Sums(size_t wires) : a(wires), b(wires), c(wires) {}
  std::vector<Fr> a, b, c;
  uint64_t n_coefs = 0;
};

// Row by row.
Sums Expected(const ConstraintSystem& system, uint32_t log2_domain, const Fr& tau) {
  std::vector<Fr> lagrange(size_t{1} << log2_domain);
  LagrangeAt({.log2_n = log2_domain}, tau, Fr::One(), lagrange.data(), lagrange.size());
  Sums out(system.n_wires());
  ConstraintRow row;
  for (uint32_t i = 0; i < system.n_constraints(); ++i) {
    system.Row(i, row);
    for (const LinearTerm& term : row.a) out.a[term.wire] += term.value * lagrange[i];
    for (const LinearTerm& term : row.b) out.b[term.wire] += term.value * lagrange[i];
    for (const LinearTerm& term : row.c) out.c[term.wire] += term.value * lagrange[i];
    out.n_coefs += row.a.size() + row.b.size();
  }
  for (uint32_t s = 0; s <= system.n_public(); ++s) out.a[s] += lagrange[system.n_constraints() + s];
  out.n_coefs += system.n_public() + 1;
  return out;
}

std::vector<Fr> VectorOf(const HostBuffer<Fr>& values) { return {values.begin(), values.end()}; }

TEST(EvaluateWiresTest, EveryTermCountsOnceWhateverTheBlocks) {
  const Fr tau = Fr::FromUint64(123456789);
  for (const SynthProfile profile : {SynthProfile::kDense, SynthProfile::kBits}) {
    for (const uint32_t log2_domain : {1u, 5u, 13u}) {
      SynthOptions options;
      options.log2_domain = log2_domain;
      options.profile = profile;
      const auto system = SynthConstraints(options);
      ASSERT_OK(system);
      const Sums expected = Expected(**system, log2_domain, tau);
      for (const size_t block_rows : {3u, 3000u, 1u << 16}) {
        double done = -1;
        const auto progress = [&](double now) {
          EXPECT_GT(now, done);
          EXPECT_LT(now, 1);
          done = now;
        };

        const auto wires = EvaluateWires(
            **system,
            {.log2_domain = log2_domain, .tau = tau, .block_rows = block_rows, .progress = progress});

        ASSERT_OK(wires);
        EXPECT_EQ(VectorOf(wires->a), expected.a);
        EXPECT_EQ(VectorOf(wires->b), expected.b);
        EXPECT_EQ(VectorOf(wires->c), expected.c);
        EXPECT_EQ(wires->n_coefs, expected.n_coefs);
      }
    }
  }
}

}  // namespace
}  // namespace proofmill::engine
