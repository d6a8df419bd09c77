#include "engine/whir/transcript.h"

#include <algorithm>

namespace proofmill::engine {

namespace {

constexpr size_t kRate = 8;
// Bits of one sample that indices are cut from: a sample is uniform below p = 2^31 - 2^27 + 1, so its low
// bits are nearly so.
constexpr uint32_t kIndexBitsMax = 20;

}  // namespace

void WhirTranscriptLog::Add(char kind, uint32_t value) {
  if (runs.empty() || runs.back().kind != kind) runs.push_back({kind, {}});
  runs.back().values.push_back(value);
}

void WhirTranscript::Duplex() {
  std::copy_n(input_.begin(), input_count_, state_.begin());
  input_count_ = 0;
  kernels::Poseidon2Permute(*constants_, state_.data());
  output_count_ = kRate;
}

void WhirTranscript::Observe(BabyBear x) {
  if (log_ != nullptr) log_->Add('o', x.ToCanonical());
  output_count_ = 0;
  input_[input_count_++] = x;
  if (input_count_ == kRate) Duplex();
}

WhirTranscript::BabyBear WhirTranscript::Draw() {
  if (input_count_ > 0 || output_count_ == 0) Duplex();
  return state_[--output_count_];
}

WhirTranscript::BabyBear WhirTranscript::Sample() {
  const BabyBear x = Draw();
  if (log_ != nullptr) log_->Add('s', x.ToCanonical());
  return x;
}

uint32_t WhirTranscript::SampleBits(uint32_t bits) {
  const auto value = static_cast<uint32_t>(Draw().ToCanonical() & ((uint64_t{1} << bits) - 1));
  if (log_ != nullptr) {
    log_->Add('b', bits);
    log_->Add('b', value);
  }
  return value;
}

std::vector<uint32_t> WhirTranscript::SampleIndices(uint32_t bits, uint32_t count) {
  std::vector<uint32_t> out;
  out.reserve(count);
  uint32_t group = 1;  // indices of one sample
  if (uint64_t{count} * bits <= kIndexBitsMax) {
    group = std::max(count, 1u);
  } else if (kIndexBitsMax / bits >= 2) {
    group = kIndexBitsMax / bits;
  }
  while (out.size() < count) {
    const uint32_t here = std::min(group, count - static_cast<uint32_t>(out.size()));
    uint32_t value = SampleBits(here * bits);
    for (uint32_t i = 0; i < here; ++i, value >>= bits) out.push_back(value & ((uint32_t{1} << bits) - 1));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool WhirTranscript::CheckPow(uint32_t bits, BabyBear nonce) {
  Observe(nonce);
  return SampleBits(bits) == 0;
}

std::optional<kernels::BabyBear> WhirTranscript::Grind(uint32_t bits, uint32_t end, uint64_t* tried) {
  // Observing a nonce leaves at most eight pending inputs, and the eighth would permute at once: either way
  // the sample is word 7 of one permutation.
  kernels::NonceSearch search{
      .state = state_, .position = input_count_, .bits = std::min(bits, 31u), .end = end};
  std::copy_n(input_.begin(), input_count_, search.state.begin());
  const auto nonce = kernels::SearchNonce(*constants_, search, tried);
  if (!nonce.has_value()) return std::nullopt;
  const BabyBear element = BabyBear::FromCanonical(*nonce);
  CheckPow(bits, element);
  return element;
}

}  // namespace proofmill::engine
