#include "engine/groth16/setup.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/base/host_buffer.h"
#include "engine/base/status_macros.h"
#include "engine/formats/zkey.h"
#include "engine/groth16/key_audit.h"
#include "engine/groth16/lagrange.h"
#include "engine/groth16/seed_stream.h"
#include "kernels/cpu/msm.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::FixedBaseTable;
using kernels::Fq;
using kernels::Fq2;
using kernels::Fr;
using kernels::G1Affine;
using kernels::G1Xyzz;
using kernels::G2Affine;
using kernels::G2Xyzz;
using kernels::U256;

// Section 9 needs the roots of the domain of twice the size.
constexpr uint32_t kSetupDomainLog2Max = kernels::kFrTwoAdicity - 1;
constexpr size_t kPointsPerChunk = size_t{1} << 15;   // 2 MiB of G1
constexpr size_t kRecordsPerChunk = size_t{1} << 15;  // 1.4 MiB
constexpr size_t kScalarsPerParallelChunk = size_t{1} << 12;

template <typename F>
Affine<F> Times(const Affine<F>& base, const Fr& scalar) {
  return kernels::ScalarMulVartime(kernels::Xyzz<F>::FromAffine(base), scalar.ToPlain()).ToAffine();
}

// A_s(tau), B_s(tau) and C_s(tau) for every wire s: the QAP at the secret point.
struct WirePolynomials {
  explicit WirePolynomials(size_t wires) : a(wires), b(wires), c(wires) {}
  std::vector<Fr> a, b, c;
  uint64_t n_coefs = 0;  // records that section 4 will have
};

WirePolynomials EvaluateWires(const ConstraintSystem& system, uint32_t log2_domain, const Fr& tau) {
  const size_t rows = size_t{system.n_constraints()} + system.n_public() + 1;
  HostBuffer<Fr> lagrange(rows);
  LagrangeAt({.log2_n = log2_domain}, tau, Fr::One(), lagrange.data(), rows);

  WirePolynomials out(system.n_wires());
  ConstraintRow row;
  for (uint32_t i = 0; i < system.n_constraints(); ++i) {
    system.Row(i, row);
    for (const LinearTerm& term : row.a) out.a[term.wire] += term.value * lagrange[i];
    for (const LinearTerm& term : row.b) out.b[term.wire] += term.value * lagrange[i];
    for (const LinearTerm& term : row.c) out.c[term.wire] += term.value * lagrange[i];
    out.n_coefs += row.a.size() + row.b.size();
  }
  // The extra rows, which bind the public signals to the proof.
  for (size_t s = 0; s <= system.n_public(); ++s) out.a[s] += lagrange[system.n_constraints() + s];
  out.n_coefs += uint64_t{system.n_public()} + 1;
  return out;
}

ZkeyCoefficient Record(uint32_t matrix, uint32_t row, const LinearTerm& term) {
  ZkeyCoefficient record{.matrix = matrix, .constraint = row, .signal = term.wire, .value = {}};
  // v*R taken as a plain integer and brought into Montgomery form is v*R^2.
  const U256 stored = Fr::FromPlain(term.value.montgomery()).montgomery();
  std::memcpy(record.value, &stored, sizeof(record.value));
  return record;
}

// Writes one key; every step appends one section.
class KeyWriter {
 public:
  KeyWriter(const ConstraintSystem& system, const SetupOptions& options, uint32_t log2_domain)
      : system_(system),
        options_(options),
        log2_domain_(log2_domain),
        trapdoor_(TrapdoorFromSeed(options.seed)),
        delta_inverse_(trapdoor_.delta.Inverse()),
        g1_(kernels::kG1Generator),
        g2_(kernels::kG2Generator),
        hash_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {}

  absl::Status Write(const std::string& path) {
    Report("evaluating the constraints", 0);
    WirePolynomials wires = EvaluateWires(system_, log2_domain_, trapdoor_.tau);
    if (wires.n_coefs > std::numeric_limits<uint32_t>::max()) {
      return absl::InvalidArgumentError(
          absl::StrCat("setup: expected at most 2^32 - 1 coefficients in A and B, got ", wires.n_coefs));
    }
    if (hash_ == nullptr || EVP_DigestInit_ex(hash_.get(), EVP_blake2b512(), nullptr) != 1) {
      return absl::InternalError("setup: OpenSSL gives no BLAKE2b-512");
    }
    header_ = MakeHeader(wires.n_coefs);
    PROOFMILL_ASSIGN_OR_RETURN(writer_, ZkeyWriter::Create(path, header_));
    PROOFMILL_RETURN_IF_ERROR(WriteSections(wires));
    PROOFMILL_RETURN_IF_ERROR(WriteContribution());
    return writer_->Commit();
  }

