// What a proof leaves behind in memory: nothing secret, and not more than the proof before.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend/cpu/cpu_backend.h"
#include "engine/base/secure_memory.h"
#include "engine/groth16/prover.h"
#include "gtest/gtest.h"
#include "kernels/field/bn254_fr.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/groth16/circuits.h"
#include "tests/sanitized.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

constexpr size_t kRssGrowthMax = size_t{kAddressSanitized ? 300 : 4} << 20;

constexpr uint64_t kMask = 0x5aa5c33c0ff0e11eull;
constexpr uint64_t kMappingBytesMax = uint64_t{1} << 30;  // larger ones are shadows of sanitizers

// A 256-bit secret that is kept only in a form that a search for the secret does not find.
class Needle {
 public:
  explicit Needle(const U256& secret) {
    for (size_t i = 0; i < 4; ++i) masked_[i] = secret.limb[i] ^ kMask;
  }
  // How often it stands in the writable memory of this process, at multiples of 8 bytes, stacks aside.
  int CountInMemory() const {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);) {
      unsigned long long begin = 0, end = 0;
      char mode[5] = {};
      if (std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, mode) != 3) continue;
      if (mode[0] != 'r' || mode[1] != 'w' || mode[3] != 'p' || end - begin > kMappingBytesMax) continue;
      if (line.find("[stack") != std::string::npos) continue;
      count += CountIn(reinterpret_cast<const uint64_t*>(begin), reinterpret_cast<const uint64_t*>(end));
    }
    return count;
  }

 private:
  // Reads memory that belongs to nobody in particular.
  __attribute__((noinline, no_sanitize("address", "thread", "undefined"))) int CountIn(
      const uint64_t* begin, const uint64_t* end) const {
    int count = 0;
    for (const uint64_t* p = begin; p + 4 <= end; ++p) {
      if ((p[0] ^ kMask) != masked_[0]) continue;
      if ((p[1] ^ kMask) == masked_[1] && (p[2] ^ kMask) == masked_[2] && (p[3] ^ kMask) == masked_[3])
        ++count;
    }
    return count;
  }
  uint64_t masked_[4];
};

// h of DomainTwo() at the first point of the coset, from the polynomials: a, b and c are linear.
Needle FirstH(const std::vector<Fr>& witness) {
  const Fr half = Fr::FromUint64(2).Inverse();
  const Fr point = kernels::FrRootOfUnity(2);
  // The line through (1, at_one) and (-1, at_minus_one).
  const auto line = [&](const Fr& at_one, const Fr& at_minus_one) {
    return (at_one + at_minus_one) * half + (at_one - at_minus_one) * half * point;
  };
  const Fr a = line(witness[1], Fr::One());  // the extra row
  const Fr b = line(witness[2], Fr::Zero());
  const Fr c = line(witness[3], Fr::Zero());
  return Needle((a * b - c).ToPlain());
}

// Looks for the secrets when the transforms have ended and MSM H has not.
class Spy final : public StageSink {
 public:
  explicit Spy(const Needle& h) : h_(h) {}
  void OnStage(std::string_view stage, std::chrono::nanoseconds) override {
    if (stage == StageName(Stage::kNtt)) found_ = h_.CountInMemory();
  }
  int found() const { return found_; }

 private:
  const Needle& h_;
  int found_ = -1;
};

TEST(CpuBackendMemoryTest, NothingOfTheWitnessStaysInMemoryAfterAProof) {
  TestCircuit circuit = DomainTwo();
  Bench bench = BenchOf(circuit, 1);
  const Needle witness_value(bench.witness[1]);
  const Needle h = FirstH(circuit.witness);
  WipeMemory(circuit.witness.data(), circuit.witness.size() * sizeof(Fr));
  Spy spy(h);
  ProveOptions options;
  options.stages = &spy;

  ASSERT_OK(Prove(*bench.backend, *bench.resident, bench.span(), options));

  EXPECT_GE(spy.found(), 1) << "the search must be able to find what is there";
  EXPECT_GE(witness_value.CountInMemory(), 1) << "the test's own copy";
  WipeMemory(bench.witness.data(), bench.witness.size() * sizeof(U256));
  EXPECT_EQ(h.CountInMemory(), 0);
  EXPECT_EQ(witness_value.CountInMemory(), 0);
}

TEST(CpuBackendMemoryTest, ACancelledProofLeavesNothingEither) {
  TestCircuit circuit = DomainTwo();
  Bench bench = BenchOf(circuit, 1);
  const Needle h = FirstH(circuit.witness);
  WipeMemory(circuit.witness.data(), circuit.witness.size() * sizeof(Fr));
  class CancelAfterNtt final : public StageSink {
   public:
    void OnStage(std::string_view stage, std::chrono::nanoseconds) override {
      if (stage == StageName(Stage::kNtt)) token.Cancel();
    }
    CancellationToken token;
  } sink;
  ProveOptions options;
  options.stages = &sink;
  options.cancel = &sink.token;

  EXPECT_TRUE(absl::IsCancelled(Prove(*bench.backend, *bench.resident, bench.span(), options).status()));

  EXPECT_EQ(h.CountInMemory(), 0);
}

size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(CpuBackendMemoryTest, TenThousandProofsTakeNoMoreMemoryThanFifty) {
  constexpr int kProofs = kSanitized ? 200 : 10'000;  // a sanitizer makes each of them take ten times as long
  const Bench bench = BenchOf(Squarings(6));
  for (int i = 0; i < 50; ++i) ASSERT_OK(Prove(*bench.backend, *bench.resident, bench.span()));
  const size_t before = ResidentBytes();

  for (int i = 0; i < kProofs; ++i) ASSERT_OK(Prove(*bench.backend, *bench.resident, bench.span()));

  EXPECT_LE(ResidentBytes(), before + kRssGrowthMax);
}

}  // namespace
}  // namespace proofmill::engine
