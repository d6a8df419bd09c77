#include "cli/kernel_inputs.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "kernels/field/bn254_fr.h"

namespace proofmill::cli {
namespace {

using kernels::Fr;
using kernels::U256;

constexpr uint64_t kSeed = 1;
constexpr U256 kOne{{1, 0, 0, 0}};

U256 PowerOfTwo(uint64_t exponent) {
  U256 value;
  value.limb[exponent / 64] = uint64_t{1} << (exponent % 64);
  return value;
}

// Zero and one with equal chance, or with `full_percent` a uniform value.
U256 BitOrFull(std::mt19937_64& random, uint64_t full_percent) {
  const uint64_t kind = random() % 200;
  if (kind < 2 * full_percent) return RandomBelowR(random);
  return kind % 2 == 0 ? U256{} : kOne;
}

}  // namespace

U256 RandomBelowR(std::mt19937_64& random) {
  U256 value;
  do {
    for (uint64_t& limb : value.limb) limb = random();
    value.limb[3] >>= 2;  // 254 bits: most values are below r
  } while (!Fr::IsCanonical(value));
  return value;
}

const std::vector<std::string>& ScalarProfiles() {
  static const auto* const profiles =
      new std::vector<std::string>{"dense",      "bits", "bits99",  "one_nonzero", "ones",
                                   "minus_ones", "same", "one_hot", "power_253",   "small64"};
  return *profiles;
}

std::vector<U256> MakeScalars(absl::string_view profile, size_t n) {
  std::mt19937_64 random(kSeed);
  std::vector<U256> scalars(n);
  if (profile == "one_nonzero") {
    if (n != 0) scalars[n / 2] = RandomBelowR(random);
    return scalars;
  }
  U256 minus_one = Fr::kModulus;
  minus_one.limb[0] -= 1;
  const U256 same = RandomBelowR(random);
  for (U256& scalar : scalars) {
    if (profile == "dense") scalar = RandomBelowR(random);
    if (profile == "bits") scalar = BitOrFull(random, 10);
    if (profile == "bits99") scalar = BitOrFull(random, 1);
    if (profile == "ones") scalar = kOne;
    if (profile == "minus_ones") scalar = minus_one;
    if (profile == "same") scalar = same;
    if (profile == "one_hot") scalar = PowerOfTwo(random() % 254);  // 2^253 is below r
    if (profile == "power_253") scalar = PowerOfTwo(253);
    if (profile == "small64") scalar = U256{{random(), 0, 0, 0}};
  }
  return scalars;
}

double MsmFloorSeconds(bool g2, uint64_t n) {
  const double adds_per_second = g2 ? 3.1e9 : 10.2e9;
  const double products_per_full_add = g2 ? 40 : 14;
  constexpr double kProductsPerSecond = 61.2e9;
  constexpr double kEntriesSortedPerSecond = 80e9;
  double best = std::numeric_limits<double>::infinity();
  for (uint64_t window = 4; window <= 24; ++window) {
    const uint64_t windows = (255 + window - 1) / window;
    const auto entries = static_cast<double>(n * windows);
    const auto buckets = static_cast<double>(uint64_t{1} << (window - 1));
    best =
        std::min(best, entries / adds_per_second + buckets * 2 * products_per_full_add / kProductsPerSecond +
                           entries / kEntriesSortedPerSecond);
  }
  return best;
}

double NttFloorSeconds(uint32_t log2_n) {
  constexpr double kProductsPerSecond = 61.2e9;
  const auto n = static_cast<double>(uint64_t{1} << log2_n);
  return n / 2 * log2_n / kProductsPerSecond;
}

}  // namespace proofmill::cli
