#include "engine/whir/prover.h"

#include "engine/whir/proof_bytes.h"
#include "engine/whir/verifier.h"
#include "gtest/gtest.h"
#include "kernels/cpu/parallel.h"
#include "tests/engine/whir/cases.h"
#include "tests/kernels/arithmetic_scope.h"

namespace proofmill::engine {
namespace {

TEST(WhirProverTest, ProofsOfRandomParametersVerifyAndAreTheSameUnderEveryArithmetic) {
  kernels::SmallRng rng(42);
  for (int i = 0; i < 40; ++i) {
    const WhirParameters p = RandomWhirParameters(rng);
    const WhirCase made = MakeWhirCase(p, static_cast<uint64_t>(i));
    const WhirVerdict verdict = VerifyWhir(made.config, made.claims, made.proof);
    ASSERT_TRUE(verdict.valid) << verdict.rejected_at;
    const std::vector<uint8_t> bytes = EncodeWhirProof(made.config, made.proof);
    const auto decoded = DecodeWhirProof(made.config, bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, made.proof);

    for (const kernels::Arithmetic arithmetic : kernels::SupportedArithmetics()) {
      const kernels::ArithmeticScope scope(arithmetic);
      const auto again = WhirProver(made.config).Prove(made.polynomial, made.claims, {});
      ASSERT_TRUE(again.ok());
      EXPECT_EQ(*again, made.proof);
    }
  }
}

TEST(WhirProverTest, TheNumberOfThreadsDoesNotMatter) {
  const WhirCase made = MakeWhirCase(SmallStrict());
  const WhirProver prover(made.config);
  for (const size_t threads : {1, 3}) {
    kernels::ThreadArena arena(threads);
    arena.Execute([&] {
      const auto proof = prover.Prove(made.polynomial, made.claims, {});
      ASSERT_TRUE(proof.ok());
      EXPECT_EQ(*proof, made.proof);
    });
  }
}

TEST(WhirProverTest, AFalseClaimIsAnInvalidRequest) {
  WhirCase made = MakeWhirCase(SmallStrict());
  const WhirProver prover(made.config);
  ASSERT_TRUE(ProveWhirBytes(prover, made.polynomial, made.claims, {}).ok());

  made.claims[0].value[0] += kernels::BabyBear::One();
  EXPECT_TRUE(absl::IsInvalidArgument(ProveWhirBytes(prover, made.polynomial, made.claims, {}).status()));
}

TEST(WhirProverTest, WrongLengthsAreRefused) {
  const WhirCase made = MakeWhirCase(SmallStrict());
  const WhirProver prover(made.config);
  const auto refused = [&](const WhirElements& polynomial, const std::vector<WhirClaim>& claims) {
    return absl::IsInvalidArgument(prover.Prove(polynomial, claims, {}).status());
  };
  EXPECT_TRUE(refused(WhirElements(255), made.claims));
  EXPECT_TRUE(refused(WhirElements(512), made.claims));
  EXPECT_TRUE(refused(made.polynomial, {}));
  EXPECT_TRUE(refused(made.polynomial, {made.claims[0], made.claims[0]}));
  EXPECT_TRUE(refused(made.polynomial, {{WhirElements(39), made.claims[0].value}}));
  EXPECT_TRUE(refused(made.polynomial, {{made.claims[0].point, WhirElements(4)}}));
}

TEST(WhirProverTest, WithoutANonceThereIsNoProof) {
  WhirParameters p = TwoRounds();
  p.max_pow_bits = 20;
  const auto config = DeriveWhirConfig(p);
  ASSERT_TRUE(config.ok());
  const WhirElements polynomial(512);
  const std::vector<WhirClaim> claims;
  const auto proof = WhirProver(*config).Prove(polynomial, claims, {.nonce_end = 2});

  EXPECT_TRUE(absl::IsAborted(proof.status())) << proof.status();
}

TEST(WhirProverTest, EndsWhenItIsCancelled) {
  const WhirCase made = MakeWhirCase(SmallStrict());
  CancellationToken token;
  token.Cancel();
  const auto proof = WhirProver(made.config).Prove(made.polynomial, made.claims, {.cancellation = &token});
  EXPECT_TRUE(absl::IsCancelled(proof.status()));
}

TEST(WhirProverTest, TimesAndNoncesAreCounted) {
  const WhirCase made = MakeWhirCase(TwoRounds());
  WhirTimes times;
  ASSERT_TRUE(WhirProver(made.config).Prove(made.polynomial, made.claims, {.times = &times}).ok());

  EXPECT_GT(times.nonces, 0u);
  const double stages =
      times.encode + times.hash + times.evaluate + times.weights + times.sumcheck + times.pow + times.open;
  EXPECT_GT(stages, 0);
  EXPECT_LE(stages, times.total);
}

}  // namespace
}  // namespace proofmill::engine
