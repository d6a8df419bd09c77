// What the engine tells about itself, turned into metrics and log lines.
//
// Thread safety: as engine::Observer. The metrics and the log must outlive it.

#ifndef PROOFMILL_SERVER_ENGINE_EVENTS_H_
#define PROOFMILL_SERVER_ENGINE_EVENTS_H_

#include <string_view>

#include "engine/dispatch/observer.h"
#include "server/log.h"
#include "server/metrics.h"

namespace proofmill::server {

class EngineEvents final : public engine::Observer {
 public:
  EngineEvents(Metrics& metrics, Log& log) : metrics_(metrics), log_(log) {}

  void OnQueueDepthChange(engine::Priority priority, int change) override {
    metrics_.OnQueueDepthChange(priority, change);
  }
  void OnWitnessBytesChange(int64_t change) override { metrics_.OnWitnessBytesChange(change); }
  void OnJobDropped(const engine::JobInfo& job, engine::DropReason reason) override;
  void OnJobStarted(const engine::JobInfo& job, const engine::DeviceInfo& device,
                    std::chrono::nanoseconds queue_wait) override {
    metrics_.OnJobStarted(job, device, queue_wait);
  }
  void OnStage(const engine::JobInfo& job, const engine::DeviceInfo& device, std::string_view stage,
               std::chrono::nanoseconds duration) override {
    metrics_.OnStage(job, device, stage, duration);
  }
  void OnJobFinished(const engine::JobInfo& job, const engine::DeviceInfo& device, const absl::Status& status,
                     std::chrono::nanoseconds run_time) override;
  void OnBlame(const engine::JobInfo& job, const engine::DeviceInfo& device,
               engine::BlameVerdict verdict) override;
  void OnSelfCheck(size_t proofs) override { metrics_.OnSelfCheck(proofs); }
  void OnDeviceUp(const engine::DeviceInfo& device, bool up, std::string_view why) override;
  void OnDeviceError(const engine::DeviceInfo& device, engine::DeviceErrorClass error_class,
                     const absl::Status& status) override;
  void OnDeviceMemory(const engine::DeviceInfo& device, engine::DeviceMemoryKind kind,
                      uint64_t bytes) override {
    metrics_.OnDeviceMemory(device, kind, bytes);
  }
  void OnDeviceCounts(const engine::DeviceInfo& device, const engine::DeviceCounts& counts) override {
    metrics_.OnDeviceCounts(device, counts);
  }
  void OnKeyChange(const engine::DeviceInfo& device, const engine::KeyChangeInfo& change) override;
  void OnCanary(const engine::DeviceInfo& device, std::string_view circuit, bool proved) override;
  void OnCircuit(const engine::Circuit& circuit) override;
  void OnCircuitFileIgnored(std::string_view name, std::string_view why) override;

 private:
  Metrics& metrics_;
  Log& log_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_ENGINE_EVENTS_H_
