#include "engine/whir/proof_bytes.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"

namespace proofmill::engine {
namespace {

using kernels::BabyBear;
using kernels::Digest;

constexpr uint32_t kMagic = 0x31574d50;  // "PMW1"
constexpr uint32_t kVersion = 1;
constexpr size_t kDigestWords = 8;

// The openings of one commitment.
struct OpeningsShape {
  uint64_t count_max;
  uint32_t path_digests;
  size_t row_words;
  bool extension;
};
OpeningsShape ShapeOf(const WhirConfig& config, size_t commitment) {
  const bool last = commitment == config.rounds.size();
  const uint32_t queries = last ? config.final_queries : config.rounds[commitment].queries;
  const uint32_t folding = last ? config.final_folding : config.rounds[commitment].folding;
  const uint32_t height = (last ? config.final_log_domain : config.rounds[commitment].log_domain) - folding;
  const bool extension = commitment > 0;
  return {.count_max = std::min<uint64_t>(queries, uint64_t{1} << height),
          .path_digests = height,
          .row_words = (extension ? size_t{config.degree()} : 1) << folding,
          .extension = extension};
}

// Calls visitor methods for everything after the header, in wire order, with the lengths that the parameters
// imply. `Proof` is WhirProof, const or not.
template <typename Proof, typename Visitor>
absl::Status Visit(const WhirConfig& config, Proof& proof, Visitor& visitor) {
  const size_t degree = config.degree();
  const WhirFolding& folding = config.parameters.folding;
  PROOFMILL_RETURN_IF_ERROR(visitor.Root(proof.commitment));
  PROOFMILL_RETURN_IF_ERROR(visitor.Words(proof.ood_answers, config.ood_samples * degree));
  PROOFMILL_RETURN_IF_ERROR(visitor.Sumcheck(proof.sumcheck, folding.first, config.fold_pow_bits));
  for (size_t i = 0; i < config.rounds.size(); ++i) {
    const WhirRound& round = config.rounds[i];
    auto& part = proof.rounds[i];
    PROOFMILL_RETURN_IF_ERROR(visitor.Root(part.commitment));
    PROOFMILL_RETURN_IF_ERROR(visitor.Words(part.ood_answers, round.ood_samples * degree));
    if (round.pow_bits > 0) PROOFMILL_RETURN_IF_ERROR(visitor.Word(part.pow_witness));
    PROOFMILL_RETURN_IF_ERROR(visitor.Openings(part.openings, ShapeOf(config, i)));
    PROOFMILL_RETURN_IF_ERROR(visitor.Sumcheck(part.sumcheck, folding.rest, round.fold_pow_bits));
  }
  PROOFMILL_RETURN_IF_ERROR(visitor.Words(proof.final_polynomial, degree << config.final_variables));
  if (config.final_pow_bits > 0) PROOFMILL_RETURN_IF_ERROR(visitor.Word(proof.final_pow_witness));
  PROOFMILL_RETURN_IF_ERROR(visitor.Openings(proof.final_openings, ShapeOf(config, config.rounds.size())));
  if (config.final_variables == 0) return absl::OkStatus();
  return visitor.Sumcheck(*proof.final_sumcheck, config.final_variables, config.final_fold_pow_bits);
}

class Writer {
 public:
  explicit Writer(size_t degree) : degree_(degree) {}

  void Raw(uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) bytes_.push_back(static_cast<uint8_t>(word >> shift));
  }
  absl::Status Word(BabyBear x) {
    Raw(x.ToCanonical());
    return absl::OkStatus();
  }
  absl::Status Root(const Digest& digest) {
    for (const BabyBear x : digest) Raw(x.ToCanonical());
    return absl::OkStatus();
  }
  absl::Status Words(const WhirElements& words, size_t /*count*/) {
    for (const BabyBear x : words) Raw(x.ToCanonical());
    return absl::OkStatus();
  }
  absl::Status Sumcheck(const WhirSumcheck& sumcheck, uint32_t rounds, uint32_t pow_bits) {
    for (size_t i = 0; i < rounds; ++i) {
      for (size_t j = 0; j < 2 * degree_; ++j) Raw(sumcheck.evaluations[i * 2 * degree_ + j].ToCanonical());
      if (pow_bits > 0) Raw(sumcheck.nonces[i].ToCanonical());
    }
    return absl::OkStatus();
  }
  absl::Status Openings(const std::vector<WhirOpening>& openings, const OpeningsShape& /*shape*/) {
    Raw(static_cast<uint32_t>(openings.size()));
    for (const WhirOpening& opening : openings) {
      for (const BabyBear x : opening.row) Raw(x.ToCanonical());
      for (const Digest& digest : opening.path) static_cast<void>(Root(digest));
    }
    return absl::OkStatus();
  }
  std::vector<uint8_t> Take() { return std::move(bytes_); }

 private:
  const size_t degree_;
  std::vector<uint8_t> bytes_;
};

// Only counts.
class Measure {
 public:
  explicit Measure(size_t degree) : degree_(degree) {}

