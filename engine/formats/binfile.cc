#include "engine/formats/binfile.h"

#include <algorithm>
#include <bit>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/endian.h"

namespace proofmill::engine {
namespace {

absl::StatusOr<BinFileSection> ReadSectionHeader(const ByteSource& source, uint64_t offset, uint32_t number,
                                                 uint32_t count) {
  if (source.size() - offset < kBinFileSectionHeaderBytes) {
    return absl::DataLossError(absl::StrCat(
        source.name(), ": the file ends before the header of section number ", number + 1, " of ", count,
        ": expected ", kBinFileSectionHeaderBytes, " bytes, got ", source.size() - offset));
  }
  std::array<uint8_t, kBinFileSectionHeaderBytes> bytes;
  PROOFMILL_RETURN_IF_ERROR(source.ReadAt(offset, absl::MakeSpan(bytes)));
  const BinFileSection section{LoadU32(&bytes[0]), offset + kBinFileSectionHeaderBytes, LoadU64(&bytes[4])};
  // Compared without a sum: a length near 2^64 must not wrap.
  if (section.length > source.size() - section.offset) {
    return absl::DataLossError(absl::StrCat(source.name(), ": section ", section.id,
                                            " reaches beyond the end of the file: expected ", section.length,
                                            " bytes, got ", source.size() - section.offset));
  }
  return section;
}

absl::Status CheckHeader(const ByteSource& source, const std::array<uint8_t, kBinFileHeaderBytes>& bytes,
                         const BinFileKind& kind) {
  const absl::string_view magic(reinterpret_cast<const char*>(bytes.data()), 4);
  if (magic != kind.magic) {
    return absl::InvalidArgumentError(absl::StrCat(source.name(), ": not a .", kind.magic,
                                                   " file: expected it to begin with \"", kind.magic,
                                                   "\", got \"", absl::CHexEscape(magic), "\""));
  }
  const uint32_t version = LoadU32(&bytes[4]);
  if (version < kind.version_min || version > kind.version_max) {
    const std::string expected = kind.version_min == kind.version_max
                                     ? absl::StrCat(kind.version_min)
                                     : absl::StrCat(kind.version_min, " to ", kind.version_max);
    return absl::InvalidArgumentError(absl::StrCat(source.name(), ": unknown version of .", kind.magic,
                                                   ": expected ", expected, ", got ", version));
  }
  return absl::OkStatus();
}

// What a directory of `count` sections needs at the least must be there before the first is read.
absl::Status CheckSectionCount(const ByteSource& source, uint32_t count) {
  const uint64_t room = (source.size() - kBinFileHeaderBytes) / kBinFileSectionHeaderBytes;
  if (count > room) {
    return absl::DataLossError(absl::StrCat(source.name(), ": the header promises ", count,
                                            " sections, but the file has room for at most ", room));
  }
  if (count > kBinFileSectionsMax) {
    return absl::InvalidArgumentError(absl::StrCat(source.name(), ": too many sections: expected at most ",
                                                   kBinFileSectionsMax, ", got ", count));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> BinFile::ReadMagic(const ByteSource& source) {
  std::string magic(std::min<uint64_t>(4, source.size()), '\0');
  PROOFMILL_RETURN_IF_ERROR(
      source.ReadAt(0, absl::MakeSpan(reinterpret_cast<uint8_t*>(magic.data()), magic.size())));
  return magic;
}

absl::StatusOr<BinFile> BinFile::Open(const ByteSource& source, const BinFileKind& kind) {
  if (source.size() < kBinFileHeaderBytes) {
    return absl::DataLossError(absl::StrCat(source.name(), ": too short for a .", kind.magic,
                                            " file: expected ", kBinFileHeaderBytes, " bytes or more, got ",
                                            source.size()));
  }
  std::array<uint8_t, kBinFileHeaderBytes> bytes;
  PROOFMILL_RETURN_IF_ERROR(source.ReadAt(0, absl::MakeSpan(bytes)));
  PROOFMILL_RETURN_IF_ERROR(CheckHeader(source, bytes, kind));
  const uint32_t count = LoadU32(&bytes[8]);
  PROOFMILL_RETURN_IF_ERROR(CheckSectionCount(source, count));

  std::vector<BinFileSection> sections;
  sections.reserve(count);
  uint64_t offset = kBinFileHeaderBytes;
  for (uint32_t i = 0; i < count; ++i) {
    PROOFMILL_ASSIGN_OR_RETURN(const BinFileSection section, ReadSectionHeader(source, offset, i, count));
    offset = section.offset + section.length;
    sections.push_back(section);
  }
  if (offset != source.size()) {
    return absl::InvalidArgumentError(absl::StrCat(source.name(), ": bytes after the last section: expected ",
                                                   offset, " bytes in all, got ", source.size()));
  }
  return BinFile(source.name(), std::string(kind.magic), LoadU32(&bytes[4]), std::move(sections));
}

absl::StatusOr<std::optional<BinFileSection>> BinFile::FindOptional(uint32_t id,
                                                                    absl::string_view what) const {
  std::optional<BinFileSection> found;
  for (const BinFileSection& section : sections_) {
    if (section.id != id) continue;
    if (found.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name_, ": section ", id, " (", what, ") is there twice: expected one"));
    }
    found = section;
  }
  return found;
}

absl::StatusOr<BinFileSection> BinFile::Require(uint32_t id, absl::string_view what) const {
  PROOFMILL_ASSIGN_OR_RETURN(const std::optional<BinFileSection> section, FindOptional(id, what));
  if (!section.has_value()) {
    return absl::DataLossError(
        absl::StrCat(name_, ": section ", id, " (", what, ") is missing: got ", sections_.size(), " others"));
  }
  return *section;
}

std::array<uint8_t, kBinFileHeaderBytes> BinFile::HeaderBytes() const {
  std::array<uint8_t, kBinFileHeaderBytes> bytes;
  std::copy(magic_.begin(), magic_.end(), bytes.begin());
  StoreU32(version_, &bytes[4]);
  StoreU32(static_cast<uint32_t>(sections_.size()), &bytes[8]);
  return bytes;
}

std::array<uint8_t, kBinFileSectionHeaderBytes> BinFile::SectionHeaderBytes(const BinFileSection& section) {
  std::array<uint8_t, kBinFileSectionHeaderBytes> bytes;
  StoreU32(section.id, &bytes[0]);
  StoreU64(section.length, &bytes[4]);
  return bytes;
}

absl::StatusOr<std::unique_ptr<BinFileWriter>> BinFileWriter::Create(const std::string& path,
                                                                     absl::string_view magic,
                                                                     uint32_t version,
                                                                     AtomicFile::Access access) {
  PROOFMILL_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> file, AtomicFile::Create(path, access));
  std::unique_ptr<BinFileWriter> writer(new BinFileWriter(std::move(file)));
  PROOFMILL_RETURN_IF_ERROR(writer->file_->Append(
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(magic.data()), magic.size())));
  PROOFMILL_RETURN_IF_ERROR(writer->AppendU32(version));
  PROOFMILL_RETURN_IF_ERROR(writer->AppendU32(0));  // the section count, patched by Commit()
  return writer;
}

