// Ends what a client began and then left alone: streams without a next message, uploads without a next piece.
//
// Thread safety: every method may be called from any thread, but for the destructor.
// Lifetime: the reaper holds weak references; whatever goes by itself is forgotten at the next sweep.

#ifndef PROOFMILL_SERVER_IDLE_REAPER_H_
#define PROOFMILL_SERVER_IDLE_REAPER_H_

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace proofmill::server {

// Something that can be idle.
class Idler {
 public:
  virtual ~Idler() = default;
  // Ends whatever is idle at `now`. Called about once a period, by one thread at a time, with no lock held.
  virtual void EndIdle(engine::Clock::time_point now) = 0;
};

class IdleReaper {
 public:
  using Duration = std::chrono::milliseconds;

  // Sweeps every `period`, by `clock`, which must outlive the reaper.
  IdleReaper(Duration period, engine::Clock& clock);
  ~IdleReaper();
  IdleReaper(const IdleReaper&) = delete;
  IdleReaper& operator=(const IdleReaper&) = delete;

  void Add(std::weak_ptr<Idler> idler);

  // Looks at everything once, now.
  void Sweep();

 private:
  void Loop();

  const Duration period_;
  engine::Clock& clock_;
  engine::Mutex mu_;
  engine::CondVar changed_;
  std::vector<std::weak_ptr<Idler>> idlers_ ABSL_GUARDED_BY(mu_);
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace proofmill::server

#endif  // PROOFMILL_SERVER_IDLE_REAPER_H_
