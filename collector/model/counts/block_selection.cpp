// SPDX-License-Identifier: MIT
#include "collector/model/counts/block_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "base/error.h"
#include "base/with_noun.h"

namespace warpmeter::model {
namespace {

/// A grid up to this size is chosen from a list of all its blocks; a larger one by drawing.
constexpr std::uint64_t listed_blocks = std::uint64_t{1} << 22;
constexpr std::uint64_t most_blocks = listed_blocks / 4;

/// SplitMix64 (Steele, Lea, Flood, 2014): the same everywhere, which std::shuffle is not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  std::uint64_t state_;
};

std::array<std::uint64_t, 3> extents(const Dim3& grid) { return {grid.x, grid.y, grid.z}; }

std::uint64_t number_of(const std::array<std::uint64_t, 3>& at, const Dim3& grid) {
  return (at[2] * grid.y + at[1]) * grid.x + at[0];
}

std::vector<std::uint64_t> corners_of(const Dim3& grid) {
  std::set<std::uint64_t> corners;
  for (unsigned which = 0; which < 8; ++which) {
    std::array<std::uint64_t, 3> at{};
    const auto size = extents(grid);
    for (std::size_t d = 0; d < 3; ++d) at[d] = (which >> d & 1) != 0 ? size[d] - 1 : 0;
    corners.insert(number_of(at, grid));
  }
  return {corners.begin(), corners.end()};
}

std::array<std::uint64_t, grid_parts> sizes_of_parts(const Dim3& grid) {
  std::uint64_t corners = 1, interior = 1;
  for (const std::uint64_t extent : extents(grid)) {
    if (extent == 1) continue;
    corners *= 2;
    interior *= extent - 2;
  }
  if (grid.count() == 1) interior = 0;
  return {corners, grid.count() - corners - interior, interior};
}

/// Blocks of a part that are all different: `count` of the `existing` ones.
std::vector<std::uint64_t> drawn(const Dim3& grid, GridPart part, std::uint64_t count,
                                 Random& random) {
  std::vector<std::uint64_t> blocks;
  if (grid.count() <= listed_blocks) {
    for (std::uint64_t block = 0; block < grid.count(); ++block) {
      if (part_of(block, grid) == part) blocks.push_back(block);
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      std::swap(blocks[i], blocks[i + random.below(blocks.size() - i)]);
    }
    blocks.resize(count);
    return blocks;
  }
  std::set<std::uint64_t> chosen;
  while (chosen.size() < count) {
    std::array<std::uint64_t, 3> at{};
    const auto size = extents(grid);
    for (std::size_t d = 0; d < 3; ++d) at[d] = random.below(size[d]);
    if (part == GridPart::edge) {  // the block goes to one of the borders
      const std::size_t d = random.below(3);
      if (size[d] > 1) at[d] = random.below(2) * (size[d] - 1);
    }
    const std::uint64_t block = number_of(at, grid);
    if (part_of(block, grid) == part) chosen.insert(block);
  }
  return {chosen.begin(), chosen.end()};
}

/// 0 for the first index of a direction, 1 between, 2 for the last.
unsigned position(std::size_t place, std::size_t direction) {
  constexpr std::array<std::size_t, 3> factors = {1, 3, 9};
  return static_cast<unsigned>(place / factors[direction] % 3);
}

/// The indices that a place has in a direction: the first one, and how many.
struct Indices {
  std::uint64_t first = 0, number = 0;
};
Indices indices_at(std::size_t place, const Dim3& grid, std::size_t direction) {
  const std::uint64_t extent = extents(grid)[direction];
  const unsigned at = position(place, direction);
  if (extent == 1) return {0, at == 1 ? 1u : 0u};
  if (at == 1) return {1, extent - 2};
  return {at == 0 ? 0 : extent - 1, 1};
}

/// The block of that number among those of a place.
std::uint64_t block_at(std::size_t place, const Dim3& grid, std::uint64_t number) {
  std::array<std::uint64_t, 3> at{};
  for (std::size_t d = 0; d < 3; ++d) {
    const Indices indices = indices_at(place, grid, d);
    at[d] = indices.first + number % indices.number;
    number /= indices.number;
  }
  return number_of(at, grid);
}
std::uint64_t first_at(std::size_t place, const Dim3& grid) { return block_at(place, grid, 0); }

GridPart part_at(std::size_t place, const Dim3& grid) {
  return part_of(first_at(place, grid), grid);
}

/// Different blocks of a place.
std::vector<std::uint64_t> drawn_at(const Dim3& grid, std::size_t place, std::uint64_t count,
                                    Random& random) {
  const std::uint64_t existing = blocks_at(place, grid);
  std::vector<std::uint64_t> numbers;
  if (existing <= listed_blocks) {
    numbers.resize(existing);
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    for (std::uint64_t i = 0; i < count; ++i) {
      std::swap(numbers[i], numbers[i + random.below(existing - i)]);
    }
    numbers.resize(count);
  } else {
    std::set<std::uint64_t> chosen;
    while (chosen.size() < count) chosen.insert(random.below(existing));
    numbers.assign(chosen.begin(), chosen.end());
  }
  for (std::uint64_t& number : numbers) number = block_at(place, grid, number);
  return numbers;
}

std::uint64_t count_in(const BlockShare& share, const Dim3& grid) {
  if (!share.percent) return std::min(share.count, grid.count());
  return static_cast<std::uint64_t>(
      std::ceil(static_cast<double>(grid.count()) * *share.percent / 100));
}

/// Draws the blocks of the edges and of the interior, beside the corners that are there.
void draw_others(BlockSelection& selection, const Dim3& grid, std::uint64_t seed) {
  Random random(seed);
  for (const GridPart part : {GridPart::edge, GridPart::interior}) {
    const auto blocks = drawn(grid, part, selection.chosen[static_cast<std::size_t>(part)], random);
    selection.blocks.insert(selection.blocks.end(), blocks.begin(), blocks.end());
  }
  std::sort(selection.blocks.begin(), selection.blocks.end());
}

}  // namespace

