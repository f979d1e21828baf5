// SPDX-License-Identifier: MIT
// Which blocks of a grid too large to run are run: its corners, some blocks of its edges, where
// kernels treat the border, and some of its interior, drawn by a fixed seed.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/geometry.h"

namespace warpmeter::model {

/// Parts of a grid whose blocks are likely to cost alike.
enum class GridPart : std::uint8_t { corner, edge, interior };
inline constexpr std::size_t grid_parts = 3;

/// A block is at a border where its index is the first or the last of an extent above 1: at a
/// corner when that is so in every such direction, on an edge when it is in some.
GridPart part_of(std::uint64_t block, const Dim3& grid);

struct BlockSelection {
  std::vector<std::uint64_t> blocks;                           ///< ascending; x is fastest
  std::array<std::uint64_t, grid_parts> chosen{}, existing{};  ///< by GridPart

  bool is_whole(const Dim3& grid) const { return blocks.size() == grid.count(); }
};

/// The number of blocks in a text as "64" or "2.5%" of a grid: at least one, at
/// most all. Throws Error{usage} where it is none of these, or more than a selection may hold.
std::uint64_t block_count(std::string_view text, const Dim3& grid);

/// That many blocks, at most all of them: corners first, then as many edges as interior blocks,
/// as far as there are any. The same for the same grid and number.
BlockSelection select_blocks(const Dim3& grid, std::uint64_t count);

}  // namespace warpmeter::model
