#include "engine/groth16/key_audit.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/error_reason.h"
#include "engine/base/host_buffer.h"
#include "engine/base/status_macros.h"
#include "engine/groth16/coefficient_check.h"
#include "engine/groth16/point_check.h"
#include "engine/groth16/subgroup_check.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/pairing.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fq;
using kernels::Fq2;
using kernels::G1Affine;
using kernels::G2Affine;
using kernels::kG1Generator;
using kernels::kG2Generator;

absl::Status Damaged(absl::string_view text) {
  return WithReason(absl::InvalidArgumentError(absl::StrCat("key audit: ", text)),
                    ErrorReason::kKeyMalformed);
}

absl::Status Unsafe(absl::string_view text) {
  return WithReason(absl::FailedPreconditionError(absl::StrCat("key audit: ", text)),
                    ErrorReason::kKeyUnsafe);
}

template <typename F>
constexpr absl::string_view kGroupName = "G1";
template <>
constexpr absl::string_view kGroupName<Fq2> = "the twist of G2";

template <typename F>
std::string FaultText(absl::string_view fault, const Affine<F>& point) {
  return point.IsInfinity() ? std::string(fault) : absl::StrCat(fault, ": ", PointText(point));
}

template <typename F>
absl::Status CheckSection(absl::string_view section, const HostBuffer<Affine<F>>& points, InfinityRule rule) {
  const std::optional<size_t> index = FirstFaultyPoint(points.data(), points.size(), rule);
  if (!index.has_value()) return absl::OkStatus();
  const Affine<F>& point = points[*index];
  return Damaged(absl::StrCat("section ", section, ", point ", *index, ": expected a point of ",
                              kGroupName<F>, " with coordinates below q, got ",
                              FaultText(*PointFault(point, rule), point)));
}

absl::Status CheckSections(const Zkey& zkey) {
  PROOFMILL_RETURN_IF_ERROR(CheckSection("3 (IC)", zkey.ic, InfinityRule::kAllowed));  // judged on its own
  PROOFMILL_RETURN_IF_ERROR(CheckSection("5 (A)", zkey.a, InfinityRule::kAllowed));
  PROOFMILL_RETURN_IF_ERROR(CheckSection("6 (B1)", zkey.b1, InfinityRule::kAllowed));
  PROOFMILL_RETURN_IF_ERROR(CheckSection("7 (B2)", zkey.b2, InfinityRule::kAllowed));
  PROOFMILL_RETURN_IF_ERROR(CheckSection("8 (C)", zkey.c, InfinityRule::kAllowed));
  return CheckSection("9 (H)", zkey.h, InfinityRule::kRefused);
}

template <typename F>
absl::Status CheckHeaderPoint(absl::string_view name, const Affine<F>& point) {
  const std::optional<absl::string_view> fault = PointFault(point, InfinityRule::kRefused);
  if (!fault.has_value()) return absl::OkStatus();
  return Damaged(absl::StrCat("section 2, ", name, ": expected a point of ", kGroupName<F>,
                              " other than infinity with coordinates below q, got ",
                              FaultText(*fault, point)));
}

absl::Status CheckHeaderPointG2(absl::string_view name, const G2Affine& point) {
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPoint(name, point));
  if (kernels::IsInG2Subgroup(point)) return absl::OkStatus();
  return Damaged(
      absl::StrCat("section 2, ", name,
                   ": expected a point of order r, got one outside the subgroup: ", PointText(point)));
}

// Whether e(g1, G2) = e(G1, g2): both have the same scalar.
bool SameScalar(const G1Affine& g1, const G2Affine& g2) {
  const kernels::PairingTerm terms[] = {{g1, kG2Generator}, {-kG1Generator, g2}};
  return kernels::PairingProductIsOne(terms, 2);
}

