// WHIR proofs. The first byte of an input says what the rest is: the bytes of a strict proof, or its JSON in
// the form of whir-p3 or of the vectors. What decodes is written back as the same bytes, and then verified;
// an answer is all that may come of it, and "valid" only for the proof that the prover makes.

#include <algorithm>
#include <vector>

#include "engine/whir/parameters.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/proof_json.h"
#include "engine/whir/prover.h"
#include "engine/whir/verifier.h"
#include "kernels/field/small_rng.h"
#include "tests/fuzz/fuzz_input.h"

namespace proofmill::engine {
namespace {

// One round, proof of work, few queries: everything is there and quick.
struct Statement {
  WhirConfig config;
  std::vector<WhirClaim> claims;
  WhirProof proof;
};

Statement MakeStatement() {
  WhirParameters p;
  p.num_variables = 8;
  p.folding = WhirFolding::Constant(1);
  p.log_inv_rate = 3;
  p.domain_reduction = 1;
  p.security_level = 14;
  p.max_pow_bits = 5;
  Statement out;
  out.config = DeriveWhirConfig(p).value();
  kernels::SmallRng rng(1);
  WhirElements polynomial(size_t{1} << p.num_variables), point(size_t{p.num_variables} * p.extension_degree);
  for (kernels::BabyBear& x : polynomial) x = rng.NextBabyBear();
  for (kernels::BabyBear& x : point) x = rng.NextBabyBear();
  const WhirProver prover(out.config);
  WhirElements value = prover.Evaluate(polynomial, point);
  out.claims = {{std::move(point), std::move(value)}};
  out.proof = prover.Prove(polynomial, out.claims, {}).value();
  Require(VerifyWhir(out.config, out.claims, out.proof).valid);
  return out;
}

// Another nonce can also pass; everything else of a proof is checked.
bool SameButNonces(WhirProof a, WhirProof b) {
  const auto clear = [](WhirProof& proof) {
    const auto zero = [](WhirElements& nonces) {
      std::fill(nonces.begin(), nonces.end(), kernels::BabyBear());
    };
    proof.final_pow_witness = {};
    zero(proof.sumcheck.nonces);
    for (WhirRoundProof& round : proof.rounds) {
      round.pow_witness = {};
      zero(round.sumcheck.nonces);
    }
    if (proof.final_sumcheck.has_value()) zero(proof.final_sumcheck->nonces);
  };
  clear(a);
  clear(b);
  return a == b;
}

void Verify(const Statement& statement, const WhirProof& proof) {
  const WhirVerdict verdict = VerifyWhir(statement.config, statement.claims, proof);
  Require(verdict.valid == verdict.rejected_at.empty());
  // With a nonce changed the transcript, and with it the openings, would change too.
  if (verdict.valid) Require(SameButNonces(proof, statement.proof));
}

}  // namespace
}  // namespace proofmill::engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  static const Statement statement = MakeStatement();
  if (size == 0) return 0;
  const uint8_t kind = data[0];
  ++data;
  --size;
  if (kind == 'b') {
    const auto proof = DecodeWhirProof(statement.config, {data, size});
    if (!proof.ok()) {
      RequireInputError(proof.status());
      return 0;
    }
    const std::vector<uint8_t> again = EncodeWhirProof(statement.config, *proof);
    Require(std::equal(again.begin(), again.end(), data, data + size));
    Verify(statement, *proof);
    return 0;
  }
  const WhirJsonForm form = kind == 'u' ? WhirJsonForm::kUpstream : WhirJsonForm::kVectors;
  const size_t degree = statement.config.degree();
  const auto proof = WhirProofFromJson(FuzzText(data, size), degree, form);
  if (!proof.ok()) {
    RequireInputError(proof.status());
    return 0;
  }
  Require(WhirProofFromJson(WhirProofToJson(*proof, degree, form), degree, form).value() == *proof);
  Verify(statement, *proof);
  return 0;
}
