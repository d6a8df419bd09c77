#include "server/trace_context.h"

#include <algorithm>

namespace proofmill::server {
namespace {

constexpr size_t kVersionEnd = 2;
constexpr size_t kTraceBegin = 3;
constexpr size_t kTraceEnd = 35;
constexpr size_t kParentBegin = 36;
constexpr size_t kParentEnd = 52;
constexpr size_t kFlagsBegin = 53;
constexpr size_t kSize = 55;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsHexAndNotZero(std::string_view text) {
  return IsHex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

}  // namespace

std::optional<std::string_view> ParseTraceId(std::string_view text) {
  if (text.size() < kSize) return std::nullopt;
  const std::string_view version = text.substr(0, kVersionEnd);
  const bool well_formed = IsHex(version) && version != "ff" && text[kVersionEnd] == '-' &&
                           text[kTraceEnd] == '-' && text[kParentEnd] == '-' &&
                           IsHexAndNotZero(text.substr(kTraceBegin, kTraceEnd - kTraceBegin)) &&
                           IsHexAndNotZero(text.substr(kParentBegin, kParentEnd - kParentBegin)) &&
                           IsHex(text.substr(kFlagsBegin, kSize - kFlagsBegin));
  // Version 00 ends here; a later one may go on, behind a dash.
  if (!well_formed || (text.size() > kSize && (version == "00" || text[kSize] != '-'))) return std::nullopt;
  return text.substr(kTraceBegin, kTraceEnd - kTraceBegin);
}

}  // namespace proofmill::server
