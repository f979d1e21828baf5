// SPDX-License-Identifier: MIT
#include "collector/model/counts/rules/async_copies.h"

#include <algorithm>
#include <bit>

#include "base/lanes.h"

namespace warpmeter::model {
namespace {

constexpr unsigned line_bytes = 128, chunk_bytes = 16;
using Lanes = std::array<std::uint8_t, warp_lanes>;

/// The lanes of a group, in their order, with the banks that they read and write.
struct Group {
  Lanes reads{}, writes{};
  unsigned count = 0;
};

/// In each bank the lanes read in their order.
unsigned wavefronts_in_order(const Group& group) {
  std::array<Lanes, warp_lanes> waiting{};
  Lanes lengths{}, next{};
  for (unsigned i = 0; i < group.count; ++i) {
    waiting[group.reads[i]][lengths[group.reads[i]]++] = group.writes[i];
  }
  unsigned wavefronts = 0;
  for (unsigned left = group.count; left > 0; ++wavefronts) {
    std::uint32_t written = 0;
    for (unsigned bank = 0; bank < warp_lanes; ++bank) {
      if (next[bank] == lengths[bank]) continue;
      const std::uint32_t bit = 1u << waiting[bank][next[bank]];
      if ((written & bit) != 0) continue;
      written |= bit;
      ++next[bank];
      --left;
    }
  }
  return wavefronts;
}

/// The same where the lanes of a bank to write to are told apart first: some patterns measured fit
/// this alone, others the other alone, and most fit both.
unsigned wavefronts_by_passes(const Group& group) {
  std::array<Lanes, warp_lanes> reads_of_pass{};
  Lanes seen{};
  for (unsigned i = 0; i < group.count; ++i) {
    ++reads_of_pass[seen[group.writes[i]]++][group.reads[i]];
  }
  unsigned wavefronts = 0;
  for (const Lanes& reads : reads_of_pass)
    wavefronts += *std::max_element(reads.begin(), reads.end());
  return wavefronts;
}

/// Halves of a sector that are moved: bit 2 × the half that is read + the half that is written.
constexpr unsigned both_from_first = 0b0011, both_from_second = 0b1100;

/// Sectors that are moved between two places.
struct Move {
  std::uint64_t from = 0, to = 0;
  unsigned halves = 0;
};

/// Moves of one line to another, whose halves go alike.
struct Packets {
  std::uint64_t from = 0, to = 0;
  unsigned halves = 0;
  unsigned turns = 0, exchanges = 0, moves = 0;  ///< bits of the kinds that there are

  unsigned count() const { return std::min(std::popcount(turns), std::popcount(exchanges)); }
};

/// Appends to a list of at most 2 × warp_lanes.
template <class T>
struct List {
  std::array<T, std::size_t{2} * warp_lanes> items{};
  unsigned count = 0;

  template <class Same>
  T& find_or_add(const T& one, Same&& same) {
    T* const end = items.data() + count;
    T* const found = std::find_if(items.data(), end, same);
    if (found == end) items[count++] = one;
    return *found;
  }
};

/// The lanes that write to a place to which no later lane writes.
std::uint32_t lanes_that_stay(std::uint32_t mask, const std::array<std::uint64_t, warp_lanes>& to) {
  std::uint32_t stay = mask;
  for_each_lane(mask, [&](unsigned lane) {
    for_each_lane(mask & ((1u << lane) - 1), [&](unsigned earlier) {
      if (to[earlier] == to[lane]) stay &= ~(1u << earlier);
    });
  });
  return stay;
}

List<Move> moves_of(const WarpAccess& from, const std::array<std::uint64_t, warp_lanes>& to) {
  List<Move> moves;
  for_each_lane(from.mask, [&](unsigned lane) {
    const std::uint64_t read = from.address[lane] / chunk_bytes, written = to[lane] / chunk_bytes;
    const Move one{read / 2, written / 2, 0};
    Move& found =
        moves.find_or_add(one, [&](const Move& m) { return m.from == one.from && m.to == one.to; });
    found.halves |= 1u << (2 * (read % 2) + written % 2);
  });
  return moves;
}

}  // namespace

AsyncCopyCost cost_through_l1(const WarpAccess& from,
                              const std::array<std::uint64_t, warp_lanes>& to) {
  AsyncCopyCost cost;
  const unsigned banks = line_bytes / from.width;
  for (unsigned first = 0; first < warp_lanes; first += banks) {
    Group group;
    for (unsigned lane = first; lane < std::min(first + banks, warp_lanes); ++lane) {
      if ((from.mask >> lane & 1) == 0) continue;
      group.reads[group.count] = static_cast<std::uint8_t>(from.address[lane] / from.width % banks);
      group.writes[group.count++] = static_cast<std::uint8_t>(to[lane] / from.width % banks);
    }
    const unsigned wavefronts = wavefronts_in_order(group);
    cost.wavefronts += wavefronts;
    cost.is_calibrated &= wavefronts == wavefronts_by_passes(group);
  }
  return cost;
}

AsyncCopyCost cost_past_l1(const WarpAccess& from,
                           const std::array<std::uint64_t, warp_lanes>& to) {
  constexpr unsigned sectors_of_line = line_bytes / sector_bytes;
  WarpAccess staying = from;
  staying.mask = lanes_that_stay(from.mask, to);
  const List<Move> moves = moves_of(staying, to);
  List<Packets> packets;
  AsyncCopyCost cost;
  cost.bytes = global_cost(staying).bytes;
  const auto add = [&](const Move& move, unsigned halves) {
    const Packets one{move.from / sectors_of_line, move.to / sectors_of_line, halves};
    Packets& found = packets.find_or_add(one, [&](const Packets& p) {
      return p.from == one.from && p.to == one.to && p.halves == one.halves;
    });
    found.turns |= 1u << (move.to - move.from) % sectors_of_line;
    found.exchanges |= 1u << (move.to ^ move.from) % sectors_of_line;
    ++found.moves;
    ++cost.sectors;
  };
  for (unsigned i = 0; i < moves.count; ++i) {
    const Move& move = moves.items[i];
    if (move.halves == both_from_first || move.halves == both_from_second) {
      // A packet moves a half once.
      add(move, move.halves & 0b0101);
      add(move, move.halves & 0b1010);
    } else {
      add(move, move.halves);
    }
  }
  for (unsigned i = 0; i < packets.count; ++i) {
    cost.wavefronts += packets.items[i].count();
    cost.is_calibrated &= packets.items[i].count() == 1 || packets.items[i].moves <= 2;
  }
  return cost;
}

}  // namespace warpmeter::model