  absl::Status Word(BabyBear /*x*/) { return Add(1); }
  absl::Status Root(const Digest& /*digest*/) { return Add(kDigestWords); }
  absl::Status Words(const WhirElements& /*words*/, size_t count) { return Add(count); }
  absl::Status Sumcheck(const WhirSumcheck& /*sumcheck*/, uint32_t rounds, uint32_t pow_bits) {
    return Add(rounds * (2 * degree_ + (pow_bits > 0 ? 1 : 0)));
  }
  absl::Status Openings(const std::vector<WhirOpening>& /*openings*/, const OpeningsShape& shape) {
    return Add(1 + shape.count_max * (shape.row_words + kDigestWords * shape.path_digests));
  }
  size_t words() const { return words_; }

 private:
  absl::Status Add(size_t words) {
    words_ += words;
    return absl::OkStatus();
  }

  const size_t degree_;
  size_t words_ = 2;  // the header
};

class Reader {
 public:
  Reader(size_t degree, absl::Span<const uint8_t> bytes) : degree_(degree), rest_(bytes) {}

  absl::StatusOr<uint32_t> Raw() {
    if (rest_.size() < 4) return absl::InvalidArgumentError("length: too short");
    uint32_t word = 0;
    for (size_t i = 4; i-- > 0;) word = word << 8 | rest_[i];
    rest_.remove_prefix(4);
    return word;
  }
  absl::Status Word(BabyBear& x) {
    PROOFMILL_ASSIGN_OR_RETURN(const uint32_t word, Raw());
    if (!BabyBear::IsCanonical(word)) return absl::InvalidArgumentError("a word is not canonical");
    x = BabyBear::FromCanonical(word);
    return absl::OkStatus();
  }
  absl::Status Root(Digest& digest) {
    for (BabyBear& x : digest) PROOFMILL_RETURN_IF_ERROR(Word(x));
    return absl::OkStatus();
  }
  absl::Status Words(WhirElements& words, size_t count) {
    if (count > rest_.size() / 4) return absl::InvalidArgumentError("length: too short");
    words.resize(count);
    for (BabyBear& x : words) PROOFMILL_RETURN_IF_ERROR(Word(x));
    return absl::OkStatus();
  }
  absl::Status Sumcheck(WhirSumcheck& sumcheck, uint32_t rounds, uint32_t pow_bits) {
    for (size_t i = 0; i < rounds; ++i) {
      for (size_t j = 0; j < 2 * degree_; ++j)
        PROOFMILL_RETURN_IF_ERROR(Word(sumcheck.evaluations.emplace_back()));
      if (pow_bits > 0) PROOFMILL_RETURN_IF_ERROR(Word(sumcheck.nonces.emplace_back()));
    }
    return absl::OkStatus();
  }
  absl::Status Openings(std::vector<WhirOpening>& openings, const OpeningsShape& shape) {
    PROOFMILL_ASSIGN_OR_RETURN(const uint32_t count, Raw());
    if (count < 1 || count > shape.count_max) {
      return absl::InvalidArgumentError(
          absl::StrCat("number of openings: expected 1 to ", shape.count_max, ", got ", count));
    }
    for (uint32_t i = 0; i < count; ++i) {
      WhirOpening& opening = openings.emplace_back();
      opening.extension = shape.extension;
      PROOFMILL_RETURN_IF_ERROR(Words(opening.row, shape.row_words));
      for (uint32_t j = 0; j < shape.path_digests; ++j)
        PROOFMILL_RETURN_IF_ERROR(Root(opening.path.emplace_back()));
    }
    return absl::OkStatus();
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  const size_t degree_;
  absl::Span<const uint8_t> rest_;
};

// A proof with the parts that the parameters imply.
WhirProof EmptyProof(const WhirConfig& config) {
  WhirProof proof;
  proof.rounds.resize(config.rounds.size());
  if (config.final_variables > 0) proof.final_sumcheck.emplace();
  return proof;
}

}  // namespace

size_t WhirProofBytesMax(const WhirConfig& config) {
  const WhirProof proof = EmptyProof(config);
  Measure measure(config.degree());
  static_cast<void>(Visit(config, proof, measure));  // it only adds
  return 4 * measure.words();
}

std::vector<uint8_t> EncodeWhirProof(const WhirConfig& config, const WhirProof& proof) {
  Writer writer(config.degree());
  writer.Raw(kMagic);
  writer.Raw(kVersion);
  static_cast<void>(Visit(config, proof, writer));  // a writer cannot fail
  return writer.Take();
}

absl::StatusOr<WhirProof> DecodeWhirProof(const WhirConfig& config, absl::Span<const uint8_t> bytes) {
  const size_t bytes_max = WhirProofBytesMax(config);
  if (bytes.size() % 4 != 0 || bytes.size() > bytes_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("length: expected a multiple of 4 up to ", bytes_max, ", got ", bytes.size()));
  }
  Reader reader(config.degree(), bytes);
  PROOFMILL_ASSIGN_OR_RETURN(const uint32_t magic, reader.Raw());
  PROOFMILL_ASSIGN_OR_RETURN(const uint32_t version, reader.Raw());
  if (magic != kMagic || version != kVersion) {
    return absl::InvalidArgumentError(absl::StrCat("magic or version: expected ", absl::Hex(kMagic), " and ",
                                                   kVersion, ", got ", absl::Hex(magic), " and ", version));
  }
  WhirProof proof = EmptyProof(config);
  PROOFMILL_RETURN_IF_ERROR(Visit(config, proof, reader));
  if (!reader.AtEnd()) return absl::InvalidArgumentError("length: trailing bytes");
  return proof;
}

}  // namespace proofmill::engine
