#include "engine/dispatch/observer.h"

namespace proofmill::engine {

std::string_view DropReasonName(DropReason reason) {
  switch (reason) {
    case DropReason::kQueueFull:
      return "queue_full";
    case DropReason::kQuota:
      return "quota";
    case DropReason::kExpired:
      return "expired";
    case DropReason::kCancelled:
      return "cancelled";
    case DropReason::kDraining:
      return "draining";
  }
  return "cancelled";
}

std::string_view DeviceErrorClassName(DeviceErrorClass error_class) {
  switch (error_class) {
    case DeviceErrorClass::kOutOfMemory:
      return "oom";
    case DeviceErrorClass::kLaunch:
      return "launch";
    case DeviceErrorClass::kSticky:
      return "sticky";
    case DeviceErrorClass::kTimeout:
      return "timeout";
    case DeviceErrorClass::kSelfCheck:
      return "self_check";
  }
  return "launch";
}

std::string_view DeviceMemoryKindName(DeviceMemoryKind kind) {
  switch (kind) {
    case DeviceMemoryKind::kKeys:
      return "keys";
    case DeviceMemoryKind::kScratch:
      return "scratch";
    case DeviceMemoryKind::kFree:
      return "free";
    case DeviceMemoryKind::kLimit:
      return "limit";
  }
  return "limit";
}

std::string_view KeyChangeName(KeyChange change) {
  switch (change) {
    case KeyChange::kLoaded:
      return "loaded";
    case KeyChange::kEvicted:
      return "evicted";
    case KeyChange::kReloaded:
      return "reloaded";
  }
  return "reloaded";
}

std::string_view BlameVerdictName(BlameVerdict verdict) {
  return verdict == BlameVerdict::kWitness ? "witness" : "device";
}

}  // namespace proofmill::engine
