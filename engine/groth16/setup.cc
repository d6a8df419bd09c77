#include "engine/groth16/setup.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/base/host_buffer.h"
#include "engine/base/status_macros.h"
#include "engine/formats/zkey.h"
#include "engine/groth16/fixed_base.h"
#include "engine/groth16/key_audit.h"
#include "engine/groth16/lagrange.h"
#include "engine/groth16/seed_stream.h"
#include "engine/groth16/setup_stages.h"
#include "engine/groth16/wire_polynomials.h"
#include "kernels/cpu/parallel.h"
#include "kernels/curve/bn254.h"

namespace proofmill::engine {
namespace {

using kernels::Affine;
using kernels::Fr;
using kernels::G1Affine;
using kernels::G2Affine;
using kernels::U256;

// Section 9 needs the roots of the domain of twice the size.
constexpr uint32_t kSetupDomainLog2Max = kernels::kFrTwoAdicity - 1;
constexpr size_t kScalarsPerParallelChunk = size_t{1} << 12;

template <typename F>
Affine<F> Times(const Affine<F>& base, const Fr& scalar) {
  return kernels::ScalarMulVartime(kernels::Xyzz<F>::FromAffine(base), scalar.ToPlain()).ToAffine();
}

ZkeyCoefficient Record(uint32_t matrix, uint32_t row, const LinearTerm& term) {
  ZkeyCoefficient record{.matrix = matrix, .constraint = row, .signal = term.wire, .value = {}};
  // v*R taken as a plain integer and brought into Montgomery form is v*R^2.
  const U256 stored = Fr::FromPlain(term.value.montgomery()).montgomery();
  std::memcpy(record.value, &stored, sizeof(record.value));
  return record;
}

// Records of some neighbouring constraints.
struct Records {
  std::vector<ZkeyCoefficient> all;
  void Clear() { all.clear(); }
};

// Writes one key; every step appends one section.
class KeyWriter {
 public:
  KeyWriter(const ConstraintSystem& system, const SetupOptions& options, FixedBaseMultiplier& multiplier,
            uint32_t log2_domain)
      : system_(system),
        options_(options),
        multiplier_(multiplier),
        log2_domain_(log2_domain),
        trapdoor_(TrapdoorFromSeed(options.seed)),
        delta_inverse_(trapdoor_.delta.Inverse()),
        hash_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {}

  absl::Status Write(const std::string& path) {
    Report("evaluating the constraints", 0);
    PROOFMILL_ASSIGN_OR_RETURN(const WirePolynomials wires, EvaluateWires(system_, Evaluation()));
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

  WireEvaluation Evaluation() const {
    return {.log2_domain = log2_domain_,
            .tau = trapdoor_.tau,
            .block_rows = options_.chunk,
            .progress = [this](double done) { Report("evaluating the constraints", done); }};
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
        WritePoints<G1Affine>(ZkeySection::kIc, "section 3: IC", private_first, linear(0, Fr::One())));
    PROOFMILL_RETURN_IF_ERROR(WriteCoefficients());
    const auto a = [&](size_t s) { return wires.a[s]; };
    const auto b = [&](size_t s) { return wires.b[s]; };
    PROOFMILL_RETURN_IF_ERROR(WritePoints<G1Affine>(ZkeySection::kA, "section 5: A", n_vars, a));
    PROOFMILL_RETURN_IF_ERROR(WritePoints<G1Affine>(ZkeySection::kB1, "section 6: B1", n_vars, b));
    PROOFMILL_RETURN_IF_ERROR(WritePoints<G2Affine>(ZkeySection::kB2, "section 7: B2", n_vars, b));
    PROOFMILL_RETURN_IF_ERROR(WritePoints<G1Affine>(ZkeySection::kC, "section 8: C", n_vars - private_first,
                                                    linear(private_first, delta_inverse_)));
    return WriteH();
  }

  // `count` multiples of a generator: scalar(i) gives the i-th.
  template <typename Point, typename Scalar>
  absl::Status WritePoints(ZkeySection section, std::string_view step, size_t count, const Scalar& scalar) {
    return WriteMultiples<Point>(section, step, count, [&](size_t first, Fr* out, size_t n) {
      kernels::ParallelFor(0, n, kScalarsPerParallelChunk, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) out[i] = scalar(first + i);
      });
    });
  }

  // H_i = [L_{2i+1}(tau) / delta]1 over the domain of twice the size.
  absl::Status WriteH() {
    return WriteMultiples<G1Affine>(
        ZkeySection::kH, "section 9: H", header_.domain_size, [&](size_t first, Fr* out, size_t n) {
          LagrangeAt({.log2_n = log2_domain_ + 1, .first = 2 * first + 1, .step = 2}, trapdoor_.tau,
                     delta_inverse_, out, n);
        });
  }