 private:
  void Report(std::string_view step, double done) const {
    if (options_.progress) options_.progress(step, done);
  }

  ZkeyHeader MakeHeader(uint64_t n_coefs) const {
    ZkeyHeader header;
    header.n_vars = system_.n_wires();
    header.n_public = system_.n_public();
    header.domain_size = uint32_t{1} << log2_domain_;
    header.n_coefs = n_coefs;
    header.alpha1 = Times(kernels::kG1Generator, trapdoor_.alpha);
    header.beta1 = Times(kernels::kG1Generator, trapdoor_.beta);
    header.delta1 = Times(kernels::kG1Generator, trapdoor_.delta);
    header.beta2 = Times(kernels::kG2Generator, trapdoor_.beta);
    header.gamma2 = kernels::kG2Generator;
    header.delta2 = Times(kernels::kG2Generator, trapdoor_.delta);
    return header;
  }

  absl::Status WriteSections(const WirePolynomials& wires) {
    const size_t n_vars = system_.n_wires();
    const size_t private_first = size_t{system_.n_public()} + 1;
    // (beta A_s + alpha B_s + C_s) times `factor`, of wires from `first` on.
    const auto linear = [&](size_t first, const Fr& factor) {
      return [this, &wires, first, factor](size_t i) {
        const size_t s = first + i;
        return (trapdoor_.beta * wires.a[s] + trapdoor_.alpha * wires.b[s] + wires.c[s]) * factor;
      };
    };
    PROOFMILL_RETURN_IF_ERROR(
        WritePoints(ZkeySection::kIc, "section 3: IC", g1_, private_first, linear(0, Fr::One())));
    PROOFMILL_RETURN_IF_ERROR(WriteCoefficients());
    PROOFMILL_RETURN_IF_ERROR(
        WritePoints(ZkeySection::kA, "section 5: A", g1_, n_vars, [&](size_t i) { return wires.a[i]; }));
    PROOFMILL_RETURN_IF_ERROR(
        WritePoints(ZkeySection::kB1, "section 6: B1", g1_, n_vars, [&](size_t i) { return wires.b[i]; }));
    PROOFMILL_RETURN_IF_ERROR(
        WritePoints(ZkeySection::kB2, "section 7: B2", g2_, n_vars, [&](size_t i) { return wires.b[i]; }));
    PROOFMILL_RETURN_IF_ERROR(WritePoints(ZkeySection::kC, "section 8: C", g1_, n_vars - private_first,
                                          linear(private_first, delta_inverse_)));
    return WriteH();
  }

