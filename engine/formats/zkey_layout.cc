#include "engine/formats/zkey_layout.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/byte_reader.h"
#include "engine/formats/field_header.h"
#include "engine/formats/zkey_contributions.h"

namespace proofmill::engine {
namespace {

using kernels::G1Affine;
using kernels::G2Affine;

constexpr uint64_t kProtocolBytes = 4;
constexpr uint64_t kHeaderBytes =
    2 * kFieldHeaderBytes + 3 * sizeof(uint32_t) + 3 * sizeof(G1Affine) + 3 * sizeof(G2Affine);
static_assert(kHeaderBytes == 660);
// A header over a wider field is longer; this much is read to name the field.
constexpr uint64_t kHeaderBytesMax = 2048;
constexpr uint64_t kCountBytes = 4;

// The sections that a prover needs. Section 10 is read if it is there.
constexpr ZkeySection kNeeded[] = {ZkeySection::kProtocol,     ZkeySection::kHeader, ZkeySection::kIc,
                                   ZkeySection::kCoefficients, ZkeySection::kA,      ZkeySection::kB1,
                                   ZkeySection::kB2,           ZkeySection::kC,      ZkeySection::kH};

std::string Label(const ByteSource& source, ZkeySection section) {
  return absl::StrCat(source.name(), ": section ", static_cast<uint32_t>(section), " (",
                      ZkeySectionName(section), ")");
}

absl::StatusOr<std::vector<uint8_t>> ReadUpTo(const ByteSource& source, const BinFileSection& section,
                                              uint64_t bytes_max) {
  std::vector<uint8_t> bytes(std::min(section.length, bytes_max));
  PROOFMILL_RETURN_IF_ERROR(source.ReadAt(section.offset, absl::MakeSpan(bytes)));
  return bytes;
}

absl::Status ExpectLength(const ByteSource& source, ZkeySection id, const BinFileSection& section,
                          uint64_t expected) {
  if (section.length == expected) return absl::OkStatus();
  const std::string message =
      absl::StrCat(Label(source, id), ": wrong length: expected ", expected, " bytes, got ", section.length);
  return section.length < expected ? absl::DataLossError(message) : absl::InvalidArgumentError(message);
}

absl::Status CheckProtocol(const ByteSource& source, ZkeyLayout& layout) {
  const BinFileSection& section = layout.section(ZkeySection::kProtocol);
  PROOFMILL_RETURN_IF_ERROR(ExpectLength(source, ZkeySection::kProtocol, section, kProtocolBytes));
  PROOFMILL_ASSIGN_OR_RETURN(layout.protocol_bytes, ReadUpTo(source, section, kProtocolBytes));
  const uint32_t protocol = LoadU32(layout.protocol_bytes.data());
  if (protocol == kGroth16ProtocolId) return absl::OkStatus();
  const absl::string_view name = protocol == 2 ? "PLONK" : protocol == 10 ? "FFLONK" : "an unknown protocol";
  return absl::InvalidArgumentError(absl::StrCat(source.name(), ": not a Groth16 key (", name,
                                                 "): expected protocol ", kGroth16ProtocolId, ", got ",
                                                 protocol));
}

absl::Status ReadPoints(ByteReader& reader, ZkeyHeader& header) {
  PROOFMILL_ASSIGN_OR_RETURN(header.alpha1, reader.ReadValue<G1Affine>());
  PROOFMILL_ASSIGN_OR_RETURN(header.beta1, reader.ReadValue<G1Affine>());
  PROOFMILL_ASSIGN_OR_RETURN(header.beta2, reader.ReadValue<G2Affine>());
  PROOFMILL_ASSIGN_OR_RETURN(header.gamma2, reader.ReadValue<G2Affine>());
  PROOFMILL_ASSIGN_OR_RETURN(header.delta1, reader.ReadValue<G1Affine>());
  PROOFMILL_ASSIGN_OR_RETURN(header.delta2, reader.ReadValue<G2Affine>());
  return absl::OkStatus();
}

absl::Status CheckCounts(const ByteSource& source, const ZkeyHeader& header) {
  const std::string label = Label(source, ZkeySection::kHeader);
  // In 64 bits: n_public + 1 may not fit into 32.
  if (uint64_t{header.n_public} + 1 > header.n_vars) {
    return absl::InvalidArgumentError(absl::StrCat(label, ": expected nPublic below nVars, got nPublic ",
                                                   header.n_public, " and nVars ", header.n_vars));
  }
  const uint32_t domain = header.domain_size;
  if (!std::has_single_bit(domain) || domain < 2 || domain > uint32_t{1} << kZkeyDomainLog2Max) {
    return absl::InvalidArgumentError(
        absl::StrCat(label, ": expected a domain size that is a power of two from 2 to 2^",
                     kZkeyDomainLog2Max, ", got ", domain));
  }
  return absl::OkStatus();
}

absl::Status ReadHeaderSection(const ByteSource& source, ZkeyLayout& layout) {
  const BinFileSection& section = layout.section(ZkeySection::kHeader);
  PROOFMILL_ASSIGN_OR_RETURN(layout.header_bytes, ReadUpTo(source, section, kHeaderBytesMax));
  ByteReader reader(Label(source, ZkeySection::kHeader), layout.header_bytes);
  PROOFMILL_RETURN_IF_ERROR(ExpectBn254BaseField(reader));
  PROOFMILL_RETURN_IF_ERROR(ExpectBn254ScalarField(reader));
  PROOFMILL_RETURN_IF_ERROR(ExpectLength(source, ZkeySection::kHeader, section, kHeaderBytes));
  ZkeyHeader& header = layout.header;
  PROOFMILL_ASSIGN_OR_RETURN(header.n_vars, reader.ReadU32());
  PROOFMILL_ASSIGN_OR_RETURN(header.n_public, reader.ReadU32());
  PROOFMILL_ASSIGN_OR_RETURN(header.domain_size, reader.ReadU32());
  PROOFMILL_RETURN_IF_ERROR(ReadPoints(reader, header));
  return CheckCounts(source, header);
}

absl::Status ReadCoefficientCount(const ByteSource& source, ZkeyLayout& layout) {
  const BinFileSection& section = layout.section(ZkeySection::kCoefficients);
  PROOFMILL_ASSIGN_OR_RETURN(layout.count_bytes, ReadUpTo(source, section, kCountBytes));
  if (layout.count_bytes.size() < kCountBytes) {
    return ExpectLength(source, ZkeySection::kCoefficients, section, kCountBytes);
  }
  layout.header.n_coefs = LoadU32(layout.count_bytes.data());
  return absl::OkStatus();
}

absl::Status CheckSectionLengths(const ByteSource& source, const ZkeyLayout& layout) {
  for (const ZkeySection id : kNeeded) {
    PROOFMILL_RETURN_IF_ERROR(
        ExpectLength(source, id, layout.section(id), ZkeySectionBytes(id, layout.header)));
  }
  return absl::OkStatus();
}

absl::Status CheckContributionsLength(const ByteSource& source, const ZkeyLayout& layout) {
  if (!layout.contributions.has_value() || layout.contributions->length <= kZkeyContributionsBytesMax) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(Label(source, ZkeySection::kContributions),
                                                 ": too long: expected at most ", kZkeyContributionsBytesMax,
                                                 " bytes, got ", layout.contributions->length));
}

}  // namespace

