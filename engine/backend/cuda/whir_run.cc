#include "engine/backend/cuda/whir_run.h"

#include <algorithm>

#include "engine/base/status_macros.h"
#include "kernels/cuda/babybear_ntt.h"
#include "kernels/cuda/evaluate.h"
#include "kernels/cuda/grind.h"
#include "kernels/cuda/merkle.h"
#include "kernels/cuda/sumcheck.h"
#include "kernels/cuda/transcript.h"
#include "kernels/field/babybear.h"

namespace proofmill::engine {
namespace {

// One part of a proof. f is the base polynomial until it is folded for the first time.
template <int kD>
class Part {
 public:
  Part(const WhirRunContext& context, size_t part)
      : context_(context),
        config_(context.config),
        places_(context.places),
        views_(context.views),
        constants_(kernels::Poseidon2Width16(config_.parameters.constants)),
        part_(part),
        log_size_(VariablesAt(config_, part)),
        folded_(part > 0) {}

  absl::Status Enqueue() {
    if (part_ == 0) return Initial();
    if (part_ <= config_.rounds.size()) return Round(part_ - 1);
    return Final();
  }

 private:
  using SumcheckStep = kernels::SumcheckStep<kD>;
  using RoundEnd = kernels::RoundEnd<kD>;
  struct Committed {
    kernels::DeviceMatrix matrix;
    uint32_t* tree;
  };

  static uint32_t VariablesAt(const WhirConfig& config, size_t part) {
    if (part == 0) return config.parameters.num_variables;
    return part <= config.rounds.size() ? config.rounds[part - 1].num_variables : config.final_variables;
  }

  // Part i makes commitment i and opens commitment i - 1.
  Committed Commitment(size_t number) const {
    const uint32_t width = (number == 0 ? 1u : uint32_t{kD}) << config_.parameters.folding.at(number);
    return {{views_.matrices[number % 2], width, config_.log_height(number)}, views_.trees[number % 2]};
  }

  template <typename F>
  absl::Status Launch(std::string_view what, F&& launch) {
    return context_.calls.Call(what, launch);
  }
  absl::Status Begin(double WhirTimes::*stage) { return context_.begin_stage(stage); }
  uint32_t* proof(size_t place) const { return views_.proof + place; }
  uint32_t* point(size_t term) const { return views_.points + term * log_size_ * kD; }
  uint32_t* challenge(uint32_t round) const { return views_.challenges + size_t{round} * kD; }
  kernels::DeviceVectorView f() const {
    if (folded_) return {views_.f.data, views_.f.stride, true};
    return {views_.polynomial, 0, false};
  }

  absl::Status Initial() {
    const size_t eqs = context_.claims + config_.ood_samples;
    PROOFMILL_RETURN_IF_ERROR(Commit(places_.commit, context_.claims));
    PROOFMILL_RETURN_IF_ERROR(AnswerOod(places_.commit, context_.claims));
    PROOFMILL_RETURN_IF_ERROR(Combine(eqs, {}, true));
    return Sumcheck(places_.sumcheck, true);
  }

  absl::Status Round(size_t i) {
    const WhirRound& round = config_.rounds[i];
    const WhirRoundPlaces& places = places_.rounds[i];
    PROOFMILL_RETURN_IF_ERROR(Commit(places.commit, 0));
    PROOFMILL_RETURN_IF_ERROR(AnswerOod(places.commit, 0));
    // What the opened rows say of f: values after those of the samples.
    const kernels::RowPoint rows = {views_.challenges, round.folding, places.openings.extension,
                                    views_.values + size_t{round.ood_samples} * kD};
    PROOFMILL_RETURN_IF_ERROR(Open(places.openings, rows, round.pow_bits, places.nonce, true));
    const kernels::PowerTerms powers = {
        .generator = kernels::BabyBearRootOfUnity(places.openings.log_height).montgomery(),
        .positions = views_.positions,
        .position_count = proof(places.openings.count),
        .coefficients = views_.coefficients + size_t{round.ood_samples} * kD,
        .count = round.queries};
    PROOFMILL_RETURN_IF_ERROR(Combine(round.ood_samples, powers, false));
    return Sumcheck(places.sumcheck, true);
  }

  absl::Status Final() {
    uint32_t* const values = proof(places_.final_polynomial);
    const size_t size = size_t{1} << log_size_;
    PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::open));
    PROOFMILL_RETURN_IF_ERROR(Launch("LaunchInterleave", [&] {
      return kernels::LaunchInterleave<kD>(views_.f, size, values, context_.stream);
    }));
    PROOFMILL_RETURN_IF_ERROR(Observe(values, static_cast<uint32_t>(size * kD), values, nullptr));
    PROOFMILL_RETURN_IF_ERROR(
        Open(places_.final_openings, {}, config_.final_pow_bits, places_.final_nonce, false));
    return Sumcheck(places_.final_sumcheck, false);
  }

