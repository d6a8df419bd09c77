// What the checks of the different vector files share. Internal to engine/whir: only .cc files include it.
//
// Thread safety: as plain objects.

#ifndef PROOFMILL_ENGINE_WHIR_VECTOR_PARTS_H_
#define PROOFMILL_ENGINE_WHIR_VECTOR_PARTS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"
#include "engine/whir/prover.h"
#include "engine/whir/transcript.h"
#include "engine/whir/vector_check.h"
#include "nlohmann/json.hpp"

namespace proofmill::engine {

// Collects comparisons and keeps the first that fails.
class WhirComparison {
 public:
  // Returns `same`.
  bool Expect(bool same, absl::string_view what);
  // Appends to what is said of a file that agrees.
  void Say(absl::string_view what);
  bool agrees() const { return difference_.empty(); }
  WhirVectorResult Result() const;

 private:
  std::string difference_;
  std::string detail_;
};

// What a random stream gives for a file: the polynomial, and then the points of its claims.
struct WhirVectorInput {
  WhirElements polynomial;
  std::vector<WhirElements> points;
};
WhirVectorInput DrawVectorInput(uint64_t seed, uint32_t num_variables, size_t claims, size_t degree);

bool SameTranscript(const nlohmann::json& runs, const WhirTranscriptLog& log);
// What makes proofs of `config` again under `options`.
absl::StatusOr<std::unique_ptr<WhirProver>> MakeVectorProver(const WhirConfig& config,
                                                             const WhirVectorOptions& options);
// Whether proofs of `config` are made again under `options`.
bool MayProve(const WhirConfig& config, const WhirVectorOptions& options);

// Each checks one kind of file; they throw nlohmann::json::exception where it is malformed.
void CheckPinParameters(const nlohmann::json& file, WhirComparison& comparison);
void CheckStrictParameters(const nlohmann::json& file, WhirComparison& comparison);
void CheckPinProof(const nlohmann::json& file, const WhirVectorOptions& options, WhirComparison& comparison);
void CheckPinRun(const nlohmann::json& file, const WhirVectorOptions& options, WhirComparison& comparison);
void CheckStrictProof(const nlohmann::json& file, const WhirVectorOptions& options,
                      WhirComparison& comparison);

// The pin's parameters in `config` of a vector file, derived and compared with what the file says.
absl::StatusOr<WhirConfig> CheckedPinConfig(const nlohmann::json& config, WhirComparison& comparison);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_VECTOR_PARTS_H_
