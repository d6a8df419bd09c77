#include "tests/engine/formats/vectors.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace proofmill::engine {

std::string CasePath(std::string_view name, std::string_view file) {
  return std::string("tests/vectors/cases/").append(name).append("/").append(file);
}

std::optional<std::string> SharedCasesFolder() {
  const char* const shared = std::getenv("PROOFMILL_SHARED_DIR");
  if (shared == nullptr) return std::nullopt;
  std::string folder = std::string(shared) + "/cases";
  if (!std::filesystem::exists(folder + "/manifest.json")) return std::nullopt;
  return folder;
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Bytes ReadBytes(const std::string& path) {
  const std::string text = ReadText(path);
  return {text.begin(), text.end()};
}

void WriteBytes(const std::string& path, const Bytes& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(out.good()) << path;
}

TestFolder::TestFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "proofmill-formats-XXXXXX").string();
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  path_ = pattern;
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TestFolder::Path(std::string_view file) const { return path_ + "/" + std::string(file); }

std::vector<std::string> TestFolder::List() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace proofmill::engine
