#include "engine/backend/cuda/proof_line.h"

#include <algorithm>
#include <utility>

namespace proofmill::engine {

std::optional<ProofLine::Lead> ProofLine::Join(Member& member) {
  MutexLock lock(mu_);
  waiting_.push_back(&member);
  while (!member.done_) {
    if (waiting_.front() == &member && !first_leads_ && leaders_ < kLeadersMax) {
      first_leads_ = true;
      ++leaders_;
      return Lead(*this, member);
    }
    member.changed_.Wait(mu_);
  }
  return std::nullopt;
}

void ProofLine::WakeFirstLocked() {
  if (!waiting_.empty() && !first_leads_ && leaders_ < kLeadersMax) waiting_.front()->changed_.NotifyOne();
}

ProofLine::Lead::Lead(Lead&& other) noexcept
    : line_(std::exchange(other.line_, nullptr)), members_(std::move(other.members_)), taken_(other.taken_) {}

const std::vector<ProofLine::Member*>& ProofLine::Lead::Take(uint32_t most) {
  MutexLock lock(line_->mu_);
  std::deque<Member*>& waiting = line_->waiting_;
  size_t count = 1;
  while (2 * count <= std::min<size_t>(most, waiting.size())) count *= 2;
  members_.assign(waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(count));
  waiting.erase(waiting.begin(), waiting.begin() + static_cast<ptrdiff_t>(count));
  taken_ = true;
  line_->first_leads_ = false;
  line_->WakeFirstLocked();
  return members_;
}

ProofLine::Lead::~Lead() {
  if (line_ == nullptr) return;
  MutexLock lock(line_->mu_);
  if (!taken_) {
    line_->waiting_.pop_front();
    line_->first_leads_ = false;
  }
  // The first is the leader. Once `done_` is seen a member may end, so it is told under the lock.
  for (size_t i = 1; i < members_.size(); ++i) {
    members_[i]->done_ = true;
    members_[i]->changed_.NotifyOne();
  }
  --line_->leaders_;
  line_->WakeFirstLocked();
}

}  // namespace proofmill::engine
