// Benchmarks of code that runs on several kinds of arithmetic: one of each that this CPU has.

#ifndef PROOFMILL_TESTS_BENCH_PATHS_H_
#define PROOFMILL_TESTS_BENCH_PATHS_H_

#include <string>

#include "benchmark/benchmark.h"
#include "kernels/field/arithmetic.h"
#include "tests/kernels/arithmetic_scope.h"

namespace proofmill::kernels {

// Registers run(state) as NAME/portable, NAME/adx, ... and hands each to configure(benchmark). The result
// only gives the call a place in the initialisation of a constant.
template <typename Run, typename Configure>
bool RegisterForEachArithmetic(const std::string& name, Run run, Configure configure) {
  for (const Arithmetic arithmetic : SupportedArithmetics()) {
    configure(benchmark::RegisterBenchmark((name + "/" + ArithmeticName(arithmetic)).c_str(),
                                           [run, arithmetic](benchmark::State& state) {
                                             const ArithmeticScope scope(arithmetic);
                                             run(state);
                                           }));
  }
  return true;
}
template <typename Run>
bool RegisterForEachArithmetic(const std::string& name, Run run) {
  return RegisterForEachArithmetic(name, run, [](benchmark::internal::Benchmark*) {});
}

}  // namespace proofmill::kernels

#endif  // PROOFMILL_TESTS_BENCH_PATHS_H_
