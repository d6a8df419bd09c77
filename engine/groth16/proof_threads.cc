#include "engine/groth16/proof_threads.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <thread>
#include <vector>

#include "engine/base/mutex.h"

namespace proofmill::engine {
namespace {

class Pool {
 public:
  ProofThreads* Take() {
    MutexLock lock(mu_);
    if (!idle_.empty()) {
      ProofThreads* const threads = idle_.back();
      idle_.pop_back();
      return threads;
    }
    if (all_.size() == most_) return nullptr;
    try {
      idle_.reserve(most_);  // so that giving back needs no memory
      all_.push_back(std::make_unique<ProofThreads>());
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    return all_.back().get();
  }

  void Return(ProofThreads* threads) {
    MutexLock lock(mu_);
    idle_.push_back(threads);
  }

 private:
  const size_t most_ = std::max(1U, std::thread::hardware_concurrency() / 2);
  Mutex mu_;
  std::vector<std::unique_ptr<ProofThreads>> all_ ABSL_GUARDED_BY(mu_);
  std::vector<ProofThreads*> idle_ ABSL_GUARDED_BY(mu_);
};

Pool& ThePool() {
  static Pool pool;
  return pool;
}

}  // namespace

void ProofThreads::GiveBack::operator()(ProofThreads* threads) const { ThePool().Return(threads); }

ProofThreads::Lease ProofThreads::Borrow() { return Lease(ThePool().Take()); }

}  // namespace proofmill::engine
