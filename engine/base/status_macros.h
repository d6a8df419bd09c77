// The two error macros of this code base, for functions that return absl::Status or absl::StatusOr.

#ifndef PROOFMILL_ENGINE_BASE_STATUS_MACROS_H_
#define PROOFMILL_ENGINE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the enclosing function when `expr` (an absl::Status) is not OK.
#define PROOFMILL_RETURN_IF_ERROR(expr)                                                            \
  do {                                                                                             \
    if (::absl::Status proofmill_status = (expr); !proofmill_status.ok()) return proofmill_status; \
  } while (false)

#define PROOFMILL_CONCAT_INNER_(a, b) a##b
#define PROOFMILL_CONCAT_(a, b) PROOFMILL_CONCAT_INNER_(a, b)
#define PROOFMILL_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = (expr);                                     \
  if (!result.ok()) return std::move(result).status();      \
  lhs = *std::move(result)

// Evaluates `expr` (an absl::StatusOr<T>) and either returns its status or assigns its value to `lhs`,
// which may declare a variable.
#define PROOFMILL_ASSIGN_OR_RETURN(lhs, expr) \
  PROOFMILL_ASSIGN_OR_RETURN_IMPL_(PROOFMILL_CONCAT_(proofmill_result_, __LINE__), lhs, expr)

#endif  // PROOFMILL_ENGINE_BASE_STATUS_MACROS_H_
