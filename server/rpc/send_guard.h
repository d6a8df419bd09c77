// Cuts calls whose client does not take what is sent to it.
//
// A client that stops reading closes the flow-control window of its call: the message that is being sent
// stays where it is, and with it the call, its result, and the place that it takes among the calls of its
// connection, for as long as the connection lives. So a send that does not end in time has its call
// cancelled.
//
// Thread safety: every method may be called from any thread. Lifetime: a context is not touched after End();
// gRPC calls no reaction of ours inside TryCancel(), so it may be called with the lock held that End() takes.

#ifndef PROOFMILL_SERVER_RPC_SEND_GUARD_H_
#define PROOFMILL_SERVER_RPC_SEND_GUARD_H_

#include <grpcpp/server_context.h>

#include <chrono>
#include <map>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "server/idle_reaper.h"

namespace proofmill::server {

class SendGuard final : public Idler {
 public:
  // `clock` must outlive the guard.
  SendGuard(std::chrono::milliseconds timeout, engine::Clock& clock) : timeout_(timeout), clock_(clock) {}

  // Something is being sent to the client of `call`. REQUIRES: nothing else is, or it is the last.
  void Begin(grpc::CallbackServerContext& call) {
    engine::MutexLock lock(mu_);
    since_.try_emplace(&call, clock_.Now());
  }
  // It has been sent, or never will be. Idempotent; called before the context goes.
  void End(grpc::CallbackServerContext& call) {
    engine::MutexLock lock(mu_);
    since_.erase(&call);
  }

  void EndIdle(engine::Clock::time_point now) override {
    engine::MutexLock lock(mu_);
    for (auto it = since_.begin(); it != since_.end();) {
      if (now < it->second + timeout_) {
        ++it;
        continue;
      }
      it->first->TryCancel();
      it = since_.erase(it);
    }
  }

 private:
  const std::chrono::milliseconds timeout_;
  engine::Clock& clock_;
  engine::Mutex mu_;
  std::map<grpc::CallbackServerContext*, engine::Clock::time_point> since_ ABSL_GUARDED_BY(mu_);
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_RPC_SEND_GUARD_H_
