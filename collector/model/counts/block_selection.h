// SPDX-License-Identifier: MIT
// Which blocks of a large grid stand for all: its corners, some blocks of its edges, where kernels
// treat the border, and some of its interior, drawn by a fixed seed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

/// Where a block lies in each direction: at the first index, between, or at the last. All blocks of
/// one side of a grid are at one place. A direction with one index is no border.
inline constexpr std::size_t grid_places = 27;
std::size_t place_of(std::uint64_t block, const Dim3& grid);
/// How many blocks are at a place.
std::uint64_t blocks_at(std::size_t place, const Dim3& grid);

struct BlockSelection {
  std::vector<std::uint64_t> blocks;                           ///< ascending; x is fastest
  std::array<std::uint64_t, grid_parts> chosen{}, existing{};  ///< by GridPart

  bool is_whole(const Dim3& grid) const { return blocks.size() == grid.count(); }
};

/// A text of --blocks: "64" or "2.5%" of a grid.
struct BlockShare {
  std::optional<double> percent;  ///< above 0, at most 100
  std::uint64_t count = 0;        ///< without a percentage
};
/// Throws Error{usage} for a text that is neither.
BlockShare block_share(std::string_view text);

/// The number of blocks in such a text: at least one, at most all. Throws Error{usage} where it is
/// none, or more than a selection may hold.
std::uint64_t block_count(std::string_view text, const Dim3& grid);

/// That many blocks, at most all of them: corners first, then as many edges as interior blocks,
/// as far as there are any. The same for the same grid and number.
BlockSelection select_blocks(const Dim3& grid, std::uint64_t count);

/// The fewest blocks from which a launch is estimated with a bound on the error.
inline constexpr std::uint64_t least_sample = 32;

/// Throws Error{usage} for a number of blocks below least_sample.
BlockShare sample_share(std::string_view text);

/// That share of the blocks, at least least_sample: the corners, of each other place as many as it
/// has of the rest, at least three, and of the interior at least eight. A kernel may treat each
/// side in its own way, and its instructions need not tell. The same for the same grid, share and
/// seed.
BlockSelection sample_blocks(const Dim3& grid, const BlockShare& share, std::uint64_t seed = 1);

}  // namespace warpmeter::model
