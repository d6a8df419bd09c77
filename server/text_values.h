// Values of the configuration as people write them: yes or no, counts, sizes and times.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_TEXT_VALUES_H_
#define PROOFMILL_SERVER_TEXT_VALUES_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace proofmill::server {

// Each gives INVALID_ARGUMENT, naming what was expected and what came, for any other text.

// true or false.
absl::StatusOr<bool> ParseBool(absl::string_view text);
// Decimal digits.
absl::StatusOr<uint64_t> ParseCount(absl::string_view text);
// Decimal digits, then nothing or B for bytes, or KiB, MiB, GiB, TiB.
absl::StatusOr<uint64_t> ParseBytes(absl::string_view text);
// As absl::ParseDuration: 500ms, 30s, 2m, 1h30m; finite, not negative.
absl::StatusOr<absl::Duration> ParseTime(absl::string_view text);

// In the largest unit that divides it: 8MiB, 1000.
std::string BytesText(uint64_t bytes);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_TEXT_VALUES_H_
