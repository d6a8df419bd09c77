#include "engine/whir/prover.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/whir/algebra.h"
#include "engine/whir/buffer_pool.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/statement.h"
#include "engine/whir/transcript.h"
#include "engine/whir/verifier.h"
#include "kernels/cpu/poseidon2_hash.h"
#include "kernels/cpu/sumcheck.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using kernels::MerkleTree;
using kernels::Planes;

// Adds the time of its life to `sum`.
class Stage {
 public:
  explicit Stage(double& sum) : sum_(sum), begin_(std::chrono::steady_clock::now()) {}
  ~Stage() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

 private:
  double& sum_;
  const std::chrono::steady_clock::time_point begin_;
};

// A committed matrix: its rows, by columns, and the tree over them. The tree's digests depend on the
// polynomial, and are what proofs hold anyway.
class Commitment {
 public:
  Commitment(BufferPool& pool, size_t width, uint32_t log_height, bool extension)
      : words_(pool, width << log_height, true),
        digests_(pool, MerkleTree::DigestCount(log_height) * sizeof(kernels::Digest) / sizeof(uint32_t),
                 true),
        matrix_{words_.data(), width, log_height},
        extension_(extension) {}

  uint32_t* words() { return words_.data(); }
  void BuildTree(const kernels::Poseidon2Constants<16>& constants) {
    tree_.emplace(constants, matrix_, reinterpret_cast<kernels::Digest*>(digests_.data()));
  }
  // REQUIRES, as Open(): BuildTree() was called.
  const kernels::Digest& root() const { return tree_->root(); }
  WhirOpening Open(size_t row) const {
    return {.extension = extension_, .row = kernels::MatrixRow(matrix_, row), .path = tree_->Path(row)};
  }

 private:
  BufferPool::Buffer words_;
  BufferPool::Buffer digests_;
  const kernels::ColumnMatrix matrix_;
  const bool extension_;
  std::optional<MerkleTree> tree_;
};

// One run of the protocol. f is `base_` until it is folded for the first time, `f_` from then on.
template <int kD>
class Run {
 public:
  using Ext = WhirExt<kD>;

  Run(const WhirConfig& config, const kernels::BabyBearNtt& ntt, BufferPool& pool,
      absl::Span<const BabyBear> polynomial, absl::Span<const WhirClaim> claims,
      const WhirProver::Options& options, WhirTimes& times)
      : config_(config),
        ntt_(ntt),
        options_(options),
        times_(times),
        constants_(kernels::Poseidon2Width16(config.parameters.constants)),
        transcript_(BeginWhirTranscript(config, claims)),
        base_(reinterpret_cast<const uint32_t*>(polynomial.data())),
        log_size_(config.parameters.num_variables),
        pool_(pool),
        f_words_(pool, kD * std::max<size_t>(1, polynomial.size() / 2), true),
        w_words_(pool, kD * polynomial.size(), false),
        f_{f_words_.data(), std::max<size_t>(1, polynomial.size() / 2)},
        w_{w_words_.data(), polynomial.size()} {}

  absl::StatusOr<WhirProof> Prove(absl::Span<const WhirClaim> claims) {
    PROOFMILL_RETURN_IF_ERROR(Initial(claims));
    for (size_t i = 0; i < config_.rounds.size(); ++i) PROOFMILL_RETURN_IF_ERROR(Round(i));
    PROOFMILL_RETURN_IF_ERROR(Final());
    return std::move(proof_);
  }

 private:
  absl::Status Initial(absl::Span<const WhirClaim> claims) {
    const WhirParameters& p = config_.parameters;
    proof_.commitment = Commit(p.folding.first, config_.log_height(0));
    std::vector<kernels::EqTerm<kD>> eqs;
    std::vector<Ext> values;
    for (const WhirClaim& claim : claims) {
      eqs.push_back({WhirElementsOf<kD>(claim.point), {}});
      values.push_back(WhirElementAt<kD>(claim.value, 0));
    }
    AnswerOod(config_.ood_samples, proof_.ood_answers, eqs, values);
    committed_ = std::move(next_);
    Combine(eqs, {}, values, true);
    return Sumcheck(p.folding.first, config_.fold_pow_bits, proof_.sumcheck);
  }