absl::string_view ZkeySectionName(ZkeySection section) {
  switch (section) {
    case ZkeySection::kProtocol:
      return "protocol";
    case ZkeySection::kHeader:
      return "header";
    case ZkeySection::kIc:
      return "IC points";
    case ZkeySection::kCoefficients:
      return "coefficients";
    case ZkeySection::kA:
      return "A points";
    case ZkeySection::kB1:
      return "B1 points";
    case ZkeySection::kB2:
      return "B2 points";
    case ZkeySection::kC:
      return "C points";
    case ZkeySection::kH:
      return "H points";
    case ZkeySection::kContributions:
      return "contributions";
  }
  return "unknown";
}

uint64_t ZkeySectionBytes(ZkeySection section, const ZkeyHeader& header) {
  const uint64_t g1 = sizeof(G1Affine);
  switch (section) {
    case ZkeySection::kProtocol:
      return kProtocolBytes;
    case ZkeySection::kHeader:
      return kHeaderBytes;
    case ZkeySection::kIc:
      return g1 * (uint64_t{header.n_public} + 1);
    case ZkeySection::kCoefficients:
      return kCountBytes + sizeof(ZkeyCoefficient) * header.n_coefs;
    case ZkeySection::kA:
    case ZkeySection::kB1:
      return g1 * header.n_vars;
    case ZkeySection::kB2:
      return sizeof(G2Affine) * header.n_vars;
    case ZkeySection::kC:
      return g1 * (uint64_t{header.n_vars} - header.n_public - 1);
    case ZkeySection::kH:
      return g1 * header.domain_size;
    case ZkeySection::kContributions:
      break;
  }
  return 0;
}

uint32_t ZkeyHeader::log2_domain() const { return static_cast<uint32_t>(std::countr_zero(domain_size)); }

absl::StatusOr<ZkeyLayout> ReadZkeyLayout(const ByteSource& source) {
  PROOFMILL_ASSIGN_OR_RETURN(BinFile file, BinFile::Open(source, kZkeyKind));
  ZkeyLayout layout{std::move(file), {}, {}, {}, {}, {}, {}};
  // The protocol is judged first: a PLONK key lacks sections that we would miss otherwise.
  PROOFMILL_ASSIGN_OR_RETURN(layout.sections[1], layout.file.Require(1, "protocol"));
  PROOFMILL_RETURN_IF_ERROR(CheckProtocol(source, layout));
  for (const ZkeySection id : kNeeded) {
    const auto number = static_cast<uint32_t>(id);
    PROOFMILL_ASSIGN_OR_RETURN(layout.sections[number], layout.file.Require(number, ZkeySectionName(id)));
  }
  PROOFMILL_ASSIGN_OR_RETURN(layout.contributions,
                             layout.file.FindOptional(kZkeySectionIdMax, "contributions"));
  PROOFMILL_RETURN_IF_ERROR(CheckContributionsLength(source, layout));
  PROOFMILL_RETURN_IF_ERROR(ReadHeaderSection(source, layout));
  PROOFMILL_RETURN_IF_ERROR(ReadCoefficientCount(source, layout));
  PROOFMILL_RETURN_IF_ERROR(CheckSectionLengths(source, layout));
  return layout;
}

}  // namespace proofmill::engine
