#include "tests/engine/groth16/circuits.h"

#include <algorithm>
#include <utility>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/formats/file.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/setup.h"
#include "tests/engine/formats/status_matchers.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

R1csMatrix ToMatrix(const std::vector<Constraint>& constraints, std::vector<Term> Constraint::*terms) {
  std::vector<Term> all;
  R1csMatrix out;
  out.row_offsets = HostBuffer<uint64_t>(constraints.size() + 1);
  out.row_offsets[0] = 0;
  for (size_t i = 0; i < constraints.size(); ++i) {
    const std::vector<Term>& row = constraints[i].*terms;
    all.insert(all.end(), row.begin(), row.end());
    out.row_offsets[i + 1] = all.size();
  }
  out.wires = HostBuffer<uint32_t>(all.size());
  out.values = HostBuffer<Fr>(all.size());
  for (size_t k = 0; k < all.size(); ++k) {
    out.wires[k] = all[k].wire;
    out.values[k] = FieldElement(all[k].factor);
  }
  return out;
}

// Fixed full-size values.
Fr Value(uint64_t i) { return Fr::FromUint64(i + 3).PowVartime(U256{{101, 7, 0, 0}}); }

void Load(const std::string& path, const KeyOptions& options, size_t threads, Bench& bench) {
  auto key = LoadProvingKey(path, options);
  ASSERT_OK(key);
  bench.key = *std::move(key);
  bench.backend = MakeCpuBackend({.threads = threads});
  auto resident = bench.backend->LoadKey(bench.key);
  ASSERT_OK(resident);
  bench.resident = *std::move(resident);
}

}  // namespace

Fr FieldElement(int64_t x) {
  return x < 0 ? -Fr::FromUint64(static_cast<uint64_t>(-x)) : Fr::FromUint64(static_cast<uint64_t>(x));
}

R1cs TestCircuit::ToR1cs() const {
  R1cs out;
  out.n_wires = n_wires;
  out.n_pub_in = n_public;
  out.n_labels = n_wires;
  out.n_constraints = static_cast<uint32_t>(constraints.size());
  out.a = ToMatrix(constraints, &Constraint::a);
  out.b = ToMatrix(constraints, &Constraint::b);
  out.c = ToMatrix(constraints, &Constraint::c);
  return out;
}

std::vector<U256> TestCircuit::PlainWitness() const {
  std::vector<U256> out(witness.size());
  std::transform(witness.begin(), witness.end(), out.begin(), [](const Fr& x) { return x.ToPlain(); });
  return out;
}

TestCircuit DomainTwo() {
  const Fr x = Value(0), y = Value(1);
  return {"DomainTwo", 4, 0, {{{{1, 1}}, {{2, 1}}, {{3, 1}}}}, {Fr::One(), x, y, x * y}};
}

TestCircuit OnlyTheConstantWire() { return {"OnlyTheConstantWire", 1, 0, {}, {Fr::One()}}; }

TestCircuit Squarings(uint32_t constraints) {
  TestCircuit out{"Squarings" + std::to_string(constraints), constraints + 2, 1, {}, {Fr::One(), Value(2)}};
  for (uint32_t i = 0; i < constraints; ++i) {
    out.constraints.push_back({{{i + 1, 1}}, {{i + 1, 1}}, {{i + 2, 1}}});
    out.witness.push_back(out.witness.back().Square());
  }
  return out;
}

TestCircuit AllPublic() {
  const Fr x = Value(3), y = Value(4);
  return {"AllPublic",
          5,
          4,
          {{{{2, 1}}, {{3, 1}}, {{1, 1}}}, {{{2, 1}, {0, 5}}, {{2, 1}}, {{4, 1}}}},
          {Fr::One(), x * y, x, y, (x + FieldElement(5)) * x}};
}

TestCircuit NoConstraint() {
  return {"NoConstraint", 6, 3, {}, {Fr::One(), Value(5), Value(6), Value(7), Value(8), Value(9)}};
}