GridPart part_of(std::uint64_t block, const Dim3& grid) {
  const std::array<std::uint64_t, 3> at = {block % grid.x, block / grid.x % grid.y,
                                           block / grid.x / grid.y};
  const auto size = extents(grid);
  unsigned borders = 0, directions = 0;
  for (std::size_t d = 0; d < 3; ++d) {
    if (size[d] == 1) continue;
    ++directions;
    if (at[d] == 0 || at[d] + 1 == size[d]) ++borders;
  }
  return borders == directions ? GridPart::corner
         : borders > 0         ? GridPart::edge
                               : GridPart::interior;
}

std::size_t place_of(std::uint64_t block, const Dim3& grid) {
  const std::array<std::uint64_t, 3> at = {block % grid.x, block / grid.x % grid.y,
                                           block / grid.x / grid.y};
  const auto size = extents(grid);
  std::size_t place = 0;
  for (std::size_t d = 3; d-- > 0;) {
    const unsigned border = at[d] == 0 ? 0 : at[d] + 1 == size[d] ? 2 : 1;
    place = 3 * place + (size[d] == 1 ? 1 : border);
  }
  return place;
}

std::uint64_t blocks_at(std::size_t place, const Dim3& grid) {
  std::uint64_t blocks = 1;
  for (std::size_t d = 0; d < 3; ++d) blocks *= indices_at(place, grid, d).number;
  return blocks;
}

BlockShare block_share(std::string_view text) {
  const bool is_share = text.ends_with('%');
  const std::string_view digits = is_share ? text.substr(0, text.size() - 1) : text;
  const char* const end = digits.data() + digits.size();
  BlockShare share;
  bool is_right = false;
  if (is_share) {
    double percent = 0;
    const auto [last, error] = std::from_chars(digits.data(), end, percent);
    is_right = error == std::errc() && last == end && percent > 0 && percent <= 100;
    share.percent = percent;
  } else {
    const auto [last, error] = std::from_chars(digits.data(), end, share.count);
    is_right = error == std::errc() && last == end && share.count > 0;
  }
  if (!is_right) {
    throw Error(ExitCode::usage,
                fmt::format("--blocks takes a number of blocks or a share of them, not '{}': 64 or "
                            "2.5%",
                            text));
  }
  return share;
}

