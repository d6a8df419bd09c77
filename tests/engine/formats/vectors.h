// Files for the tests of formats: committed vectors, the shared cases, and a folder for what a test writes.

#ifndef PROOFMILL_TESTS_ENGINE_FORMATS_VECTORS_H_
#define PROOFMILL_TESTS_ENGINE_FORMATS_VECTORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/formats/file.h"

namespace proofmill::engine {

using Bytes = std::vector<uint8_t>;

// Cases that are in the tree.
inline constexpr const char* kCases[] = {"mul3",
                                         "sj-mul3",
                                         "sj-outonly",
                                         "nopriv",
                                         "unused",
                                         "big1",
                                         "bound_eq",
                                         "darkforest-whitelist",
                                         "unirep-epochKeyLite"};
// Those of them with a circuit.r1cs.
inline constexpr const char* kCasesWithR1cs[] = {"mul3",   "sj-mul3", "sj-outonly", "nopriv",
                                                 "unused", "big1",    "bound_eq"};

// "tests/vectors/cases/NAME/FILE", from the root of the sources, where tests run.
std::string CasePath(std::string_view name, std::string_view file);
// $PROOFMILL_SHARED_DIR/cases, if it is there.
std::optional<std::string> SharedCasesFolder();

// The whole file; fails the test and gives nothing if it cannot be read.
Bytes ReadBytes(const std::string& path);
std::string ReadText(const std::string& path);
void WriteBytes(const std::string& path, const Bytes& bytes);

// A fresh folder for one test, removed with all that is in it.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string Path(std::string_view file) const;
  // Names of the files in it, sorted.
  std::vector<std::string> List() const;

 private:
  std::string path_;
};

inline MemorySource SourceOf(const Bytes& bytes, std::string name = "test") {
  return MemorySource(std::move(name), bytes);
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_TESTS_ENGINE_FORMATS_VECTORS_H_
