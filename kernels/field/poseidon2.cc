#include "kernels/field/poseidon2.h"

#include "kernels/field/poseidon2_constants.h"
#include "kernels/field/small_rng.h"

namespace proofmill::kernels {
namespace {

template <int kWidth>
constexpr Poseidon2Constants<kWidth> FromTable(const uint32_t* table) {
  Poseidon2Constants<kWidth> out{};
  for (auto& round : out.initial) {
    for (BabyBear& c : round) c = BabyBear::FromCanonical(*table++);
  }
  for (BabyBear& c : out.partial) c = BabyBear::FromCanonical(*table++);
  for (auto& round : out.terminal) {
    for (BabyBear& c : round) c = BabyBear::FromCanonical(*table++);
  }
  return out;
}

// The full rounds are drawn first.
template <int kWidth>
constexpr Poseidon2Constants<kWidth> FromStream(SmallRng& rng) {
  Poseidon2Constants<kWidth> out{};
  for (auto& round : out.initial) {
    for (BabyBear& c : round) c = rng.NextBabyBear();
  }
  for (auto& round : out.terminal) {
    for (BabyBear& c : round) c = rng.NextBabyBear();
  }
  for (BabyBear& c : out.partial) c = rng.NextBabyBear();
  return out;
}

struct Seed1 {
  Poseidon2Constants<16> width16;
  Poseidon2Constants<24> width24;
};
constexpr Seed1 MakeSeed1() {
  SmallRng rng(1);
  Seed1 out{};
  out.width16 = FromStream<16>(rng);
  out.width24 = FromStream<24>(rng);
  return out;
}

constexpr Poseidon2Constants<16> kGrain16 = FromTable<16>(kPoseidon2Grain16);
constexpr Poseidon2Constants<24> kGrain24 = FromTable<24>(kPoseidon2Grain24);
constexpr Seed1 kSeed1 = MakeSeed1();

}  // namespace

const Poseidon2Constants<16>& Poseidon2Width16(Poseidon2Set set) {
  return set == Poseidon2Set::kGrainLfsr ? kGrain16 : kSeed1.width16;
}
const Poseidon2Constants<24>& Poseidon2Width24(Poseidon2Set set) {
  return set == Poseidon2Set::kGrainLfsr ? kGrain24 : kSeed1.width24;
}

}  // namespace proofmill::kernels
