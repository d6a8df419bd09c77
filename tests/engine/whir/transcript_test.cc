#include "engine/whir/transcript.h"

#include "gtest/gtest.h"
#include "tests/kernels/whir_vectors.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using kernels::ReadWhirVector;
using kernels::ToCanonical;
using kernels::ToElements;

const kernels::Poseidon2Constants<16>& Benchmark() {
  return kernels::Poseidon2Width16(kernels::Poseidon2Set::kSmallRngSeed1);
}

// Does what the script says and compares what it samples.
void Replay(const nlohmann::json& events, WhirTranscript& transcript) {
  for (const auto& event : events) {
    const std::string kind = event[0];
    const auto values = event[1].get<std::vector<uint32_t>>();
    for (size_t i = 0; i < values.size(); i += kind == "b" ? 2 : 1) {
      if (kind == "o") transcript.Observe(BabyBear::FromCanonical(values[i]));
      if (kind == "s") {
        EXPECT_EQ(transcript.Sample().ToCanonical(), values[i]);
      }
      if (kind == "b") {
        EXPECT_EQ(transcript.SampleBits(values[i]), values[i + 1]);
      }
    }
  }
}

TEST(WhirTranscriptTest, FollowsTheScriptOfTheVectors) {
  const auto file = ReadWhirVector("challenger.json");
  WhirTranscript transcript(Benchmark());
  Replay(file.at("events"), transcript);

  const std::vector<BabyBear> state(transcript.state().begin(), transcript.state().end());
  const std::vector<BabyBear> output(transcript.output().begin(), transcript.output().end());
  EXPECT_EQ(state, ToElements(file.at("state_after")));
  EXPECT_EQ(output, ToElements(file.at("output_buffer_after")));
}

TEST(WhirTranscriptTest, GrindsTheNoncesOfTheScript) {
  const auto file = ReadWhirVector("challenger.json");
  const auto& events = file.at("events");
  const auto witnesses = file.at("grind_witnesses_smallest").get<std::vector<uint32_t>>();
  size_t found = 0;
  // A grind is an observation of one nonce and then bits that are zero.
  for (size_t i = 1; i < events.size() && found < witnesses.size(); ++i) {
    const bool grind = events[i][0] == "b" && events[i][1][1] == 0 && events[i - 1][0] == "o";
    if (!grind || events[i - 1][1].back() != witnesses[found]) continue;
    WhirTranscript transcript(Benchmark());
    auto before = events;
    before.erase(before.begin() + static_cast<std::ptrdiff_t>(i), before.end());
    before.back()[1].erase(before.back()[1].size() - 1);
    Replay(before, transcript);

    const auto nonce = transcript.Grind(events[i][1][0].get<uint32_t>());
    ASSERT_TRUE(nonce.has_value());
    EXPECT_EQ(nonce->ToCanonical(), witnesses[found++]);
  }
  EXPECT_EQ(found, witnesses.size());
}

TEST(WhirTranscriptTest, GrindAdvancesTheTranscriptAsCheckPowDoes) {
  for (size_t pending = 0; pending < 9; ++pending) {
    WhirTranscript prover(Benchmark());
    for (size_t i = 0; i < pending; ++i) prover.Observe(BabyBear::One());
    WhirTranscript verifier = prover;
    const auto nonce = prover.Grind(6);
    ASSERT_TRUE(nonce.has_value());

    EXPECT_TRUE(verifier.CheckPow(6, *nonce));
    EXPECT_EQ(prover.Sample(), verifier.Sample());
  }
}

TEST(WhirTranscriptTest, SamplesTheIndicesOfTheVectors) {
  for (const auto& entry : ReadWhirVector("queries.json")) {
    WhirTranscript transcript(Benchmark());
    transcript.Observe(BabyBear::FromCanonical(entry.at("observe_first").get<uint32_t>()));
    const auto bits = entry.at("log_domain").get<uint32_t>() - entry.at("fold").get<uint32_t>();
    EXPECT_EQ(transcript.SampleIndices(bits, entry.at("num_queries").get<uint32_t>()),
              entry.at("indices").get<std::vector<uint32_t>>());
  }
}

}  // namespace
}  // namespace proofmill::engine
