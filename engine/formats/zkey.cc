#include "engine/formats/zkey.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file_hash.h"
#include "engine/formats/zkey_contributions.h"
#include "engine/formats/zkey_layout.h"
#include "kernels/cpu/parallel.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

// Sections are read in strips of this size, so that hashing keeps up while the next strip is read; a strip in
// pieces, by all threads, because most of the time goes to the first touch of the memory.
constexpr size_t kStripBytes = size_t{16} << 20;
constexpr size_t kPieceBytes = size_t{1} << 20;

template <typename T>
absl::Span<uint8_t> BytesOf(HostBuffer<T>& buffer) {
  return absl::MakeSpan(reinterpret_cast<uint8_t*>(buffer.data()), buffer.size_bytes());
}

// Reads the sections of one key in the order of the file and hashes what it read.
class Loader {
 public:
  // REQUIRES: all three outlive this; the buffers of `zkey` stay where they are.
  Loader(const ByteSource& source, const ZkeyLayout& layout, Zkey& zkey)
      : source_(source), layout_(layout), zkey_(zkey) {}

  absl::Status Load(bool compute_hash) {
    Allocate();
    if (compute_hash) hash_.emplace(source_);
    Hash(file_header_ = layout_.file.HeaderBytes());
    section_headers_.reserve(layout_.file.sections().size());
    for (const BinFileSection& section : layout_.file.sections()) {
      section_headers_.push_back(BinFile::SectionHeaderBytes(section));
      Hash(section_headers_.back());
      PROOFMILL_RETURN_IF_ERROR(LoadSection(section));
    }
    return absl::OkStatus();
  }

  // Call after everything else that must happen, since it waits for the hash.
  absl::Status Finish() {
    if (hash_.has_value()) {
      PROOFMILL_ASSIGN_OR_RETURN(zkey_.hash, hash_->Finish());
    }
    return source_.CheckUnchanged();
  }

  absl::Span<const uint8_t> contributions() const { return contributions_; }

 private:
  void Allocate() {
    const ZkeyHeader& header = layout_.header;
    zkey_.ic = HostBuffer<kernels::G1Affine>(size_t{header.n_public} + 1);
    zkey_.coefficients = HostBuffer<ZkeyCoefficient>(header.n_coefs);
    zkey_.a = HostBuffer<kernels::G1Affine>(header.n_vars);
    zkey_.b1 = HostBuffer<kernels::G1Affine>(header.n_vars);
    zkey_.b2 = HostBuffer<kernels::G2Affine>(header.n_vars);
    zkey_.c = HostBuffer<kernels::G1Affine>(header.n_vars - header.n_public - 1);
    zkey_.h = HostBuffer<kernels::G1Affine>(header.domain_size);
    if (layout_.contributions.has_value()) contributions_.resize(layout_.contributions->length);
  }

  // Bytes that are already here. They must stay: the hash may read them later.
  void Hash(absl::Span<const uint8_t> bytes) {
    if (hash_.has_value()) hash_->Add(bytes);
  }

  absl::Status LoadSection(const BinFileSection& section) {
    switch (static_cast<ZkeySection>(section.id)) {
      case ZkeySection::kProtocol:
        Hash(layout_.protocol_bytes);
        return absl::OkStatus();
      case ZkeySection::kHeader:
        Hash(layout_.header_bytes);
        return absl::OkStatus();
      case ZkeySection::kIc:
        return Read(section.offset, BytesOf(zkey_.ic));
      case ZkeySection::kCoefficients:
        Hash(layout_.count_bytes);
        return Read(section.offset + layout_.count_bytes.size(), BytesOf(zkey_.coefficients));
      case ZkeySection::kA:
        return Read(section.offset, BytesOf(zkey_.a));
      case ZkeySection::kB1:
        return Read(section.offset, BytesOf(zkey_.b1));
      case ZkeySection::kB2:
        return Read(section.offset, BytesOf(zkey_.b2));
      case ZkeySection::kC:
        return Read(section.offset, BytesOf(zkey_.c));
      case ZkeySection::kH:
        return Read(section.offset, BytesOf(zkey_.h));
      case ZkeySection::kContributions:
        return Read(section.offset, absl::MakeSpan(contributions_));
    }
    if (hash_.has_value()) hash_->AddFromSource(section.offset, section.length);
    return absl::OkStatus();
  }

  absl::Status Read(uint64_t offset, absl::Span<uint8_t> out) {
    while (!out.empty()) {
      const absl::Span<uint8_t> strip = out.subspan(0, kStripBytes);
      PROOFMILL_RETURN_IF_ERROR(ReadStrip(offset, strip));
      Hash(strip);
      offset += strip.size();
      out.remove_prefix(strip.size());
    }
    return absl::OkStatus();
  }

