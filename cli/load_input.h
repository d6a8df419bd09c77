// What `proofmill load` sends for a circuit, and what the proof of it must be.
//
// Thread safety: const methods may be called from any thread.

#ifndef PROOFMILL_CLI_LOAD_INPUT_H_
#define PROOFMILL_CLI_LOAD_INPUT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/cpp/input.h"
#include "engine/base/host_buffer.h"
#include "proofmill/v1/circuits.pb.h"
#include "proofmill/v1/prover.pb.h"

namespace proofmill::cli {

// Judges the proofs of one input.
class ExpectedProof {
 public:
  virtual ~ExpectedProof() = default;
  // What is wrong with the proof; empty if it is good.
  virtual std::string FaultOf(const v1::ProofResult& result) const = 0;
};

// An input as it is sent. Wiped when it goes.
struct LoadInput {
  engine::SecretBuffer<uint8_t> bytes;
  client::Input input = client::Input(absl::string_view());  // refers to `bytes`
  std::unique_ptr<const ExpectedProof> expected;
};

// Reads the inputs of one circuit.
class LoadInputReader {
 public:
  virtual ~LoadInputReader() = default;
  // A witness (.wtns), or the values of a polynomial, which is opened at random points then.
  //   INVALID_ARGUMENT  it does not fit the circuit.
  //   otherwise         it cannot be read.
  virtual absl::StatusOr<LoadInput> Read(const std::string& path) = 0;
};

// `circuit` is what the service tells; `seed` is that of random points.
//   INVALID_ARGUMENT  its key, or its parameters, are none.
absl::StatusOr<std::unique_ptr<LoadInputReader>> MakeLoadInputReader(const v1::Circuit& circuit,
                                                                     uint64_t seed);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_LOAD_INPUT_H_
