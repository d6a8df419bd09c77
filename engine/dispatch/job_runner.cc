#include "engine/dispatch/job_runner.h"

namespace proofmill::engine {

void ReportDevice(JobRunner& runner, Observer& observer) {
  const DeviceInfo device = runner.info();
  for (const CircuitKeyChange& change : runner.TakeKeyChanges()) {
    observer.OnKeyChange(device, {change.circuit, change.change, change.bytes, change.duration, change.plan});
  }
  for (const DeviceMemory& memory : runner.Memory()) {
    observer.OnDeviceMemory(device, memory.kind, memory.bytes);
  }
  const std::optional<DeviceCounts> counts = runner.Counts();
  if (counts.has_value()) observer.OnDeviceCounts(device, *counts);
}

}  // namespace proofmill::engine
