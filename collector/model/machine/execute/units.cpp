// SPDX-License-Identifier: MIT
#include "collector/model/machine/execute/units.h"

#include <array>

#include "collector/model/machine/execute/entries.h"

namespace warpmeter::model {
namespace {

#if defined(WARPMETER_X86_UNITS)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

}  // namespace

std::span<const Unit> units() {
#define UNIT(isa, is_supported, vector_bytes)                                                      \
  {                                                                                                \
#isa, isa::run, isa::run_observed, isa::run_native, isa::run_native_observed, isa::operations, \
        is_supported, vector_bytes                                                                 \
  }
#if defined(WARPMETER_X86_UNITS)
  static const std::array<Unit, 3> all = {
      {UNIT(baseline, true, 0), UNIT(avx2, has_avx2(), 32), UNIT(avx512, has_avx512(), 64)}};
#else
  static const std::array<Unit, 1> all = {{UNIT(baseline, true, 0)}};
#endif
#undef UNIT
  return all;
}

const Unit& best_unit() {
  const std::span<const Unit> all = units();
  for (std::size_t i = all.size(); i > 1; --i) {
    if (all[i - 1].is_supported) return all[i - 1];
  }
  return all[0];
}

}  // namespace warpmeter::model
