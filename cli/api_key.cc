// proofmill api-key: a new API key for a tenant, and its line for the service. The file's form is described
// in server/api_keys.h.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/commands.h"
#include "engine/base/secure_memory.h"
#include "engine/base/status_macros.h"
#include "engine/formats/atomic_file.h"
#include "server/api_keys.h"

namespace proofmill::cli {
namespace {

class ApiKeyCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "api-key",
            .summary = "Make an API key for a tenant of the service",
            .positional = {"TENANT"},
            .description =
                "Makes a random key and prints it once, with the line that lets it in: add that to the file "
                "that the service\nreads (serve --api_key_file), which holds hashes of keys only. A client "
                "keeps the key in a file of its own and\nnames it with --api_key_file. A tenant may have "
                "several keys, so that one can be replaced without a break.",
            .examples =
                "proofmill api-key rollup --key_file rollup.key >> api_keys\n"
                "proofmill api-key wallet --valid_for 2160h --key_file wallet.key >> api_keys\n"
                "proofmill api-key ops --admin --key_file ops.key >> api_keys"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Bool("admin", &admin_, "The key opens the admin listener too.");
    flags.Duration("valid_for", &valid_for_, "How long the key is good.");
    flags.String("key_file", "FILE", &key_file_,
                 "Write the key to this file, for its owner alone, and print the line alone.");
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_ASSIGN_OR_RETURN(server::NewApiKey made,
                               server::MakeApiKey(positional[0], admin_, absl::Now() + valid_for_));
    const absl::Status written = Write(made);
    engine::WipeMemory(made.key.data(), made.key.size());
    PROOFMILL_RETURN_IF_ERROR(written);
    return ExitCode::kOk;
  }

 private:
  absl::Status Write(const server::NewApiKey& made) const {
    if (key_file_.empty()) {
      return PrintOut(absl::StrCat("# The key, which is kept nowhere: for the client's file.\n", made.key,
                                   "\n# Its line, for the service's file.\n", made.line, "\n"));
    }
    PROOFMILL_RETURN_IF_ERROR(engine::WriteFileAtomically(key_file_, absl::StrCat(made.key, "\n"),
                                                          engine::AtomicFile::Access::kOwnerOnly));
    return PrintOut(absl::StrCat(made.line, "\n"));
  }

  bool admin_ = false;
  absl::Duration valid_for_ = absl::InfiniteDuration();
  std::string key_file_;
};

}  // namespace

std::unique_ptr<Command> MakeApiKeyCommand() { return std::make_unique<ApiKeyCommand>(); }

}  // namespace proofmill::cli
