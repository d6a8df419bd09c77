#include "engine/dispatch/proof_data.h"

#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/groth16/prover.h"
#include "engine/whir/statement.h"

namespace proofmill::engine {
namespace {

// One function object of several, for std::visit().
template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

template <typename T>
absl::Span<const uint8_t> BytesOf(const T* data, size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const uint8_t*>(data), count * sizeof(T)};
}

absl::Status Check(const Circuit& circuit, const Witness& witness) {
  return CheckWitness(*circuit.key, {witness.values.data(), witness.values.size()});
}

absl::Status Check(const Circuit& circuit, const WhirInput& input) {
  const size_t size = size_t{1} << circuit.whir->parameters.num_variables;
  if (input.polynomial.size() != size) {
    return WithReason(absl::InvalidArgumentError(absl::StrCat("polynomial: expected ", size, " values, got ",
                                                              input.polynomial.size())),
                      ErrorReason::kWitnessLength);
  }
  std::string error = WhirClaimsError(*circuit.whir, input.claims, /*values_required=*/false);
  if (error.empty()) return absl::OkStatus();
  return WithReason(absl::InvalidArgumentError(error), ErrorReason::kRequestInvalid);
}

}  // namespace

ProofSystem SystemOf(const ProofInput& input) {
  return std::holds_alternative<Witness>(input) ? ProofSystem::kGroth16 : ProofSystem::kWhir;
}
ProofSystem SystemOf(const ProofOutput& output) {
  return std::holds_alternative<Groth16Output>(output) ? ProofSystem::kGroth16 : ProofSystem::kWhir;
}

uint64_t InputBytes(const ProofInput& input) {
  uint64_t bytes = 0;
  for (const absl::Span<const uint8_t> piece : InputContent(input)) bytes += piece.size();
  return bytes;
}

uint64_t OutputBytes(const ProofOutput& output) {
  return std::visit(Overloaded{[](const Groth16Output& out) -> uint64_t {
                                 return sizeof(out) + out.public_signals.size() * sizeof(kernels::Fr);
                               },
                               [](const WhirOutput& out) -> uint64_t {
                                 uint64_t bytes = sizeof(out) + out.proof.size();
                                 for (const WhirClaim& claim : out.claims) {
                                   bytes += sizeof(claim) + (claim.point.size() + claim.value.size()) *
                                                                sizeof(kernels::BabyBear);
                                 }
                                 return bytes;
                               }},
                    output);
}

// The lengths of points and polynomials are the circuit's; a value is there or not, which its absence from
// the end of a claim alone would not tell.
std::vector<absl::Span<const uint8_t>> InputContent(const ProofInput& input) {
  static constexpr uint8_t kHasValue[] = {0, 1};
  std::vector<absl::Span<const uint8_t>> content;
  std::visit(Overloaded{[&](const Witness& witness) {
                          content.push_back(BytesOf(witness.values.data(), witness.values.size()));
                        },
                        [&](const WhirInput& whir) {
                          content.push_back(BytesOf(whir.polynomial.data(), whir.polynomial.size()));
                          for (const WhirClaim& claim : whir.claims) {
                            content.push_back(BytesOf(claim.point.data(), claim.point.size()));
                            content.emplace_back(&kHasValue[claim.value.empty() ? 0 : 1], 1);
                            content.push_back(BytesOf(claim.value.data(), claim.value.size()));
                          }
                        }},
             input);
  return content;
}

absl::Status CheckInput(const Circuit& circuit, const ProofInput& input) {
  if (SystemOf(input) != circuit.system) {
    return WithReason(
        absl::InvalidArgumentError(absl::StrCat(
            "input: expected that of ", std::string(ProofSystemName(circuit.system)), ", as the circuit ",
            circuit.id, " is, got that of ", std::string(ProofSystemName(SystemOf(input))))),
        ErrorReason::kRequestInvalid);
  }
  return std::visit([&](const auto& of_system) { return Check(circuit, of_system); }, input);
}

}  // namespace proofmill::engine