  // `count` multiples of one base, by chunks: scalar(i) gives the i-th.
  template <typename F, typename Scalar>
  absl::Status WritePoints(ZkeySection section, std::string_view step, const FixedBaseTable<F>& table,
                           size_t count, const Scalar& scalar) {
    return WritePointChunks(section, step, table, count, [&](size_t first, Fr* out, size_t n) {
      kernels::ParallelFor(0, n, kScalarsPerParallelChunk, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) out[i] = scalar(first + i);
      });
    });
  }

  // H_i = [L_{2i+1}(tau) / delta]1 over the domain of twice the size.
  absl::Status WriteH() {
    return WritePointChunks(ZkeySection::kH, "section 9: H", g1_, header_.domain_size,
                            [&](size_t first, Fr* out, size_t n) {
                              LagrangeAt({.log2_n = log2_domain_ + 1, .first = 2 * first + 1, .step = 2},
                                         trapdoor_.tau, delta_inverse_, out, n);
                            });
  }

  template <typename F, typename Fill>
  absl::Status WritePointChunks(ZkeySection section, std::string_view step, const FixedBaseTable<F>& table,
                                size_t count, const Fill& fill) {
    PROOFMILL_RETURN_IF_ERROR(writer_->BeginSection(section));
    HostBuffer<Fr> scalars(std::min(count, kPointsPerChunk));
    HostBuffer<Affine<F>> points(scalars.size());
    for (size_t first = 0; first < count; first += kPointsPerChunk) {
      const size_t n = std::min(kPointsPerChunk, count - first);
      Report(step, static_cast<double>(first) / static_cast<double>(count));
      fill(first, scalars.data(), n);
      table.Multiply(scalars.data(), points.data(), n);
      PROOFMILL_RETURN_IF_ERROR(HashAndWrite(absl::Span<const Affine<F>>(points.data(), n)));
    }
    return absl::OkStatus();
  }

  // The order of snarkjs: by constraint, A before B, then the extra rows.
  absl::Status WriteCoefficients() {
    PROOFMILL_RETURN_IF_ERROR(writer_->BeginSection(ZkeySection::kCoefficients));
    std::vector<ZkeyCoefficient> records;
    ConstraintRow row;
    for (uint32_t i = 0; i < system_.n_constraints(); ++i) {
      system_.Row(i, row);
      for (const LinearTerm& term : row.a) records.push_back(Record(0, i, term));
      for (const LinearTerm& term : row.b) records.push_back(Record(1, i, term));
      if (records.size() < kRecordsPerChunk) continue;
      Report("section 4: coefficients", static_cast<double>(i) / system_.n_constraints());
      PROOFMILL_RETURN_IF_ERROR(HashAndWrite(absl::Span<const ZkeyCoefficient>(records)));
      records.clear();
    }
    for (uint32_t s = 0; s <= system_.n_public(); ++s) {
      records.push_back(Record(0, system_.n_constraints() + s, {s, Fr::One()}));
    }
    return HashAndWrite(absl::Span<const ZkeyCoefficient>(records));
  }

  // csHash is BLAKE2b-512 over the payloads of sections 3 to 9 as they are in the file. snarkjs hashes the
  // points in another encoding, for its own `zkey verify`, which needs a powers-of-tau file that these keys
  // do not have.
  template <typename T>
  absl::Status HashAndWrite(absl::Span<const T> items) {
    if (EVP_DigestUpdate(hash_.get(), items.data(), items.size() * sizeof(T)) != 1) {
      return absl::InternalError("setup: BLAKE2b-512 failed");
    }
    return writer_->Write(items);
  }

  absl::Status WriteContribution() {
    std::array<uint8_t, 64> circuit_hash{};
    if (EVP_DigestFinal_ex(hash_.get(), circuit_hash.data(), nullptr) != 1) {
      return absl::InternalError("setup: BLAKE2b-512 failed");
    }
    ZkeyContribution contribution;
    contribution.delta_after = header_.delta1;
    contribution.g1_s = kernels::kG1Generator;
    contribution.g1_sx = header_.delta1;
    contribution.g2_spx = header_.delta2;
    contribution.name = std::string(kInsecureTestSetupName);
    return writer_->WriteContributions(circuit_hash, {&contribution, 1});
  }

  const ConstraintSystem& system_;
  const SetupOptions& options_;
  const uint32_t log2_domain_;
  const Trapdoor trapdoor_;
  const Fr delta_inverse_;
  const FixedBaseTable<Fq> g1_;
  const FixedBaseTable<Fq2> g2_;
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> hash_;
  ZkeyHeader header_;
  std::unique_ptr<ZkeyWriter> writer_;
};

}  // namespace

uint32_t SetupDomainLog2(uint64_t n_constraints, uint64_t n_public) {
  const uint64_t rows = n_constraints + n_public + 1;
  uint32_t log2_domain = 1;
  while ((uint64_t{1} << log2_domain) < rows) ++log2_domain;
  return log2_domain;
}

Trapdoor TrapdoorFromSeed(uint64_t seed) {
  const SeedStream stream("setup trapdoor", seed);
  uint64_t next = 0;
  const auto draw = [&](auto&& accept) {
    Fr x;
    do {
      x = stream.Element(next++);
    } while (!accept(x));
    return x;
  };
  const auto outside_domains = [](const Fr& x) {
    return !x.IsZero() && x.PowVartime(U256{{uint64_t{1} << kernels::kFrTwoAdicity, 0, 0, 0}}) != Fr::One();
  };
  const auto non_zero = [](const Fr& x) { return !x.IsZero(); };
  const auto not_trivial = [](const Fr& x) { return !x.IsZero() && x != Fr::One(); };
  Trapdoor trapdoor;
  trapdoor.tau = draw(outside_domains);
  trapdoor.alpha = draw(non_zero);
  trapdoor.beta = draw(non_zero);
  trapdoor.delta = draw(not_trivial);
  return trapdoor;
}

absl::Status Setup(const ConstraintSystem& system, const SetupOptions& options, const std::string& key_path) {
  const uint32_t log2_domain = SetupDomainLog2(system.n_constraints(), system.n_public());
  if (log2_domain > kSetupDomainLog2Max) {
    return absl::InvalidArgumentError(absl::StrCat("setup: expected at most 2^", kSetupDomainLog2Max,
                                                   " constraints and public signals, got ",
                                                   uint64_t{system.n_constraints()} + system.n_public() + 1));
  }
  return KeyWriter(system, options, log2_domain).Write(key_path);
}

absl::Status Setup(const R1cs& r1cs, const SetupOptions& options, const std::string& key_path) {
  return Setup(R1csConstraints(r1cs), options, key_path);
}

}  // namespace proofmill::engine
