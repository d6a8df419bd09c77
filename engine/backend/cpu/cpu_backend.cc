#include "engine/backend/cpu/cpu_backend.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/backend/cpu/cpu_whir.h"
#include "engine/backend/whir_backend.h"
#include "engine/base/error_reason.h"
#include "engine/base/host_buffer.h"
#include "engine/base/mutex.h"
#include "engine/base/secure_memory.h"
#include "engine/groth16/proving_key.h"
#include "kernels/cpu/gather.h"
#include "kernels/cpu/msm.h"
#include "kernels/cpu/ntt.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/pointwise.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::NttDomain;
using kernels::U256;
static_assert(sizeof(Fr) == sizeof(U256), "h is handed to the MSM in the place of a");

// The vectors of one proof: a, b and c on the domain, then on the coset; at the end a holds h in plain form.
struct Scratch {
  explicit Scratch(size_t domain_size) : a(domain_size), b(domain_size), c(domain_size) {}
  SecretBuffer<Fr> a, b, c;

  // Wipes what a proof on a domain of `n` points has written.
  void Wipe(size_t n) {
    for (SecretBuffer<Fr>* buffer : {&a, &b, &c}) WipeMemory(buffer->data(), n * sizeof(Fr));
  }
};

class CpuResidentKey final : public ResidentKey {
 public:
  CpuResidentKey(std::shared_ptr<const ProvingKey> key, std::shared_ptr<const NttDomain> domain)
      : ResidentKey(std::move(key)), domain_(std::move(domain)) {}

  size_t device_bytes() const override { return key()->memory_bytes() + domain_->size() * sizeof(Fr); }
  const NttDomain& domain() const { return *domain_; }

 private:
  const std::shared_ptr<const NttDomain> domain_;
};

// One call of ComputeSums(): the task graph and what its tasks share.
class ProofRun {
 public:
  ProofRun(const CpuResidentKey& key, absl::Span<const U256> witness, const ComputeContext& context,
           Scratch& scratch)
      : key_(*key.key()), domain_(key.domain()), witness_(witness), context_(context), scratch_(scratch) {}
  ~ProofRun() {
    scratch_.Wipe(domain_.size());
    WipeMemory(&sums_, sizeof(sums_));
  }
  ProofRun(const ProofRun&) = delete;
  ProofRun& operator=(const ProofRun&) = delete;

  // The chain to MSM H and the witness MSMs have no border in common: whichever ends first leaves its cores
  // to the other.
  void Run() {
    kernels::ParallelInvoke([this] { RunWitnessSums(); }, [this] { RunH(); });
  }

