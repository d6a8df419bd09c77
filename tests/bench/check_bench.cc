// Checks of Groth16 proofs with four public signals: one alone, and several together, by the time of one
// proof on one thread. All steps of a check are in it, those too that a prover runs beside others.

#include <cstdint>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "engine/groth16/types.h"
#include "engine/groth16/verifier.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"
#include "tests/bench/paths.h"
#include "tests/kernels/elements.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;

constexpr size_t kSignals = 4;

kernels::G1Affine G1(const Fr& scalar) { return kernels::Multiple<Fq>(scalar.ToPlain()); }
kernels::G2Affine G2(const Fr& scalar) { return kernels::Multiple<Fq2>(scalar.ToPlain()); }

// A key whose secrets are known, and proofs made with them.
class Statements {
 public:
  explicit Statements(size_t n) : signals_(kSignals) {
    const Fr alpha = Draw(), beta = Draw(), gamma = Draw(), delta = Draw();
    Fr of_signals = Draw();
    key_ = {G1(alpha), G2(beta), G2(gamma), G2(delta), {}};
    key_.ic.push_back(G1(of_signals));
    for (Fr& signal : signals_) {
      const Fr ic = Draw();
      signal = Draw();
      of_signals += signal * ic;
      key_.ic.push_back(G1(ic));
    }
    for (size_t i = 0; i < n; ++i) {
      const Fr a = Draw(), b = Draw();
      const Fr c = (a * b - alpha * beta - of_signals * gamma) * delta.Inverse();
      proofs_.push_back({G1(a), G2(b), G1(c)});
    }
  }

  const VerificationKey& key() const { return key_; }
  const std::vector<Fr>& signals() const { return signals_; }
  const std::vector<Groth16Proof>& proofs() const { return proofs_; }

 private:
  Fr Draw() { return kernels::Elements<Fr>::Uniform(random_); }

  kernels::Random random_{1};
  VerificationKey key_;
  std::vector<Fr> signals_;
  std::vector<Groth16Proof> proofs_;
};

void CheckAlone(benchmark::State& state) {
  const Statements statements(1);
  const PreparedPairings prepared(statements.key());
  const KeyTables tables(statements.key(), kernels::kG1Generator);
  const Groth16Proof& proof = statements.proofs()[0];
  for (auto _ : state) {
    StagedVerification verification(statements.key(), prepared, &tables);
    verification.SetPublicSignals(statements.signals());
    verification.SetAB(proof.a, proof.b);
    verification.SetC(proof.c);
    if (!verification.Accepts()) state.SkipWithError("a good proof was refused");
  }
}

void CheckTogether(benchmark::State& state, size_t n) {
  const Statements statements(n);
  const KeyTables tables(statements.key(), kernels::kG1Generator);
  for (auto _ : state) {
    std::vector<BatchedProof> batch;
    for (const Groth16Proof& proof : statements.proofs()) {
      batch.push_back({proof, statements.signals()});
    }
    const auto good = VerifyTogether(statements.key(), &tables, batch);
    if (!good.ok() || !*good) state.SkipWithError("good proofs were refused");
  }
  state.counters["seconds/proof"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(n),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

[[maybe_unused]] const bool registered = [] {
  const auto in_microseconds = [](benchmark::internal::Benchmark* bench) {
    bench->Unit(benchmark::kMicrosecond);
  };
  kernels::RegisterForEachArithmetic("Check/alone", CheckAlone, in_microseconds);
  for (const size_t n : {size_t{1}, size_t{2}, size_t{4}, size_t{8}, kProofBatchMax}) {
    kernels::RegisterForEachArithmetic(
        "Check/together:" + std::to_string(n), [n](benchmark::State& state) { CheckTogether(state, n); },
        in_microseconds);
  }
  return true;
}();

}  // namespace
}  // namespace proofmill::engine
