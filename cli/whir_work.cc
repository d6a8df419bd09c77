#include "cli/whir_work.h"

#include <cmath>

namespace proofmill::cli {
namespace {

constexpr double kWordBytes = 4, kDigestBytes = 32, kRateWords = 8;

double PowerOfTwo(uint32_t exponent) { return std::ldexp(1.0, static_cast<int>(exponent)); }

class Counter {
 public:
  explicit Counter(const engine::WhirConfig& config) : config_(config) {}

  WhirWork Count() {
    work_.permutations = config_.ExpectedNonces();
    Step(0, config_.parameters.num_variables, config_.ood_samples);
    Sumcheck(config_.parameters.num_variables, config_.parameters.folding.first);
    for (size_t i = 0; i < config_.rounds.size(); ++i) {
      const engine::WhirRound& round = config_.rounds[i];
      Step(i + 1, round.num_variables, round.ood_samples);
      Sumcheck(round.num_variables, config_.parameters.folding.rest);
    }
    Sumcheck(config_.final_variables, config_.final_variables);
    return work_;
  }

 private:
  double VectorBytes(uint32_t variables, bool extension) const {
    return kWordBytes * (extension ? config_.degree() : 1) * PowerOfTwo(variables);
  }
  // Commitment i, its answers and the weight of the sumcheck after it.
  void Step(size_t i, uint32_t variables, uint32_t ood_samples) {
    const double rows = PowerOfTwo(config_.log_height(i));
    const double width = (i == 0 ? 1 : config_.degree()) * PowerOfTwo(config_.parameters.folding.at(i));
    work_.permutations += rows * std::ceil(width / kRateWords) + rows - 1;
    work_.bytes += 2 * kWordBytes * rows * width + kDigestBytes * (2 * rows - 1);
    work_.bytes += (1 + ood_samples) * VectorBytes(variables, i > 0);
    work_.bytes += (i == 0 ? 1 : 2) * VectorBytes(variables, true);
  }
  void Sumcheck(uint32_t variables, uint32_t rounds) {
    const bool base = variables == config_.parameters.num_variables;
    for (uint32_t left = variables; left > variables - rounds; --left) {
      work_.bytes += VectorBytes(left, !(base && left == variables)) + VectorBytes(left, true);
      work_.bytes += 2 * VectorBytes(left - 1, true);
    }
  }

  const engine::WhirConfig& config_;
  WhirWork work_;
};

}  // namespace

WhirWork CountWhirWork(const engine::WhirConfig& config) { return Counter(config).Count(); }

}  // namespace proofmill::cli
