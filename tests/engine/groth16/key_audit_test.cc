#include "engine/groth16/key_audit.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/error_reason.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/parallel.h"
#include "tests/engine/formats/container.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/engine/groth16/twist_points.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fq;
using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Affine;
using kernels::G2Xyzz;
using kernels::kG1Generator;
using kernels::kG2Generator;

// Offsets in the payload of section 2.
enum HeaderOffset : size_t {
  kAlpha1 = 84,
  kBeta1 = 148,
  kBeta2 = 212,
  kGamma2 = 340,
  kDelta1 = 468,
  kDelta2 = 532
};

template <typename F>
Affine<F> Get(const Bytes& payload, size_t offset) {
  Affine<F> p;
  std::memcpy(static_cast<void*>(&p), &payload[offset], sizeof(p));
  return p;
}
template <typename F>
void Put(Bytes& payload, size_t offset, const Affine<F>& p) {
  std::memcpy(&payload[offset], &p, sizeof(p));
}
G1Affine Twice(const G1Affine& p) { return G1Xyzz::FromAffine(p).Double().ToAffine(); }
G2Affine Twice(const G2Affine& p) { return G2Xyzz::FromAffine(p).Double().ToAffine(); }

// A key of snarkjs with contributions: 7 wires, 2 public, domain 8, no warning.
Container GoodKey() { return Container::FromFile(CasePath("sj-mul3", "circuit.zkey")); }

absl::StatusOr<AuditReport> Audit(const Container& file, const AuditOptions& options = {}) {
  const Bytes bytes = file.Serialize();
  const auto zkey = ReadZkey(SourceOf(bytes));
  EXPECT_OK(zkey) << "the damage must be one that only the audit sees";
  if (!zkey.ok()) return zkey.status();
  return AuditZkey(*zkey, options);
}

TEST(KeyAuditTest, EveryCaseInTheTreePasses) {
  for (const char* name : kCases) {
    const auto report = Audit(Container::FromFile(CasePath(name, "circuit.zkey")));
    EXPECT_OK(report) << name;
    if (!report.ok()) continue;
    EXPECT_FALSE(report->gamma_equals_delta);
    EXPECT_FALSE(report->insecure_test_setup);
    EXPECT_TRUE(report->warnings.empty()) << report->warnings[0];
    EXPECT_GT(report->seconds, 0);
  }
}

TEST(KeyAuditTest, KeysOfTheTestSetupPassAtTheEdges) {
  for (const TestCircuit& circuit : EdgeCircuits()) {
    EXPECT_OK(Audit(Container::Parse(MakeKeyBytes(circuit)), {.allow_insecure_test_keys = true}))
        << circuit.name;
  }
}

struct Damage {
  const char* name;
  std::function<void(Container&)> change;
  const char* message;
};

// One point of a section in three kinds of disrepair.
void MoveOffCurve(Bytes& payload, size_t offset) {
  G1Affine p = Get<Fq>(payload, offset);
  p.y += Fq::One();
  Put(payload, offset, p);
}
void MakeNotCanonical(Bytes& payload, size_t offset) {
  kernels::U256 x;
  std::memcpy(static_cast<void*>(&x), &payload[offset], sizeof(x));
  kernels::Add(x, Fq::kModulus, x);
  std::memcpy(&payload[offset], &x, sizeof(x));
}
void MakeZero(Bytes& payload) { std::fill(payload.begin(), payload.end(), uint8_t{0}); }