  absl::Status Round(size_t i) {
    const auto begin = std::chrono::steady_clock::now();
    PROOFMILL_RETURN_IF_ERROR(RunRound(i));
    if (options_.stages != nullptr)
      options_.stages->OnStage(WhirRoundStage(i), std::chrono::steady_clock::now() - begin);
    return absl::OkStatus();
  }

  absl::Status RunRound(size_t i) {
    const WhirRound& round = config_.rounds[i];
    WhirRoundProof& proof = proof_.rounds.emplace_back();
    PROOFMILL_RETURN_IF_ERROR(CheckCancelled());
    proof.commitment = Commit(config_.parameters.folding.rest, config_.log_height(i + 1));
    std::vector<kernels::EqTerm<kD>> eqs;
    std::vector<kernels::PowerTerm<kD>> powers;
    std::vector<Ext> values;
    AnswerOod(round.ood_samples, proof.ood_answers, eqs, values);
    PROOFMILL_RETURN_IF_ERROR(Grind(round.pow_bits, proof.pow_witness));
    transcript_.Sample();  // a checkpoint, as whir-p3 has it
    Open(round.log_domain - round.folding, round.queries, proof.openings, powers, values);
    committed_ = std::move(next_);
    Combine(eqs, powers, values, false);
    return Sumcheck(config_.parameters.folding.rest, round.fold_pow_bits, proof.sumcheck);
  }

  absl::Status Final() {
    const size_t size = size_t{1} << log_size_;
    for (size_t i = 0; i < size; ++i) {
      for (size_t k = 0; k < kD; ++k) {
        proof_.final_polynomial.push_back(BabyBear::FromMontgomery(f_.data[k * f_.stride + i]));
      }
    }
    transcript_.Observe(proof_.final_polynomial);
    PROOFMILL_RETURN_IF_ERROR(Grind(config_.final_pow_bits, proof_.final_pow_witness));
    std::vector<kernels::PowerTerm<kD>> powers;
    std::vector<Ext> values;
    Open(config_.final_log_domain - config_.final_folding, config_.final_queries, proof_.final_openings,
         powers, values);
    if (config_.final_variables == 0) return absl::OkStatus();
    return Sumcheck(config_.final_variables, config_.final_fold_pow_bits, proof_.final_sumcheck.emplace());
  }

  // Encodes f into 2^log_columns columns as the next commitment and observes its root.
  kernels::Digest Commit(uint32_t log_columns, uint32_t log_height) {
    const size_t planes = folded_ ? kD : 1;
    next_ = std::make_unique<Commitment>(pool_, planes << log_columns, log_height, folded_);
    {
      const Stage stage(times_.encode);
      const uint32_t* const data = folded_ ? f_.data : base_;
      ntt_.Encode({data, f_.stride, planes, log_size_}, log_columns, log_height, next_->words());
    }
    const Stage stage(times_.hash);
    next_->BuildTree(constants_);
    transcript_.Observe(next_->root());
    return next_->root();
  }

  void AnswerOod(uint32_t count, WhirElements& answers, std::vector<kernels::EqTerm<kD>>& eqs,
                 std::vector<Ext>& values) {
    const Stage stage(times_.evaluate);
    for (uint32_t i = 0; i < count; ++i) {
      const std::vector<Ext> point = ExpandPoint<kD>(transcript_.SampleExt<kD>(), log_size_);
      const Ext value =
          folded_ ? kernels::EvaluateExt<kD>(f_, point) : kernels::EvaluateBase<kD>(base_, point);
      transcript_.ObserveExt(value);
      AppendElement<kD>(value, answers);
      eqs.push_back({point, {}});
      values.push_back(value);
    }
  }

