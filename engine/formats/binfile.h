// The container that snarkjs and circom use for .zkey, .wtns and .r1cs ("binfile"): magic, version, section
// count, then sections of { u32 id, u64 length, payload }, all little-endian, in any order.
//
// BinFile is the checked directory of such a file. Once Open() succeeds, these hold:
//   1. Every section lies wholly inside the file (needed or not), and offsets do not wrap.
//   2. The sections are back to back and the last one ends at the end of the file: no byte is unaccounted
//      for. So bytes after the last section are an error here, although snarkjs ignores them.
//   3. There are at most kBinFileSectionsMax sections.
//
// Thread safety: BinFile is immutable; BinFileWriter is for one thread at a time.

#ifndef PROOFMILL_ENGINE_FORMATS_BINFILE_H_
#define PROOFMILL_ENGINE_FORMATS_BINFILE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/formats/file.h"

namespace proofmill::engine {

inline constexpr uint64_t kBinFileHeaderBytes = 12;
inline constexpr uint64_t kBinFileSectionHeaderBytes = 12;
// Real files have at most 20 or so; the bound keeps a hostile directory from costing memory and time.
inline constexpr uint32_t kBinFileSectionsMax = 1024;

struct BinFileSection {
  uint32_t id;
  uint64_t offset;  // of the payload in the file
  uint64_t length;  // of the payload
};

// What a kind of file looks like from outside.
struct BinFileKind {
  absl::string_view magic;  // 4 bytes
  uint32_t version_min;
  uint32_t version_max;
};

class BinFile {
 public:
  // Reads the header and all section headers, no payload.
  //   INVALID_ARGUMENT  another magic or version, too many sections, bytes after the last section.
  //   DATA_LOSS         the file ends before a section (or the directory) does.
  //   otherwise         as ByteSource::ReadAt.
  static absl::StatusOr<BinFile> Open(const ByteSource& source, const BinFileKind& kind);

  // The magic of any binfile, or of another file its first bytes; for telling kinds apart.
  static absl::StatusOr<std::string> ReadMagic(const ByteSource& source);

  uint32_t version() const { return version_; }
  // In the order of the file.
  const std::vector<BinFileSection>& sections() const { return sections_; }

  // The one section of this id; `what` names it in errors ("the A points").
  //   DATA_LOSS         there is none.
  //   INVALID_ARGUMENT  there are two or more.
  absl::StatusOr<BinFileSection> Require(uint32_t id, absl::string_view what) const;
  // The same, but none is fine.
  absl::StatusOr<std::optional<BinFileSection>> FindOptional(uint32_t id, absl::string_view what) const;

  // The 12 bytes at the start of the file and the 12 bytes before a payload, as they were read.
  std::array<uint8_t, kBinFileHeaderBytes> HeaderBytes() const;
  static std::array<uint8_t, kBinFileSectionHeaderBytes> SectionHeaderBytes(const BinFileSection& section);

 private:
  BinFile(std::string name, std::string magic, uint32_t version, std::vector<BinFileSection> sections)
      : name_(std::move(name)), magic_(std::move(magic)), version_(version), sections_(std::move(sections)) {}

  std::string name_;
  std::string magic_;
  uint32_t version_;
  std::vector<BinFileSection> sections_;
};

// Streams a binfile to disk: BeginSection, Write..., EndSection, and Commit at the end. Lengths and the
// section count are patched in afterwards, so sections of any size need no memory.
// Errors of all methods: as AtomicFile, and FAILED_PRECONDITION for a call out of this order. The target must
// be a regular file.
class BinFileWriter {
 public:
  static absl::StatusOr<std::unique_ptr<BinFileWriter>> Create(
      const std::string& path, absl::string_view magic, uint32_t version,
      AtomicFile::Access access = AtomicFile::Access::kPublic);

  [[nodiscard]] absl::Status BeginSection(uint32_t id);
  [[nodiscard]] absl::Status Write(absl::Span<const uint8_t> bytes);
  [[nodiscard]] absl::Status WriteU32(uint32_t value);
  [[nodiscard]] absl::Status WriteU64(uint64_t value);
  [[nodiscard]] absl::Status EndSection();
  // Patches the section count and makes the file visible under its name.
  [[nodiscard]] absl::Status Commit();

  // Bytes written to the open section so far.
  uint64_t section_bytes() const { return file_->bytes_appended() - payload_offset_; }

 private:
  explicit BinFileWriter(std::unique_ptr<AtomicFile> file) : file_(std::move(file)) {}
  absl::Status AppendU32(uint32_t value);
  absl::Status CheckInSection(bool expected) const;

  std::unique_ptr<AtomicFile> file_;
  uint32_t sections_ = 0;
  bool in_section_ = false;
  uint64_t payload_offset_ = 0;
};

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_FORMATS_BINFILE_H_