const std::vector<Damage>& Damages() {
  static const auto* const damages = new std::vector<Damage>{
      {"IcOffCurve", [](Container& f) { MoveOffCurve(f[3], 64); },
       "section 3 (IC), point 1: expected a point of G1"},
      {"AOffCurve", [](Container& f) { MoveOffCurve(f[5], 0); },
       "section 5 (A), point 0: expected a point of G1"},
      {"B1OffCurve", [](Container& f) { MoveOffCurve(f[6], 256); },
       "section 6 (B1), point 4: expected a point of G1"},
      {"B2OffCurve", [](Container& f) { MoveOffCurve(f[7], 4 * 128 + 64); },
       "section 7 (B2), point 4: expected a point of the twist"},
      {"COffCurve", [](Container& f) { MoveOffCurve(f[8], 3 * 64); },
       "section 8 (C), point 3: expected a point of G1"},
      {"HOffCurve", [](Container& f) { MoveOffCurve(f[9], 7 * 64); },
       "section 9 (H), point 7: expected a point of G1"},
      {"IcNotCanonical", [](Container& f) { MakeNotCanonical(f[3], 0); }, "section 3 (IC), point 0"},
      {"ANotCanonical", [](Container& f) { MakeNotCanonical(f[5], 6 * 64); },
       "got a coordinate of q or more"},
      {"B1NotCanonical", [](Container& f) { MakeNotCanonical(f[6], 32); }, "section 6 (B1), point 0"},
      {"B2NotCanonical", [](Container& f) { MakeNotCanonical(f[7], 96); }, "section 7 (B2), point 0"},
      {"CNotCanonical", [](Container& f) { MakeNotCanonical(f[8], 0); }, "section 8 (C), point 0"},
      {"HNotCanonical", [](Container& f) { MakeNotCanonical(f[9], 0); }, "section 9 (H), point 0"},
      {"HInfinity", [](Container& f) { Put(f[9], 64, G1Affine::Infinity()); },
       "section 9 (H), point 1: expected a point of G1 with coordinates below q, got infinity"},
      {"B2OfOrder10069R", [](Container& f) { Put(f[7], 4 * 128, PointOfOrder10069TimesR()); },
       "section 7 (B2), point 4: expected a point of order r"},
      {"B2OutsideSubgroup", [](Container& f) { Put(f[7], 4 * 128, PointOutsideSubgroup()); },
       "section 7 (B2), point 4: expected a point of order r"},
      {"Alpha1Infinity", [](Container& f) { Put(f[2], kAlpha1, G1Affine::Infinity()); },
       "section 2, alpha1: expected a point of G1 other than infinity"},
      {"Beta1Infinity", [](Container& f) { Put(f[2], kBeta1, G1Affine::Infinity()); }, "section 2, beta1"},
      {"Delta1Infinity", [](Container& f) { Put(f[2], kDelta1, G1Affine::Infinity()); }, "section 2, delta1"},
      {"Beta2Infinity", [](Container& f) { Put(f[2], kBeta2, G2Affine::Infinity()); }, "section 2, beta2"},
      {"Gamma2Infinity", [](Container& f) { Put(f[2], kGamma2, G2Affine::Infinity()); }, "section 2, gamma2"},
      {"Delta2Infinity", [](Container& f) { Put(f[2], kDelta2, G2Affine::Infinity()); }, "section 2, delta2"},
      {"Alpha1OffCurve", [](Container& f) { MoveOffCurve(f[2], kAlpha1); }, "section 2, alpha1"},
      {"Delta1NotCanonical", [](Container& f) { MakeNotCanonical(f[2], kDelta1); }, "section 2, delta1"},
      {"Beta2OffCurve", [](Container& f) { MoveOffCurve(f[2], kBeta2); }, "section 2, beta2"},
      {"Gamma2OffCurve", [](Container& f) { MoveOffCurve(f[2], kGamma2); }, "section 2, gamma2"},
      {"Beta2OutsideSubgroup", [](Container& f) { Put(f[2], kBeta2, PointOfOrder10069TimesR()); },
       "section 2, beta2: expected a point of order r"},
      {"Gamma2OutsideSubgroup", [](Container& f) { Put(f[2], kGamma2, PointOfOrder10069TimesR()); },
       "section 2, gamma2: expected a point of order r"},
      {"Delta2OutsideSubgroup", [](Container& f) { Put(f[2], kDelta2, PointOutsideSubgroup()); },
       "section 2, delta2: expected a point of order r"},
      {"Delta1OfAnotherKey", [](Container& f) { Put(f[2], kDelta1, Twice(Get<Fq>(f[2], kDelta1))); },
       "expected e(delta1, G2) = e(G1, delta2)"},
      {"Delta2OfAnotherKey",
       [](Container& f) { Put(f[2], kDelta2, Twice(Get<kernels::Fq2>(f[2], kDelta2))); },
       "expected e(delta1, G2) = e(G1, delta2)"},
      {"Beta1OfAnotherKey", [](Container& f) { Put(f[2], kBeta1, kG1Generator); },
       "expected e(beta1, G2) = e(G1, beta2)"},
      {"Beta2OfAnotherKey", [](Container& f) { Put(f[2], kBeta2, kG2Generator); },
       "expected e(beta1, G2) = e(G1, beta2)"},
      {"OneB1Doubled", [](Container& f) { Put(f[6], 4 * 64, Twice(Get<Fq>(f[6], 4 * 64))); },
       "sections 6 (B1) and 7 (B2): expected the same scalars, got different ones at point 4"},
      {"OneB2Negated", [](Container& f) { Put(f[7], 4 * 128, -Get<kernels::Fq2>(f[7], 4 * 128)); },
       "got different ones at point 4"},
      {"AAllZero", [](Container& f) { MakeZero(f[5]); }, "section 5 (A), point 0: expected a finite point"},
      {"B1AllZero", [](Container& f) { MakeZero(f[6]); }, "section 6 (B1), point"},
      {"B2AllZero", [](Container& f) { MakeZero(f[7]); }, "section 7 (B2), point"},
      {"B1AndB2AllZero",
       [](Container& f) {
         MakeZero(f[6]);
         MakeZero(f[7]);
       },
       "section 6 (B1), point"},
      {"CAllZero", [](Container& f) { MakeZero(f[8]); }, "section 8 (C), point"},
      {"HAllZero", [](Container& f) { MakeZero(f[9]); }, "section 9 (H), point 0"},
  };
  return *damages;
}

