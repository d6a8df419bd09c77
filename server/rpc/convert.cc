#include "server/rpc/convert.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "engine/base/error_reason.h"
#include "engine/base/status_macros.h"
#include "engine/dispatch/circuit.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/formats/wtns.h"
#include "server/rpc/proof_api.h"
#include "server/rpc/rpc_status.h"

namespace proofmill::server {
namespace {

using engine::ErrorReason;
using kernels::Fq;
using kernels::Fr;
using kernels::U256;

constexpr size_t kVersionDigits = 128;
constexpr size_t kSha256Bytes = 32;
// Room for sections that we do not know in a .wtns file.
constexpr uint64_t kWitnessSlackBytes = 64 << 10;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

template <typename F>
std::string ToBytes(const F& element) {
  std::array<uint8_t, 32> bytes;
  kernels::U256ToBigEndian(element.ToPlain(), bytes.data());
  return std::string(bytes.begin(), bytes.end());
}

// `name` is what the error calls the field. The value is not told: it is of no use to anybody there.
template <typename F>
absl::StatusOr<F> FromBytes(const std::string& bytes, std::string_view name, ErrorReason reason) {
  if (bytes.size() != 32) {
    return engine::WithReason(
        absl::InvalidArgumentError(absl::StrCat(View(name), ": expected 32 bytes, got ", bytes.size())),
        reason);
  }
  const U256 plain = kernels::U256FromBigEndian(reinterpret_cast<const uint8_t*>(bytes.data()));
  if (!F::IsCanonical(plain)) {
    return engine::WithReason(absl::InvalidArgumentError(absl::StrCat(
                                  View(name), ": expected a number below the modulus of its field")),
                              reason);
  }
  return F::FromPlain(plain);
}

absl::StatusOr<kernels::G1Affine> FromProto(const v1::G1Point& point, std::string_view name) {
  kernels::G1Affine out;
  PROOFMILL_ASSIGN_OR_RETURN(
      out.x, FromBytes<Fq>(point.x(), absl::StrCat(View(name), ".x"), ErrorReason::kProofMalformed));
  PROOFMILL_ASSIGN_OR_RETURN(
      out.y, FromBytes<Fq>(point.y(), absl::StrCat(View(name), ".y"), ErrorReason::kProofMalformed));
  return out;
}

absl::StatusOr<kernels::G2Affine> FromProto(const v1::G2Point& point, std::string_view name) {
  const auto coordinate = [name](const std::string& bytes, const char* field) {
    return FromBytes<Fq>(bytes, absl::StrCat(View(name), ".", field), ErrorReason::kProofMalformed);
  };
  kernels::G2Affine out;
  PROOFMILL_ASSIGN_OR_RETURN(out.x.c0, coordinate(point.x_c0(), "x_c0"));
  PROOFMILL_ASSIGN_OR_RETURN(out.x.c1, coordinate(point.x_c1(), "x_c1"));
  PROOFMILL_ASSIGN_OR_RETURN(out.y.c0, coordinate(point.y_c0(), "y_c0"));
  PROOFMILL_ASSIGN_OR_RETURN(out.y.c1, coordinate(point.y_c1(), "y_c1"));
  return out;
}

void FillPoint(const kernels::G1Affine& point, v1::G1Point& out) {
  out.set_x(ToBytes(point.x));
  out.set_y(ToBytes(point.y));
}

void FillPoint(const kernels::G2Affine& point, v1::G2Point& out) {
  out.set_x_c0(ToBytes(point.x.c0));
  out.set_x_c1(ToBytes(point.x.c1));
  out.set_y_c0(ToBytes(point.y.c0));
  out.set_y_c1(ToBytes(point.y.c1));
}

absl::StatusOr<engine::Priority> FromProto(v1::Priority priority) {
  switch (priority) {
    case v1::PRIORITY_LOW:
      return engine::Priority::kLow;
    case v1::PRIORITY_UNSPECIFIED:
    case v1::PRIORITY_NORMAL:
      return engine::Priority::kNormal;
    case v1::PRIORITY_HIGH:
      return engine::Priority::kHigh;
    default:
      return InvalidRequest(absl::StrCat("spec.priority: expected 0 to 3, got ", static_cast<int>(priority)));
  }
}

absl::StatusOr<Statement> ParseGroth16(const v1::Groth16Statement& in, size_t n_public) {
  if (static_cast<size_t>(in.public_signals_size()) != n_public) {
    return engine::WithReason(absl::InvalidArgumentError(absl::StrCat("public_signals: expected ", n_public,
                                                                      ", got ", in.public_signals_size())),
                              ErrorReason::kPublicSignalsMalformed);
  }
  Statement out;
  PROOFMILL_ASSIGN_OR_RETURN(out.proof.a, FromProto(in.proof().a(), "proof.a"));
  PROOFMILL_ASSIGN_OR_RETURN(out.proof.b, FromProto(in.proof().b(), "proof.b"));
  PROOFMILL_ASSIGN_OR_RETURN(out.proof.c, FromProto(in.proof().c(), "proof.c"));
  out.public_signals.reserve(n_public);
  for (int i = 0; i < in.public_signals_size(); ++i) {
    PROOFMILL_ASSIGN_OR_RETURN(Fr signal,
                               FromBytes<Fr>(in.public_signals(i), absl::StrCat("public_signals[", i, "]"),
                                             ErrorReason::kPublicSignalsMalformed));
    out.public_signals.push_back(signal);
  }
  return out;
}

// The reason for an error of the JSON parsers that has none yet.
absl::Status OrReason(absl::Status status, ErrorReason reason) {
  if (status.ok() || engine::GetReason(status).has_value()) return status;
  return engine::WithReason(std::move(status), reason);
}

absl::StatusOr<Statement> ParseSnarkjs(const v1::SnarkjsProof& in, size_t n_public) {
  auto proof = engine::ParseProofJson(in.proof_json());
  if (!proof.ok()) return OrReason(proof.status(), ErrorReason::kProofMalformed);
  auto signals = engine::ParsePublicJson(in.public_json(), n_public);
  if (!signals.ok()) return OrReason(signals.status(), ErrorReason::kPublicSignalsMalformed);
  return Statement{*std::move(proof), *std::move(signals)};
}

}  // namespace

absl::StatusOr<Spec> ParseSpec(const v1::ProofSpec& spec) {
  PROOFMILL_RETURN_IF_ERROR(CheckCircuitId(spec.circuit()));
  PROOFMILL_RETURN_IF_ERROR(CheckVersion(spec.circuit_version()));
  PROOFMILL_RETURN_IF_ERROR(CheckName(spec.request_id(), "spec.request_id"));
  PROOFMILL_ASSIGN_OR_RETURN(const engine::Priority priority, FromProto(spec.priority()));
  return Spec{spec.circuit(), spec.circuit_version(), priority, spec.request_id(),
              spec.include_snarkjs_json()};
}

absl::Status CheckCircuitId(std::string_view id) {
  if (engine::IsCircuitId(id)) return absl::OkStatus();
  if (id.empty()) return InvalidRequest("circuit: expected the id of a circuit, got nothing");
  return InvalidRequest(
      absl::StrCat("circuit: expected 1 to 128 characters of [A-Za-z0-9._-], the first not a dot", Got(id)));
}

absl::Status CheckVersion(std::string_view version) {
  const bool hexadecimal = std::all_of(version.begin(), version.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (version.empty() || (hexadecimal && version.size() == kVersionDigits)) return absl::OkStatus();
  return InvalidRequest(absl::StrCat("circuit_version: expected ", kVersionDigits,
                                     " lower-case hexadecimal digits, or nothing", Got(version)));
}

absl::Status CheckName(std::string_view name, std::string_view field) {
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (printable && name.size() <= kNameCharsMax) return absl::OkStatus();
  return InvalidRequest(absl::StrCat(View(field), ": expected at most ", kNameCharsMax,
                                     " printable ASCII characters without spaces", Got(name)));
}

absl::Status CheckSha256(std::string_view sha256) {
  if (sha256.empty() || sha256.size() == kSha256Bytes) return absl::OkStatus();
  return InvalidRequest(absl::StrCat("sha256: expected 32 bytes or nothing, got ", sha256.size(), " bytes"));
}

uint64_t WitnessBytes(uint32_t wires) { return engine::kWtnsHeaderBytes + 32 * uint64_t{wires}; }
uint64_t WitnessBytesMax(uint32_t wires) { return WitnessBytes(wires) + kWitnessSlackBytes; }

absl::Status CheckWitnessSize(uint64_t size_bytes, uint32_t wires) {
  if (size_bytes >= WitnessBytes(wires) && size_bytes <= WitnessBytesMax(wires)) return absl::OkStatus();
  return engine::WithReason(
      absl::InvalidArgumentError(absl::StrCat("expected a .wtns file of ", WitnessBytes(wires), " bytes (",
                                              wires, " values), got ", size_bytes, " bytes")),
      ErrorReason::kWitnessLength);
}

void FillResult(const engine::ProveResult& result, bool include_snarkjs_json, std::string_view request_id,
                v1::ProofResult& out) {
  ApiOf(engine::SystemOf(result.output)).FillProof(result.output, include_snarkjs_json, out);
  out.set_circuit(result.circuit);
  out.set_circuit_version(result.version);
  for (const engine::StageTime& stage : result.stages) {
    v1::StageTime& time = *out.add_stages();
    time.set_stage(stage.stage);
    time.set_duration_seconds(std::chrono::duration<double>(stage.duration).count());
  }
  out.set_device(result.device);
  *out.mutable_finish_time() = ToProto(result.finish_time);
  *out.mutable_queue_wait() = ToProto(result.queue_wait);
  *out.mutable_run_time() = ToProto(result.run_time);
  out.set_request_id(std::string(request_id));
}

void FillSignals(const std::vector<Fr>& signals, v1::ProofResult& out) {
  for (const Fr& signal : signals) out.add_public_signals(ToBytes(signal));
}

void FillError(const absl::Status& error, v1::ItemError& out) {
  out.set_code(static_cast<int32_t>(error.code()));
  out.set_message(std::string(error.message()));
  out.set_reason(std::string(engine::ReasonName(ReasonOf(error))));
  if (const auto delay = engine::GetRetryDelay(error)) *out.mutable_retry_delay() = ToProto(*delay);
}

void FillProof(const engine::Groth16Proof& proof, v1::Groth16Proof& out) {
  FillPoint(proof.a, *out.mutable_a());
  FillPoint(proof.b, *out.mutable_b());
  FillPoint(proof.c, *out.mutable_c());
}

void FillVerificationKey(const engine::VerificationKey& key, v1::Groth16VerificationKey& out) {
  FillPoint(key.alpha1, *out.mutable_alpha1());
  FillPoint(key.beta2, *out.mutable_beta2());
  FillPoint(key.gamma2, *out.mutable_gamma2());
  FillPoint(key.delta2, *out.mutable_delta2());
  for (const kernels::G1Affine& point : key.ic) FillPoint(point, *out.add_ic());
}

absl::StatusOr<Statement> ParseStatement(const v1::VerifyRequest& request, size_t n_public) {
  switch (request.statement_case()) {
    case v1::VerifyRequest::kGroth16:
      return ParseGroth16(request.groth16(), n_public);
    case v1::VerifyRequest::kSnarkjs:
      return ParseSnarkjs(request.snarkjs(), n_public);
    case v1::VerifyRequest::kWhir:
    case v1::VerifyRequest::STATEMENT_NOT_SET:
      break;
  }
  return InvalidRequest("statement: expected groth16 or snarkjs, as the circuit is, got another or nothing");
}

std::optional<engine::Clock::time_point> ToEngineDeadline(std::chrono::system_clock::time_point deadline,
                                                          engine::Clock& clock) {
  // Beyond any real one, so that no sum overflows; a deadline far away wraps around in gRPC itself.
  constexpr std::chrono::hours kFarthest{24 * 365};
  const auto now = std::chrono::system_clock::now();
  if (deadline.time_since_epoch().count() < 0 || deadline >= now + kFarthest) return std::nullopt;
  return clock.Now() + (deadline - now);
}

v1::Priority ToProto(engine::Priority priority) {
  switch (priority) {
    case engine::Priority::kLow:
      return v1::PRIORITY_LOW;
    case engine::Priority::kNormal:
      return v1::PRIORITY_NORMAL;
    case engine::Priority::kHigh:
      return v1::PRIORITY_HIGH;
  }
  return v1::PRIORITY_UNSPECIFIED;
}

google::protobuf::Duration ToProto(std::chrono::nanoseconds duration) {
  google::protobuf::Duration out;
  out.set_seconds(duration.count() / 1'000'000'000);
  out.set_nanos(static_cast<int32_t>(duration.count() % 1'000'000'000));
  return out;
}

google::protobuf::Timestamp ToProto(absl::Time time) {
  google::protobuf::Timestamp out;
  const int64_t seconds = absl::ToUnixSeconds(time);
  out.set_seconds(seconds);
  out.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(time - absl::FromUnixSeconds(seconds))));
  return out;
}

}  // namespace proofmill::server
