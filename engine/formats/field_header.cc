#include "engine/formats/field_header.h"

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "engine/base/status_macros.h"
#include "kernels/field/bn254_fq.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {
namespace {

using kernels::U256;

// More than any field that circom or snarkjs knows; beyond it the bytes are not worth reading.
constexpr uint32_t kPrimeBytesMax = 128;

struct KnownPrime {
  absl::string_view name;
  absl::string_view hex;  // most significant first, no leading zeros
};

// The primes of circom's --prime option and of the curves that snarkjs and arkworks make keys for.
constexpr KnownPrime kKnownPrimes[] = {
    {"the scalar field of BN254", "30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"},
    {"the base field of BN254", "30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"},
    {"the scalar field of BLS12-381", "73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"},
    {"the base field of BLS12-381",
     "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"},
    {"the scalar field of BLS12-377", "12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000001"},
    {"the base field of BLS12-377",
     "1ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001"},
    {"the Goldilocks field", "ffffffff00000001"},
    {"the base field of Pallas", "40000000000000000000000000000000224698fc094cf91b992d30ed00000001"},
    {"the base field of Vesta", "40000000000000000000000000000000224698fc0994a8dd8c46eb2100000001"},
    {"the base field of secp256r1", "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"},
    {"the base field of secq256r1", "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"},
};

std::string ToHex(absl::Span<const uint8_t> little_endian) {
  const std::string big_endian(little_endian.rbegin(), little_endian.rend());
  const std::string hex = absl::BytesToHexString(big_endian);
  const size_t start = hex.find_first_not_of('0');
  return start == std::string::npos ? "0" : hex.substr(start);
}

std::string DescribePrime(absl::Span<const uint8_t> little_endian) {
  const std::string hex = ToHex(little_endian);
  for (const KnownPrime& prime : kKnownPrimes) {
    if (hex == prime.hex) return std::string(prime.name);
  }
  return absl::StrCat("an unknown prime 0x", hex);
}

absl::Status ExpectField(ByteReader& reader, const U256& modulus) {
  uint8_t expected[32];
  kernels::U256ToLittleEndian(modulus, expected);
  PROOFMILL_ASSIGN_OR_RETURN(const uint32_t n8, reader.ReadU32());
  if (n8 > kPrimeBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat(reader.name(), ": expected ", DescribePrime(expected),
                                                   " in 32 bytes, got a prime of ", n8, " bytes"));
  }
  PROOFMILL_ASSIGN_OR_RETURN(const absl::Span<const uint8_t> prime, reader.Read(n8));
  if (prime == absl::MakeConstSpan(expected)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(reader.name(), ": expected ", DescribePrime(expected),
                                                 " in 32 bytes, got ", DescribePrime(prime), " in ", n8,
                                                 " bytes"));
}

}  // namespace

absl::Status ExpectBn254ScalarField(ByteReader& reader) { return ExpectField(reader, kernels::Fr::kModulus); }
absl::Status ExpectBn254BaseField(ByteReader& reader) { return ExpectField(reader, kernels::Fq::kModulus); }

}  // namespace proofmill::engine