std::uint64_t block_count(std::string_view text, const Dim3& grid) {
  const std::uint64_t count = count_in(block_share(text), grid);
  if (count < grid.count() && count > most_blocks && grid.count() > listed_blocks) {
    throw Error(ExitCode::usage,
                fmt::format("--blocks {} is {}, and a selection holds up to {}; choose fewer", text,
                            with_noun(count, "block"), most_blocks));
  }
  return count;
}

BlockSelection select_blocks(const Dim3& grid, std::uint64_t count) {
  BlockSelection selection;
  selection.existing = sizes_of_parts(grid);
  const auto& [corners, edges, interior] = selection.existing;
  selection.blocks = corners_of(grid);
  if (count < selection.blocks.size()) selection.blocks.resize(count);
  const std::uint64_t rest = count - selection.blocks.size();
  // Edges of a grid that is drawn from are never exhausted: drawing the last ones takes long.
  const std::uint64_t most_edges = grid.count() <= listed_blocks ? edges : edges / 2;
  std::uint64_t of_edges = std::min((rest + 1) / 2, most_edges);
  const std::uint64_t of_interior = std::min(rest - of_edges, interior);
  of_edges = std::min(rest - of_interior, edges);
  selection.chosen = {selection.blocks.size(), of_edges, of_interior};
  draw_others(selection, grid, 1);
  return selection;
}

BlockShare sample_share(std::string_view text) {
  const BlockShare share = block_share(text);
  if (share.percent || share.count >= least_sample) return share;
  throw Error(
      ExitCode::usage,
      fmt::format("--blocks {} is too few for a bound on the error: choose {} or more, or a "
                  "share of the blocks (5%)",
                  text, least_sample));
}

BlockSelection sample_blocks(const Dim3& grid, const BlockShare& share, std::uint64_t seed) {
  constexpr std::uint64_t least_of_side = 3, least_of_interior = 8;
  BlockSelection selection;
  selection.existing = sizes_of_parts(grid);
  const auto& [corners, edges, interior] = selection.existing;
  std::uint64_t count = std::min(std::max(count_in(share, grid), least_sample), grid.count());
  if (grid.count() > listed_blocks) count = std::min(count, most_blocks);
  const std::uint64_t rest = count - std::min(count, corners), others = edges + interior;
  Random random(seed);
  std::uint64_t left = rest;
  const auto take = [&](GridPart part, std::size_t place, std::uint64_t number) {
    const auto blocks = drawn_at(grid, place, number, random);
    selection.blocks.insert(selection.blocks.end(), blocks.begin(), blocks.end());
    selection.chosen[static_cast<std::size_t>(part)] += number;
    left -= std::min(left, number);
  };
  std::size_t inside = grid_places;
  for (std::size_t place = 0; place < grid_places; ++place) {
    const std::uint64_t existing = blocks_at(place, grid);
    if (existing == 0) continue;
    const GridPart part = part_at(place, grid);
    if (part == GridPart::interior) {
      inside = place;
    } else if (part == GridPart::corner) {
      selection.blocks.push_back(first_at(place, grid));
      ++selection.chosen[0];
    } else {
      // The last ones of a large side take long to draw.
      const std::uint64_t most = existing <= listed_blocks ? existing : existing / 2;
      const std::uint64_t of_rest = (rest * existing + others - 1) / others;
      take(part, place, std::min(std::max(of_rest, least_of_side), most));
    }
  }
  if (inside < grid_places) {
    take(GridPart::interior, inside,
         std::min(std::max(left, std::min(rest, least_of_interior)), interior));
  }
  std::sort(selection.blocks.begin(), selection.blocks.end());
  return selection;
}

}  // namespace warpmeter::model
