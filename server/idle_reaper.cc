#include "server/idle_reaper.h"

#include <algorithm>
#include <utility>

#include "engine/base/thread.h"

namespace proofmill::server {

IdleReaper::IdleReaper(Duration period, engine::Clock& clock) : period_(period), clock_(clock) {
  thread_ = std::thread([this] { Loop(); });
}

IdleReaper::~IdleReaper() {
  {
    engine::MutexLock lock(mu_);
    ending_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void IdleReaper::Add(std::weak_ptr<Idler> idler) {
  engine::MutexLock lock(mu_);
  idlers_.push_back(std::move(idler));
}

void IdleReaper::Sweep() {
  std::vector<std::shared_ptr<Idler>> alive;
  {
    engine::MutexLock lock(mu_);
    alive.reserve(idlers_.size());
    for (const auto& weak : idlers_) {
      if (auto idler = weak.lock()) alive.push_back(std::move(idler));
    }
    idlers_.erase(
        std::remove_if(idlers_.begin(), idlers_.end(), [](const auto& weak) { return weak.expired(); }),
        idlers_.end());
  }
  const auto now = clock_.Now();
  for (const auto& idler : alive) idler->EndIdle(now);
}

void IdleReaper::Loop() {
  engine::SetThreadName("pm-idle");
  while (true) {
    {
      engine::MutexLock lock(mu_);
      const auto next = clock_.Now() + period_;
      while (!ending_ && clock_.Now() < next) clock_.WaitUntil(changed_, mu_, next);
      if (ending_) return;
    }
    Sweep();
  }
}

}  // namespace proofmill::server