TestCircuit WiresFarAboveDomain() {
  TestCircuit out{"WiresFarAboveDomain", 300, 1, {}, {Fr::One(), Fr::Zero()}};
  Constraint sums;
  Fr a, b;
  for (uint32_t wire = 2; wire < 300; ++wire) {
    out.witness.push_back(Value(wire));
    std::vector<Term>& terms = wire % 2 == 0 ? sums.a : sums.b;
    terms.push_back({wire, int64_t{wire} - 150});
    (wire % 2 == 0 ? a : b) += FieldElement(int64_t{wire} - 150) * Value(wire);
  }
  sums.c = {{1, 1}};
  out.witness[1] = a * b;
  // Wire 150 has the factor zero.
  out.constraints = {
      sums, {{{5, 1}}, {{0, 1}}, {{5, 1}}}, {{{0, 2}}, {{7, 3}}, {{7, 6}}}, {{}, {{9, 1}}, {}}};
  return out;
}

TestCircuit WiresFarBelowDomain() {
  const Fr x = Value(10);
  TestCircuit out{"WiresFarBelowDomain", 3, 1, {}, {Fr::One(), x, x.Square()}};
  // (ix + 1)(x - i) = i*y + (1 - i*i)*x - i with y = x * x.
  for (int64_t i = 1; i <= 250; ++i) {
    out.constraints.push_back({{{1, i}, {0, 1}}, {{1, 1}, {0, -i}}, {{2, i}, {1, 1 - i * i}, {0, -i}}});
  }
  return out;
}

TestCircuit OddTerms() {
  const Fr x = Value(11), y = Value(12), unused = Value(13);
  // Wire 2 in no constraint; wire 3 with the factor zero; 3x as 4x - x, and y - y.
  return {
      "OddTerms",
      7,
      1,
      {{{{1, 4}, {3, 0}, {1, -1}}, {{5, 1}}, {{6, 1}, {5, 1}, {5, -1}}}, {{{5, 2}, {5, -2}}, {{4, 1}}, {}}},
      {Fr::One(), x, unused, Value(14), Value(15), y, FieldElement(3) * x * y}};
}

std::vector<TestCircuit> EdgeCircuits() {
  return {DomainTwo(), OnlyTheConstantWire(), Squarings(1),          Squarings(2),          Squarings(6),
          AllPublic(), NoConstraint(),        WiresFarAboveDomain(), WiresFarBelowDomain(), OddTerms()};
}

Bytes MakeKeyBytes(const TestCircuit& circuit, uint64_t seed) {
  TestFolder folder;
  const std::string path = folder.Path("circuit.zkey");
  EXPECT_OK(Setup(circuit.ToR1cs(), {.seed = seed, .progress = nullptr}, path));
  return ReadBytes(path);
}

KeyOptions TestKeyOptions() {
  KeyOptions options;
  options.allow_insecure_test_keys = true;
  return options;
}

Bench BenchOf(const TestCircuit& circuit, size_t threads) {
  TestFolder folder;
  const std::string path = folder.Path("circuit.zkey");
  EXPECT_OK(Setup(circuit.ToR1cs(), {.seed = 1, .progress = nullptr}, path));
  Bench bench;
  Load(path, TestKeyOptions(), threads, bench);
  bench.witness = circuit.PlainWitness();
  return bench;
}

Bench BenchOfCase(const std::string& folder, size_t threads) {
  Bench bench;
  Load(folder + "/circuit.zkey", {}, threads, bench);
  const auto file = RandomAccessFile::Open(folder + "/witness.wtns");
  EXPECT_OK(file);
  if (!file.ok()) return bench;
  const auto witness = ReadWtns(**file, 0);
  EXPECT_OK(witness);
  if (witness.ok()) bench.witness.assign(witness->values.begin(), witness->values.end());
  return bench;
}

Bench BenchOfSynth(uint32_t log2_domain, SynthProfile profile, size_t threads) {
  TestFolder folder;
  const SynthOptions options{.log2_domain = log2_domain, .profile = profile, .seed = 3};
  EXPECT_OK(Synthesize(options, folder.Path("circuit.zkey"), folder.Path("witness.wtns")));
  Bench bench;
  Load(folder.Path("circuit.zkey"), TestKeyOptions(), threads, bench);
  const auto witness = SynthWitness(options, 0);
  EXPECT_OK(witness);
  if (witness.ok()) bench.witness.assign(witness->values.begin(), witness->values.end());
  return bench;
}

}  // namespace proofmill::engine
