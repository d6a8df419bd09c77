// The known answers in tests/vectors/whir, and more of them beside the source tree where they are there.

#ifndef PROOFMILL_TESTS_KERNELS_WHIR_VECTORS_H_
#define PROOFMILL_TESTS_KERNELS_WHIR_VECTORS_H_

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kernels/field/babybear.h"
#include "nlohmann/json.hpp"

namespace proofmill::kernels {

inline std::string ReadWhirVectorText(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}
// A file of tests/vectors/whir.
inline nlohmann::json ReadWhirVector(const std::string& name) {
  return nlohmann::json::parse(ReadWhirVectorText("tests/vectors/whir/" + name));
}
// The folder of all vectors where $PROOFMILL_SHARED_DIR has it, else that of the tree.
inline std::filesystem::path WhirVectorFolder() {
  const char* const shared = std::getenv("PROOFMILL_SHARED_DIR");
  if (shared != nullptr) {
    const std::filesystem::path folder = std::filesystem::path(shared) / "vectors/whir";
    if (std::filesystem::is_directory(folder)) return folder;
  }
  return "tests/vectors/whir";
}
// The files there whose names start with `prefix`, sorted.
inline std::vector<std::filesystem::path> WhirVectorFiles(const std::string& prefix) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(WhirVectorFolder())) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

inline std::vector<BabyBear> ToElements(const nlohmann::json& list) {
  std::vector<BabyBear> out;
  for (const auto& value : list) {
    if (value.is_array()) {
      const std::vector<BabyBear> part = ToElements(value);
      out.insert(out.end(), part.begin(), part.end());
    } else {
      out.push_back(BabyBear::FromCanonical(value.get<uint32_t>()));
    }
  }
  return out;
}
inline std::vector<uint32_t> ToCanonical(const std::vector<BabyBear>& elements) {
  std::vector<uint32_t> out(elements.size());
  std::transform(elements.begin(), elements.end(), out.begin(), [](BabyBear x) { return x.ToCanonical(); });
  return out;
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_KERNELS_WHIR_VECTORS_H_
