// Turns JSON text from outside into a tree, with the checks that the JSON library leaves out. Internal to
// engine/formats: only .cc files include it.
//
// Thread safety: pure functions. Nothing here throws on bad input.

#ifndef PROOFMILL_ENGINE_FORMATS_JSON_TEXT_H_
#define PROOFMILL_ENGINE_FORMATS_JSON_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace proofmill::engine {

// Deeper than any JSON that we read, even with a few unknown keys.
inline constexpr size_t kJsonDepthMax = 16;

// One JSON value that fills `text`. `what` starts error messages ("proof").
//   INVALID_ARGUMENT    not JSON, nested deeper than kJsonDepthMax, a key that comes twice in one object, or
//                       a zero byte (the library would take it for the end).
//   RESOURCE_EXHAUSTED  longer than `bytes_max`.
absl::StatusOr<nlohmann::json> ParseJsonText(absl::string_view what, std::string_view text, size_t bytes_max);

// The checks of a value against what a place of a document allows; `place` names it in errors
// ("proof: pi_a[0]"). All fail with INVALID_ARGUMENT.
[[nodiscard]] absl::Status ExpectJsonObject(const nlohmann::json& value, const std::string& place);
[[nodiscard]] absl::Status ExpectJsonArray(const nlohmann::json& value, size_t size,
                                           const std::string& place);
absl::StatusOr<const std::string*> ExpectJsonString(const nlohmann::json& value, const std::string& place);
// REQUIRES: `object` is an object.
absl::StatusOr<const nlohmann::json*> ExpectJsonMember(const nlohmann::json& object, const char* key,
                                                       const std::string& place);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_JSON_TEXT_H_
