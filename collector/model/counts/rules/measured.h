// SPDX-License-Identifier: MIT
// On which architectures the counting rules were measured. The rules come from an H200 (sm_90); a
// golden file of another device makes counts exact there too, where the rules meet all of it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace warpmeter::model {

struct MeasuredArchitecture {
  int arch = 0;              ///< 90 is sm_90
  std::size_t accesses = 0;  ///< single ones, that have to be measured
  std::size_t met = 0;       ///< the number of these that met the rules
  bool is_exact() const { return met == accesses; }
};

/// Those that have a golden file, as the build found them.
std::span<const MeasuredArchitecture> measured_architectures();

/// Why counts by the rules are not exact on an architecture; empty where they are.
std::string why_not_exact(int arch);
/// The same of a given list.
std::string why_not_exact(int arch, std::span<const MeasuredArchitecture> measured);

}  // namespace warpmeter::model
