// The Fiat-Shamir transcript: a duplex sponge over Poseidon2 of width 16, rate 8. Observed elements overwrite
// the rate; samples are taken from its end.
//
// Thread safety: as a plain object; Grind() uses all threads of the current arena.

#ifndef PROOFMILL_ENGINE_WHIR_TRANSCRIPT_H_
#define PROOFMILL_ENGINE_WHIR_TRANSCRIPT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "kernels/cpu/poseidon2_hash.h"
#include "kernels/field/babybear.h"
#include "kernels/field/babybear_ext.h"
#include "kernels/field/poseidon2.h"

namespace proofmill::engine {

// What a transcript did, for comparison with another's: runs of one kind, canonical values.
struct WhirTranscriptLog {
  struct Run {
    char kind;  // 'o' observed, 's' sampled, 'b' pairs of a bit count and the bits
    std::vector<uint32_t> values;
    bool operator==(const Run& other) const { return kind == other.kind && values == other.values; }
  };
  std::vector<Run> runs;

  void Add(char kind, uint32_t value);
};

class WhirTranscript {
 public:
  using BabyBear = kernels::BabyBear;

  // `log`, if not null, gets every operation. Both must outlive this.
  explicit WhirTranscript(const kernels::Poseidon2Constants<16>& constants, WhirTranscriptLog* log = nullptr)
      : constants_(&constants), log_(log) {}

  void Observe(BabyBear x);
  void Observe(absl::Span<const BabyBear> elements) {
    for (const BabyBear x : elements) Observe(x);
  }
  template <int kDegree>
  void ObserveExt(const kernels::BabyBearExt<kDegree>& x) {
    Observe(absl::MakeConstSpan(x.c, kDegree));
  }

  BabyBear Sample();
  template <int kDegree>
  kernels::BabyBearExt<kDegree> SampleExt() {
    kernels::BabyBearExt<kDegree> out{};
    for (BabyBear& coefficient : out.c) coefficient = Sample();
    return out;
  }
  // The low `bits` bits of a sample. REQUIRES: bits <= 31.
  uint32_t SampleBits(uint32_t bits);
  // `count` positions of `bits` bits each, sorted, without repetitions.
  std::vector<uint32_t> SampleIndices(uint32_t bits, uint32_t count);

  // Observes a nonce and says whether `bits` sampled bits are zero. REQUIRES: 0 < bits.
  bool CheckPow(uint32_t bits, BabyBear nonce);
  // The smallest nonce below `end` that CheckPow() accepts, after which the transcript is as after that call;
  // nothing if there is none. `tried`, if not null, grows by the number of nonces tried.
  std::optional<BabyBear> Grind(uint32_t bits, uint32_t end = kernels::kBabyBearP, uint64_t* tried = nullptr);

  // Observed elements that will overwrite the first words of the state at the next permutation.
  absl::Span<const BabyBear> pending() const { return absl::MakeConstSpan(input_.data(), input_count_); }
  // The state, and what is left of the last output, first element first.
  const std::array<BabyBear, 16>& state() const { return state_; }
  absl::Span<const BabyBear> output() const { return absl::MakeConstSpan(state_.data(), output_count_); }

 private:
  void Duplex();
  BabyBear Draw();

  const kernels::Poseidon2Constants<16>* constants_;
  WhirTranscriptLog* log_;
  std::array<BabyBear, 16> state_{};
  std::array<BabyBear, 8> input_{};
  size_t input_count_ = 0;
  size_t output_count_ = 0;  // of state_[0 .. output_count_), samples that are left
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_WHIR_TRANSCRIPT_H_
