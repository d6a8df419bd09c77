// Loops in two stages, for the set-up: while one block is taken (hashed, written, added up), which goes in
// order and on few threads, the next is made on all others. Two blocks are in memory at any time.
//
// Thread safety: functions that run on the thread arena of the caller.

#ifndef PROOFMILL_ENGINE_GROTH16_SETUP_STAGES_H_
#define PROOFMILL_ENGINE_GROTH16_SETUP_STAGES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/base/status_macros.h"
#include "engine/groth16/constraint_system.h"
#include "kernels/cpu/parallel.h"

namespace proofmill::engine {

// Calls, for every block k < blocks in order, begin(k) on the calling thread, make(k), and take(k). take(k)
// runs beside make(k + 1), and the calls of each function one after the other, so that a block's place may be
// that of block k - 2. make and take return absl::Status; the first error ends the loop.
template <typename Begin, typename Make, typename Take>
absl::Status RunInTwoStages(size_t blocks, const Begin& begin, const Make& make, const Take& take) {
  if (blocks == 0) return absl::OkStatus();
  begin(0);
  PROOFMILL_RETURN_IF_ERROR(make(0));
  for (size_t k = 0; k + 1 < blocks; ++k) {
    absl::Status taken, made;
    begin(k + 1);
    kernels::ParallelInvoke([&] { taken = take(k); }, [&] { made = make(k + 1); });
    PROOFMILL_RETURN_IF_ERROR(taken);
    PROOFMILL_RETURN_IF_ERROR(made);
  }
  return take(blocks - 1);
}

// Goes through the constraints of a system, `block_rows` at a time. add(i, row, part) is called for every row
// i on any thread, rows of one part in order; a part collects neighbouring rows and has Clear(). take(parts)
// gets the parts of a block in order, and the blocks in order. begin(k, blocks) is called before block k.
template <typename Part, typename Begin, typename Add, typename Take>
absl::Status ForRows(const ConstraintSystem& system, size_t block_rows, const Begin& begin, const Add& add,
                     const Take& take) {
  constexpr size_t kPartRows = 2048;
  const size_t rows = system.n_constraints();
  const size_t blocks = (rows + block_rows - 1) / block_rows;
  std::array<std::vector<Part>, 2> slots;
  const auto make = [&](size_t block) {
    const size_t first = block * block_rows;
    const size_t count = std::min(block_rows, rows - first);
    std::vector<Part>& parts = slots[block % 2];
    parts.resize((count + kPartRows - 1) / kPartRows);
    kernels::ParallelFor(0, count, kPartRows, [&](size_t part_begin, size_t part_end) {
      Part& part = parts[part_begin / kPartRows];
      part.Clear();
      ConstraintRow row;
      for (size_t i = first + part_begin; i < first + part_end; ++i) {
        system.Row(static_cast<uint32_t>(i), row);
        add(static_cast<uint32_t>(i), row, part);
      }
    });
    return absl::OkStatus();
  };
  return RunInTwoStages(
      blocks, [&](size_t block) { begin(block, blocks); }, make,
      [&](size_t block) { return take(absl::Span<const Part>(slots[block % 2])); });
}

}  // namespace proofmill::engine

#endif  // PROOFMILL_ENGINE_GROTH16_SETUP_STAGES_H_
