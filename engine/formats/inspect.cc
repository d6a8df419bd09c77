#include "engine/formats/inspect.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/status_macros.h"
#include "engine/formats/binfile.h"
#include "engine/formats/file.h"
#include "engine/formats/file_hash.h"
#include "engine/formats/json_text.h"
#include "engine/formats/r1cs.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/formats/wtns.h"
#include "engine/formats/zkey.h"
#include "engine/formats/zkey_layout.h"
#include "kernels/curve/pairing.h"

namespace proofmill::engine {
namespace {

using kernels::U256;

std::string ToHex(absl::Span<const uint8_t> bytes) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

absl::StatusOr<std::string> HashOf(const ByteSource& source) {
  FileHash hash(source);
  hash.AddFromSource(0, source.size());
  PROOFMILL_ASSIGN_OR_RETURN(const FileHash::Digest digest, hash.Finish());
  PROOFMILL_RETURN_IF_ERROR(source.CheckUnchanged());
  return ToHex(digest);
}

template <typename Points>
uint64_t CountInfinities(const Points& points) {
  return static_cast<uint64_t>(
      std::count_if(points.begin(), points.end(), [](const auto& p) { return p.IsInfinity(); }));
}

FileTable SectionTable(const BinFile& file, bool is_zkey) {
  FileTable table{"sections", {}};
  for (const BinFileSection& section : file.sections()) {
    std::vector<FileFact> row = {{"id", uint64_t{section.id}}};
    if (is_zkey) row.push_back({"name", std::string(ZkeySectionName(static_cast<ZkeySection>(section.id)))});
    row.push_back({"offset_bytes", section.offset});
    row.push_back({"length_bytes", section.length});
    table.rows.push_back(std::move(row));
  }
  return table;
}

FileTable ContributionTable(const Zkey& zkey) {
  FileTable table{"contributions", {}};
  for (const ZkeyContribution& record : zkey.contributions) {
    table.rows.push_back({{"number", uint64_t{table.rows.size() + 1}},
                          {"type", std::string(record.type == 0 ? "contribution" : "beacon")},
                          {"name", record.name},
                          {"transcript_hash", ToHex(record.transcript)}});
  }
  return table;
}

void AddCoefficientFacts(const Zkey& zkey, FileReport& report) {
  uint64_t of_a = 0;
  uint64_t rows = 0;
  for (const ZkeyCoefficient& record : zkey.coefficients) {
    of_a += record.matrix == 0 ? 1 : 0;
    rows = std::max<uint64_t>(rows, uint64_t{record.constraint} + 1);
  }
  report.facts.push_back({"coefficients", zkey.header.n_coefs});
  report.facts.push_back({"coefficients_a", of_a});
  report.facts.push_back({"coefficients_b", zkey.header.n_coefs - of_a});
  // The last n_public + 1 rows are not constraints: they tie the public signals to the proof.
  const uint64_t tied = uint64_t{zkey.header.n_public} + 1;
  report.facts.push_back({"constraints", rows > tied ? rows - tied : uint64_t{0}});
}

absl::StatusOr<FileReport> InspectZkey(const ByteSource& source) {
  PROOFMILL_ASSIGN_OR_RETURN(const BinFile file, BinFile::Open(source, kZkeyKind));
  PROOFMILL_ASSIGN_OR_RETURN(const Zkey zkey, ReadZkey(source));
  FileReport report{"zkey", {}, {}, zkey.warnings};
  report.facts = {{"file_bytes", zkey.file_size},
                  {"blake2b512", ToHex(zkey.hash)},
                  {"protocol", std::string("groth16")},
                  {"curve", std::string("bn128")},
                  {"wires", uint64_t{zkey.header.n_vars}},
                  {"public_signals", uint64_t{zkey.header.n_public}},
                  {"domain_size", uint64_t{zkey.header.domain_size}},
                  {"domain_log2", uint64_t{zkey.header.log2_domain()}}};
  AddCoefficientFacts(zkey, report);
  report.facts.push_back({"infinities_ic", CountInfinities(zkey.ic)});
  report.facts.push_back({"infinities_a", CountInfinities(zkey.a)});
  report.facts.push_back({"infinities_b1", CountInfinities(zkey.b1)});
  report.facts.push_back({"infinities_b2", CountInfinities(zkey.b2)});
  report.facts.push_back({"infinities_c", CountInfinities(zkey.c)});
  report.facts.push_back({"infinities_h", CountInfinities(zkey.h)});
  const bool unsafe = zkey.header.gamma2 == zkey.header.delta2;
  report.facts.push_back({"gamma_equals_delta", unsafe});
  if (unsafe) {
    report.warnings.push_back("unsafe set-up: gamma2 equals delta2, so anyone can forge proofs for this key");
  }
  if (zkey.has_contributions_section) report.facts.push_back({"circuit_hash", ToHex(zkey.circuit_hash)});
  report.tables = {SectionTable(file, true), ContributionTable(zkey)};
  return report;
}

absl::StatusOr<FileReport> InspectWtns(const ByteSource& source) {
  PROOFMILL_ASSIGN_OR_RETURN(const BinFile file, BinFile::Open(source, {"wtns", 1, 2}));
  PROOFMILL_ASSIGN_OR_RETURN(const Witness witness, ReadWtns(source, 0));
  uint64_t zeros = 0;
  uint64_t ones = 0;
  uint64_t words = 0;
  for (const U256& value : witness.values) {
    const bool is_word = (value.limb[1] | value.limb[2] | value.limb[3]) == 0;
    zeros += value.IsZero() ? 1 : 0;
    ones += is_word && value.limb[0] == 1 ? 1 : 0;
    words += is_word && value.limb[0] > 1 ? 1 : 0;
  }
  const uint64_t count = witness.values.size();
  FileReport report{"wtns", {}, {SectionTable(file, false)}, {}};
  report.facts = {{"file_bytes", source.size()},
                  {"version", uint64_t{file.version()}},
                  {"curve", std::string("bn128")},
                  {"values", count},
                  {"zero_values", zeros},
                  {"zero_percent", Percent(zeros, count)},
                  {"one_values", ones},
                  {"one_percent", Percent(ones, count)},
                  {"other_below_2_64_values", words},
                  {"other_below_2_64_percent", Percent(words, count)}};
  if (!(witness.values[0] == U256{{1, 0, 0, 0}})) {
    report.warnings.push_back("value 0, the constant wire, is not 1: no circuit accepts this witness");
  }
  return report;
}

absl::StatusOr<FileReport> InspectR1cs(const ByteSource& source) {
  PROOFMILL_ASSIGN_OR_RETURN(const BinFile file, BinFile::Open(source, {"r1cs", 1, 1}));
  PROOFMILL_ASSIGN_OR_RETURN(const R1cs r1cs, ReadR1cs(source));
  PROOFMILL_ASSIGN_OR_RETURN(std::string hash, HashOf(source));
  FileReport report{"r1cs", {}, {SectionTable(file, false)}, {}};
  report.facts = {{"file_bytes", source.size()},
                  {"blake2b512", std::move(hash)},
                  {"curve", std::string("bn128")},
                  {"wires", uint64_t{r1cs.n_wires}},
                  {"public_outputs", uint64_t{r1cs.n_pub_out}},
                  {"public_inputs", uint64_t{r1cs.n_pub_in}},
                  {"private_inputs", uint64_t{r1cs.n_prv_in}},
                  {"labels", r1cs.n_labels},
                  {"constraints", uint64_t{r1cs.n_constraints}},
                  {"terms_a", uint64_t{r1cs.a.wires.size()}},
                  {"terms_b", uint64_t{r1cs.b.wires.size()}},
                  {"terms_c", uint64_t{r1cs.c.wires.size()}}};
  return report;
}

absl::StatusOr<FileReport> InspectProof(std::string_view text) {
  PROOFMILL_ASSIGN_OR_RETURN(const Groth16Proof proof, ParseProofJson(text));
  FileReport report{"proof", {}, {}, {}};
  const bool in_subgroup = kernels::IsInG2Subgroup(proof.b);
  report.facts = {{"file_bytes", uint64_t{text.size()}}, {"protocol", std::string("groth16")},
                  {"curve", std::string("bn128")},       {"infinity_a", proof.a.IsInfinity()},
                  {"infinity_b", proof.b.IsInfinity()},  {"infinity_c", proof.c.IsInfinity()},
                  {"b_in_subgroup", in_subgroup}};
  if (!in_subgroup)
    report.warnings.push_back("pi_b is not in the subgroup of order r: no verifier should accept it");
  return report;
}

absl::StatusOr<FileReport> InspectVerificationKey(std::string_view text) {
  PROOFMILL_ASSIGN_OR_RETURN(const VerificationKey key, ParseVerificationKeyJson(text));
  FileReport report{"verification_key", {}, {}, {}};
  const bool unsafe = key.gamma2 == key.delta2;
  report.facts = {
      {"file_bytes", uint64_t{text.size()}},
      {"protocol", std::string("groth16")},
      {"curve", std::string("bn128")},
      {"public_signals", uint64_t{key.n_public()}},
      {"infinities_ic", CountInfinities(key.ic)},
      {"gamma_equals_delta", unsafe},
      {"g2_in_subgroup", kernels::IsInG2Subgroup(key.beta2) && kernels::IsInG2Subgroup(key.gamma2) &&
                             kernels::IsInG2Subgroup(key.delta2)}};
  if (unsafe) {
    report.warnings.push_back(
        "unsafe set-up: vk_gamma_2 equals vk_delta_2, so anyone can forge proofs for this key");
  }
  return report;
}

absl::StatusOr<FileReport> InspectPublic(std::string_view text) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto signals, ParsePublicJson(text));
  FileReport report{"public", {}, {}, {}};
  report.facts = {{"file_bytes", uint64_t{text.size()}}, {"public_signals", uint64_t{signals.size()}}};
  return report;
}

