#include "engine/whir/verifier.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/whir/algebra.h"
#include "engine/whir/proof_bytes.h"
#include "engine/whir/statement.h"
#include "kernels/cpu/poseidon2_hash.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using kernels::Digest;

// The end of a verification whose check `where` does not hold.
absl::Status Need(bool holds, absl::string_view where) {
  return holds ? absl::OkStatus() : absl::InvalidArgumentError(where);
}

template <int kD>
class Verification {
 public:
  using Ext = WhirExt<kD>;

  Verification(const WhirConfig& config, const WhirProof& proof, WhirTranscript& transcript)
      : config_(config),
        proof_(proof),
        transcript_(transcript),
        constants_(kernels::Poseidon2Width16(config.parameters.constants)) {}

  // The challenges of all folds, or which check failed.
  absl::StatusOr<std::vector<Ext>> Run(absl::Span<const WhirClaim> claims) {
    PROOFMILL_RETURN_IF_ERROR(Need(proof_.rounds.size() == config_.rounds.size(), "number of rounds"));
    PROOFMILL_RETURN_IF_ERROR(Initial(claims));
    for (size_t i = 0; i < config_.rounds.size(); ++i) PROOFMILL_RETURN_IF_ERROR(Round(i));
    PROOFMILL_RETURN_IF_ERROR(Final());
    const auto final_point = absl::MakeConstSpan(all_).subspan(all_.size() - config_.final_variables);
    const Ext final_value = EvaluateMultilinear<kD>(WhirElementsOf<kD>(proof_.final_polynomial), final_point);
    PROOFMILL_RETURN_IF_ERROR(Need(sum_ == Weight() * final_value, "last equation"));
    return std::move(all_);
  }

 private:
  // A term of a combination: coefficient times eq(point, .) or times x^(.), on the last `variables`
  // variables.
  struct Term {
    size_t variables;
    std::vector<Ext> point;  // empty: the term is x^(.)
    BabyBear x;
    Ext coefficient;
  };
  struct Constraint {
    std::vector<Ext> point;
    BabyBear x;
    Ext value;
  };

  absl::Status Initial(absl::Span<const WhirClaim> claims) {
    const WhirParameters& p = config_.parameters;
    transcript_.Observe(proof_.commitment);
    std::vector<Constraint> constraints;
    for (const WhirClaim& claim : claims) {
      constraints.push_back({WhirElementsOf<kD>(claim.point), BabyBear(), WhirElementAt<kD>(claim.value, 0)});
    }
    PROOFMILL_RETURN_IF_ERROR(
        TakeOodAnswers(proof_.ood_answers, config_.ood_samples, p.num_variables, "initial", constraints));
    Combine(constraints, p.num_variables);
    return Sumcheck(proof_.sumcheck, p.folding.first, config_.fold_pow_bits, "initial fold");
  }

  absl::Status Round(size_t i) {
    const WhirRound& round = config_.rounds[i];
    const WhirRoundProof& proof = proof_.rounds[i];
    const std::string where = absl::StrCat("round ", i);
    transcript_.Observe(proof.commitment);
    std::vector<Constraint> constraints;
    PROOFMILL_RETURN_IF_ERROR(
        TakeOodAnswers(proof.ood_answers, round.ood_samples, round.num_variables, where, constraints));
    PROOFMILL_RETURN_IF_ERROR(CheckPow(round.pow_bits, proof.pow_witness, where));
    transcript_.Sample();  // a checkpoint: nothing depends on its value
    PROOFMILL_RETURN_IF_ERROR(
        CheckOpenings(proof.openings, i, round.log_domain, round.folding, round.queries, where, constraints));
    Combine(constraints, round.num_variables);
    return Sumcheck(proof.sumcheck, config_.parameters.folding.rest, round.fold_pow_bits, where + " fold");
  }

