#include "cli/output_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "engine/base/status_macros.h"
#include "engine/formats/atomic_file.h"

namespace proofmill::cli {
namespace {

using engine::AtomicFile;

// Anything but a regular file or a folder: AtomicFile writes it in place.
bool IsSpecial(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

// Where `output` will be, however it is spelled. REQUIRES: its folder exists.
std::filesystem::path PlaceOf(const std::filesystem::path& output) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::canonical(output.has_parent_path() ? output.parent_path() : ".", error);
  return error ? output : folder / output.filename();
}

}  // namespace

absl::Status WriteOutputFiles(const std::vector<OutputFile>& files) {
  std::vector<std::unique_ptr<AtomicFile>> pending;
  for (const OutputFile& file : files) {
    PROOFMILL_ASSIGN_OR_RETURN(std::unique_ptr<AtomicFile> next, AtomicFile::Create(file.path));
    const auto* bytes = reinterpret_cast<const uint8_t*>(file.content.data());
    PROOFMILL_RETURN_IF_ERROR(next->Append(absl::MakeConstSpan(bytes, file.content.size())));
    pending.push_back(std::move(next));
  }
  for (size_t i = 0; i < pending.size(); ++i) {
    const absl::Status committed = pending[i]->Commit();
    if (committed.ok()) continue;
    for (size_t j = 0; j < i; ++j) {
      if (!IsSpecial(files[j].path)) ::unlink(files[j].path.c_str());
    }
    return committed;
  }
  return absl::OkStatus();
}

absl::Status CheckOutputPaths(const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs) {
  std::error_code error;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) {
      return absl::InvalidArgumentError("expected the name of a file to write, got an empty name");
    }
    const std::filesystem::path output = outputs[i];
    if (std::filesystem::is_directory(output, error)) {
      return absl::InvalidArgumentError(absl::StrCat(outputs[i], ": expected a file to write, got a folder"));
    }
    const std::filesystem::path folder = output.has_parent_path() ? output.parent_path() : ".";
    if (!std::filesystem::is_directory(folder, error)) {
      return absl::InvalidArgumentError(
          absl::StrCat(outputs[i], ": expected an existing folder, got ", folder.string()));
    }
    // A name that is too long or a chain of links without an end.
    if (std::filesystem::status(output, error).type() == std::filesystem::file_type::none) {
      return absl::InvalidArgumentError(absl::StrCat(outputs[i], ": cannot create: ", error.message()));
    }
    if (IsSpecial(outputs[i])) continue;
    for (size_t j = 0; j < i; ++j) {
      if (PlaceOf(outputs[j]) == PlaceOf(output) || std::filesystem::equivalent(outputs[j], output, error)) {
        const std::string got = outputs[j] == outputs[i]
                                    ? absl::StrCat(outputs[i], " twice")
                                    : absl::StrCat(outputs[j], " and ", outputs[i], ", which are the same");
        return absl::InvalidArgumentError(absl::StrCat("expected different output files, got ", got));
      }
    }
    for (const std::string& input : inputs) {
      if (std::filesystem::equivalent(input, output, error)) {
        return absl::InvalidArgumentError(
            absl::StrCat(outputs[i], ": expected a new file, got one of the inputs"));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace proofmill::cli