absl::StatusOr<FileReport> InspectJson(std::string_view text) {
  PROOFMILL_ASSIGN_OR_RETURN(const nlohmann::json value,
                             ParseJsonText("file", text, kVerificationKeyJsonBytesMax));
  if (value.is_array() || value.is_null()) return InspectPublic(text);
  if (value.is_object() && value.contains("pi_a")) return InspectProof(text);
  if (value.is_object() && value.contains("vk_alpha_1")) return InspectVerificationKey(text);
  return absl::InvalidArgumentError(
      "expected the JSON of a proof, public signals or a verification key, got other JSON");
}

bool LooksLikeJson(absl::string_view magic) {
  const size_t start = magic.find_first_not_of(" \t\r\n");
  return magic == "null" ||
         (start != absl::string_view::npos && (magic[start] == '{' || magic[start] == '['));
}

absl::StatusOr<FileReport> InspectJsonFile(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kVerificationKeyJsonBytesMax));
  absl::StatusOr<FileReport> report = InspectJson(text);
  if (report.ok()) return report;
  return absl::Status(report.status().code(), absl::StrCat(path, ": ", report.status().message()));
}

}  // namespace

absl::StatusOr<FileReport> InspectFile(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto file, RandomAccessFile::Open(path));
  PROOFMILL_ASSIGN_OR_RETURN(const std::string first_bytes, BinFile::ReadMagic(*file));
  const absl::string_view magic = first_bytes;
  if (magic == kZkeyKind.magic) return InspectZkey(*file);
  if (magic == "wtns") return InspectWtns(*file);
  if (magic == "r1cs") return InspectR1cs(*file);
  if (LooksLikeJson(magic)) return InspectJsonFile(path);
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": expected a .zkey, .wtns, .r1cs or JSON file, got one that begins with \"",
                   absl::CHexEscape(magic), "\""));
}

}  // namespace proofmill::engine