  // Opens the last commitment at positions drawn now; what the rows say of f becomes constraints.
  void Open(uint32_t log_height, uint32_t queries, std::vector<WhirOpening>& openings,
            std::vector<kernels::PowerTerm<kD>>& powers, std::vector<Ext>& values) {
    const Stage stage(times_.open);
    const BabyBear generator = kernels::BabyBearRootOfUnity(log_height);
    for (const uint32_t position : transcript_.SampleIndices(log_height, queries)) {
      const WhirOpening& opening = openings.emplace_back(committed_->Open(position));
      powers.push_back({generator.Pow(position), {}});
      values.push_back(EvaluateRow<kD>(opening.row, opening.extension, absl::MakeConstSpan(fold_)));
    }
  }

  // Adds the constraints, times the powers of a challenge, to weight and sum.
  void Combine(std::vector<kernels::EqTerm<kD>>& eqs, std::vector<kernels::PowerTerm<kD>> powers,
               const std::vector<Ext>& values, bool overwrite) {
    const Stage stage(times_.weights);
    const Ext gamma = transcript_.SampleExt<kD>();
    Ext power = Ext::One();
    size_t j = 0;
    const auto next = [&] {
      const Ext coefficient = power;
      sum_ += coefficient * values[j++];
      power *= gamma;
      return coefficient;
    };
    for (auto& eq : eqs) eq.coefficient = next();
    for (auto& term : powers) term.coefficient = next();
    kernels::AddWeights<kD>(eqs, powers, log_size_, overwrite, w_);
  }

  absl::Status Sumcheck(uint32_t rounds, uint32_t pow_bits, WhirSumcheck& proof) {
    fold_.clear();
    for (uint32_t i = 0; i < rounds; ++i) {
      PROOFMILL_RETURN_IF_ERROR(CheckCancelled());
      const size_t half = (size_t{1} << log_size_) / 2;
      kernels::RoundValues<kD> h;
      {
        const Stage stage(times_.sumcheck);
        h = folded_ ? kernels::SumRoundExt<kD>(f_, w_, half) : kernels::SumRoundBase<kD>(base_, w_, half);
      }
      transcript_.ObserveExt(h.h0);
      transcript_.ObserveExt(h.h2);
      AppendElement<kD>(h.h0, proof.evaluations);
      AppendElement<kD>(h.h2, proof.evaluations);
      if (pow_bits > 0) PROOFMILL_RETURN_IF_ERROR(Grind(pow_bits, proof.nonces.emplace_back()));
      const Ext r = transcript_.SampleExt<kD>();
      sum_ = QuadraticAt<kD>(h.h0, sum_ - h.h0, h.h2, r);
      fold_.push_back(r);
      const Stage stage(times_.sumcheck);
      if (folded_) {
        kernels::FoldExtVector<kD>(f_, half, r, f_);
      } else {
        kernels::FoldBaseVector<kD>(base_, half, r, f_);
      }
      kernels::FoldExtVector<kD>(w_, half, r, w_);
      folded_ = true;
      --log_size_;
    }
    return absl::OkStatus();
  }

  absl::Status Grind(uint32_t bits, BabyBear& nonce) {
    if (bits == 0) return absl::OkStatus();
    const Stage stage(times_.pow);
    const auto found = transcript_.Grind(bits, options_.nonce_end, &times_.nonces);
    if (!found.has_value()) {
      const bool all = options_.nonce_end == kernels::kBabyBearP;
      return absl::AbortedError(absl::StrCat(all ? "no nonce in the field" : "no nonce below the limit",
                                             ": expected one that gives ", bits, " zero bits, got none"));
    }
    nonce = *found;
    return absl::OkStatus();
  }

  absl::Status CheckCancelled() const {
    return options_.cancellation == nullptr ? absl::OkStatus() : options_.cancellation->Check();
  }

  const WhirConfig& config_;
  const kernels::BabyBearNtt& ntt_;
  const WhirProver::Options& options_;
  WhirTimes& times_;
  const kernels::Poseidon2Constants<16>& constants_;
  WhirTranscript transcript_;
  WhirProof proof_;
  const uint32_t* const base_;
  bool folded_ = false;
  uint32_t log_size_;  // variables of f that are left
  BufferPool& pool_;
  BufferPool::Buffer f_words_;
  BufferPool::Buffer w_words_;  // public: it depends on points and challenges alone
  const Planes f_;
  const Planes w_;
  Ext sum_{};                              // of f times w over the hypercube
  std::vector<Ext> fold_;                  // challenges of the last sumcheck
  std::unique_ptr<Commitment> committed_;  // what is opened next
  std::unique_ptr<Commitment> next_;
};