absl::Status BinFileWriter::AppendU32(uint32_t value) {
  std::array<uint8_t, 4> bytes;
  StoreU32(value, bytes.data());
  return file_->Append(bytes);
}

absl::Status BinFileWriter::CheckInSection(bool expected) const {
  if (in_section_ == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(expected ? "no section was begun" : "a section is still open");
}

absl::Status BinFileWriter::BeginSection(uint32_t id) {
  PROOFMILL_RETURN_IF_ERROR(CheckInSection(false));
  const auto header = BinFile::SectionHeaderBytes({id, 0, 0});  // the length is patched by EndSection()
  PROOFMILL_RETURN_IF_ERROR(file_->Append(header));
  payload_offset_ = file_->bytes_appended();
  in_section_ = true;
  ++sections_;
  return absl::OkStatus();
}

absl::Status BinFileWriter::Write(absl::Span<const uint8_t> bytes) {
  PROOFMILL_RETURN_IF_ERROR(CheckInSection(true));
  return file_->Append(bytes);
}

absl::Status BinFileWriter::WriteU32(uint32_t value) {
  PROOFMILL_RETURN_IF_ERROR(CheckInSection(true));
  return AppendU32(value);
}

absl::Status BinFileWriter::WriteU64(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  StoreU64(value, bytes.data());
  return Write(bytes);
}

absl::Status BinFileWriter::EndSection() {
  PROOFMILL_RETURN_IF_ERROR(CheckInSection(true));
  std::array<uint8_t, 8> length;
  StoreU64(section_bytes(), length.data());
  PROOFMILL_RETURN_IF_ERROR(file_->WriteAt(payload_offset_ - length.size(), length));
  in_section_ = false;
  return absl::OkStatus();
}

absl::Status BinFileWriter::Commit() {
  PROOFMILL_RETURN_IF_ERROR(CheckInSection(false));
  std::array<uint8_t, 4> count;
  StoreU32(sections_, count.data());
  PROOFMILL_RETURN_IF_ERROR(file_->WriteAt(kBinFileHeaderBytes - count.size(), count));
  return file_->Commit();
}

}  // namespace proofmill::engine
