// What all services share. Owned by Server, which ends it after the last call.

#ifndef PROOFMILL_SERVER_RPC_SERVICE_CONTEXT_H_
#define PROOFMILL_SERVER_RPC_SERVICE_CONTEXT_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "engine/dispatch/engine.h"
#include "server/access.h"
#include "server/audit_log.h"
#include "server/idle_reaper.h"
#include "server/job_store.h"
#include "server/log.h"
#include "server/metrics.h"
#include "server/process_facts.h"
#include "server/rpc/open_calls.h"
#include "server/rpc/send_guard.h"
#include "server/upload_store.h"
#include "server/work_pool.h"

namespace proofmill::server {

struct ServiceLimits {
  uint64_t message_bytes_max;
  uint64_t chunk_bytes_max;
  std::chrono::milliseconds idle_timeout;  // of a stream between two messages of the client
  std::chrono::milliseconds deadline_max;
  size_t batch_items_max;  // of one stream of ProveBatch, on their way or waiting to be sent
  size_t uploads_max;
};

struct ServiceContext {
  engine::Engine& engine;
  Metrics& metrics;
  Log& log;
  const Access& access;
  AuditLog& audit;
  UploadStore& uploads;
  JobStore& jobs;
  SendGuard& sends;
  IdleReaper& reaper;
  WorkPool& verify_pool;
  // For the calls of operators, which may read folders and write files.
  WorkPool& admin_pool;
  ProcessFacts& process;
  ServiceLimits limits;
  // Set once jobs are refused because the process ends: streams whose witness is not complete cannot come to
  // a good end any more.
  std::atomic<bool> draining{false};
  OpenCalls open_calls{};
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_SERVICE_CONTEXT_H_
