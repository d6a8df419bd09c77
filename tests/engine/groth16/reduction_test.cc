// The two ways to reduce R1CS to a QAP that are about, which differ in how the quotient is carried: circom
// and snarkjs give its values at the odd roots of the doubled domain, libsnark, and arkworks by default, its
// coefficients. The proof is the same; a key is of one of the two, and makes bad proofs with the other.

#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/setup.h"
#include "engine/groth16/verifier.h"
#include "gtest/gtest.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/bn254_fr.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::G1Affine;
using kernels::G1Xyzz;

constexpr uint64_t kSeed = 1;  // of BenchOf()
constexpr uint32_t kHSection = 9;

// Values of a polynomial at the powers of the root of unity, and its coefficients, by the definitions.
std::vector<Fr> Interpolate(const std::vector<Fr>& values, const Fr& root) {
  const size_t n = values.size();
  const Fr inverse = root.Inverse(), scale = Fr::FromUint64(n).Inverse();
  std::vector<Fr> out(n);
  Fr step = Fr::One();  // inverse^k
  for (size_t k = 0; k < n; ++k) {
    Fr x = Fr::One();
    for (size_t j = 0; j < n; ++j) {
      out[k] += values[j] * x;
      x *= step;
    }
    out[k] *= scale;
    step *= inverse;
  }
  return out;
}

Fr Evaluate(const std::vector<Fr>& coefficients, const Fr& x) {
  Fr out;
  for (size_t i = coefficients.size(); i-- > 0;) out = out * x + coefficients[i];
  return out;
}

G1Affine TimesGenerator(const Fr& scalar) {
  return ScalarMulVartime(G1Xyzz::FromAffine(kernels::kG1Generator), scalar.ToPlain()).ToAffine();
}

// A circuit with the trapdoor of its test key, and its QAP as libsnark has it: written down here from the
// definitions, with the rows for the public signals.
class Qap {
 public:
  explicit Qap(const TestCircuit& circuit)
      : circuit_(circuit), log2_n_(SetupDomainLog2(circuit.constraints.size(), circuit.n_public)) {
    const size_t m = circuit.constraints.size();
    a_.resize(n());
    b_.resize(n());
    c_.resize(n());
    for (size_t row = 0; row < m; ++row) {
      a_[row] = circuit.constraints[row].a;
      b_[row] = circuit.constraints[row].b;
      c_[row] = circuit.constraints[row].c;
    }
    for (uint32_t i = 0; i <= circuit.n_public; ++i) a_[m + i] = {{i, 1}};
  }

  size_t n() const { return size_t{1} << log2_n_; }
  Trapdoor trapdoor() const { return TrapdoorFromSeed(kSeed); }
  Fr vanishing_at_tau() const {
    Fr power = trapdoor().tau;
    for (uint32_t i = 0; i < log2_n_; ++i) power = power.Square();
    return power - Fr::One();
  }

  // The coefficients of (a b - c) / Z: libsnark's form of the quotient.
  std::vector<Fr> Quotient() const {
    const std::vector<Fr> a = Coefficients(a_), b = Coefficients(b_), c = Coefficients(c_);
    std::vector<Fr> product(2 * n());
    for (size_t i = 0; i < n(); ++i) {
      for (size_t j = 0; j < n(); ++j) product[i + j] += a[i] * b[j];
      product[i] -= c[i];
    }
    std::vector<Fr> out(product.begin() + static_cast<ptrdiff_t>(n()), product.end());
    for (size_t i = 0; i < n(); ++i) EXPECT_EQ(product[i], -out[i]) << "a multiple of Z";
    return out;
  }

  // The discrete logarithm of C of the proof whose r and s are zero, with `quotient` at tau.
  Fr LogOfC(const Fr& quotient_at_tau) const {
    const Trapdoor t = trapdoor();
    Fr out = quotient_at_tau * vanishing_at_tau();
    for (uint32_t wire = circuit_.n_public + 1; wire < circuit_.n_wires; ++wire) {
      out +=
          circuit_.witness[wire] * (t.beta * AtTau(a_, wire) + t.alpha * AtTau(b_, wire) + AtTau(c_, wire));
    }
    return out * t.delta.Inverse();
  }

 private:
  using Rows = std::vector<std::vector<Term>>;

  std::vector<Fr> Coefficients(const Rows& rows) const {
    std::vector<Fr> values(n());
    for (size_t row = 0; row < n(); ++row) {
      for (const Term& term : rows[row])
        values[row] += FieldElement(term.factor) * circuit_.witness[term.wire];
    }
    return Interpolate(values, kernels::FrRootOfUnity(log2_n_));
  }
  // The polynomial of one wire at tau.
  Fr AtTau(const Rows& rows, uint32_t wire) const {
    std::vector<Fr> values(n());
    for (size_t row = 0; row < n(); ++row) {
      for (const Term& term : rows[row]) {
        if (term.wire == wire) values[row] += FieldElement(term.factor);
      }
    }
    return Evaluate(Interpolate(values, kernels::FrRootOfUnity(log2_n_)), trapdoor().tau);
  }

  const TestCircuit circuit_;
  const uint32_t log2_n_;
  Rows a_, b_, c_;
};

std::vector<TestCircuit> Circuits() {
  return {Squarings(2), Squarings(6), AllPublic(), OddTerms(), DomainTwo()};
}

TEST(ReductionTest, TheProofIsThatOfLibsnarksQuotient) {
  for (const TestCircuit& circuit : Circuits()) {
    SCOPED_TRACE(circuit.name);
    const Qap qap(circuit);
    const Bench bench = BenchOf(circuit);
    ProveOptions options;
    options.fixed_blinding = Blinding{Fr::Zero(), Fr::Zero()};

    const auto proof = Prove(*bench.backend, *bench.resident, bench.span(), options);

    ASSERT_OK(proof);
    EXPECT_EQ(proof->c, TimesGenerator(qap.LogOfC(Evaluate(qap.Quotient(), qap.trapdoor().tau))));
  }
}

// The key of the other reduction passes every check of its points, and no proof with it is good.
TEST(ReductionTest, AKeyOfLibsnarksReductionMakesNoProofThatGoesOut) {
  const TestCircuit circuit = Squarings(6);
  const Qap qap(circuit);
  Container file = Container::Parse(MakeKeyBytes(circuit, kSeed));
  // [tau^i Z(tau) / delta]1 in place of the odd Lagrange basis.
  Fr scalar = qap.vanishing_at_tau() * qap.trapdoor().delta.Inverse();
  Bytes& points = file[kHSection];
  ASSERT_EQ(points.size(), qap.n() * sizeof(G1Affine));
  for (size_t i = 0; i < qap.n(); ++i) {
    const G1Affine point = TimesGenerator(scalar);
    std::memcpy(points.data() + i * sizeof(point), &point, sizeof(point));
    scalar *= qap.trapdoor().tau;
  }
  const TestFolder folder;
  WriteBytes(folder.Path("circuit.zkey"), file.Serialize());
  const auto key = LoadProvingKey(folder.Path("circuit.zkey"), TestKeyOptions());
  ASSERT_OK(key);
  const auto backend = MakeCpuBackend({.threads = 2});
  const auto resident = backend->LoadKey(*key);
  ASSERT_OK(resident);

  const auto proof = Prove(*backend, **resident, circuit.PlainWitness());

  EXPECT_EQ(GetReason(proof.status()), ErrorReason::kSelfCheckFailed) << proof.status();
}

}  // namespace
}  // namespace proofmill::engine
