#include "cli/proof_messages.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "engine/base/status_macros.h"
#include "kernels/curve/bn254.h"
#include "kernels/field/limbs.h"

namespace proofmill::cli {
namespace {

using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;
using kernels::G1Affine;
using kernels::G2Affine;
using kernels::U256;

constexpr size_t kNumberBytes = 32;

template <typename Field>
absl::StatusOr<Field> ToField(const std::string& bytes, absl::string_view what) {
  if (bytes.size() != kNumberBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": expected ", kNumberBytes, " bytes, got ", bytes.size()));
  }
  const U256 plain = kernels::U256FromBigEndian(reinterpret_cast<const uint8_t*>(bytes.data()));
  if (!Field::IsCanonical(plain)) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": expected a number below the modulus, got a larger one"));
  }
  return Field::FromPlain(plain);
}

template <typename Field>
std::string FieldBytes(const Field& element) {
  std::string bytes(kNumberBytes, '\0');
  kernels::U256ToBigEndian(element.ToPlain(), reinterpret_cast<uint8_t*>(bytes.data()));
  return bytes;
}

absl::StatusOr<G1Affine> ToPoint(const v1::G1Point& message, absl::string_view what) {
  G1Affine point;
  PROOFMILL_ASSIGN_OR_RETURN(point.x, ToField<Fq>(message.x(), what));
  PROOFMILL_ASSIGN_OR_RETURN(point.y, ToField<Fq>(message.y(), what));
  if (!IsOnCurve(point))
    return absl::InvalidArgumentError(absl::StrCat(what, ": expected a point of its curve, got none"));
  return point;
}

absl::StatusOr<G2Affine> ToPoint(const v1::G2Point& message, absl::string_view what) {
  G2Affine point;
  PROOFMILL_ASSIGN_OR_RETURN(point.x.c0, ToField<Fq>(message.x_c0(), what));
  PROOFMILL_ASSIGN_OR_RETURN(point.x.c1, ToField<Fq>(message.x_c1(), what));
  PROOFMILL_ASSIGN_OR_RETURN(point.y.c0, ToField<Fq>(message.y_c0(), what));
  PROOFMILL_ASSIGN_OR_RETURN(point.y.c1, ToField<Fq>(message.y_c1(), what));
  if (!IsOnCurve(point))
    return absl::InvalidArgumentError(absl::StrCat(what, ": expected a point of its curve, got none"));
  return point;
}

void SetPoint(const G1Affine& point, v1::G1Point& message) {
  message.set_x(FieldBytes(point.x));
  message.set_y(FieldBytes(point.y));
}

}  // namespace

absl::StatusOr<engine::Groth16Proof> ToProof(const v1::Groth16Proof& message) {
  engine::Groth16Proof proof;
  PROOFMILL_ASSIGN_OR_RETURN(proof.a, ToPoint(message.a(), "point a of the proof"));
  PROOFMILL_ASSIGN_OR_RETURN(proof.b, ToPoint(message.b(), "point b of the proof"));
  PROOFMILL_ASSIGN_OR_RETURN(proof.c, ToPoint(message.c(), "point c of the proof"));
  return proof;
}

absl::StatusOr<std::vector<Fr>> ToSignals(const google::protobuf::RepeatedPtrField<std::string>& signals) {
  std::vector<Fr> out;
  out.reserve(static_cast<size_t>(signals.size()));
  for (const std::string& bytes : signals) {
    PROOFMILL_ASSIGN_OR_RETURN(const Fr signal, ToField<Fr>(bytes, "public signal"));
    out.push_back(signal);
  }
  return out;
}

v1::Groth16Proof ToMessage(const engine::Groth16Proof& proof) {
  v1::Groth16Proof message;
  SetPoint(proof.a, *message.mutable_a());
  message.mutable_b()->set_x_c0(FieldBytes(proof.b.x.c0));
  message.mutable_b()->set_x_c1(FieldBytes(proof.b.x.c1));
  message.mutable_b()->set_y_c0(FieldBytes(proof.b.y.c0));
  message.mutable_b()->set_y_c1(FieldBytes(proof.b.y.c1));
  SetPoint(proof.c, *message.mutable_c());
  return message;
}

std::string ToBytes(const Fr& signal) { return FieldBytes(signal); }

}  // namespace proofmill::cli
