#include "engine/backend/cuda/whir_memory.h"

#include <algorithm>

#include "engine/base/status_macros.h"
#include "kernels/cuda/babybear_ntt.h"
#include "kernels/cuda/merkle.h"

namespace proofmill::engine {
namespace {

// Hands out parts of a piece of memory, or, without one, only counts.
class Cutter {
 public:
  explicit Cutter(uint32_t* memory) : memory_(memory) {}

  uint32_t* Take(size_t words) {
    constexpr size_t kAlignment = 64;  // 256 bytes, as cudaMalloc() gives
    uint32_t* const part = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (words + kAlignment - 1) / kAlignment * kAlignment;
    return part;
  }
  size_t used() const { return used_; }

 private:
  uint32_t* const memory_;
  size_t used_ = 0;
};

// The largest needs of any step.
struct Needs {
  size_t matrix[2] = {}, tree[2] = {};
  size_t tables = 0;
  size_t eqs = 0, terms = 0;  // of a combination
  size_t queries = 0;
  uint32_t log_height = 0;

  void Commitment(size_t i, size_t columns, uint32_t height) {
    matrix[i % 2] = std::max(matrix[i % 2], columns << height);
    tree[i % 2] = std::max(tree[i % 2], kernels::MerkleTreeWords(height));
    log_height = std::max(log_height, height);
  }
  void Combination(uint32_t degree, size_t eq_count, size_t power_count, uint32_t log_size) {
    eqs = std::max(eqs, eq_count);
    terms = std::max(terms, eq_count + power_count);
    const size_t held = std::clamp<size_t>(eq_count, 1, kWhirEqTermsMax);
    tables = std::max(tables, kernels::TermTableWords(degree, held, power_count, log_size));
  }
};
Needs NeedsOf(const WhirConfig& config, size_t claims) {
  const WhirParameters& p = config.parameters;
  Needs out;
  out.Commitment(0, size_t{1} << p.folding.first, config.log_height(0));
  out.Combination(config.degree(), claims + config.ood_samples, 0, p.num_variables);
  for (size_t i = 0; i < config.rounds.size(); ++i) {
    const WhirRound& round = config.rounds[i];
    out.Commitment(i + 1, size_t{config.degree()} << p.folding.rest, config.log_height(i + 1));
    out.Combination(config.degree(), round.ood_samples, round.queries, round.num_variables);
    out.queries = std::max<size_t>(out.queries, round.queries);
  }
  out.queries = std::max<size_t>(out.queries, config.final_queries);
  return out;
}

// Everything that may hold something of the polynomial.
WhirViews Cut(const WhirConfig& config, const WhirPlaces& places, const Needs& needs, Cutter& cutter) {
  constexpr size_t kFoldsMax = 8;
  const size_t degree = config.degree(), size = size_t{1} << config.parameters.num_variables;
  WhirViews out{};
  out.sponge =
      reinterpret_cast<kernels::DeviceSponge*>(cutter.Take(sizeof(kernels::DeviceSponge) / sizeof(uint32_t)));
  out.points = cutter.Take(needs.eqs * config.parameters.num_variables * degree);
  out.values = cutter.Take(needs.terms * degree);
  out.coefficients = cutter.Take(needs.terms * degree);
  out.polynomial = cutter.Take(size);
  out.f = {cutter.Take(degree * (size / 2)), size / 2};
  out.w = {cutter.Take(degree * size), size};
  for (int i = 0; i < 2; ++i) {
    out.matrices[i] = cutter.Take(needs.matrix[i]);
    out.trees[i] = cutter.Take(needs.tree[i]);
  }
  out.tables = cutter.Take(needs.tables);
  out.partials = cutter.Take(kernels::PartialSumWords(config.degree()));
  out.sum = cutter.Take(degree);
  out.challenges = cutter.Take(kFoldsMax * degree);
  out.nonce =
      reinterpret_cast<kernels::NonceResult*>(cutter.Take(sizeof(kernels::NonceResult) / sizeof(uint32_t)));
  out.arrived = cutter.Take(1);
  out.positions = cutter.Take(needs.queries);
  out.draw_scratch = cutter.Take(2 * needs.queries);
  out.proof = cutter.Take(places.words);
  return out;
}

size_t WipedWords(const WhirConfig& config, const WhirPlaces& places, const Needs& needs) {
  Cutter counter(nullptr);
  Cut(config, places, needs, counter);
  return counter.used();
}
size_t TwiddleWords(const Needs& needs) { return std::max<size_t>(1, (size_t{1} << needs.log_height) / 2); }

}  // namespace

size_t WhirMemory::BytesFor(const WhirConfig& config, const WhirPlaces& places, size_t claims) {
  const Needs needs = NeedsOf(config, claims);
  return (WipedWords(config, places, needs) + TwiddleWords(needs)) * sizeof(uint32_t);
}

absl::StatusOr<WhirMemory> WhirMemory::Make(CudaCalls& calls, const WhirConfig& config,
                                            const WhirPlaces& places, size_t claims, cudaStream_t stream) {
  const Needs needs = NeedsOf(config, claims);
  const size_t twiddle_words = TwiddleWords(needs);
  WhirMemory out;
  out.claims_ = claims;
  out.degree_ = config.degree();
  out.wiped_words_ = WipedWords(config, places, needs);
  PROOFMILL_ASSIGN_OR_RETURN(out.memory_,
                             DeviceBuffer<uint32_t>::Make(calls, out.wiped_words_ + twiddle_words));
  Cutter cutter(out.memory_.data());
  out.views_ = Cut(config, places, needs, cutter);
  out.views_.twiddles = cutter.Take(twiddle_words);
  PROOFMILL_RETURN_IF_ERROR(out.Wipe(calls, stream));
  PROOFMILL_RETURN_IF_ERROR(calls.Call("LaunchBabyBearTwiddles", [&] {
    return kernels::LaunchBabyBearTwiddles(out.views_.twiddles, needs.log_height, stream);
  }));
  return out;
}

size_t WhirMemory::head_words(size_t claims) const {
  return static_cast<size_t>(views_.values - reinterpret_cast<const uint32_t*>(views_.sponge)) +
         claims * degree_;
}

absl::Status WhirMemory::Wipe(CudaCalls& calls, cudaStream_t stream) const {
  return calls.Call("cudaMemsetAsync", [&] {
    return cudaMemsetAsync(memory_.data(), 0, wiped_words_ * sizeof(uint32_t), stream);
  });
}

}  // namespace proofmill::engine
