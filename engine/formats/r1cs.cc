#include "engine/formats/r1cs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/binfile.h"
#include "engine/formats/byte_reader.h"
#include "engine/formats/field_header.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {
namespace {

using kernels::Fr;
using kernels::U256;

constexpr BinFileKind kKind{"r1cs", 1, 1};
constexpr uint32_t kHeaderSection = 1;
constexpr uint32_t kConstraintsSection = 2;
constexpr uint32_t kLabelsSection = 3;
constexpr uint32_t kCustomGateListSection = 4;
constexpr uint32_t kCustomGateUsesSection = 5;
constexpr uint64_t kHeaderBytes =
    kFieldHeaderBytes + 4 * sizeof(uint32_t) + sizeof(uint64_t) + sizeof(uint32_t);
// A header over another field is longer; this much is read to name the field.
constexpr uint64_t kHeaderBytesMax = 256;
constexpr size_t kTermBytes = 4 + sizeof(U256);
// Three linear combinations without a term.
constexpr uint64_t kConstraintBytesMin = 3 * sizeof(uint32_t);
constexpr size_t kWriteBytes = size_t{1} << 20;

absl::Status CheckWireCounts(const std::string& label, const R1cs& r1cs) {
  const uint64_t named = uint64_t{1} + r1cs.n_pub_out + r1cs.n_pub_in + r1cs.n_prv_in;
  if (named <= r1cs.n_wires) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(label, ": expected at least ", named, " wires (one, ", r1cs.n_pub_out, " public outputs, ",
                   r1cs.n_pub_in, " public and ", r1cs.n_prv_in, " private inputs), got ", r1cs.n_wires));
}

absl::Status ReadHeader(const ByteSource& source, const BinFileSection& section, R1cs& r1cs) {
  std::vector<uint8_t> bytes(std::min(section.length, kHeaderBytesMax));
  PROOFMILL_RETURN_IF_ERROR(source.ReadAt(section.offset, absl::MakeSpan(bytes)));
  ByteReader reader(absl::StrCat(source.name(), ": section 1 (header)"), bytes);
  PROOFMILL_RETURN_IF_ERROR(ExpectBn254ScalarField(reader));
  PROOFMILL_ASSIGN_OR_RETURN(r1cs.n_wires, reader.ReadU32());
  PROOFMILL_ASSIGN_OR_RETURN(r1cs.n_pub_out, reader.ReadU32());
  PROOFMILL_ASSIGN_OR_RETURN(r1cs.n_pub_in, reader.ReadU32());
  PROOFMILL_ASSIGN_OR_RETURN(r1cs.n_prv_in, reader.ReadU32());
  PROOFMILL_ASSIGN_OR_RETURN(r1cs.n_labels, reader.ReadU64());
  PROOFMILL_ASSIGN_OR_RETURN(r1cs.n_constraints, reader.ReadU32());
  if (section.length != kHeaderBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.name(), ": expected ", kHeaderBytes, " bytes, got ", section.length));
  }
  return CheckWireCounts(reader.name(), r1cs);
}

absl::Status RefuseCustomGates(const ByteSource& source, const BinFile& file) {
  for (const BinFileSection& section : file.sections()) {
    if (section.id != kCustomGateListSection && section.id != kCustomGateUsesSection) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(source.name(), ": the circuit uses custom gates (section ", section.id,
                     "): expected plain constraints, since Groth16 knows no others"));
  }
  return absl::OkStatus();
}

// One pass over the payload of section 2. `on_term(matrix, bytes)` is called for each term and
// `on_row_end(matrix)` after each linear combination.
template <typename OnTerm, typename OnRowEnd>
absl::Status ScanConstraints(const std::string& label, absl::Span<const uint8_t> payload,
                             uint32_t n_constraints, OnTerm&& on_term, OnRowEnd&& on_row_end) {
  ByteReader reader(label, payload);
  for (uint32_t constraint = 0; constraint < n_constraints; ++constraint) {
    for (size_t matrix = 0; matrix < 3; ++matrix) {
      PROOFMILL_ASSIGN_OR_RETURN(const uint32_t terms, reader.ReadU32());
      if (terms > reader.remaining() / kTermBytes) {
        return absl::DataLossError(absl::StrCat(label, ": constraint ", constraint, ": expected ", terms,
                                                " terms, got room for ", reader.remaining() / kTermBytes));
      }
      for (uint32_t i = 0; i < terms; ++i) {
        PROOFMILL_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> term, reader.Read(kTermBytes));
        PROOFMILL_RETURN_IF_ERROR(on_term(matrix, constraint, term));
      }
      on_row_end(matrix);
    }
  }
  return reader.ExpectEnd();
}