// The sums over all rounds.
void ReportStages(const WhirTimes& times, StageSink& sink) {
  const auto report = [&](std::string_view stage, double seconds) {
    sink.OnStage(
        stage, std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds)));
  };
  report("commit", times.encode + times.hash + times.evaluate);
  report("sumcheck", times.weights + times.sumcheck);
  report("pow", times.pow);
  report("open", times.open);
}

uint32_t LogHeightMax(const WhirConfig& config) {
  uint32_t out = config.log_height(0);
  for (size_t i = 1; i <= config.rounds.size(); ++i) out = std::max(out, config.log_height(i));
  return out;
}

template <int kD>
WhirElements EvaluateAt(absl::Span<const BabyBear> polynomial, const WhirElements& point) {
  WhirElements out;
  const auto* const words = reinterpret_cast<const uint32_t*>(polynomial.data());
  AppendElement<kD>(kernels::EvaluateBase<kD>(words, WhirElementsOf<kD>(point)), out);
  return out;
}

}  // namespace

WhirProver::WhirProver(WhirConfig config, std::unique_ptr<WhirDevice> device)
    : config_(std::move(config)),
      device_(std::move(device)),
      ntt_(device_ == nullptr ? LogHeightMax(config_) : 0) {}

absl::StatusOr<WhirProof> WhirProver::Prove(absl::Span<const BabyBear> polynomial,
                                            absl::Span<const WhirClaim> claims,
                                            const Options& options) const {
  const size_t size = size_t{1} << config_.parameters.num_variables;
  if (polynomial.size() != size) {
    return absl::InvalidArgumentError(
        absl::StrCat("polynomial: expected ", size, " values, got ", polynomial.size()));
  }
  if (std::string error = WhirClaimsError(config_, claims); !error.empty())
    return absl::InvalidArgumentError(error);
  if (device_ != nullptr) return device_->Prove(polynomial, claims, options);
  WhirTimes times;
  absl::StatusOr<WhirProof> proof;
  {
    const Stage stage(times.total);
    if (config_.degree() == 4) {
      proof = Run<4>(config_, ntt_, pool_, polynomial, claims, options, times).Prove(claims);
    } else {
      proof = Run<5>(config_, ntt_, pool_, polynomial, claims, options, times).Prove(claims);
    }
  }
  if (options.times != nullptr) *options.times = times;
  if (options.stages != nullptr && proof.ok()) ReportStages(times, *options.stages);
  return proof;
}

WhirElements EvaluateWhir(absl::Span<const BabyBear> polynomial, const WhirElements& point, uint32_t degree) {
  return degree == 4 ? EvaluateAt<4>(polynomial, point) : EvaluateAt<5>(polynomial, point);
}

std::string WhirRoundStage(size_t round) { return absl::StrCat("round_", round); }

size_t WhirProver::memory_bytes() const { return ntt_.size_bytes() + pool_.size_bytes(); }

WhirElements WhirProver::Evaluate(absl::Span<const BabyBear> polynomial, const WhirElements& point) const {
  return EvaluateWhir(polynomial, point, config_.degree());
}

absl::StatusOr<std::vector<uint8_t>> ProveWhirBytes(const WhirProver& prover,
                                                    absl::Span<const BabyBear> polynomial,
                                                    absl::Span<const WhirClaim> claims,
                                                    const WhirProver::Options& options) {
  PROOFMILL_ASSIGN_OR_RETURN(const WhirProof proof, prover.Prove(polynomial, claims, options));
  const WhirVerdict verdict = VerifyWhir(prover.config(), claims, proof);
  if (!verdict.valid) {
    return absl::InvalidArgumentError(
        absl::StrCat("claims: expected values of the polynomial, got a proof that does not verify: ",
                     verdict.rejected_at));
  }
  return EncodeWhirProof(prover.config(), proof);
}

}  // namespace proofmill::engine
