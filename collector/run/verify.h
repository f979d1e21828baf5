// Is the answer right? A launch's buffers are compared with the CPU reference before a figure is
// stored.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "kernels/family.h"

namespace warpmeter::run {

/// Compares `buffers` (as in Problem::buffers) with what they must hold, element for element and
/// for equality: the families' inputs make every order of summation exact. Returns an empty string
/// when all is right, else one sentence with the first wrong element and how many there are.
std::string verify(const kernels::Problem& problem, std::span<const kernels::Expected> expected,
                   std::span<const std::vector<std::byte>> buffers);

/// The first `count` elements of a buffer, as text.
std::vector<std::string> first_values(const kernels::Buffer& buffer,
                                      std::span<const std::byte> contents, std::size_t count);

}  // namespace warpmeter::run
