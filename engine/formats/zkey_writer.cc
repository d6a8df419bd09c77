#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/field_header.h"
#include "engine/formats/zkey.h"
#include "engine/formats/zkey_contributions.h"
#include "engine/formats/zkey_layout.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {
namespace {

using kernels::Fq;
using kernels::Fr;
using kernels::G1Affine;
using kernels::G2Affine;
using kernels::U256;

template <typename T>
absl::Span<const uint8_t> BytesOf(absl::Span<const T> elements) {
  return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(elements.data()), elements.size() * sizeof(T));
}
template <typename T>
absl::Span<const uint8_t> BytesOf(const T& object) {
  return BytesOf(absl::MakeConstSpan(&object, 1));
}

constexpr uint32_t Bit(ZkeySection section) { return uint32_t{1} << static_cast<uint32_t>(section); }

constexpr uint32_t kSectionsNeeded = Bit(ZkeySection::kIc) | Bit(ZkeySection::kCoefficients) |
                                     Bit(ZkeySection::kA) | Bit(ZkeySection::kB1) | Bit(ZkeySection::kB2) |
                                     Bit(ZkeySection::kC) | Bit(ZkeySection::kH);

}  // namespace

absl::StatusOr<std::unique_ptr<ZkeyWriter>> ZkeyWriter::Create(const std::string& path,
                                                               const ZkeyHeader& header) {
  PROOFMILL_ASSIGN_OR_RETURN(std::unique_ptr<BinFileWriter> file,
                             BinFileWriter::Create(path, kZkeyKind.magic, kZkeyKind.version_max));
  std::unique_ptr<ZkeyWriter> writer(new ZkeyWriter(std::move(file), header));
  PROOFMILL_RETURN_IF_ERROR(writer->WriteHeaderSections());
  return writer;
}

absl::Status ZkeyWriter::WriteHeaderSections() {
  PROOFMILL_RETURN_IF_ERROR(file_->BeginSection(static_cast<uint32_t>(ZkeySection::kProtocol)));
  PROOFMILL_RETURN_IF_ERROR(file_->WriteU32(kGroth16ProtocolId));
  PROOFMILL_RETURN_IF_ERROR(file_->EndSection());

  PROOFMILL_RETURN_IF_ERROR(file_->BeginSection(static_cast<uint32_t>(ZkeySection::kHeader)));
  for (const U256& prime : {Fq::kModulus, Fr::kModulus}) {
    PROOFMILL_RETURN_IF_ERROR(file_->WriteU32(sizeof(U256)));
    PROOFMILL_RETURN_IF_ERROR(file_->Write(BytesOf(prime)));
  }
  PROOFMILL_RETURN_IF_ERROR(file_->WriteU32(header_.n_vars));
  PROOFMILL_RETURN_IF_ERROR(file_->WriteU32(header_.n_public));
  PROOFMILL_RETURN_IF_ERROR(file_->WriteU32(header_.domain_size));
  PROOFMILL_RETURN_IF_ERROR(file_->Write(BytesOf(header_.alpha1)));
  PROOFMILL_RETURN_IF_ERROR(file_->Write(BytesOf(header_.beta1)));
  PROOFMILL_RETURN_IF_ERROR(file_->Write(BytesOf(header_.beta2)));
  PROOFMILL_RETURN_IF_ERROR(file_->Write(BytesOf(header_.gamma2)));
  PROOFMILL_RETURN_IF_ERROR(file_->Write(BytesOf(header_.delta1)));
  PROOFMILL_RETURN_IF_ERROR(file_->Write(BytesOf(header_.delta2)));
  return file_->EndSection();
}

absl::Status ZkeyWriter::EndOpenSection() {
  if (open_section_ == 0) return absl::OkStatus();
  const auto section = static_cast<ZkeySection>(open_section_);
  const uint64_t expected = ZkeySectionBytes(section, header_);
  if (file_->section_bytes() != expected) {
    return absl::FailedPreconditionError(absl::StrCat("section ", open_section_, " (",
                                                      ZkeySectionName(section), "): expected ", expected,
                                                      " bytes, got ", file_->section_bytes()));
  }
  open_section_ = 0;
  return file_->EndSection();
}

absl::Status ZkeyWriter::BeginSection(ZkeySection section) {
  PROOFMILL_RETURN_IF_ERROR(EndOpenSection());
  if ((kSectionsNeeded & Bit(section)) == 0 || (sections_written_ & Bit(section)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("section ", static_cast<uint32_t>(section), " (",
                                                      ZkeySectionName(section), ") was written already"));
  }
  PROOFMILL_RETURN_IF_ERROR(file_->BeginSection(static_cast<uint32_t>(section)));
  open_section_ = static_cast<uint32_t>(section);
  sections_written_ |= Bit(section);
  if (section != ZkeySection::kCoefficients) return absl::OkStatus();
  return file_->WriteU32(static_cast<uint32_t>(header_.n_coefs));
}

absl::Status ZkeyWriter::Write(absl::Span<const G1Affine> points) { return file_->Write(BytesOf(points)); }
absl::Status ZkeyWriter::Write(absl::Span<const G2Affine> points) { return file_->Write(BytesOf(points)); }
absl::Status ZkeyWriter::Write(absl::Span<const ZkeyCoefficient> coefficients) {
  return file_->Write(BytesOf(coefficients));
}

absl::Status ZkeyWriter::WriteContributions(const std::array<uint8_t, 64>& circuit_hash,
                                            absl::Span<const ZkeyContribution> contributions) {
  PROOFMILL_RETURN_IF_ERROR(EndOpenSection());
  if ((sections_written_ & Bit(ZkeySection::kContributions)) != 0) {
    return absl::FailedPreconditionError("section 10 (contributions) was written already");
  }
  sections_written_ |= Bit(ZkeySection::kContributions);
  PROOFMILL_RETURN_IF_ERROR(file_->BeginSection(static_cast<uint32_t>(ZkeySection::kContributions)));
  PROOFMILL_RETURN_IF_ERROR(file_->Write(SerializeZkeyContributions(circuit_hash, contributions)));
  return file_->EndSection();
}

absl::Status ZkeyWriter::Commit() {
  PROOFMILL_RETURN_IF_ERROR(EndOpenSection());
  const uint32_t missing = kSectionsNeeded & ~sections_written_;
  if (missing != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("section ", std::countr_zero(missing), " was not written"));
  }
  return file_->Commit();
}

}  // namespace proofmill::engine
