// A circuit directory for one test, filled from the cases in the tree.

#ifndef PROOFMILL_TESTS_ENGINE_DISPATCH_CIRCUIT_FOLDER_H_
#define PROOFMILL_TESTS_ENGINE_DISPATCH_CIRCUIT_FOLDER_H_

#include <filesystem>
#include <string>

#include "engine/formats/wtns.h"
#include "gtest/gtest.h"
#include "tests/engine/formats/vectors.h"

namespace proofmill::engine {

class CircuitFolder {
 public:
  std::string path() const { return folder_.Path(""); }

  // ID/circuit.zkey from a case.
  void AddKey(const std::string& id, const std::string& case_name) {
    CopyInto(id, case_name, "circuit.zkey", "circuit.zkey");
  }
  void AddCanary(const std::string& id, const std::string& case_name) {
    CopyInto(id, case_name, "witness.wtns", "canary.wtns");
  }
  void AddR1cs(const std::string& id, const std::string& case_name) {
    CopyInto(id, case_name, "circuit.r1cs", "circuit.r1cs");
  }
  void AddVerificationKey(const std::string& id, const std::string& case_name) {
    CopyInto(id, case_name, "verification_key.json", "verification_key.json");
  }
  void Write(const std::string& name, const Bytes& bytes) {
    const std::filesystem::path path(folder_.Path(name));
    std::filesystem::create_directories(path.parent_path());
    WriteBytes(path.string(), bytes);
  }

 private:
  void CopyInto(const std::string& id, const std::string& case_name, const char* from,
                const std::string& to) {
    Write(id + "/" + to, ReadBytes(CasePath(case_name, from)));
  }

  TestFolder folder_;
};

// The witness of a case.
inline Witness CaseWitness(const std::string& case_name) {
  const Bytes bytes = ReadBytes(CasePath(case_name, "witness.wtns"));
  absl::StatusOr<Witness> witness = ReadWtns(SourceOf(bytes), 0);
  EXPECT_TRUE(witness.ok()) << witness.status();
  return witness.ok() ? *std::move(witness) : Witness();
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_DISPATCH_CIRCUIT_FOLDER_H_
