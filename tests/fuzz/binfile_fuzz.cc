// The directory of any binfile: what is accepted accounts for every byte of the input.

#include "engine/formats/binfile.h"

#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const MemorySource source = FuzzSource(data, size);
  const auto file = BinFile::Open(source, {"zkey", 0, ~0u});
  if (!file.ok()) {
    RequireInputError(file.status());
    return 0;
  }
  uint64_t end = kBinFileHeaderBytes;
  for (const BinFileSection& section : file->sections()) {
    Require(section.offset == end + kBinFileSectionHeaderBytes && section.length <= size - section.offset);
    end = section.offset + section.length;
    const auto required = file->Require(section.id, "any");
    if (!required.ok()) RequireInputError(required.status());
  }
  Require(end == size);
  return 0;
}
