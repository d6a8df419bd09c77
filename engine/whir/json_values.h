// Reads the numbers and lists of WHIR's JSON. Internal to engine/whir: only .cc files include it.
//
// What has another type than expected, is missing or is out of range throws nlohmann::json::exception, which
// the caller turns into a status.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_ENGINE_WHIR_JSON_VALUES_H_
#define PROOFMILL_ENGINE_WHIR_JSON_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/whir/parameters.h"
#include "engine/whir/proof.h"
#include "nlohmann/json.hpp"

namespace proofmill::engine {

// How field elements are written: as integers in [0, p), or as their Montgomery forms.
enum class WhirNumbers { kCanonical, kMontgomery };

[[noreturn]] void ThrowJsonError(const std::string& what);
// What an exception of the library or ThrowJsonError() says, without the library's number for it.
std::string JsonErrorText(const nlohmann::json::exception& error);

// Everything from here on throws what JsonErrorText() makes one line of: what was expected, and what there
// is.
const nlohmann::json& JsonMember(const nlohmann::json& object, const char* name);
const nlohmann::json::array_t& JsonList(const nlohmann::json& value);
const std::string& JsonText(const nlohmann::json& value);
uint64_t JsonUint(const nlohmann::json& value);
// Throws above 2^32 - 1.
uint32_t JsonUint32(const nlohmann::json& value);
// Of a member of an object, which the error then names.
uint32_t JsonUint32(const nlohmann::json& object, const char* name);
kernels::BabyBear JsonElement(const nlohmann::json& value, WhirNumbers numbers = WhirNumbers::kCanonical);
// A list of base elements, appended to `out`.
void AppendJsonElements(const nlohmann::json& list, WhirNumbers numbers, WhirElements& out);
WhirElements JsonElements(const nlohmann::json& list, WhirNumbers numbers = WhirNumbers::kCanonical);
// A list of lists of `degree` base elements each.
WhirElements JsonExtElements(const nlohmann::json& list, size_t degree);
kernels::Digest JsonDigest(const nlohmann::json& list, WhirNumbers numbers = WhirNumbers::kCanonical);

// [a, b, ..], and the same cut into lists of `degree`.
nlohmann::json ElementsToJson(absl::Span<const kernels::BabyBear> elements,
                              WhirNumbers numbers = WhirNumbers::kCanonical);
nlohmann::json ExtElementsToJson(absl::Span<const kernels::BabyBear> elements, size_t degree);

// {"constant": k} or {"first": k, "rest": k}.
WhirFolding JsonFolding(const nlohmann::json& value);
WhirAssumption JsonAssumption(const nlohmann::json& value);
kernels::Poseidon2Set JsonConstants(const nlohmann::json& value);
// The parameters of a strict statement, named as in the vectors.
WhirParameters JsonStrictParameters(const nlohmann::json& value);
// [{"point": [element, ..], "value": element}, ..]
std::vector<WhirClaim> JsonClaims(const nlohmann::json& list, size_t degree);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_JSON_VALUES_H_
