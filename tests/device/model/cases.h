// SPDX-License-Identifier: MIT
// The kernels that hold the model to the hardware, as data: what each is launched with.
//
// They are no part of the product. model_check runs each on both backends; the CPU's test holds the
// model to what the hardware answered (tests/golden/h200_model_kernels.csv).
#pragma once

#include <span>
#include <string_view>

#include "kernels/family.h"

namespace warpmeter::agreement {

struct Case {
  std::string_view entry;
  const kernels::Image* image = nullptr;
  Geometry geometry;
  kernels::Problem (*problem)() = nullptr;
  /// The tolerance of each float or double, relative; 0: outputs are equal bit for bit. Not 0 where
  /// the kernel uses an approximate function.
  double tolerance = 0;
};

/// Common computations, by many ways.
std::span<const Case> algorithms();
/// Forms of accesses and of what a compiler makes of them: one question a kernel.
std::span<const Case> forms();
/// The other features of the language and its libraries: intrinsics, groups, waiting, local memory.
std::span<const Case> features();
/// All of them.
std::span<const Case> cases();

}  // namespace warpmeter::agreement
