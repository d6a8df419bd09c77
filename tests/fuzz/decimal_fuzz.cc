// Decimal numbers: what is accepted has one spelling, and every number is written so that it can be read.

#include "engine/formats/decimal.h"

#include <algorithm>

#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace proofmill::engine;
  const auto value = ParseDecimal(FuzzText(data, size));
  if (value.ok()) {
    Require(ToDecimal(*value) == FuzzText(data, size));
  } else {
    RequireInputError(value.status());
  }
  uint8_t bytes[32] = {};
  std::copy_n(data, std::min<size_t>(size, 32), bytes);
  const auto number = proofmill::kernels::U256FromLittleEndian(bytes);
  Require(ParseDecimal(ToDecimal(number)).value() == number);
  return 0;
}
