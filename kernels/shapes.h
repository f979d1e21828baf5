// SPDX-License-Identifier: MIT
// Problems of any shape, where a family's one size means a square. The families are built on these;
// tests use them directly for edges that a square does not have.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/family.h"

namespace warpmeter::kernels {

/// out (buffer 0), in (buffer 1): a row-major matrix of `height` rows of `width` floats. Both from
/// 1 to 1,048,560.
Problem transpose_problem(std::int32_t width, std::int32_t height);
Geometry transpose_geometry(std::int32_t width, std::int32_t height);
/// out of every variant but `copy`: `width` rows of `height` floats.
std::vector<Expected> transpose_expected(const Problem& problem, std::int32_t width,
                                         std::int32_t height);
/// out of `copy`.
std::vector<Expected> transpose_copy_expected(const Problem& problem);

/// c (buffer 0) = a (buffer 1, m × k) × b (buffer 2, k × n), row-major floats. Each from 1 to
/// 262,144: up to there every sum of products is a whole number that a float holds exactly.
Problem matmul_problem(std::int32_t m, std::int32_t k, std::int32_t n);
Geometry matmul_geometry(std::int32_t m, std::int32_t n);
std::vector<Expected> matmul_expected(const Problem& problem, std::int32_t m, std::int32_t k,
                                      std::int32_t n);

}  // namespace warpmeter::kernels
