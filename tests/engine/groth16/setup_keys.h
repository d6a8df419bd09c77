// Keys of the test set-up by whatever multiplies the generators.

#ifndef PROOFMILL_TESTS_ENGINE_GROTH16_SETUP_KEYS_H_
#define PROOFMILL_TESTS_ENGINE_GROTH16_SETUP_KEYS_H_

#include "engine/groth16/constraint_system.h"
#include "engine/groth16/setup.h"
#include "tests/engine/formats/status_matchers.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {

// The bytes of a key; fails the test, and returns none, if there is an error.
inline Bytes SetupBytes(const ConstraintSystem& system, const SetupOptions& options) {
  TestFolder folder;
  const absl::Status status = Setup(system, options, folder.Path("circuit.zkey"));
  EXPECT_OK(status);
  return status.ok() ? ReadBytes(folder.Path("circuit.zkey")) : Bytes();
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_GROTH16_SETUP_KEYS_H_