absl::StatusOr<std::array<uint64_t, 3>> CountTerms(const std::string& label,
                                                   absl::Span<const uint8_t> payload, const R1cs& r1cs) {
  std::array<uint64_t, 3> counts{};
  const auto check = [&](size_t matrix, uint32_t constraint, absl::Span<const uint8_t> term) -> absl::Status {
    ++counts[matrix];
    const uint32_t wire = LoadU32(term.data());
    if (wire >= r1cs.n_wires) {
      return absl::InvalidArgumentError(absl::StrCat(
          label, ": constraint ", constraint, ": wire: expected below ", r1cs.n_wires, ", got ", wire));
    }
    if (!Fr::IsCanonical(kernels::U256FromLittleEndian(term.data() + 4))) {
      return absl::InvalidArgumentError(
          absl::StrCat(label, ": constraint ", constraint,
                       ": coefficient: expected an integer below r of BN254, got a larger one"));
    }
    return absl::OkStatus();
  };
  PROOFMILL_RETURN_IF_ERROR(ScanConstraints(label, payload, r1cs.n_constraints, check, [](size_t) {}));
  return counts;
}

// REQUIRES: CountTerms() gave `counts` for the same payload.
absl::Status FillMatrices(const std::string& label, absl::Span<const uint8_t> payload,
                          const std::array<uint64_t, 3>& counts, R1cs& r1cs) {
  const std::array<R1csMatrix*, 3> matrices = {&r1cs.a, &r1cs.b, &r1cs.c};
  std::array<size_t, 3> terms{};
  std::array<size_t, 3> rows{};
  for (size_t m = 0; m < 3; ++m) {
    matrices[m]->row_offsets = HostBuffer<uint64_t>(size_t{r1cs.n_constraints} + 1);
    matrices[m]->row_offsets[0] = 0;
    matrices[m]->wires = HostBuffer<uint32_t>(counts[m]);
    matrices[m]->values = HostBuffer<Fr>(counts[m]);
  }
  const auto store = [&](size_t m, uint32_t, absl::Span<const uint8_t> term) {
    matrices[m]->wires[terms[m]] = LoadU32(term.data());
    matrices[m]->values[terms[m]] = Fr::FromPlain(kernels::U256FromLittleEndian(term.data() + 4));
    ++terms[m];
    return absl::OkStatus();
  };
  const auto end_row = [&](size_t m) { matrices[m]->row_offsets[++rows[m]] = terms[m]; };
  return ScanConstraints(label, payload, r1cs.n_constraints, store, end_row);
}

absl::Status ReadConstraints(const ByteSource& source, const BinFileSection& section, R1cs& r1cs) {
  const std::string label = absl::StrCat(source.name(), ": section 2 (constraints)");
  if (r1cs.n_constraints > section.length / kConstraintBytesMin) {
    return absl::DataLossError(absl::StrCat(label, ": expected ", r1cs.n_constraints,
                                            " constraints, got room for at most ",
                                            section.length / kConstraintBytesMin));
  }
  HostBuffer<uint8_t> payload(section.length);
  PROOFMILL_RETURN_IF_ERROR(source.ReadAt(section.offset, absl::MakeSpan(payload.data(), payload.size())));
  const absl::Span<const uint8_t> bytes(payload.data(), payload.size());
  PROOFMILL_ASSIGN_OR_RETURN(const auto counts, CountTerms(label, bytes, r1cs));
  return FillMatrices(label, bytes, counts, r1cs);
}

absl::Status CheckLabels(const ByteSource& source, const std::optional<BinFileSection>& section,
                         const R1cs& r1cs) {
  const uint64_t expected = uint64_t{8} * r1cs.n_wires;
  if (!section.has_value() || section->length == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(source.name(), ": section 3 (labels): expected ", expected,
                                                 " bytes for ", r1cs.n_wires, " wires, got ",
                                                 section->length));
}

class Writer {
 public:
  Writer(BinFileWriter& file, const R1cs& r1cs) : file_(file), r1cs_(r1cs) { buffer_.reserve(kWriteBytes); }

