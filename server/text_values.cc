#include "server/text_values.h"

#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"

namespace proofmill::server {
namespace {

struct Unit {
  absl::string_view name;
  uint64_t bytes;
};
// Largest first, for BytesText().
constexpr Unit kUnits[] = {{"TiB", uint64_t{1} << 40},
                           {"GiB", uint64_t{1} << 30},
                           {"MiB", uint64_t{1} << 20},
                           {"KiB", uint64_t{1} << 10},
                           {"B", 1}};

absl::Status Unexpected(absl::string_view expected, absl::string_view got) {
  return absl::InvalidArgumentError(absl::StrCat("expected ", expected, ", got '", got, "'"));
}

}  // namespace

absl::StatusOr<bool> ParseBool(absl::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return Unexpected("true or false", text);
}

absl::StatusOr<uint64_t> ParseCount(absl::string_view text) {
  uint64_t value = 0;
  // SimpleAtoi alone would take a sign and spaces.
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return Unexpected("a whole number", text);
  }
  if (!absl::SimpleAtoi(text, &value)) return Unexpected("a whole number below 2^64", text);
  return value;
}

absl::StatusOr<uint64_t> ParseBytes(absl::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
  const absl::string_view unit_name = text.substr(digits);
  uint64_t factor = unit_name.empty() ? 1 : 0;
  for (const Unit& unit : kUnits) {
    if (unit.name == unit_name) factor = unit.bytes;
  }
  if (digits == 0 || factor == 0) return Unexpected("a size in bytes such as 4096, 64KiB or 8MiB", text);
  PROOFMILL_ASSIGN_OR_RETURN(const uint64_t count, ParseCount(text.substr(0, digits)));
  if (count > std::numeric_limits<uint64_t>::max() / factor) return Unexpected("less than 2^64 bytes", text);
  return count * factor;
}

absl::StatusOr<absl::Duration> ParseTime(absl::string_view text) {
  absl::Duration duration;
  if (!absl::ParseDuration(text, &duration) || duration < absl::ZeroDuration() ||
      duration == absl::InfiniteDuration()) {
    return Unexpected("a time such as 500ms, 30s or 2m", text);
  }
  return duration;
}

std::string BytesText(uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    if (bytes >= unit.bytes && bytes % unit.bytes == 0 && unit.bytes > 1) {
      return absl::StrCat(bytes / unit.bytes, unit.name);
    }
  }
  return absl::StrCat(bytes);
}

}  // namespace proofmill::server