  absl::StatusOr<Groth16Sums> Result() {
    MutexLock lock(mu_);
    if (!status_.ok()) return status_;
    return sums_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Whether the proof is still wanted; the first "no" is kept for Result().
  bool Wanted() {
    if (stopped_.load(std::memory_order_relaxed)) return false;  // a hint; status_ has its own lock
    if (context_.cancel == nullptr) return true;
    absl::Status status = context_.cancel->Check();
    if (status.ok()) return true;
    stopped_.store(true, std::memory_order_relaxed);
    MutexLock lock(mu_);
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

  // Runs `body` as one stage, unless the proof is no longer wanted. Returns whether it ran.
  template <typename F>
  bool RunStage(Stage stage, F&& body) {
    if (!Wanted()) return false;
    const auto start = Clock::now();
    body();
    const auto duration = Clock::now() - start;
    if (context_.stages != nullptr) {
      MutexLock lock(mu_);
      context_.stages->OnStage(StageName(stage),
                               std::chrono::duration_cast<std::chrono::nanoseconds>(duration));
    }
    return true;
  }

  template <typename F>
  void RunMsm(Stage stage, const BaseSet<F>& set, const U256* scalars, kernels::Xyzz<F>& out) {
    RunStage(stage,
             [&] { out = kernels::Msm(set.bases.data(), set.scalars(scalars), set.index(), set.size()); });
  }

  void RunWitnessSums() {
    WitnessSums& sums = sums_.witness;
    kernels::ParallelInvoke([&] { RunMsm(Stage::kMsmB2, key_.b2(), witness_.data(), sums.b2); },
                            [&] { RunMsm(Stage::kMsmA, key_.a(), witness_.data(), sums.a); },
                            [&] { RunMsm(Stage::kMsmB1, key_.b1(), witness_.data(), sums.b1); },
                            [&] { RunMsm(Stage::kMsmC, key_.c(), witness_.data(), sums.c); });
    if (Wanted() && context_.on_witness_sums) context_.on_witness_sums(sums);
  }

  void RunH() {
    if (!RunStage(Stage::kGather, [this] { Gather(); })) return;
    if (!RunStage(Stage::kNtt, [this] { TransformToCoset(); })) return;
    // a holds plain integers by now: the one member of an Fr is the U256 that the MSM reads.
    RunMsm(Stage::kMsmH, key_.h(), &scratch_.a[0].montgomery(), sums_.h);
  }

  // a = A*w, b = B*w, c = a*b on the domain (groth16.md H1 and H2).
  void Gather() {
    kernels::ParallelInvoke(
        [this] { kernels::GatherRows(key_.a_matrix().view(), witness_.data(), scratch_.a.data()); },
        [this] { kernels::GatherRows(key_.b_matrix().view(), witness_.data(), scratch_.b.data()); });
    kernels::PointwiseMul(scratch_.a.data(), scratch_.b.data(), scratch_.c.data(), domain_.size());
  }

  // From the domain to the coset, then h = a*b - c in plain form, over a (groth16.md H3 and H4).
  void TransformToCoset() {
    kernels::ParallelInvoke([this] { ToCoset(scratch_.a); }, [this] { ToCoset(scratch_.b); },
                            [this] { ToCoset(scratch_.c); });
    kernels::PointwiseMulSubToPlain(scratch_.a.data(), scratch_.b.data(), scratch_.c.data(),
                                    scratch_.a.data(), domain_.size());
  }

  void ToCoset(SecretBuffer<Fr>& values) {
    if (!Wanted()) return;
    domain_.ValuesToCoset(values.data());
  }

  const ProvingKey& key_;
  const NttDomain& domain_;
  const absl::Span<const U256> witness_;
  const ComputeContext& context_;
  Scratch& scratch_;
  Groth16Sums sums_;  // each member is written by one task and read after the join

  std::atomic<bool> stopped_{false};
  Mutex mu_;  // also makes calls of the stage sink one at a time
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

class CpuBackend final : public Groth16Backend, public WhirBackend {
 public:
  explicit CpuBackend(const CpuBackendOptions& options)
      : name_(options.name), arena_(options.threads == 0 ? kernels::HardwareThreads() : options.threads) {}

  const std::string& name() const override { return name_; }
  BackendKind kind() const override { return BackendKind::kCpu; }
  WhirBackend* whir() override { return this; }

  absl::StatusOr<std::unique_ptr<WhirDevice>> LoadWhir(std::shared_ptr<const WhirConfig> config) override {
    return MakeCpuWhirDevice(*config, arena_, proof_mu_);
  }

  absl::StatusOr<std::unique_ptr<ResidentKey>> LoadKey(std::shared_ptr<const ProvingKey> key) override {
    const size_t domain_size = key->domain_size();
    try {
      std::shared_ptr<const NttDomain> domain = DomainFor(key->log2_domain());
      GrowScratch(domain_size);
      return std::make_unique<CpuResidentKey>(std::move(key), std::move(domain));
    } catch (const std::bad_alloc&) {
      // Transform tables, and scratch for three vectors.
      return WithReason(absl::ResourceExhaustedError(absl::StrCat(
                            "cpu backend: a domain of ", domain_size, " points needs ",
                            domain_size * sizeof(Fr) * 4, " bytes, which the system does not give")),
                        ErrorReason::kOutOfMemory);
    }
  }

  absl::StatusOr<Groth16Sums> ComputeSums(ResidentKey& key, absl::Span<const U256> witness,
                                          const ComputeContext& context) override {
    MutexLock lock(proof_mu_);
    try {
      ProofRun run(static_cast<const CpuResidentKey&>(key), witness, context, *scratch_);
      arena_.Execute([&run] { run.Run(); });
      return run.Result();
    } catch (const std::bad_alloc&) {
      return WithReason(absl::ResourceExhaustedError("cpu backend: memory ran out during a proof"),
                        ErrorReason::kOutOfMemory);
    }
  }

 private:
  // Circuits of one size share their transform tables.
  std::shared_ptr<const NttDomain> DomainFor(uint32_t log2_size) {
    std::shared_ptr<const NttDomain> domain = FindDomain(log2_size);
    if (domain != nullptr) return domain;
    // With no lock held: a thread that waits in the arena may run bodies of a proof meanwhile. Two loads at
    // once may make the same tables; the second to finish replaces the first for those that follow.
    arena_.Execute([&] { domain = std::make_shared<const NttDomain>(log2_size); });
    MutexLock lock(domains_mu_);
    domains_[log2_size] = domain;
    return domain;
  }
  std::shared_ptr<const NttDomain> FindDomain(uint32_t log2_size) {
    MutexLock lock(domains_mu_);
    const auto found = domains_.find(log2_size);
    return found == domains_.end() ? nullptr : found->second.lock();
  }

  void GrowScratch(size_t domain_size) {
    MutexLock lock(proof_mu_);
    if (scratch_ != nullptr && scratch_->a.size() >= domain_size) return;
    scratch_ = std::make_unique<Scratch>(domain_size);  // on failure the keys loaded so far keep theirs
  }

  const std::string name_;
  kernels::ThreadArena arena_;
  Mutex domains_mu_;  // never held together with proof_mu_
  std::map<uint32_t, std::weak_ptr<const NttDomain>> domains_ ABSL_GUARDED_BY(domains_mu_);
  Mutex proof_mu_;  // held while a proof runs
  std::unique_ptr<Scratch> scratch_ ABSL_GUARDED_BY(proof_mu_);
};

}  // namespace

std::unique_ptr<Groth16Backend> MakeCpuBackend(const CpuBackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace proofmill::engine
