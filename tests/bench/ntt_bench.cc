// Transforms and sparse products.

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/ntt.h"
#include "kernels/cpu/pointwise.h"
#include "tests/bench/paths.h"
#include "tests/bench/threads.h"
#include "tests/kernels/elements.h"

namespace proofmill::kernels {
namespace {

uint32_t Log2Size(const benchmark::State& state) { return static_cast<uint32_t>(state.range(0)); }

std::vector<Fr> RandomVector(size_t n) {
  Random random(1);
  std::vector<Fr> out(n);
  for (Fr& x : out) x = Elements<Fr>::Uniform(random);
  return out;
}

template <void (NttDomain::*kTransform)(Fr*) const>
void Ntt(benchmark::State& state) {
  const NttDomain domain(Log2Size(state));
  std::vector<Fr> values = RandomVector(domain.size());
  RunInArena(state, [&] { (domain.*kTransform)(values.data()); });
}

void NttTables(benchmark::State& state) {
  RunInArena(state, [&] { benchmark::DoNotOptimize(NttDomain(Log2Size(state))); });
}

void Products(benchmark::State& state) {
  const size_t n = size_t{1} << Log2Size(state);
  const std::vector<Fr> a = RandomVector(n);
  std::vector<Fr> out = a;
  RunInArena(state, [&] { PointwiseMul(a.data(), out.data(), out.data(), n); });
}

// Four terms a row, columns at random.
void Gather(benchmark::State& state) {
  const size_t rows = size_t{1} << Log2Size(state);
  const std::vector<Fr> values = RandomVector(4 * rows);
  std::vector<U256> witness(rows);
  std::vector<uint32_t> columns(4 * rows);
  std::vector<uint64_t> offsets(rows + 1);
  Random random(2);
  for (U256& w : witness) w = RandomBelow<FrParams>(random);
  for (uint32_t& column : columns) column = static_cast<uint32_t>(random() % rows);
  for (size_t i = 0; i <= rows; ++i) offsets[i] = 4 * i;
  std::vector<Fr> out(rows);
  RunInArena(state, [&] {
    GatherRows({offsets.data(), columns.data(), values.data(), rows}, witness.data(), out.data());
  });
}

void Sizes(benchmark::internal::Benchmark* bench) { SizesAndThreads(bench, {12, 16, 18, 20}); }

[[maybe_unused]] const bool registered[] = {
    RegisterForEachArithmetic("Ntt/inverse_to_bit_reversed", Ntt<&NttDomain::InverseToBitReversed>, Sizes),
    RegisterForEachArithmetic("Ntt/scale_to_coset", Ntt<&NttDomain::ScaleToCosetFromBitReversed>, Sizes),
    RegisterForEachArithmetic("Ntt/forward_from_bit_reversed", Ntt<&NttDomain::ForwardFromBitReversed>,
                              Sizes),
    RegisterForEachArithmetic("Ntt/values_to_coset", Ntt<&NttDomain::ValuesToCoset>, Sizes),
    RegisterForEachArithmetic("Ntt/tables", NttTables, Sizes),
    RegisterForEachArithmetic("Pointwise/mul", Products, Sizes),
    RegisterForEachArithmetic("Gather/4_terms_a_row", Gather, Sizes),
};

}  // namespace
}  // namespace proofmill::kernels
