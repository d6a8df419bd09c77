// Small circuits with witnesses for the tests of engine/groth16 and engine/backend, and keys for them.

#ifndef PROOFMILL_TESTS_ENGINE_GROTH16_CIRCUITS_H_
#define PROOFMILL_TESTS_ENGINE_GROTH16_CIRCUITS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/backend/backend.h"
#include "engine/formats/r1cs.h"
#include "engine/groth16/proving_key.h"
#include "engine/groth16/synth.h"
#include "kernels/field/bn254_fr.h"
#include "kernels/field/limbs.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {

// A system in a form that is easy to write down.
struct Term {
  uint32_t wire;
  int64_t factor;
};
struct Constraint {
  std::vector<Term> a, b, c;
};
struct TestCircuit {
  std::string name;
  uint32_t n_wires = 1;
  uint32_t n_public = 0;
  std::vector<Constraint> constraints;
  std::vector<kernels::Fr> witness;  // satisfies the constraints

  R1cs ToR1cs() const;
  std::vector<kernels::U256> PlainWitness() const;
};

kernels::Fr FieldElement(int64_t x);

// x * y = z, all private: domain 2, no public signal.
TestCircuit DomainTwo();
// The constant wire alone.
TestCircuit OnlyTheConstantWire();
// Three squarings in a row with one public signal: domain 8 and no spare row; `constraints` 1 gives domain 4.
TestCircuit Squarings(uint32_t constraints);
// Every wire public: section 8 is empty.
TestCircuit AllPublic();
// Public and private wires and no constraint: all of B at infinity.
TestCircuit NoConstraint();
// 300 wires in a domain of 8.
TestCircuit WiresFarAboveDomain();
// 3 wires in a domain of 256.
TestCircuit WiresFarBelowDomain();
// Wires that no constraint names, terms that are zero, and terms that repeat a wire.
TestCircuit OddTerms();
std::vector<TestCircuit> EdgeCircuits();

// The bytes of a key for `circuit`, by the test set-up.
Bytes MakeKeyBytes(const TestCircuit& circuit, uint64_t seed = 1);
// Options that accept such keys.
KeyOptions TestKeyOptions();

// A key that is resident in a cpu backend, with a witness: all that a proof needs. Fails the test when the
// key does not load.
struct Bench {
  std::shared_ptr<const ProvingKey> key;
  std::unique_ptr<Groth16Backend> backend;
  std::unique_ptr<ResidentKey> resident;
  std::vector<kernels::U256> witness;

  absl::Span<const kernels::U256> span() const { return witness; }
};
Bench BenchOf(const TestCircuit& circuit, size_t threads = 2);
// Of a folder with circuit.zkey and witness.wtns.
Bench BenchOfCase(const std::string& folder, size_t threads = 2);
// Of a synthetic circuit of domain 2^log2_domain.
Bench BenchOfSynth(uint32_t log2_domain, SynthProfile profile, size_t threads = 2);

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_GROTH16_CIRCUITS_H_
