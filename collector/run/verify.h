// SPDX-License-Identifier: MIT
// Is the answer right? A launch's buffers are compared with what they must hold before a figure is
// stored: with the CPU reference of a built-in family, with what a family file names as reference.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/family.h"

namespace warpmeter::run {

/// How far the buffers are from what was expected.
struct Verdict {
  std::string difference;     ///< one sentence with the first wrong element, how many there are and
                              ///< the largest error; empty: right
  std::string largest_error;  ///< the largest error of a right answer that is not equal: "1.2e-07
                              ///< at out[77]"; empty: equal
  bool is_right() const { return difference.empty(); }
};

/// Compares `buffers` (as in Problem::buffers) with what they must hold, element for element: whole
/// numbers for equality, floating-point numbers within the tolerance, which is 0 for the built-in
/// families, whose inputs make every order of summation exact. NaN equals nothing unless the
/// tolerance says so.
Verdict verify(const kernels::Problem& problem, std::span<const kernels::Expected> expected,
               std::span<const std::vector<std::byte>> buffers);

/// The first `count` elements of a buffer, as text.
std::vector<std::string> first_values(const kernels::Buffer& buffer,
                                      std::span<const std::byte> contents, std::size_t count);

}  // namespace warpmeter::run