  absl::Status Final() {
    PROOFMILL_RETURN_IF_ERROR(Need(proof_.final_polynomial.size() == (size_t{kD} << config_.final_variables),
                                   "final polynomial: length"));
    transcript_.Observe(proof_.final_polynomial);
    PROOFMILL_RETURN_IF_ERROR(CheckPow(config_.final_pow_bits, proof_.final_pow_witness, "final"));
    std::vector<Constraint> constraints;
    PROOFMILL_RETURN_IF_ERROR(CheckOpenings(proof_.final_openings, config_.rounds.size(),
                                            config_.final_log_domain, config_.final_folding,
                                            config_.final_queries, "final", constraints));
    const std::vector<Ext> polynomial = WhirElementsOf<kD>(proof_.final_polynomial);
    for (const Constraint& constraint : constraints) {
      Ext value{};
      for (size_t j = polynomial.size(); j-- > 0;) value = value * constraint.x + polynomial[j];
      PROOFMILL_RETURN_IF_ERROR(Need(value == constraint.value, "final polynomial at an opened row"));
    }
    PROOFMILL_RETURN_IF_ERROR(
        Need(proof_.final_sumcheck.has_value() == (config_.final_variables > 0), "final fold: presence"));
    if (config_.final_variables > 0) {
      PROOFMILL_RETURN_IF_ERROR(Sumcheck(*proof_.final_sumcheck, config_.final_variables,
                                         config_.final_fold_pow_bits, "final fold"));
    }
    return absl::OkStatus();
  }

  absl::Status TakeOodAnswers(const WhirElements& answers, uint32_t count, uint32_t variables,
                              const std::string& where, std::vector<Constraint>& constraints) {
    PROOFMILL_RETURN_IF_ERROR(Need(answers.size() == size_t{count} * kD, where + ": number of OOD answers"));
    for (const Ext& value : WhirElementsOf<kD>(answers)) {
      std::vector<Ext> point = ExpandPoint<kD>(transcript_.SampleExt<kD>(), variables);
      transcript_.ObserveExt(value);
      constraints.push_back({std::move(point), BabyBear(), value});
    }
    return absl::OkStatus();
  }

  absl::Status CheckPow(uint32_t bits, BabyBear nonce, const std::string& where) {
    return Need(bits == 0 ? nonce.IsZero() : transcript_.CheckPow(bits, nonce), where + ": proof of work");
  }

  // The openings of commitment `commitment` at positions drawn now, folded by the last challenges.
  absl::Status CheckOpenings(const std::vector<WhirOpening>& openings, size_t commitment, uint32_t log_domain,
                             uint32_t folding, uint32_t queries, const std::string& where,
                             std::vector<Constraint>& constraints) {
    const uint32_t log_height = log_domain - folding;
    const bool extension = commitment > 0;
    const Digest& root = commitment == 0 ? proof_.commitment : proof_.rounds[commitment - 1].commitment;
    const size_t row_words = (extension ? size_t{kD} : 1) << folding;
    const BabyBear generator = kernels::BabyBearRootOfUnity(log_height);
    const std::vector<uint32_t> positions = transcript_.SampleIndices(log_height, queries);
    PROOFMILL_RETURN_IF_ERROR(Need(openings.size() == positions.size(), where + ": number of openings"));
    std::vector<kernels::OpenedRow> rows;
    for (size_t i = 0; i < positions.size(); ++i) {
      const WhirOpening& opening = openings[i];
      PROOFMILL_RETURN_IF_ERROR(
          Need(opening.extension == extension && opening.row.size() == row_words, where + ": row shape"));
      PROOFMILL_RETURN_IF_ERROR(Need(opening.path.size() == log_height, where + ": Merkle path"));
      rows.push_back({opening.row.data(), opening.path.data(), positions[i]});
    }
    PROOFMILL_RETURN_IF_ERROR(
        Need(kernels::AllLeadTo(root, constants_, rows, row_words, log_height), where + ": Merkle path"));
    for (size_t i = 0; i < positions.size(); ++i) {
      constraints.push_back({{},
                             generator.Pow(positions[i]),
                             EvaluateRow<kD>(openings[i].row, extension, absl::MakeConstSpan(fold_))});
    }
    return absl::OkStatus();
  }

  // Adds the constraints, times the powers of a challenge, to the sum that is checked.
  void Combine(std::vector<Constraint>& constraints, uint32_t variables) {
    const Ext gamma = transcript_.SampleExt<kD>();
    Ext power = Ext::One();
    for (Constraint& constraint : constraints) {
      sum_ += power * constraint.value;
      terms_.push_back({variables, std::move(constraint.point), constraint.x, power});
      power *= gamma;
    }
  }