  // fill(first, out, n) gives n scalars from number `first` on.
  template <typename Point, typename Fill>
  absl::Status WriteMultiples(ZkeySection section, std::string_view step, size_t count, const Fill& fill) {
    PROOFMILL_RETURN_IF_ERROR(writer_->BeginSection(section));
    HostBuffer<Fr> scalars(std::min(count, options_.chunk));
    return WriteItems<Point>(step, count, [&](size_t first, Point* out, size_t n) {
      fill(first, scalars.data(), n);
      return multiplier_.Multiply({scalars.data(), n}, out);
    });
  }

  // The order of snarkjs: by constraint, A before B, then the extra rows.
  absl::Status WriteCoefficients() {
    constexpr std::string_view kStep = "section 4: coefficients";
    PROOFMILL_RETURN_IF_ERROR(writer_->BeginSection(ZkeySection::kCoefficients));
    const auto begin = [&](size_t block, size_t blocks) {
      Report(kStep, static_cast<double>(block) / static_cast<double>(blocks));
    };
    const auto add = [](uint32_t i, const ConstraintRow& row, Records& part) {
      for (const LinearTerm& term : row.a) part.all.push_back(Record(0, i, term));
      for (const LinearTerm& term : row.b) part.all.push_back(Record(1, i, term));
    };
    const auto take = [&](absl::Span<const Records> parts) {
      for (const Records& part : parts) {
        PROOFMILL_RETURN_IF_ERROR(HashAndWrite(absl::Span<const ZkeyCoefficient>(part.all)));
      }
      return absl::OkStatus();
    };
    PROOFMILL_RETURN_IF_ERROR(ForRows<Records>(system_, options_.chunk, begin, add, take));
    const size_t extra = size_t{system_.n_public()} + 1;
    return WriteItems<ZkeyCoefficient>(kStep, extra, [&](size_t first, ZkeyCoefficient* out, size_t n) {
      for (size_t i = 0; i < n; ++i) {
        const auto s = static_cast<uint32_t>(first + i);
        out[i] = Record(0, system_.n_constraints() + s, {s, Fr::One()});
      }
      return absl::OkStatus();
    });
  }

  // `count` items of a section: make(first, out, n) makes n of them while those before are written.
  template <typename T, typename Make>
  absl::Status WriteItems(std::string_view step, size_t count, const Make& make) {
    if (count == 0) return absl::OkStatus();
    const size_t chunk = std::min(count, options_.chunk);
    const size_t chunks = (count + chunk - 1) / chunk;
    std::array<HostBuffer<T>, 2> slots = {HostBuffer<T>(chunk), HostBuffer<T>(chunks > 1 ? chunk : 0)};
    const auto size = [&](size_t k) { return std::min(chunk, count - k * chunk); };
    return RunInTwoStages(
        chunks, [&](size_t k) { Report(step, static_cast<double>(k) / static_cast<double>(chunks)); },
        [&](size_t k) { return make(k * chunk, slots[k % 2].data(), size(k)); },
        [&](size_t k) { return HashAndWrite(absl::Span<const T>(slots[k % 2].data(), size(k))); });
  }

  // csHash is BLAKE2b-512 over the payloads of sections 3 to 9 as they are in the file. snarkjs hashes the
  // points in another encoding, for its own `zkey verify`, which needs a powers-of-tau file that these keys
  // do not have. The hash takes one thread about as long as the file does.
  template <typename T>
  absl::Status HashAndWrite(absl::Span<const T> items) {
    bool hashed = false;
    absl::Status written;
    kernels::ParallelInvoke(
        [&] { hashed = EVP_DigestUpdate(hash_.get(), items.data(), items.size() * sizeof(T)) == 1; },
        [&] { written = writer_->Write(items); });
    if (!hashed) return absl::InternalError("setup: BLAKE2b-512 failed");
    return written;
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
  FixedBaseMultiplier& multiplier_;
  const uint32_t log2_domain_;
  const Trapdoor trapdoor_;
  const Fr delta_inverse_;
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
  if (options.multiplier != nullptr) {
    return KeyWriter(system, options, *options.multiplier, log2_domain).Write(key_path);
  }
  const std::unique_ptr<FixedBaseMultiplier> cpu = MakeCpuFixedBaseMultiplier();
  return KeyWriter(system, options, *cpu, log2_domain).Write(key_path);
}

absl::Status Setup(const R1cs& r1cs, const SetupOptions& options, const std::string& key_path) {
  return Setup(R1csConstraints(r1cs), options, key_path);
}

}  // namespace proofmill::engine
