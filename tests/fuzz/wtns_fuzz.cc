// Witnesses: what is accepted survives the way to bytes and back.

#include "engine/formats/wtns.h"

#include "kernels/field/bn254_fr.h"
#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const MemorySource source = FuzzSource(data, size);
  const auto witness = ReadWtns(source, 0);
  if (!witness.ok()) {
    RequireInputError(witness.status());
    return 0;
  }
  for (const auto& value : witness->values) Require(proofmill::kernels::Fr::IsCanonical(value));
  Require(ReadWtnsCount(source).value() == witness->values.size());
  const auto bytes = SerializeWtns({witness->values.data(), witness->values.size()});
  const auto again =
      ReadWtns(FuzzSource(bytes.data(), bytes.size()), static_cast<uint32_t>(witness->values.size()));
  Require(again.ok());
  return 0;
}
