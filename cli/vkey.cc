// proofmill vkey: the verification key inside a proving key, as snarkjs exports it.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cli/commands.h"
#include "cli/output_files.h"
#include "engine/base/status_macros.h"
#include "engine/formats/binfile.h"
#include "engine/formats/file.h"
#include "engine/formats/snarkjs_json.h"
#include "engine/formats/zkey.h"
#include "engine/groth16/types.h"
#include "engine/groth16/verifier.h"

namespace proofmill::cli {
namespace {

// Reads the header and section 3 only, so that a key of many gigabytes takes no time.
absl::StatusOr<engine::VerificationKey> ReadVerificationKey(const std::string& path) {
  PROOFMILL_ASSIGN_OR_RETURN(const auto file, engine::RandomAccessFile::Open(path));
  PROOFMILL_ASSIGN_OR_RETURN(const engine::ZkeyHeader header, engine::ReadZkeyHeader(*file));
  PROOFMILL_ASSIGN_OR_RETURN(
      const engine::BinFile directory,
      engine::BinFile::Open(*file, {.magic = "zkey", .version_min = 1, .version_max = 1}));
  PROOFMILL_ASSIGN_OR_RETURN(
      const engine::BinFileSection section,
      directory.Require(static_cast<uint32_t>(engine::ZkeySection::kIc), "the IC points"));

  engine::VerificationKey key{.alpha1 = header.alpha1,
                              .beta2 = header.beta2,
                              .gamma2 = header.gamma2,
                              .delta2 = header.delta2,
                              .ic = std::vector<kernels::G1Affine>(size_t{header.n_public} + 1)};
  auto* bytes = reinterpret_cast<uint8_t*>(key.ic.data());
  const size_t size = key.ic.size() * sizeof(kernels::G1Affine);
  PROOFMILL_RETURN_IF_ERROR(file->ReadAt(section.offset, absl::MakeSpan(bytes, size)));
  PROOFMILL_RETURN_IF_ERROR(file->CheckUnchanged());
  const absl::Status valid = engine::CheckVerificationKey(key);
  if (!valid.ok()) return absl::Status(valid.code(), absl::StrCat(path, ": ", valid.message()));
  return key;
}

class VkeyCommand final : public Command {
 public:
  CommandInfo Info() const override {
    return {.name = "vkey",
            .summary = "Export the verification key of a proving key",
            .positional = {"KEY.zkey", "VKEY.json"},
            .description =
                "Writes the verification key in the JSON form of snarkjs, equal to `snarkjs zkey export "
                "verificationkey`.",
            .examples = "proofmill vkey circuit.zkey verification_key.json"};
  }

  void DeclareFlags(FlagSet&) override {}

  absl::StatusOr<ExitCode> Run(const std::vector<std::string>& positional) override {
    PROOFMILL_RETURN_IF_ERROR(CheckOutputPaths({positional[0]}, {positional[1]}));
    PROOFMILL_ASSIGN_OR_RETURN(const engine::VerificationKey key, ReadVerificationKey(positional[0]));
    PROOFMILL_RETURN_IF_ERROR(WriteOutputFiles({{positional[1], engine::VerificationKeyToJson(key)}}));
    if (key.gamma2 == key.delta2) {
      PrintError("vkey",
                 "warning: gamma equals delta, nobody contributed to this key: anyone can forge its proofs");
    }
    return ExitCode::kOk;
  }
};

}  // namespace

std::unique_ptr<Command> MakeVkeyCommand() { return std::make_unique<VkeyCommand>(); }

}  // namespace proofmill::cli
