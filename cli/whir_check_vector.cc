// proofmill whir check-vector: compares with files of known answers, from whir-p3 or from elsewhere.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/whir_text.h"
#include "engine/backend/select.h"
#include "engine/base/status_macros.h"
#include "engine/formats/file.h"
#include "engine/whir/vector_check.h"
#include "kernels/cpu/large_memory.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::cli {
namespace {

constexpr uint64_t kVectorBytesMax = uint64_t{256} << 20;

class WhirCheckVectorCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {
        .name = "whir check-vector",
        .summary = "Compare WHIR with files of known answers",
        .positional = {"FILE"},
        .repeated = true,
        .description =
            "Takes JSON files of parameter sets, of whole proofs (verified, their alterations rejected, made "
            "again and\n"
            "compared), and of runs without their openings (made again and compared). Prints one line a "
            "file; exits 1 if\n"
            "any differs.\n\n"
            "WHIR is NOT hiding. Files of the pin profile may rest on the capacity bound, which is "
            "CONJECTURAL.",
        .examples =
            "proofmill whir check-vector tests/vectors/whir/proof_*.json tests/vectors/whir/strict_*.json"};
  }

  void DeclareFlags(FlagSet& flags) override {
    flags.Choice("backend", &backend_, {"auto", "cpu", "cuda"}, "Where proofs are made.");
    flags.Uint("threads", &threads_, {.min = 0, .max = 1024}, "Threads; 0 means one per core.");
  }

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    kernels::KeepFreedMemory();
    kernels::ThreadArena arena(threads_ == 0 ? kernels::HardwareThreads() : static_cast<size_t>(threads_));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::WhirDeviceMaker device, engine::ChooseWhirDevice(backend_));
    bool all_agree = true;
    for (const std::string& path : positional) {
      PROOFMILL_ASSIGN_OR_RETURN(const std::string text, engine::ReadTextFile(path, kVectorBytesMax));
      absl::StatusOr<engine::WhirVectorResult> result;
      arena.Execute([&] { result = engine::CheckWhirVector(text, {.device = device}); });
      if (!result.ok()) {
        return absl::Status(result.status().code(), absl::StrCat(path, ": ", result.status().message()));
      }
      PROOFMILL_RETURN_IF_ERROR(PrintOut(absl::StrCat(result->agrees ? "OK    " : "DIFFERS  ",
                                                      std::filesystem::path(path).filename().string(), "  ",
                                                      result->detail, "\n")));
      all_agree = all_agree && result->agrees;
    }
    return all_agree ? ExitCode::kOk : ExitCode::kAnswerIsNo;
  }

 private:
  std::string backend_ = "auto";
  uint64_t threads_ = 0;
};

}  // namespace

std::unique_ptr<Command> MakeWhirCheckVectorCommand() { return std::make_unique<WhirCheckVectorCommand>(); }

}  // namespace proofmill::cli
