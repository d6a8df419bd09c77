#include "engine/formats/wtns.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/formats/binfile.h"
#include "engine/formats/byte_reader.h"
#include "engine/formats/endian.h"
#include "engine/formats/field_header.h"
#include "engine/formats/wtns_layout.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

constexpr BinFileKind kKind{"wtns", 1, 2};
constexpr uint32_t kVersionWritten = 2;
constexpr uint32_t kHeaderSection = 1;
constexpr uint32_t kValuesSection = 2;
constexpr uint64_t kHeaderBytes = kFieldHeaderBytes + 4;
// A header of another field is longer; this much is read to name the field.
constexpr uint64_t kHeaderBytesMax = 256;

// Faults of the content are the client's: one code, whatever the container called them. Faults of the system
// and a source that changed stay what they are.
absl::Status Malformed(const absl::Status& status) {
  if (!absl::IsInvalidArgument(status) && !absl::IsDataLoss(status)) return status;
  return WithReason(absl::InvalidArgumentError(status.message()), ErrorReason::kWitnessMalformed);
}

absl::StatusOr<uint32_t> ReadHeader(const ByteSource& source, const BinFileSection& section) {
  std::array<uint8_t, kHeaderBytesMax> bytes;
  const size_t length = static_cast<size_t>(std::min(section.length, kHeaderBytesMax));
  PROOFMILL_RETURN_IF_ERROR(source.ReadAt(section.offset, absl::MakeSpan(bytes).subspan(0, length)));
  ByteReader reader(absl::StrCat(source.name(), ": section 1 (header)"),
                    absl::MakeConstSpan(bytes).subspan(0, length));
  PROOFMILL_RETURN_IF_ERROR(ExpectBn254ScalarField(reader));
  PROOFMILL_ASSIGN_OR_RETURN(const uint32_t count, reader.ReadU32());
  if (section.length != kHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.name(), ": expected ", kHeaderBytes, " bytes, got ", section.length));
  }
  return count;
}

absl::StatusOr<WtnsLayout> ReadLayout(const ByteSource& source) {
  PROOFMILL_ASSIGN_OR_RETURN(const BinFile file, BinFile::Open(source, kKind));
  PROOFMILL_ASSIGN_OR_RETURN(const BinFileSection header, file.Require(kHeaderSection, "header"));
  PROOFMILL_ASSIGN_OR_RETURN(const BinFileSection values, file.Require(kValuesSection, "values"));
  PROOFMILL_ASSIGN_OR_RETURN(const uint32_t count, ReadHeader(source, header));
  if (values.length != uint64_t{count} * sizeof(U256)) {
    return absl::InvalidArgumentError(absl::StrCat(source.name(), ": section 2 (values): expected ",
                                                   uint64_t{count} * sizeof(U256), " bytes for ", count,
                                                   " values, got ", values.length));
  }
  return WtnsLayout{count, values.offset};
}

absl::Status CheckCount(const ByteSource& source, uint32_t count, uint32_t expected_count) {
  if (count == 0 || (expected_count != 0 && count != expected_count)) {
    const std::string expected = expected_count == 0 ? "at least 1" : absl::StrCat(expected_count);
    return WithReason(
        absl::InvalidArgumentError(absl::StrCat(source.name(), ": wrong number of witness values: expected ",
                                                expected, ", got ", count)),
        ErrorReason::kWitnessLength);
  }
  return absl::OkStatus();
}

absl::Status CheckCanonical(const ByteSource& source, absl::Span<const U256> values) {
  constexpr uint64_t kTop = Fr::kModulus.limb[3];  // tells but in one case of 2^60
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].limb[3] < kTop || Fr::IsCanonical(values[i])) continue;
    return WithReason(absl::InvalidArgumentError(absl::StrCat(
                          source.name(), ": witness value ", i,
                          " is not canonical: expected an integer below r of BN254, got a larger one")),
                      ErrorReason::kWitnessNotCanonical);
  }
  return absl::OkStatus();
}

// Everything before the values. `out` has kWtnsHeaderBytes bytes.
void StoreHeader(uint32_t count, uint8_t* out) {
  std::memcpy(out, "wtns", 4);
  StoreU32(kVersionWritten, out + 4);
  StoreU32(2, out + 8);  // sections
  StoreU32(kHeaderSection, out + 12);
  StoreU64(kHeaderBytes, out + 16);
  StoreU32(sizeof(U256), out + 24);
  kernels::U256ToLittleEndian(Fr::kModulus, out + 28);
  StoreU32(count, out + 60);
  StoreU32(kValuesSection, out + 64);
  StoreU64(uint64_t{count} * sizeof(U256), out + 68);
}

}  // namespace

absl::StatusOr<WtnsLayout> ReadWtnsLayout(const ByteSource& source, uint32_t expected_count) {
  const auto layout = ReadLayout(source);
  if (!layout.ok()) return Malformed(layout.status());
  PROOFMILL_RETURN_IF_ERROR(CheckCount(source, layout->count, expected_count));
  return layout;
}

absl::StatusOr<uint32_t> ReadWtnsCount(const ByteSource& source) {
  PROOFMILL_ASSIGN_OR_RETURN(const WtnsLayout layout, ReadWtnsLayout(source, 0));
  PROOFMILL_RETURN_IF_ERROR(source.CheckUnchanged());
  return layout.count;
}

absl::StatusOr<Witness> ReadWtns(const ByteSource& source, uint32_t expected_count) {
  PROOFMILL_ASSIGN_OR_RETURN(const WtnsLayout layout, ReadWtnsLayout(source, expected_count));
  Witness witness{SecretBuffer<U256>(layout.count)};
  PROOFMILL_RETURN_IF_ERROR(source.ReadAt(
      layout.values_offset,
      absl::MakeSpan(reinterpret_cast<uint8_t*>(witness.values.data()), witness.values.size_bytes())));
  PROOFMILL_RETURN_IF_ERROR(source.CheckUnchanged());
  PROOFMILL_RETURN_IF_ERROR(
      CheckCanonical(source, absl::MakeConstSpan(witness.values.data(), witness.values.size())));
  return witness;
}

SecretBuffer<uint8_t> SerializeWtns(absl::Span<const U256> values) {
  SecretBuffer<uint8_t> out(kWtnsHeaderBytes + values.size() * sizeof(U256));
  StoreHeader(static_cast<uint32_t>(values.size()), out.data());
  if (!values.empty())
    std::memcpy(out.data() + kWtnsHeaderBytes, values.data(), values.size() * sizeof(U256));
  return out;
}

absl::Status WriteWtns(const std::string& path, absl::Span<const U256> values) {
  std::array<uint8_t, kWtnsHeaderBytes> header;
  StoreHeader(static_cast<uint32_t>(values.size()), header.data());
  PROOFMILL_ASSIGN_OR_RETURN(const auto file, AtomicFile::Create(path, AtomicFile::Access::kOwnerOnly));
  PROOFMILL_RETURN_IF_ERROR(file->Append(header));
  PROOFMILL_RETURN_IF_ERROR(file->Append(
      absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(U256))));
  return file->Commit();
}

}  // namespace proofmill::engine
