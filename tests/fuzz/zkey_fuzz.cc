// Keys: what is accepted has buffers of the sizes that its header promises, and indices in range.

#include "engine/formats/zkey.h"

#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const MemorySource source = FuzzSource(data, size);
  const auto zkey = ReadZkey(source);
  if (!zkey.ok()) {
    RequireInputError(zkey.status());
    return 0;
  }
  const ZkeyHeader& header = zkey->header;
  Require(ReadZkeyHeader(source).ok());
  Require(header.n_public < header.n_vars && header.domain_size == uint32_t{1} << header.log2_domain());
  Require(zkey->ic.size() == header.n_public + 1 && zkey->a.size() == header.n_vars);
  Require(zkey->b1.size() == header.n_vars && zkey->b2.size() == header.n_vars);
  Require(zkey->c.size() == header.n_vars - header.n_public - 1 && zkey->h.size() == header.domain_size);
  Require(zkey->coefficients.size() == header.n_coefs);
  for (const ZkeyCoefficient& c : zkey->coefficients) {
    Require(c.matrix < 2 && c.constraint < header.domain_size && c.signal < header.n_vars);
  }
  return 0;
}
