// What every fuzz target shares: bytes as a source or as text, and a check that is on in all builds.

#ifndef PROOFMILL_TESTS_FUZZ_FUZZ_INPUT_H_
#define PROOFMILL_TESTS_FUZZ_FUZZ_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "absl/status/status.h"
#include "engine/formats/file.h"

namespace proofmill::engine {

inline MemorySource FuzzSource(const uint8_t* data, size_t size) {
  return MemorySource("fuzz", {data, size});
}
inline std::string_view FuzzText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process, which libFuzzer reports with the input.
inline void Require(bool condition) {
  if (!condition) std::abort();
}

// A parser may refuse an input only with these codes, and with a message of one line.
inline void RequireInputError(const absl::Status& status) {
  Require(absl::IsInvalidArgument(status) || absl::IsDataLoss(status) || absl::IsResourceExhausted(status));
  Require(!status.message().empty() && status.message().find('\n') == absl::string_view::npos);
  Require(status.message().size() < 1000);
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_FUZZ_FUZZ_INPUT_H_
