// The trace that a call belongs to, as W3C Trace Context (level 1, 2021) has it in the header `traceparent`:
// version, trace id, parent id and flags in lower-case hexadecimal, separated by dashes.
//
// Thread safety: pure functions.

#ifndef PROOFMILL_SERVER_TRACE_CONTEXT_H_
#define PROOFMILL_SERVER_TRACE_CONTEXT_H_

#include <optional>
#include <string_view>

namespace proofmill::server {

inline constexpr char kTraceparentHeader[] = "traceparent";
// In which the trace id goes back.
inline constexpr char kTraceIdTrailer[] = "trace-id";

// The trace id, a view into `traceparent`: 32 digits that are not all zero. Nothing if it is not such a
// header; of versions to come only what this one has must be as it is here.
std::optional<std::string_view> ParseTraceId(std::string_view traceparent);

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_TRACE_CONTEXT_H_