class KeyAuditDamageTest : public testing::TestWithParam<Damage> {};

TEST_P(KeyAuditDamageTest, IsFoundAndNamedForAnyNumberOfThreads) {
  Container file = GoodKey();
  GetParam().change(file);
  std::string first;
  for (size_t threads = 1; threads <= 3; ++threads) {
    kernels::ThreadArena arena(threads);
    absl::StatusOr<AuditReport> report = absl::UnknownError("not run");
    arena.Execute([&] { report = Audit(file); });

    ExpectError(report, absl::StatusCode::kInvalidArgument, GetParam().message);
    EXPECT_EQ(GetReason(report.status()), ErrorReason::kKeyMalformed);
    if (first.empty()) first = MessageOf(report.status());
    EXPECT_EQ(MessageOf(report.status()), first) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, KeyAuditDamageTest, testing::ValuesIn(Damages()),
                         [](const auto& test) { return std::string(test.param.name); });

// Judged by the points alone: the contribution records of the file stay as they are.
TEST(KeyAuditSafetyTest, GammaEqualToDeltaIsRefusedUnlessAccepted) {
  Container file = GoodKey();
  Put(file[2], kDelta1, kG1Generator);
  Put(file[2], kDelta2, kG2Generator);

  const auto refused = Audit(file);
  ExpectError(refused, absl::StatusCode::kFailedPrecondition, "gamma2 equals delta2");
  EXPECT_EQ(GetReason(refused.status()), ErrorReason::kKeyUnsafe);

  const auto accepted = Audit(file, {.allow_unsafe_setup = true});
  ASSERT_OK(accepted);
  EXPECT_TRUE(accepted->gamma_equals_delta);
  EXPECT_THAT(accepted->warnings, testing::ElementsAre(testing::HasSubstr("gamma2 equals delta2")));
}

TEST(KeyAuditSafetyTest, AnUnboundPublicSignalIsRefusedUnlessAccepted) {
  Container file = GoodKey();
  Put(file[3], 2 * 64, G1Affine::Infinity());

  const auto refused = Audit(file);
  ExpectError(refused, absl::StatusCode::kFailedPrecondition, "public signal 1 is not bound");
  EXPECT_EQ(GetReason(refused.status()), ErrorReason::kKeyUnsafe);
  const auto accepted = Audit(file, {.allow_unsafe_setup = true});
  ASSERT_OK(accepted);
  EXPECT_THAT(accepted->warnings, testing::ElementsAre(testing::HasSubstr("public signal 1 is not bound")));

  MakeZero(file[3]);
  ExpectError(Audit(file), absl::StatusCode::kFailedPrecondition, "point 0 is infinity");
}

TEST(KeyAuditSafetyTest, OurOwnTestKeysAreRefusedUnlessAccepted) {
  const Container file = Container::Parse(MakeKeyBytes(DomainTwo()));

  const auto refused = Audit(file);
  ExpectError(refused, absl::StatusCode::kFailedPrecondition, "\"proofmill insecure test setup\"");
  EXPECT_EQ(GetReason(refused.status()), ErrorReason::kKeyUnsafe);

  const auto accepted = Audit(file, {.allow_insecure_test_keys = true});
  ASSERT_OK(accepted);
  EXPECT_TRUE(accepted->insecure_test_setup);
  EXPECT_FALSE(accepted->gamma_equals_delta);
  EXPECT_THAT(accepted->warnings, testing::ElementsAre(testing::HasSubstr("its trapdoor is known")));
}

TEST(KeyAuditSafetyTest, AGammaOtherThanTheGeneratorIsAWarning) {
  Container file = GoodKey();
  Put(file[2], kGamma2, Twice(kG2Generator));
  const auto report = Audit(file);
  ASSERT_OK(report);
  EXPECT_THAT(report->warnings, testing::ElementsAre(testing::HasSubstr("gamma2 is not the generator")));
}

class ExpectedKeyTest : public testing::Test {
 protected:
  ExpectedKeyTest() {
    const Bytes bytes = file_.Serialize();
    expected_ = VerificationKeyOf(*ReadZkey(SourceOf(bytes)));
  }
  absl::StatusOr<AuditReport> AuditAgainstExpected() {
    AuditOptions options;
    options.expected_vk = &expected_;
    options.expected_vk_name = "good.json";
    return Audit(file_, options);
  }
  void ExpectDifference(const std::string& part) {
    const auto report = AuditAgainstExpected();
    ExpectError(report, absl::StatusCode::kFailedPrecondition,
                "expected the verification key of good.json, got another: " + part);
    EXPECT_EQ(GetReason(report.status()), ErrorReason::kKeyMalformed);
  }
  Container file_ = GoodKey();
  VerificationKey expected_;
};

TEST_F(ExpectedKeyTest, TheSameKeyPasses) { EXPECT_OK(AuditAgainstExpected()); }

TEST_F(ExpectedKeyTest, EachDifferenceIsNamed) {
  const VerificationKey good = expected_;
  expected_.alpha1 = kG1Generator;
  ExpectDifference("alpha1 differs");
  expected_ = good;
  expected_.beta2 = kG2Generator;
  ExpectDifference("beta2 differs");
  expected_ = good;
  expected_.gamma2 = Twice(kG2Generator);
  ExpectDifference("gamma2 differs");
  expected_ = good;
  expected_.delta2 = kG2Generator;
  ExpectDifference("delta2 differs");
  expected_ = good;
  expected_.ic[2] = kG1Generator;
  ExpectDifference("IC[2] differs");
  expected_ = good;
  expected_.ic.pop_back();
  ExpectDifference("it has 2 IC points, the key has 3");
}

}  // namespace
}  // namespace proofmill::engine