  absl::Status WriteHeader() {
    PROOFMILL_RETURN_IF_ERROR(file_.BeginSection(kHeaderSection));
    Put(uint32_t{sizeof(U256)});
    Put(Fr::kModulus);
    Put(r1cs_.n_wires);
    Put(r1cs_.n_pub_out);
    Put(r1cs_.n_pub_in);
    Put(r1cs_.n_prv_in);
    Put(r1cs_.n_labels);
    Put(r1cs_.n_constraints);
    return EndSection();
  }

  absl::Status WriteConstraints() {
    PROOFMILL_RETURN_IF_ERROR(file_.BeginSection(kConstraintsSection));
    for (size_t row = 0; row < r1cs_.n_constraints; ++row) {
      for (const R1csMatrix* matrix : {&r1cs_.a, &r1cs_.b, &r1cs_.c}) {
        PROOFMILL_RETURN_IF_ERROR(WriteRow(*matrix, row));
      }
    }
    return EndSection();
  }

  absl::Status WriteLabels() {
    PROOFMILL_RETURN_IF_ERROR(file_.BeginSection(kLabelsSection));
    for (uint64_t wire = 0; wire < r1cs_.n_wires; ++wire) {
      Put(wire);
      PROOFMILL_RETURN_IF_ERROR(FlushIfFull());
    }
    return EndSection();
  }

 private:
  absl::Status WriteRow(const R1csMatrix& matrix, size_t row) {
    const uint64_t begin = matrix.row_offsets[row];
    const uint64_t end = matrix.row_offsets[row + 1];
    Put(static_cast<uint32_t>(end - begin));
    for (uint64_t i = begin; i < end; ++i) {
      Put(matrix.wires[i]);
      Put(matrix.values[i].ToPlain());
      PROOFMILL_RETURN_IF_ERROR(FlushIfFull());
    }
    return FlushIfFull();
  }

  template <typename T>
  void Put(const T& value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    buffer_.insert(buffer_.end(), bytes, bytes + sizeof(T));
  }
  absl::Status FlushIfFull() { return buffer_.size() < kWriteBytes ? absl::OkStatus() : Flush(); }
  absl::Status Flush() {
    PROOFMILL_RETURN_IF_ERROR(file_.Write(buffer_));
    buffer_.clear();
    return absl::OkStatus();
  }
  absl::Status EndSection() {
    PROOFMILL_RETURN_IF_ERROR(Flush());
    return file_.EndSection();
  }

  BinFileWriter& file_;
  const R1cs& r1cs_;
  std::vector<uint8_t> buffer_;
};

}  // namespace

absl::StatusOr<R1cs> ReadR1cs(const ByteSource& source) {
  PROOFMILL_ASSIGN_OR_RETURN(const BinFile file, BinFile::Open(source, kKind));
  PROOFMILL_RETURN_IF_ERROR(RefuseCustomGates(source, file));
  PROOFMILL_ASSIGN_OR_RETURN(const BinFileSection header, file.Require(kHeaderSection, "header"));
  PROOFMILL_ASSIGN_OR_RETURN(const BinFileSection constraints,
                             file.Require(kConstraintsSection, "constraints"));
  PROOFMILL_ASSIGN_OR_RETURN(const auto labels, file.FindOptional(kLabelsSection, "labels"));
  R1cs r1cs;
  PROOFMILL_RETURN_IF_ERROR(ReadHeader(source, header, r1cs));
  PROOFMILL_RETURN_IF_ERROR(CheckLabels(source, labels, r1cs));
  PROOFMILL_RETURN_IF_ERROR(ReadConstraints(source, constraints, r1cs));
  PROOFMILL_RETURN_IF_ERROR(source.CheckUnchanged());
  return r1cs;
}

absl::Status WriteR1cs(const std::string& path, const R1cs& r1cs) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto file, BinFileWriter::Create(path, kKind.magic, kKind.version_max));
  Writer writer(*file, r1cs);
  PROOFMILL_RETURN_IF_ERROR(writer.WriteHeader());
  PROOFMILL_RETURN_IF_ERROR(writer.WriteConstraints());
  PROOFMILL_RETURN_IF_ERROR(writer.WriteLabels());
  return file->Commit();
}

}  // namespace proofmill::engine
