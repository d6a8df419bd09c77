#include "engine/dispatch/answer_box.h"

#include <algorithm>
#include <utility>

namespace proofmill::engine {

AnswerBox::AnswerBox(Clock::duration places_interval, Clock& clock)
    : places_interval_(places_interval), clock_(clock), places_told_(clock.Now() - places_interval) {}

void AnswerBox::Watch(std::shared_ptr<Ticket> ticket) {
  MutexLock lock(mu_);
  // Whoever answers a ticket says so in it first, and calls Unwatch() then: so either it is seen here, or
  // Unwatch() finds the timer.
  if (ticket->answered()) return;
  const bool is_next = timers_.empty() || ticket->deadline() < timers_.begin()->first.first;
  const Timer timer(ticket->deadline(), ticket.get());
  timers_.emplace(timer, std::move(ticket));
  if (is_next) changed_.NotifyOne();
}

void AnswerBox::Unwatch(const Ticket& ticket) {
  std::shared_ptr<Ticket> watched;  // let go of after the lock
  MutexLock lock(mu_);
  const auto timer = timers_.find(Timer(ticket.deadline(), &ticket));
  if (timer == timers_.end()) return;
  watched = std::move(timer->second);
  timers_.erase(timer);
}

void AnswerBox::Post(PostedAnswer answer) {
  MutexLock lock(mu_);
  answers_.push_back(std::move(answer));
  changed_.NotifyOne();
}

void AnswerBox::PlacesChanged() {
  MutexLock lock(mu_);
  if (places_due_.has_value()) return;
  places_due_ = std::max(clock_.Now(), places_told_ + places_interval_);
  changed_.NotifyOne();
}

bool AnswerBox::Wait(Work& work) {
  MutexLock lock(mu_);
  while (true) {
    if (TakeLocked(work)) return true;
    if (stopped_) return false;
    clock_.WaitUntil(changed_, mu_, NextWakeLocked());
  }
}

bool AnswerBox::Poll(Work& work) {
  MutexLock lock(mu_);
  return TakeLocked(work);
}

void AnswerBox::Stop() {
  MutexLock lock(mu_);
  stopped_ = true;
  changed_.NotifyOne();
}

bool AnswerBox::TakeLocked(Work& work) {
  work = Work();
  const Clock::time_point now = clock_.Now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    work.expired.push_back(std::move(timers_.begin()->second));
    timers_.erase(timers_.begin());
  }
  work.answers.swap(answers_);
  if (places_due_.has_value() && *places_due_ <= now) {
    places_due_.reset();
    places_told_ = now;
    work.places_changed = true;
  }
  return !work.expired.empty() || !work.answers.empty() || work.places_changed;
}

Clock::time_point AnswerBox::NextWakeLocked() const {
  Clock::time_point wake = Clock::time_point::max();
  if (!timers_.empty()) wake = timers_.begin()->first.first;
  if (places_due_.has_value()) wake = std::min(wake, *places_due_);
  return wake;
}

}  // namespace proofmill::engine
