// The real service in a process of its own, with synthetic circuits, for end-to-end tests.
//
// Thread safety: the const methods may be called from any thread once Start() has returned.

#ifndef PROOFMILL_TESTS_E2E_SERVER_PROCESS_H_
#define PROOFMILL_TESTS_E2E_SERVER_PROCESS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "clients/cpp/client.h"
#include "engine/groth16/synth.h"
#include "engine/groth16/types.h"
#include "gtest/gtest.h"
#include "tests/e2e/process.h"

namespace proofmill::e2e {

// A folder of synthetic circuits, each with what a client needs to make requests of its own and to judge
// replies.
class CircuitFolder {
 public:
  // Makes the key of `id`. The canary that the service may want lies beside it.
  void Add(const std::string& id, const engine::SynthOptions& options);

  // Makes another key `id` for the circuit of `of`, as a set-up of its own would: witnesses of the one
  // satisfy the other, proofs verify under the key that they were made with only.
  void AddSetup(const std::string& id, const std::string& of, uint64_t seed);

  const std::string& path() const { return folder_.path(); }
  // The bytes of the witness file that `witness_seed` gives; different seeds have different public signals.
  std::string Wtns(const std::string& id, uint64_t witness_seed) const;
  // The public signals of that witness, as the service sends them.
  std::vector<std::string> PublicSignals(const std::string& id, uint64_t witness_seed) const;
  const engine::VerificationKey& vkey(const std::string& id) const { return Find(id).vkey; }
  std::string KeyPath(const std::string& id) const { return folder_.File(id + ".zkey"); }

 private:
  struct Circuit {
    std::string id;
    engine::SynthOptions options;
    engine::VerificationKey vkey;
  };
  const Circuit& Find(const std::string& id) const;
  // Reads the key that has been written.
  void Know(const std::string& id, const engine::SynthOptions& options);

  TemporaryFolder folder_;
  std::vector<Circuit> circuits_;
};

// A circuit of its own for each set of values.
engine::SynthOptions Synthetic(uint32_t log2_domain, engine::SynthProfile profile, uint32_t n_public);

class ServerProcess {
 public:
  // Starts `proofmill serve` on free ports with `flags` added, and waits until it can prove. Records a
  // failure if it does not come up. `launcher` is a program with arguments that starts it, if one is given.
  ServerProcess(const std::string& circuits, const std::vector<std::string>& flags = {},
                const std::vector<std::string>& launcher = {});

  const std::string& data() const { return data_; }
  const std::string& admin() const { return admin_; }
  const std::string& metrics() const { return metrics_; }
  Process& process() { return *process_; }

  // A client of the data listener. Tests that want to see refusals give a policy of one attempt.
  std::unique_ptr<client::Client> MakeClient(client::ClientOptions options = {}) const;

  // The text of the metrics endpoint.
  std::string Scrape() const;
  // The sum of all samples of a metric whose labels contain `labels`; 0 without any.
  double Metric(const std::string& name, const std::string& labels = "") const;

  // SIGTERM, then ExpectCleanEnd().
  void Stop();
  // Waits for the end, which is expected in time and with exit code 0.
  void ExpectCleanEnd();

 private:
  std::unique_ptr<Process> process_;
  std::string data_, admin_, metrics_;
};

// True if `result` holds a proof of `circuit` that verifies and whose public signals are `expected`.
::testing::AssertionResult IsProofOf(const v1::ProofResult& result, const engine::VerificationKey& vkey,
                                     const std::vector<std::string>& expected);

}  // namespace proofmill::e2e

#endif  // PROOFMILL_TESTS_E2E_SERVER_PROCESS_H_