  absl::Status Observe(const uint32_t* words, uint32_t count, uint32_t* copy, uint32_t* point_out) {
    return Launch("LaunchObserve", [&] {
      return kernels::LaunchObserve<kD>(constants_, views_.sponge, words, count, copy, point_out, log_size_,
                                        context_.stream);
    });
  }

  // Encodes f, observes the root and samples the point of term `first_ood`, if any.
  absl::Status Commit(const WhirCommitPlaces& places, size_t first_ood) {
    const Committed next = Commitment(part_);
    const uint32_t log_height = next.matrix.log2_height;
    PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::encode));
    PROOFMILL_RETURN_IF_ERROR(Launch("LaunchEncode", [&] {
      return kernels::LaunchEncode({.blocks = views_.twiddles,
                                    .in = f().data,
                                    .stride = f().stride,
                                    .planes = folded_ ? uint32_t{kD} : 1u,
                                    .log2_length = log_size_,
                                    .log2_columns = config_.parameters.folding.at(part_),
                                    .log2_height = log_height,
                                    .out = views_.matrices[part_ % 2]},
                                   context_.stream);
    }));
    PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::hash));
    PROOFMILL_RETURN_IF_ERROR(Launch("LaunchMerkleTree", [&] {
      return kernels::LaunchMerkleTree(constants_, next.matrix, next.tree, context_.stream);
    }));
    return Observe(next.tree + kernels::MerkleRootPlace(log_height), 8, proof(places.root),
                   places.ood_samples > 0 ? point(first_ood) : nullptr);
  }

  absl::Status AnswerOod(const WhirCommitPlaces& places, size_t first_term) {
    PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::evaluate));
    for (size_t i = 0; i < places.ood_samples; ++i) {
      const size_t term = first_term + i;
      const kernels::AnswerStep step = {.point = point(term),
                                        .value = views_.values + term * kD,
                                        .copy = proof(places.ood_answers + i * kD),
                                        .next_point = i + 1 < places.ood_samples ? point(term + 1) : nullptr,
                                        .partials = views_.partials,
                                        .arrived = views_.arrived};
      PROOFMILL_RETURN_IF_ERROR(Launch("LaunchAnswer", [&] {
        return kernels::LaunchAnswer<kD>(constants_, views_.sponge, f(), log_size_, step, context_.stream);
      }));
    }
    return absl::OkStatus();
  }

  // The proof of work, then openings of the last commitment at positions drawn after it.
  absl::Status Open(const WhirOpeningPlaces& places, const kernels::RowPoint& rows, uint32_t pow_bits,
                    size_t nonce_place, bool checkpoint) {
    const kernels::NonceStep pow = Nonce(pow_bits, nonce_place);
    if (SearchesApart(pow)) PROOFMILL_RETURN_IF_ERROR(Grind(pow_bits));
    const Committed last = Commitment(part_ - 1);
    PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::open));
    PROOFMILL_RETURN_IF_ERROR(Launch("LaunchQueries", [&] {
      return kernels::LaunchQueries(constants_, views_.sponge,
                                    {.pow = pow,
                                     .checkpoint = checkpoint,
                                     .bits = places.log_height,
                                     .queries = places.queries,
                                     .positions = views_.positions,
                                     .count = proof(places.count),
                                     .scratch = views_.draw_scratch},
                                    context_.stream);
    }));
    return Launch("LaunchOpenings", [&] {
      return kernels::LaunchOpenings<kD>(last.matrix, last.tree, views_.positions, proof(places.count),
                                         places.queries, proof(places.rows), rows, context_.stream);
    });
  }

  absl::Status Combine(size_t eqs, const kernels::PowerTerms& powers, bool overwrite) {
    PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::weights));
    PROOFMILL_RETURN_IF_ERROR(Launch("LaunchCombine", [&] {
      return kernels::LaunchCombine<kD>(constants_, views_.sponge,
                                        {.values = views_.values,
                                         .eq_count = static_cast<uint32_t>(eqs),
                                         .power_count = powers.count,
                                         .power_count_used = powers.position_count,
                                         .overwrite = overwrite,
                                         .coefficients = views_.coefficients,
                                         .sum = views_.sum},
                                        context_.stream);
    }));
    size_t done = 0;
    do {
      const size_t here = std::min(eqs - done, kWhirEqTermsMax);
      const kernels::EqTerms terms = {point(done), views_.coefficients + done * kD,
                                      static_cast<uint32_t>(here)};
      PROOFMILL_RETURN_IF_ERROR(Launch("LaunchAddWeights", [&] {
        return kernels::LaunchAddWeights<kD>(terms, done == 0 ? powers : kernels::PowerTerms{}, log_size_,
                                             overwrite && done == 0, views_.tables, views_.w,
                                             context_.stream);
      }));
      done += here;
    } while (done < eqs);
    return absl::OkStatus();
  }

  // `fold_last`: whether anything follows that needs f and w.
  absl::Status Sumcheck(const WhirSumcheckPlaces& places, bool fold_last) {
    for (uint32_t i = 0; i < places.rounds; ++i) {
      const uint64_t half = (uint64_t{1} << log_size_) / 2;
      PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::sumcheck));
      if (i == 0) PROOFMILL_RETURN_IF_ERROR(SumAndChallenge(places, half));
      if (i + 1 < places.rounds) {
        PROOFMILL_RETURN_IF_ERROR(FoldAndChallenge(places, i + 1, half));
      } else if (fold_last) {
        PROOFMILL_RETURN_IF_ERROR(Launch("LaunchFold", [&] {
          return kernels::LaunchFold<kD>(f(), views_.f, views_.w, half, challenge(i), context_.stream);
        }));
      } else {
        return absl::OkStatus();
      }
      folded_ = true;
      --log_size_;
    }
    return absl::OkStatus();
  }
  // Round 0 over vectors of 2 * half elements.
  absl::Status SumAndChallenge(const WhirSumcheckPlaces& places, uint64_t half) {
    SumcheckStep step = Step(places, 0);
    const RoundEnd end = EndOf(step);
    PROOFMILL_RETURN_IF_ERROR(Launch("LaunchRoundSums", [&] {
      return kernels::LaunchRoundSums<kD>(constants_, f(), views_.w, half, views_.partials,
                                          &step.partial_count, end, context_.stream);
    }));
    return end.sponge != nullptr ? absl::OkStatus() : Challenge(places, step);
  }
  // Folds vectors of 2 * half elements by the challenge before round i, which is over what comes out.
  absl::Status FoldAndChallenge(const WhirSumcheckPlaces& places, uint32_t i, uint64_t half) {
    SumcheckStep step = Step(places, i);
    const RoundEnd end = EndOf(step);
    PROOFMILL_RETURN_IF_ERROR(Launch("LaunchFoldAndSum", [&] {
      return kernels::LaunchFoldAndSum<kD>(constants_, f(), views_.f, views_.w, half, challenge(i - 1),
                                           views_.partials, &step.partial_count, end, context_.stream);
    }));
    return end.sponge != nullptr ? absl::OkStatus() : Challenge(places, step);
  }

  SumcheckStep Step(const WhirSumcheckPlaces& places, uint32_t i) const {
    return {.partials = views_.partials,
            .partial_count = 0,
            .evaluations = proof(places.evaluations + 2 * size_t{i} * kD),
            .pow = Nonce(places.pow_bits, places.nonces + i),
            .sum = views_.sum,
            .challenge = challenge(i)};
  }
  // Small searches are left to the block that ends the sums.
  RoundEnd EndOf(const SumcheckStep& step) const {
    const bool here = !SearchesApart(step.pow) && step.pow.search_bits <= kernels::kBlockSearchBitsMax;
    return {here ? views_.sponge : nullptr, step, views_.arrived};
  }
  // Observes a round of a sumcheck and samples its challenge.
  absl::Status Challenge(const WhirSumcheckPlaces& places, const SumcheckStep& step) {
    if (!SearchesApart(step.pow)) {
      return Launch("LaunchSumcheckRound", [&] {
        return kernels::LaunchSumcheckRound<kD>(constants_, views_.sponge, step, context_.stream);
      });
    }
    PROOFMILL_RETURN_IF_ERROR(Launch("LaunchSumcheckObserve", [&] {
      return kernels::LaunchSumcheckObserve<kD>(constants_, views_.sponge, step, context_.stream);
    }));
    PROOFMILL_RETURN_IF_ERROR(Grind(places.pow_bits));
    PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::sumcheck));
    return Launch("LaunchSumcheckChallenge", [&] {
      return kernels::LaunchSumcheckChallenge<kD>(constants_, views_.sponge, step, context_.stream);
    });
  }

  // Where stages are measured every search is one of its own.
  kernels::NonceStep Nonce(uint32_t bits, size_t place) const {
    const bool in_step = bits <= kernels::kStepSearchBitsMax && !context_.stages;
    return {.found = bits > 0 ? views_.nonce : nullptr,
            .copy = proof(place),
            .search_bits = in_step ? bits : 0,
            .search_end = context_.nonce_end};
  }
  static bool SearchesApart(const kernels::NonceStep& pow) {
    return pow.found != nullptr && pow.search_bits == 0;
  }
  absl::Status Grind(uint32_t bits) {
    PROOFMILL_RETURN_IF_ERROR(Begin(&WhirTimes::pow));
    return Launch("LaunchGrind", [&] {
      return kernels::LaunchGrind(constants_, views_.sponge, std::min(bits, 31u), context_.nonce_end,
                                  views_.nonce, context_.stream);
    });
  }

  const WhirRunContext& context_;
  const WhirConfig& config_;
  const WhirPlaces& places_;
  const WhirViews& views_;
  const kernels::Poseidon2Constants<16>& constants_;
  const size_t part_;
  uint32_t log_size_;  // variables of f that are left
  bool folded_;
};

}  // namespace

absl::Status EnqueueWhirPart(const WhirRunContext& context, size_t part) {
  if (context.config.degree() == 4) return Part<4>(context, part).Enqueue();
  return Part<5>(context, part).Enqueue();
}

}  // namespace proofmill::engine
