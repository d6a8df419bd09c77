#include "engine/formats/zkey_contributions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "engine/formats/byte_reader.h"
#include "engine/formats/endian.h"

namespace proofmill::engine {
namespace {

using kernels::G1Affine;
using kernels::G2Affine;

constexpr uint64_t kFixedBytes = 3 * sizeof(G1Affine) + sizeof(G2Affine) + 64 + 4 + 4;
constexpr uint32_t kTypeMax = 1;  // a beacon

// Kinds of parameters. In a record they come in ascending order, each at most once.
constexpr uint8_t kParameterName = 1;
constexpr uint8_t kParameterIterationsExp = 2;
constexpr uint8_t kParameterBeaconHash = 3;

absl::Status ReadParameter(uint8_t kind, ByteReader& reader, ZkeyContribution& record) {
  PROOFMILL_ASSIGN_OR_RETURN(const uint8_t value, reader.ReadU8());  // the length, where one follows
  if (kind == kParameterName) {
    PROOFMILL_ASSIGN_OR_RETURN(const auto bytes, reader.Read(value));
    record.name.assign(bytes.begin(), bytes.end());
    return absl::OkStatus();
  }
  if (kind == kParameterIterationsExp) {
    record.iterations_exp = value;
    return absl::OkStatus();
  }
  if (kind == kParameterBeaconHash) {
    PROOFMILL_ASSIGN_OR_RETURN(const auto bytes, reader.Read(value));
    record.beacon_hash.assign(bytes.begin(), bytes.end());
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(reader.name(), ": unknown parameter: expected kind 1 to 3, got ", kind));
}

absl::Status ReadParameters(ByteReader& reader, ZkeyContribution& record) {
  uint8_t last_kind = 0;
  while (reader.remaining() != 0) {
    PROOFMILL_ASSIGN_OR_RETURN(const uint8_t kind, reader.ReadU8());
    if (kind <= last_kind) {
      return absl::InvalidArgumentError(absl::StrCat(
          reader.name(), ": parameters must ascend: expected a kind above ", last_kind, ", got ", kind));
    }
    last_kind = kind;
    PROOFMILL_RETURN_IF_ERROR(ReadParameter(kind, reader, record));
  }
  return absl::OkStatus();
}

absl::StatusOr<ZkeyContribution> ReadRecord(ByteReader& reader) {
  ZkeyContribution record;
  PROOFMILL_ASSIGN_OR_RETURN(record.delta_after, reader.ReadValue<G1Affine>());
  PROOFMILL_ASSIGN_OR_RETURN(record.g1_s, reader.ReadValue<G1Affine>());
  PROOFMILL_ASSIGN_OR_RETURN(record.g1_sx, reader.ReadValue<G1Affine>());
  PROOFMILL_ASSIGN_OR_RETURN(record.g2_spx, reader.ReadValue<G2Affine>());
  using Transcript = std::array<uint8_t, 64>;
  PROOFMILL_ASSIGN_OR_RETURN(record.transcript, reader.ReadValue<Transcript>());
  PROOFMILL_ASSIGN_OR_RETURN(record.type, reader.ReadU32());
  if (record.type > kTypeMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(reader.name(), ": unknown type of contribution: expected 0 or 1, got ", record.type));
  }
  PROOFMILL_ASSIGN_OR_RETURN(const uint32_t parameter_bytes, reader.ReadU32());
  PROOFMILL_ASSIGN_OR_RETURN(const auto parameters, reader.Read(parameter_bytes));
  ByteReader parameter_reader(reader.name(), parameters);
  PROOFMILL_RETURN_IF_ERROR(ReadParameters(parameter_reader, record));
  return record;
}

template <typename T>
void AppendValue(const T& value, std::vector<uint8_t>& out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(T));
}

void AppendParameters(const ZkeyContribution& record, std::vector<uint8_t>& out) {
  if (!record.name.empty()) {
    out.push_back(kParameterName);
    out.push_back(static_cast<uint8_t>(record.name.size()));
    out.insert(out.end(), record.name.begin(), record.name.end());
  }
  if (record.type == 0) return;
  out.push_back(kParameterIterationsExp);
  out.push_back(static_cast<uint8_t>(record.iterations_exp));
  out.push_back(kParameterBeaconHash);
  out.push_back(static_cast<uint8_t>(record.beacon_hash.size()));
  out.insert(out.end(), record.beacon_hash.begin(), record.beacon_hash.end());
}

void AppendRecord(const ZkeyContribution& record, std::vector<uint8_t>& out) {
  AppendValue(record.delta_after, out);
  AppendValue(record.g1_s, out);
  AppendValue(record.g1_sx, out);
  AppendValue(record.g2_spx, out);
  AppendValue(record.transcript, out);
  AppendValue(record.type, out);
  std::vector<uint8_t> parameters;
  AppendParameters(record, parameters);
  AppendValue(static_cast<uint32_t>(parameters.size()), out);
  out.insert(out.end(), parameters.begin(), parameters.end());
}

}  // namespace

absl::StatusOr<ZkeyContributions> ParseZkeyContributions(const std::string& name,
                                                         absl::Span<const uint8_t> payload) {
  ByteReader reader(name, payload);
  ZkeyContributions out;
  using CircuitHash = std::array<uint8_t, 64>;
  PROOFMILL_ASSIGN_OR_RETURN(out.circuit_hash, reader.ReadValue<CircuitHash>());
  PROOFMILL_ASSIGN_OR_RETURN(const uint32_t count, reader.ReadU32());
  if (count > reader.remaining() / kFixedBytes) {
    return absl::DataLossError(absl::StrCat(name, ": cut short: expected ", count, " records, got room for ",
                                            reader.remaining() / kFixedBytes));
  }
  out.records.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    PROOFMILL_ASSIGN_OR_RETURN(ZkeyContribution record, ReadRecord(reader));
    out.records.push_back(std::move(record));
  }
  PROOFMILL_RETURN_IF_ERROR(reader.ExpectEnd());
  return out;
}

std::vector<uint8_t> SerializeZkeyContributions(const std::array<uint8_t, 64>& circuit_hash,
                                                absl::Span<const ZkeyContribution> records) {
  std::vector<uint8_t> out(circuit_hash.begin(), circuit_hash.end());
  AppendValue(static_cast<uint32_t>(records.size()), out);
  for (const ZkeyContribution& record : records) AppendRecord(record, out);
  return out;
}

}  // namespace proofmill::engine