  absl::Status ReadStrip(uint64_t offset, absl::Span<uint8_t> strip) const {
    std::vector<absl::Status> results((strip.size() - 1) / kPieceBytes + 1);
    kernels::ParallelFor(0, strip.size(), kPieceBytes, [&](size_t begin, size_t end) {
      results[begin / kPieceBytes] = source_.ReadAt(offset + begin, strip.subspan(begin, end - begin));
    });
    for (const absl::Status& result : results) PROOFMILL_RETURN_IF_ERROR(result);
    return absl::OkStatus();
  }

  const ByteSource& source_;
  const ZkeyLayout& layout_;
  Zkey& zkey_;
  std::array<uint8_t, kBinFileHeaderBytes> file_header_;
  std::vector<std::array<uint8_t, kBinFileSectionHeaderBytes>> section_headers_;
  std::vector<uint8_t> contributions_;
  std::optional<FileHash> hash_;  // last: it is destroyed first, and reads the members above
};

absl::Status CoefficientError(const std::string& name, size_t record, absl::string_view what, uint64_t bound,
                              uint64_t got) {
  return absl::InvalidArgumentError(absl::StrCat(name, ": section 4 (coefficients): record ", record, ": ",
                                                 what, ": expected below ", bound, ", got ", got));
}

absl::Status CheckCoefficient(const std::string& name, const Zkey& zkey, size_t i) {
  const ZkeyCoefficient& record = zkey.coefficients[i];
  const uint32_t domain_size = zkey.header.domain_size;
  const uint32_t n_vars = zkey.header.n_vars;
  if (record.matrix > 1) return CoefficientError(name, i, "matrix", 2, record.matrix);
  if (record.constraint >= domain_size) {
    return CoefficientError(name, i, "constraint", domain_size, record.constraint);
  }
  if (record.signal >= n_vars) return CoefficientError(name, i, "signal", n_vars, record.signal);
  if (!Fr::IsCanonical(std::bit_cast<U256>(record.value))) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": section 4 (coefficients): record ", i,
                     ": value: expected an integer below r of BN254, got a larger one"));
  }
  return absl::OkStatus();
}

// The error is that of the first bad record.
absl::Status CheckCoefficients(const std::string& name, const Zkey& zkey) {
  constexpr size_t kRecordsPerChunk = size_t{1} << 14;
  std::vector<absl::Status> results(zkey.coefficients.size() / kRecordsPerChunk + 1);
  kernels::ParallelFor(0, zkey.coefficients.size(), kRecordsPerChunk, [&](size_t begin, size_t end) {
    absl::Status& result = results[begin / kRecordsPerChunk];
    for (size_t i = begin; result.ok() && i < end; ++i) result = CheckCoefficient(name, zkey, i);
  });
  for (const absl::Status& result : results) PROOFMILL_RETURN_IF_ERROR(result);
  return absl::OkStatus();
}

absl::Status TakeContributions(const std::string& name, absl::Span<const uint8_t> payload, Zkey& zkey) {
  if (zkey.has_contributions_section && !payload.empty()) {
    PROOFMILL_ASSIGN_OR_RETURN(
        ZkeyContributions parsed,
        ParseZkeyContributions(absl::StrCat(name, ": section 10 (contributions)"), payload));
    zkey.circuit_hash = parsed.circuit_hash;
    zkey.contributions = std::move(parsed.records);
  }
  if (zkey.contributions.empty()) {
    zkey.warnings.push_back(absl::StrCat("no contribution records: section 10 is ",
                                         zkey.has_contributions_section ? "empty" : "absent",
                                         ", so the key does not say who took part in its set-up"));
  }
  return absl::OkStatus();
}

absl::Status CheckFileSize(const ByteSource& source, uint64_t bytes_max) {
  if (source.size() <= bytes_max) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(source.name(), ": the key is too large: expected at most ",
                                                   bytes_max, " bytes, got ", source.size()));
}

}  // namespace

absl::StatusOr<Zkey> ReadZkey(const ByteSource& source, const ZkeyReadOptions& options) {
  PROOFMILL_RETURN_IF_ERROR(CheckFileSize(source, options.file_bytes_max));
  PROOFMILL_ASSIGN_OR_RETURN(const ZkeyLayout layout, ReadZkeyLayout(source));
  Zkey zkey;
  zkey.header = layout.header;
  zkey.file_size = source.size();
  zkey.has_contributions_section = layout.contributions.has_value();

  Loader loader(source, layout, zkey);
  PROOFMILL_RETURN_IF_ERROR(loader.Load(options.compute_hash));
  // The hash of the last pieces is still being computed while these run.
  PROOFMILL_RETURN_IF_ERROR(CheckCoefficients(source.name(), zkey));
  PROOFMILL_RETURN_IF_ERROR(TakeContributions(source.name(), loader.contributions(), zkey));
  PROOFMILL_RETURN_IF_ERROR(loader.Finish());
  return zkey;
}

absl::StatusOr<ZkeyHeader> ReadZkeyHeader(const ByteSource& source) {
  PROOFMILL_ASSIGN_OR_RETURN(const ZkeyLayout layout, ReadZkeyLayout(source));
  PROOFMILL_RETURN_IF_ERROR(source.CheckUnchanged());
  return layout.header;
}

}  // namespace proofmill::engine
