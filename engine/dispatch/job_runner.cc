#include "engine/dispatch/job_runner.h"

namespace proofmill::engine {

void ReportDevice(JobRunner& runner, Observer& observer) {
  const DeviceInfo device = runner.info();
  for (const CircuitKeyChange& change : runner.TakeKeyChanges()) {
    observer.OnKeyChange(device, {change.circuit, change.change, change.bytes, change.duration, change.plan});
  }
  for (const CanaryResult& canary : runner.TakeCanaryResults()) {
    observer.OnCanary(device, canary.circuit, canary.proved);
  }
  for (const DeviceMemory& memory : runner.Memory()) {
    observer.OnDeviceMemory(device, memory.kind, memory.bytes);
  }
  observer.OnDeviceCounts(device, runner.Counts());
}

}  // namespace proofmill::engine
