#include "engine/groth16/synth.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/base/host_buffer.h"
#include "engine/base/status_macros.h"
#include "engine/formats/atomic_file.h"
#include "engine/formats/wtns.h"
#include "engine/groth16/synth_circuit.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::engine {
namespace {

absl::Status CheckOptions(const SynthOptions& options) {
  if (options.log2_domain < kSynthLog2DomainMin || options.log2_domain > kSynthLog2DomainMax) {
    return absl::InvalidArgumentError(absl::StrCat("synth: expected a log2 of the domain from ",
                                                   kSynthLog2DomainMin, " to ", kSynthLog2DomainMax, ", got ",
                                                   options.log2_domain));
  }
  const uint64_t domain = uint64_t{1} << options.log2_domain;
  if (uint64_t{options.n_public} + 1 > domain) {
    return absl::InvalidArgumentError(absl::StrCat("synth: expected at most ", domain - 1,
                                                   " public signals in a domain of ", domain, ", got ",
                                                   options.n_public));
  }
  return absl::OkStatus();
}

// One matrix of the system in compressed rows; `terms` picks it from a row.
R1csMatrix Collect(const ConstraintSystem& system, std::vector<LinearTerm> ConstraintRow::*terms) {
  R1csMatrix out;
  out.row_offsets = HostBuffer<uint64_t>(size_t{system.n_constraints()} + 1);
  out.row_offsets[0] = 0;
  ConstraintRow row;
  std::vector<LinearTerm> all;
  for (uint32_t i = 0; i < system.n_constraints(); ++i) {
    system.Row(i, row);
    all.insert(all.end(), (row.*terms).begin(), (row.*terms).end());
    out.row_offsets[i + 1] = all.size();
  }
  out.wires = HostBuffer<uint32_t>(all.size());
  out.values = HostBuffer<kernels::Fr>(all.size());
  for (size_t k = 0; k < all.size(); ++k) {
    out.wires[k] = all[k].wire;
    out.values[k] = all[k].value;
  }
  return out;
}

absl::Status AppendWitness(const Witness& witness, AtomicFile& file) {
  const SecretBuffer<uint8_t> bytes =
      SerializeWtns(absl::MakeConstSpan(witness.values.data(), witness.values.size()));
  return file.Append(absl::MakeConstSpan(bytes.data(), bytes.size()));
}

}  // namespace

absl::StatusOr<SynthProfile> ParseSynthProfile(std::string_view word) {
  if (word == "dense") return SynthProfile::kDense;
  if (word == "bits") return SynthProfile::kBits;
  return absl::InvalidArgumentError(
      absl::StrCat("synth: expected the profile dense or bits, got \"", std::string(word), "\""));
}

absl::StatusOr<std::unique_ptr<ConstraintSystem>> SynthConstraints(const SynthOptions& options) {
  PROOFMILL_RETURN_IF_ERROR(CheckOptions(options));
  return std::make_unique<SynthCircuit>(options);
}

absl::StatusOr<Witness> SynthWitness(const SynthOptions& options, uint64_t witness_seed) {
  PROOFMILL_RETURN_IF_ERROR(CheckOptions(options));
  return SynthCircuit(options).Solve(witness_seed);
}

absl::Status WriteSynthWitness(const SynthOptions& options, uint64_t witness_seed,
                               const std::string& witness_path) {
  PROOFMILL_ASSIGN_OR_RETURN(const Witness witness, SynthWitness(options, witness_seed));
  return WriteWtns(witness_path, absl::MakeConstSpan(witness.values.data(), witness.values.size()));
}

absl::Status Synthesize(const SynthOptions& options, const std::string& key_path,
                        const std::string& witness_path) {
  PROOFMILL_RETURN_IF_ERROR(CheckOptions(options));
  const SynthCircuit circuit(options);
  // Made first: a path that cannot be written shows before minutes of key making.
  PROOFMILL_ASSIGN_OR_RETURN(const auto witness_file,
                             AtomicFile::Create(witness_path, AtomicFile::Access::kOwnerOnly));
  absl::Status witness, key;
  // A witness takes one thread as long as a key takes many.
  kernels::ParallelInvoke(
      [&] { witness = AppendWitness(circuit.Solve(0), *witness_file); },
      [&] {
        key = Setup(circuit,
                    {.seed = options.seed, .progress = options.progress, .multiplier = options.multiplier},
                    key_path);
      });
  PROOFMILL_RETURN_IF_ERROR(witness);
  PROOFMILL_RETURN_IF_ERROR(key);
  return witness_file->Commit();
}

absl::StatusOr<R1cs> SynthR1cs(const SynthOptions& options) {
  PROOFMILL_RETURN_IF_ERROR(CheckOptions(options));
  const SynthCircuit circuit(options);
  R1cs out;
  out.n_wires = circuit.n_wires();
  out.n_pub_in = circuit.n_public();
  out.n_prv_in = 0;
  out.n_labels = circuit.n_wires();
  out.n_constraints = circuit.n_constraints();
  out.a = Collect(circuit, &ConstraintRow::a);
  out.b = Collect(circuit, &ConstraintRow::b);
  out.c = Collect(circuit, &ConstraintRow::c);
  return out;
}

}  // namespace proofmill::engine
