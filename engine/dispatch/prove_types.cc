#include "engine/dispatch/prove_types.h"

namespace proofmill::engine {

std::string_view PriorityName(Priority priority) {
  switch (priority) {
    case Priority::kLow:
      return "low";
    case Priority::kNormal:
      return "normal";
    case Priority::kHigh:
      return "high";
  }
  return "normal";
}

}  // namespace proofmill::engine
