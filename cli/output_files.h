// Writing the result files of a command: all of them or none.
//
// Each file is written under a temporary name in its own folder, and only when all of them are complete they
// are moved to their final names. A failed command leaves no output file and no temporary file behind, and a
// reader never sees half a file. A target that is not a regular file (/dev/stdout, a pipe) is written in
// place.
//
// Thread safety: as a plain function.

#ifndef PROOFMILL_CLI_OUTPUT_FILES_H_
#define PROOFMILL_CLI_OUTPUT_FILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace proofmill::cli {

struct OutputFile {
  std::string path;
  std::string content;
};

// Writes `files`, replacing what was there.
// Errors as engine::AtomicFile; none of the files is there afterwards.
absl::Status WriteOutputFiles(const std::vector<OutputFile>& files);

// Refuses, before any work is done, outputs that could not be meant: an empty or impossible name,
// two names of one file however they are spelled, an output that is also an input, or a folder that does not
// exist.
//   INVALID_ARGUMENT  with the names.
absl::Status CheckOutputPaths(const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs);

}  // namespace proofmill::cli

#endif  // PROOFMILL_CLI_OUTPUT_FILES_H_
