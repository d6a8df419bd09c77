#include "engine/whir/vector_check.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/json_text.h"
#include "engine/whir/json_values.h"
#include "engine/whir/vector_parts.h"
#include "kernels/field/small_rng.h"

namespace proofmill::engine {
namespace {

constexpr size_t kVectorBytesMax = size_t{256} << 20;

bool Dispatch(const nlohmann::json& file, const WhirVectorOptions& options, WhirComparison& comparison) {
  if (file.is_array()) {
    CheckPinParameters(file, comparison);
  } else if (file.contains("entries")) {
    CheckStrictParameters(file, comparison);
  } else if (file.contains("proof_hex")) {
    CheckStrictProof(file, options, comparison);
  } else if (file.contains("proof")) {
    CheckPinProof(file, options, comparison);
  } else if (file.contains("final_openings_digest")) {
    CheckPinRun(file, options, comparison);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool WhirComparison::Expect(bool same, absl::string_view what) {
  if (!same && difference_.empty()) difference_ = std::string(what);
  return same;
}

void WhirComparison::Say(absl::string_view what) {
  absl::StrAppend(&detail_, detail_.empty() ? "" : ", ", what);
}

WhirVectorResult WhirComparison::Result() const {
  if (agrees()) return {true, detail_};
  return {false, absl::StrCat("differs: ", difference_)};
}

WhirVectorInput DrawVectorInput(uint64_t seed, uint32_t num_variables, size_t claims, size_t degree) {
  kernels::SmallRng rng(seed);
  WhirVectorInput out;
  out.polynomial.resize(size_t{1} << num_variables);
  for (kernels::BabyBear& x : out.polynomial) x = rng.NextBabyBear();
  for (size_t i = 0; i < claims; ++i) {
    WhirElements& point = out.points.emplace_back(num_variables * degree);
    for (kernels::BabyBear& x : point) x = rng.NextBabyBear();
  }
  return out;
}

bool SameTranscript(const nlohmann::json& runs, const WhirTranscriptLog& log) {
  if (runs.size() != log.runs.size()) return false;
  for (size_t i = 0; i < log.runs.size(); ++i) {
    if (runs[i].at(0) != std::string(1, log.runs[i].kind) || runs[i].at(1) != log.runs[i].values)
      return false;
  }
  return true;
}

absl::StatusOr<std::unique_ptr<WhirProver>> MakeVectorProver(const WhirConfig& config,
                                                             const WhirVectorOptions& options) {
  if (!options.device) return std::make_unique<WhirProver>(config);
  PROOFMILL_ASSIGN_OR_RETURN(std::unique_ptr<WhirDevice> device, options.device(config));
  return std::make_unique<WhirProver>(config, std::move(device));
}

bool MayProve(const WhirConfig& config, const WhirVectorOptions& options) {
  return config.parameters.num_variables <= options.prove_variables_max &&
         config.ExpectedNonces() <= options.prove_nonces_max;
}

absl::StatusOr<WhirVectorResult> CheckWhirVector(std::string_view text, const WhirVectorOptions& options) {
  PROOFMILL_ASSIGN_OR_RETURN(const nlohmann::json file, ParseJsonText("WHIR vector", text, kVectorBytesMax));
  WhirComparison comparison;
  try {
    if (!Dispatch(file, options, comparison)) {
      return absl::InvalidArgumentError(
          "WHIR vector: expected parameter sets, or an object with proof, proof_hex or "
          "final_openings_digest, got another JSON");
    }
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("WHIR vector: ", JsonErrorText(error)));
  }
  return comparison.Result();
}

}  // namespace proofmill::engine
