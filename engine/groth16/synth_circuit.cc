#include "engine/groth16/synth_circuit.h"

#include "engine/base/host_buffer.h"
#include "engine/groth16/seed_stream.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

constexpr uint32_t kPrivateInputs = 2;
constexpr uint32_t kPeriod = 20;        // rows of the bits profile
constexpr uint32_t kDenseSpacing = 10;  // of dense rows in it: i % 10 == 9
constexpr uint32_t kXorsPerPeriod = 8;
constexpr uint32_t kXorsPerCovered = 6;  // one exclusive or in six is an operand in B

// Purposes of the random words of a row.
enum Purpose : uint64_t { kTermA, kTermB, kHasTermB, kOperandX, kOperandY, kFreeBitValue, kCoefficients };

Fr Evaluate(const std::vector<LinearTerm>& terms, const SecretBuffer<Fr>& values) {
  Fr sum;
  for (const LinearTerm& term : terms) sum += term.value * values[term.wire];
  return sum;
}

}  // namespace

SynthCircuit::SynthCircuit(const SynthOptions& options)
    : profile_(options.profile),
      seed_(options.seed),
      n_public_(options.n_public),
      n_constraints_((uint32_t{1} << options.log2_domain) - options.n_public - 1),
      first_output_(options.n_public + 1 + kPrivateInputs) {}

SynthCircuit::Gate SynthCircuit::GateOf(uint32_t i) const {
  if (profile_ == SynthProfile::kDense || i % kDenseSpacing == kDenseSpacing - 1) return Gate::kDense;
  return i % 2 == 0 ? Gate::kFreeBit : Gate::kXor;
}

uint64_t SynthCircuit::Random(uint32_t i, uint64_t purpose) const {
  return Mix64(Mix64(seed_ ^ (purpose << 56)) ^ i);
}

// 254 random bits in place of the Montgomery form, made smaller than r by clearing the top bit of 254.
Fr SynthCircuit::Coefficient(uint32_t i, uint64_t term) const {
  U256 x;
  for (uint64_t k = 0; k < 4; ++k) x.limb[k] = Random(i, kCoefficients + 4 * term + k);
  x.limb[3] >>= 3;
  return Fr::FromMontgomery(x);
}

// Never `taken`: circom names no wire twice in a combination, and of such a pair the witness check of snarkjs
// sees only the last.
uint32_t SynthCircuit::AnyWireBefore(uint32_t i, uint64_t purpose, uint32_t taken) const {
  const uint32_t wire = static_cast<uint32_t>(Random(i, purpose) % Output(i));
  return wire == taken ? (wire + 1) % Output(i) : wire;
}

// A wire of the bits profile that holds a bit: the output of a row before i that is not dense. REQUIRES: i >
// 0.
uint32_t SynthCircuit::AnyBitBefore(uint32_t i, uint64_t purpose) const {
  const uint32_t row = static_cast<uint32_t>(Random(i, purpose) % i);
  return Output(GateOf(row) == Gate::kDense ? row - 1 : row);
}

// The operand of an exclusive or that stands in B: a free bit, but in every sixth exclusive or the output of
// the exclusive or before.
uint32_t SynthCircuit::SecondOperand(uint32_t i) const {
  const uint32_t place = i % kPeriod;  // odd, and not 9 or 19
  const uint32_t number = i / kPeriod * kXorsPerPeriod + (place < kDenseSpacing ? place / 2 : place / 2 - 1);
  if (number % kXorsPerCovered == kXorsPerCovered - 1) {
    return Output(GateOf(i - 2) == Gate::kXor ? i - 2 : i - 4);
  }
  const uint32_t free_bits_before = (i + 1) / 2;
  return Output(static_cast<uint32_t>(Random(i, kOperandY) % free_bits_before) * 2);
}

void SynthCircuit::DenseRow(uint32_t i, ConstraintRow& row) const {
  const uint32_t out = Output(i);
  row.a.push_back({out - 2, Coefficient(i, 0)});
  row.a.push_back({AnyWireBefore(i, kTermA, out - 2), Coefficient(i, 1)});
  row.b.push_back({out - 1, Coefficient(i, 2)});
  if (i < first_output_) {
    row.b.push_back({i, Coefficient(i, 3)});
  } else if (Random(i, kHasTermB) % 2 == 0) {
    row.b.push_back({AnyWireBefore(i, kTermB, out - 1), Coefficient(i, 3)});
  }
  row.c.push_back({out, Fr::One()});
}

void SynthCircuit::DenseRowAmongBits(uint32_t i, ConstraintRow& row) const {
  const uint32_t before = i < kDenseSpacing ? first_output_ - 1 : Output(i - kDenseSpacing);
  row.a.push_back({before, Coefficient(i, 0)});
  row.a.push_back({AnyWireBefore(i, kTermA, before), Coefficient(i, 1)});
  row.b.push_back({before, Coefficient(i, 2)});
  if (Random(i, kHasTermB) % 2 == 0) row.b.push_back({0, Coefficient(i, 3)});
  row.c.push_back({Output(i), Fr::One()});
}

void SynthCircuit::XorRow(uint32_t i, ConstraintRow& row) const {
  const Fr minus_two = -Fr::FromUint64(2);
  row.a.push_back({0, Fr::One()});
  row.a.push_back({AnyBitBefore(i, kOperandX), minus_two});
  row.b.push_back({0, Fr::One()});
  row.b.push_back({SecondOperand(i), minus_two});
  row.c.push_back({0, Fr::One()});
  row.c.push_back({Output(i), minus_two});
}

void SynthCircuit::FreeBitRow(uint32_t i, ConstraintRow& row) const {
  row.a.push_back({Output(i), Fr::One()});
  row.b.push_back({0, Fr::One()});
  row.b.push_back({Output(i), -Fr::One()});
}

void SynthCircuit::Row(uint32_t i, ConstraintRow& row) const {
  row.Clear();
  switch (GateOf(i)) {
    case Gate::kDense:
      return profile_ == SynthProfile::kDense ? DenseRow(i, row) : DenseRowAmongBits(i, row);
    case Gate::kXor:
      return XorRow(i, row);
    case Gate::kFreeBit:
      return FreeBitRow(i, row);
  }
}

Witness SynthCircuit::Solve(uint64_t witness_seed) const {
  SecretBuffer<Fr> values(n_wires());
  values[0] = Fr::One();
  const SeedStream inputs("synth inputs", witness_seed);
  for (uint32_t s = 1; s < first_output_; ++s) values[s] = inputs.Element(s);

  const uint64_t bit_key = Mix64(witness_seed ^ (uint64_t{kFreeBitValue} << 56));
  ConstraintRow row;
  for (uint32_t i = 0; i < n_constraints_; ++i) {
    Fr& out = values[Output(i)];
    if (GateOf(i) == Gate::kFreeBit) {
      out = Fr::FromUint64(Mix64(bit_key ^ i) & 1);
      continue;
    }
    Row(i, row);
    const Fr product = Evaluate(row.a, values) * Evaluate(row.b, values);
    // Of an exclusive or the product is 1 - 2*out: out is 1 exactly when it is not 1.
    out = GateOf(i) == Gate::kDense ? product : Fr::FromUint64(product == Fr::One() ? 0 : 1);
  }

  Witness witness{SecretBuffer<U256>(values.size())};
  for (size_t s = 0; s < values.size(); ++s) witness.values[s] = values[s].ToPlain();
  return witness;
}

}  // namespace proofmill::engine
