#include "engine/formats/calldata.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kernels/field/limbs.h"

namespace proofmill::engine {
namespace {

using kernels::Fq2;
using kernels::Fr;
using kernels::G1Affine;
using kernels::G2Affine;

template <typename Field>
std::string Word(const Field& x) {
  std::string bytes(32, '\0');
  kernels::U256ToBigEndian(x.ToPlain(), reinterpret_cast<uint8_t*>(bytes.data()));
  return absl::StrCat("\"0x", absl::BytesToHexString(bytes), "\"");
}

std::string Point(const G1Affine& p) { return absl::StrCat("[", Word(p.x), ", ", Word(p.y), "]"); }

// EIP-197 encodes a + b*u as (b, a).
std::string Coordinate(const Fq2& x) { return absl::StrCat("[", Word(x.c1), ", ", Word(x.c0), "]"); }

std::string Point(const G2Affine& p) { return absl::StrCat("[", Coordinate(p.x), ",", Coordinate(p.y), "]"); }

}  // namespace

absl::StatusOr<std::string> ToCalldata(const Groth16Proof& proof, absl::Span<const Fr> public_signals) {
  if (proof.a.IsInfinity() || proof.b.IsInfinity() || proof.c.IsInfinity()) {
    return absl::InvalidArgumentError(
        "expected a proof of finite points, got one at infinity, which a Solidity verifier cannot be given");
  }
  std::vector<std::string> signals;
  signals.reserve(public_signals.size());
  for (const Fr& signal : public_signals) signals.push_back(Word(signal));
  return absl::StrCat(Point(proof.a), ",", Point(proof.b), ",", Point(proof.c), ",[",
                      absl::StrJoin(signals, ","), "]");
}

}  // namespace proofmill::engine
