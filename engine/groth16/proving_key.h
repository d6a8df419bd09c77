// A Groth16 proving key in host memory, in the form that every backend starts from.
//
// Invariants:
//   1. It passed the key audit (unless KeyOptions::audit was off, for tools that only look).
//   2. The coefficients are two CSR matrices of domain_size rows; several records for one place are kept side
//      by side, and add up. Values are v * R^2 mod r: the Montgomery product with a plain witness value w
//      gives v * w in Montgomery form.
//   3. No base is infinity; scalar_index() says which wire (in H: which coset value) a base belongs to.
//
// Memory: the buffers of the .zkey are taken over, not copied; loading peaks below twice the file's size.
//
// Thread safety: immutable once made.

#ifndef PROOFMILL_ENGINE_GROTH16_PROVING_KEY_H_
#define PROOFMILL_ENGINE_GROTH16_PROVING_KEY_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "engine/base/host_buffer.h"
#include "engine/formats/zkey.h"
#include "engine/groth16/key_audit.h"
#include "engine/groth16/proof_checks.h"
#include "engine/groth16/types.h"
#include "engine/groth16/verifier.h"
#include "kernels/cpu/gather.h"
#include "kernels/curve/weierstrass.h"
#include "kernels/field/bn254_fr.h"

namespace proofmill::engine {

struct CsrMatrix {
  HostBuffer<uint64_t> row_offsets;  // domain_size + 1
  HostBuffer<uint32_t> columns;
  HostBuffer<kernels::Fr> values;  // v * R^2

  size_t rows() const { return row_offsets.size() - 1; }
  size_t entries() const { return columns.size(); }
  kernels::CsrView view() const { return {row_offsets.data(), columns.data(), values.data(), rows()}; }
};

// The bases of one MSM without infinities.
template <typename F>
struct BaseSet {
  HostBuffer<kernels::Affine<F>> bases;
  HostBuffer<uint32_t> scalar_index;  // of base i; empty when base i has scalar first_scalar + i
  uint32_t first_scalar = 0;

  size_t size() const { return bases.size(); }
  // As kernels::Msm wants them, for the scalars of the whole witness (or of all of H).
  const uint32_t* index() const { return scalar_index.empty() ? nullptr : scalar_index.data(); }
  const kernels::U256* scalars(const kernels::U256* all) const { return all + first_scalar; }
};

class ProvingKey {
 public:
  // Takes `zkey` apart. REQUIRES: it comes from ReadZkey(), and `report` from AuditZkey() on it.
  // Throws std::bad_alloc.
  static std::shared_ptr<const ProvingKey> FromZkey(Zkey&& zkey, AuditReport report);

  uint32_t n_vars() const { return header_.n_vars; }
  uint32_t n_public() const { return header_.n_public; }
  uint32_t domain_size() const { return header_.domain_size; }
  uint32_t log2_domain() const { return header_.log2_domain(); }
  const ZkeyHeader& header() const { return header_; }
  const VerificationKey& vk() const { return vk_; }
  const PreparedPairings& prepared_pairings() const { return *prepared_pairings_; }
  // The checks of its proofs, whichever device makes them.
  ProofChecks& checks() const { return *checks_; }
  // For keys that make many proofs: makes tables(), once. Thread-safe; throws std::bad_alloc.
  void MakeTables() const;
  // Null before MakeTables().
  const KeyTables* tables() const { return tables_.load(std::memory_order_acquire); }

  const CsrMatrix& a_matrix() const { return a_matrix_; }
  const CsrMatrix& b_matrix() const { return b_matrix_; }
  const BaseSet<kernels::Fq>& a() const { return a_; }
  const BaseSet<kernels::Fq>& b1() const { return b1_; }
  const BaseSet<kernels::Fq2>& b2() const { return b2_; }
  const BaseSet<kernels::Fq>& c() const { return c_; }  // first_scalar (or the index) skips the public wires
  const BaseSet<kernels::Fq>& h() const { return h_; }

  // BLAKE2b-512 of the key file: the circuit's version.
  const std::array<uint8_t, 64>& hash() const { return hash_; }
  uint64_t file_size() const { return file_size_; }
  size_t memory_bytes() const;
  const AuditReport& audit() const { return audit_; }
  // Of the reader and of the audit.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  ProvingKey() = default;

  ZkeyHeader header_;
  VerificationKey vk_;
  std::optional<PreparedPairings> prepared_pairings_;  // always there
  mutable std::optional<ProofChecks> checks_;          // always there
  mutable std::once_flag tables_made_;
  mutable std::optional<const KeyTables> tables_memory_;
  mutable std::atomic<const KeyTables*> tables_ = nullptr;
  CsrMatrix a_matrix_, b_matrix_;
  BaseSet<kernels::Fq> a_, b1_, c_, h_;
  BaseSet<kernels::Fq2> b2_;
  std::array<uint8_t, 64> hash_{};
  uint64_t file_size_ = 0;
  AuditReport audit_;
  std::vector<std::string> warnings_;
};

struct KeyOptions {
  bool allow_unsafe_setup = false;
  bool allow_insecure_test_keys = false;
  bool audit = true;  // off only for tools that look at a key and make no proof with it
  // Folder for the records of audits (audit_records.h): a file that is on record skips checks 1 to 6 of the
  // audit, one that passes goes on record. Empty: every key is audited in full.
  std::string state_dir;
  // The key's hash() is all zeros when this is off and `state_dir` is empty.
  bool compute_hash = true;
  // Compared with the key's own. When unset, a verification key file beside the key is looked for.
  std::optional<VerificationKey> expected_vk = std::nullopt;
  uint64_t file_bytes_max = std::numeric_limits<uint64_t>::max();
  // A key that needs more while it loads is refused. Unset: what the system has available.
  std::optional<uint64_t> memory_bytes_max = std::nullopt;
  // Told what is begun: "reading", "checking", "regrouping". May be empty.
  std::function<void(std::string_view step)> on_step = nullptr;
};

// An upper bound of the memory that LoadProvingKey() takes for such a key at any time.
uint64_t KeyLoadBytesMax(const ZkeyHeader& header, uint64_t file_size);

struct KeyLoadTimes {
  double read_seconds = 0;
  double audit_seconds = 0;
  double regroup_seconds = 0;
};

// Reads, audits and regroups a key.
//
// Beside DIR/NAME.zkey the first of these that exists is compared with the key:
// DIR/NAME.verification_key.json, DIR/NAME.vkey.json, DIR/verification_key.json. The last belongs to no name,
// so it counts only where NAME.zkey is the one key in DIR; elsewhere a difference is only a warning.
//
// Errors as ReadZkey() (with reason kKeyMalformed where the content is at fault) and AuditZkey();
// RESOURCE_EXHAUSTED (reason kOutOfMemory) when memory cannot be had; the message names the bytes. `times`
// may be null.
absl::StatusOr<std::shared_ptr<const ProvingKey>> LoadProvingKey(const std::string& path,
                                                                 const KeyOptions& options = {},
                                                                 KeyLoadTimes* times = nullptr);

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_PROVING_KEY_H_