absl::Status CheckHeader(const ZkeyHeader& header) {
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPoint("alpha1", header.alpha1));
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPoint("beta1", header.beta1));
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPoint("delta1", header.delta1));
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPointG2("beta2", header.beta2));
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPointG2("gamma2", header.gamma2));
  PROOFMILL_RETURN_IF_ERROR(CheckHeaderPointG2("delta2", header.delta2));
  if (!SameScalar(header.delta1, header.delta2)) {
    return Damaged("section 2: expected e(delta1, G2) = e(G1, delta2), got different values");
  }
  if (!SameScalar(header.beta1, header.beta2)) {
    return Damaged("section 2: expected e(beta1, G2) = e(G1, beta2), got different values");
  }
  return absl::OkStatus();
}

bool SameScalars(const RandomCombinations& combinations, const Zkey& zkey, size_t begin, size_t end) {
  const auto joined1 = combinations.CombineJoined(zkey.b1.data(), begin, end);
  const auto joined2 = combinations.Join(combinations.Combine(zkey.b2.data(), begin, end));
  return SameScalar(joined1.ToAffine(), joined2.ToAffine());
}

// The first wire where B1 and B2 differ, by halving. REQUIRES: they differ.
size_t FirstDifferentB(const RandomCombinations& combinations, const Zkey& zkey) {
  size_t begin = 0;
  size_t end = zkey.b1.size();
  while (end - begin > 1) {
    const size_t middle = begin + (end - begin) / 2;
    if (SameScalars(combinations, zkey, begin, middle)) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  return begin;
}

// The random combinations that judge B1 and B2: one draw of coefficients serves the subgroup test of B2 and
// the comparison with B1.
struct CombinedB {
  absl::StatusOr<RandomCombinations> combinations = absl::InternalError("not drawn yet");
  RandomCombinations::Sums sums2;
  kernels::G1Xyzz joined1;
};

CombinedB CombineB(const Zkey& zkey) {
  CombinedB out;
  out.combinations = RandomCombinations::Draw(zkey.b2.size());
  if (!out.combinations.ok()) return out;
  kernels::ParallelInvoke(
      [&] { out.sums2 = out.combinations->Combine(zkey.b2.data(), 0, zkey.b2.size()); },
      [&] { out.joined1 = out.combinations->CombineJoined(zkey.b1.data(), 0, zkey.b1.size()); });
  return out;
}

// REQUIRES: the points of both sections are on their curves.
absl::Status CheckB(const Zkey& zkey, const CombinedB& combined) {
  if (!combined.combinations.ok()) return combined.combinations.status();
  if (!AllInG2Subgroup(combined.sums2)) {
    const size_t index = FirstOutsideG2Subgroup(*combined.combinations, zkey.b2.data(), zkey.b2.size());
    return Damaged(absl::StrCat(
        "section 7 (B2), point ", index,
        ": expected a point of order r, got one outside the subgroup: ", PointText(zkey.b2[index])));
  }
  if (SameScalar(combined.joined1.ToAffine(), combined.combinations->Join(combined.sums2).ToAffine())) {
    return absl::OkStatus();
  }
  return Damaged(
      absl::StrCat("sections 6 (B1) and 7 (B2): expected the same scalars, got different ones at point ",
                   FirstDifferentB(*combined.combinations, zkey)));
}

// Checks 1 to 6, which speak of the bytes alone. They run side by side; the first in the order below that
// fails is the error. What is combined of points off their curve is never looked at.
absl::Status CheckContent(const Zkey& zkey) {
  absl::Status header, sections;
  absl::StatusOr<std::optional<std::string>> coefficients = std::optional<std::string>();
  CombinedB combined;
  kernels::ParallelInvoke([&] { combined = CombineB(zkey); }, [&] { sections = CheckSections(zkey); },
                          [&] { coefficients = FindCoefficientMismatch(zkey); },
                          [&] { header = CheckHeader(zkey.header); });
  PROOFMILL_RETURN_IF_ERROR(header);
  PROOFMILL_RETURN_IF_ERROR(sections);
  if (!coefficients.ok()) return coefficients.status();
  if (coefficients->has_value()) return Damaged(**coefficients);
  return CheckB(zkey, combined);
}

absl::Status CheckSafety(const Zkey& zkey, const AuditOptions& options, AuditReport& report) {
  report.gamma_equals_delta = zkey.header.gamma2 == zkey.header.delta2;
  report.insecure_test_setup = IsInsecureTestSetup(zkey);
  if (report.gamma_equals_delta) {
    constexpr absl::string_view kText =
        "gamma2 equals delta2: nobody contributed to the second phase of the set-up, so anybody can forge "
        "proofs";
    if (!options.allow_unsafe_setup) return Unsafe(kText);
    report.warnings.emplace_back(kText);
  }
  for (size_t i = 0; i < zkey.ic.size(); ++i) {
    if (!zkey.ic[i].IsInfinity()) continue;
    const std::string text =
        i == 0
            ? std::string("section 3 (IC), point 0 is infinity: the constant wire is not bound by the proof")
            : absl::StrCat("section 3 (IC), point ", i, " is infinity: public signal ", i - 1,
                           " is not bound by the proof, which verifies with any value of it");
    if (!options.allow_unsafe_setup) return Unsafe(text);
    report.warnings.push_back(text);
  }
  if (report.insecure_test_setup) {
    const std::string text =
        absl::StrCat("the contribution record says \"", std::string(kInsecureTestSetupName),
                     "\": its trapdoor is known, so anybody can forge proofs");
    if (!options.allow_insecure_test_keys) return Unsafe(text);
    report.warnings.push_back(text);
  }
  if (zkey.header.gamma2 != kG2Generator) {
    report.warnings.emplace_back(
        "gamma2 is not the generator of G2, as it is in every key that snarkjs makes");
  }
  return absl::OkStatus();
}

absl::Status CheckExpected(const Zkey& zkey, const AuditOptions& options) {
  if (options.expected_vk == nullptr) return absl::OkStatus();
  const VerificationKey& expected = *options.expected_vk;
  const VerificationKey actual = VerificationKeyOf(zkey);
  std::string difference;
  if (expected.ic.size() != actual.ic.size()) {
    difference = absl::StrCat("it has ", expected.ic.size(), " IC points, the key has ", actual.ic.size());
  } else if (expected.alpha1 != actual.alpha1) {
    difference = "alpha1 differs";
  } else if (expected.beta2 != actual.beta2) {
    difference = "beta2 differs";
  } else if (expected.gamma2 != actual.gamma2) {
    difference = "gamma2 differs";
  } else if (expected.delta2 != actual.delta2) {
    difference = "delta2 differs (another set-up of the same circuit, or a later contribution)";
  } else if (expected.ic != actual.ic) {
    const auto place = std::mismatch(expected.ic.begin(), expected.ic.end(), actual.ic.begin()).first;
    difference = absl::StrCat("IC[", place - expected.ic.begin(), "] differs");
  } else {
    return absl::OkStatus();
  }
  return WithReason(
      absl::FailedPreconditionError(absl::StrCat("key audit: expected the verification key of ",
                                                 options.expected_vk_name, ", got another: ", difference)),
      ErrorReason::kKeyMalformed);
}

}  // namespace

absl::StatusOr<AuditReport> AuditZkey(const Zkey& zkey, const AuditOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  AuditReport report;
  if (!options.content_audited) PROOFMILL_RETURN_IF_ERROR(CheckContent(zkey));
  PROOFMILL_RETURN_IF_ERROR(CheckExpected(zkey, options));
  PROOFMILL_RETURN_IF_ERROR(CheckSafety(zkey, options, report));
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

bool IsInsecureTestSetup(const Zkey& zkey) {
  return std::any_of(zkey.contributions.begin(), zkey.contributions.end(),
                     [](const ZkeyContribution& c) { return c.name == kInsecureTestSetupName; });
}

VerificationKey VerificationKeyOf(const Zkey& zkey) {
  const ZkeyHeader& header = zkey.header;
  return {header.alpha1, header.beta2, header.gamma2, header.delta2,
          std::vector<G1Affine>(zkey.ic.begin(), zkey.ic.end())};
}

}  // namespace proofmill::engine
