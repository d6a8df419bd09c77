// Those who want a proof with one key, in the order in which they came, and who of them makes it: group
// commit.
//
// Whoever comes first leads: it makes its proof at once, alone. While kLeadersMax of them are at work, those
// who come wait; the first of them is the next to lead, and makes the proofs of as many as wait by then
// together. So nobody ever waits for company, and the more come, the larger batches are.
//
// Thread safety: every method may be called from any thread.

#ifndef PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_LINE_H_
#define PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_LINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/base/mutex.h"

namespace proofmill::engine {

// Batches of one key that are made at a time: one computes while another waits for the host.
inline constexpr uint32_t kLeadersMax = 2;

class ProofLine {
 public:
  // One who waits. Derived classes have what is to be done and what came of it.
  class Member {
   public:
    Member() = default;
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;

   protected:
    ~Member() = default;

   private:
    friend class ProofLine;
    CondVar changed_;
    bool done_ = false;
  };

  // What a leader has until its batch is done; it ends by letting go of those that it led.
  class Lead {
   public:
    Lead(Lead&& other) noexcept;
    Lead& operator=(Lead&&) = delete;
    ~Lead();

    // Takes the leader and those behind it out of the line, the largest power of two that is at most `most`
    // and there. To be called once, at the last moment, when all else is there.
    const std::vector<Member*>& Take(uint32_t most);

   private:
    friend class ProofLine;
    Lead(ProofLine& line, Member& leader) : line_(&line), members_{&leader} {}

    ProofLine* line_;
    std::vector<Member*> members_;
    bool taken_ = false;
  };

  ProofLine() = default;
  ProofLine(const ProofLine&) = delete;
  ProofLine& operator=(const ProofLine&) = delete;

  // Waits until `member` is to lead, or until somebody has taken it along and is done: then nothing.
  std::optional<Lead> Join(Member& member);

 private:
  void WakeFirstLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Mutex mu_;
  std::deque<Member*> waiting_ ABSL_GUARDED_BY(mu_);
  uint32_t leaders_ ABSL_GUARDED_BY(mu_) = 0;
  bool first_leads_ ABSL_GUARDED_BY(mu_) = false;  // and has not taken itself out yet
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_BACKEND_CUDA_PROOF_LINE_H_