  absl::Status Sumcheck(const WhirSumcheck& sumcheck, uint32_t rounds, uint32_t pow_bits,
                        const std::string& where) {
    PROOFMILL_RETURN_IF_ERROR(
        Need(sumcheck.evaluations.size() == size_t{rounds} * 2 * kD, where + ": number of rounds"));
    PROOFMILL_RETURN_IF_ERROR(
        Need(sumcheck.nonces.size() == (pow_bits > 0 ? rounds : 0), where + ": number of nonces"));
    fold_.clear();
    for (size_t i = 0; i < rounds; ++i) {
      const Ext h0 = WhirElementAt<kD>(sumcheck.evaluations, 2 * i);
      const Ext h2 = WhirElementAt<kD>(sumcheck.evaluations, 2 * i + 1);
      transcript_.ObserveExt(h0);
      transcript_.ObserveExt(h2);
      if (pow_bits > 0) PROOFMILL_RETURN_IF_ERROR(CheckPow(pow_bits, sumcheck.nonces[i], where));
      const Ext r = transcript_.SampleExt<kD>();
      sum_ = QuadraticAt<kD>(h0, sum_ - h0, h2, r);
      fold_.push_back(r);
    }
    all_.insert(all_.end(), fold_.begin(), fold_.end());
    return absl::OkStatus();
  }

  // The sum of all terms at the challenges.
  Ext Weight() const {
    Ext total{};
    for (const Term& term : terms_) {
      const auto point = absl::MakeConstSpan(all_).subspan(all_.size() - term.variables);
      const Ext value =
          term.point.empty() ? PowerAt<kD>(term.x, point) : EqAt<kD>(absl::MakeConstSpan(term.point), point);
      total += term.coefficient * value;
    }
    return total;
  }

  const WhirConfig& config_;
  const WhirProof& proof_;
  WhirTranscript& transcript_;
  const kernels::Poseidon2Constants<16>& constants_;
  Ext sum_{};
  std::vector<Term> terms_;
  std::vector<Ext> fold_;  // the challenges of the last fold
  std::vector<Ext> all_;   // of all folds
};

template <int kD>
absl::Status VerifyDegree(const WhirConfig& config, absl::Span<const WhirClaim> claims,
                          const WhirProof& proof, WhirTranscript& transcript, WhirVerdict& verdict) {
  Verification<kD> verification(config, proof, transcript);
  PROOFMILL_ASSIGN_OR_RETURN(const std::vector<WhirExt<kD>> point, verification.Run(claims));
  for (const WhirExt<kD>& r : point) AppendElement<kD>(r, verdict.opened_point);
  AppendElement<kD>(transcript.SampleExt<kD>(), verdict.final_challenge);
  return absl::OkStatus();
}

}  // namespace

WhirVerdict VerifyWhir(const WhirConfig& config, absl::Span<const WhirClaim> claims, const WhirProof& proof,
                       WhirTranscriptLog* log) {
  WhirVerdict verdict;
  verdict.rejected_at = WhirClaimsError(config, claims);
  if (!verdict.rejected_at.empty()) return verdict;
  WhirTranscript transcript = BeginWhirTranscript(config, claims, log);
  const auto verify = config.degree() == 4 ? VerifyDegree<4> : VerifyDegree<5>;
  const absl::Status status = verify(config, claims, proof, transcript, verdict);
  verdict.valid = status.ok();
  verdict.rejected_at = std::string(status.message());
  return verdict;
}

WhirVerdict VerifyWhirBytes(const WhirConfig& config, absl::Span<const WhirClaim> claims,
                            absl::Span<const uint8_t> proof, WhirTranscriptLog* log) {
  const absl::StatusOr<WhirProof> decoded = DecodeWhirProof(config, proof);
  if (decoded.ok()) return VerifyWhir(config, claims, *decoded, log);
  WhirVerdict verdict;
  verdict.rejected_at = std::string(decoded.status().message());
  return verdict;
}

}  // namespace proofmill::engine
