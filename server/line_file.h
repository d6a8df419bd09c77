// Small text files of one entry a line, of words between blanks, with # comments: API keys and tenants.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_LINE_FILE_H_
#define PROOFMILL_SERVER_LINE_FILE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace proofmill::server {

// Calls `take` with the words of each line that has any, and collects what it finds wrong.
//   INVALID_ARGUMENT  up to ten mistakes, "NAME:LINE: what is wrong", separated by "; "; or the text is empty
//   or
//                     its last line has no end, so that it may be half of a file.
absl::Status ForEachLine(
    std::string_view name, std::string_view text,
    const std::function<absl::Status(const std::vector<absl::string_view>& words)>& take);

// The text of such a file: at most 4 MiB. Errors as engine::ReadTextFile().
absl::StatusOr<std::string> ReadLineFile(const std::string& path);

// Whether `text` can be the name of a tenant in such a file: 1 to 256 printable ASCII characters without
// blanks and #.
//   INVALID_ARGUMENT  it cannot.
absl::Status CheckTenantName(absl::string_view text);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_LINE_FILE_H_
