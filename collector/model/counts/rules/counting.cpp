// SPDX-License-Identifier: MIT
// A shared access is split into groups of lanes that the hardware serves one after the other: the
// whole warp up to 32 bits a lane, halves at 64, quarters at 128. Loads whose lanes agree pairwise
// (broadcasts and the like) are served in groups of twice the size where that makes no bank
// conflict. Each group costs its degree.
#include "collector/model/counts/rules/counting.h"

#include "base/lanes.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace warpmeter::model {
namespace {

constexpr unsigned word_bytes = 4;
constexpr unsigned banks = 32;

std::uint32_t lanes_from(unsigned first, unsigned count) {
  return static_cast<std::uint32_t>(((std::uint64_t{1} << count) - 1) << first);
}

/// Values seen, each once; at most 32 lanes × 8 words. A hash table with linear probing, twice as
/// large as it can get full.
class DistinctValues {
 public:
  void add(std::uint64_t value) {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;
    std::size_t place = value * golden_ratio >> 55;
    while (place_[place] != 0) {
      if (values_[place_[place] - 1u] == value) return;
      place = (place + 1) % place_.size();
    }
    values_[count_++] = value;
    place_[place] = static_cast<std::uint16_t>(count_);
  }
  unsigned count() const { return count_; }

 private:
  std::array<std::uint16_t, 512> place_{};  ///< 1 + position in values_; 0: free
  std::array<std::uint64_t, 256> values_;
  unsigned count_ = 0;
};

/// Calls visit(unit) for the units, of a power of two bytes, that each lane touches.
template <class Visit>
void for_each_unit(const WarpAccess& access, std::uint32_t mask, unsigned unit_bytes, Visit visit) {
  const int shift = std::countr_zero(unit_bytes);
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t last = (access.address[lane] + access.width - 1) >> shift;
    for (std::uint64_t unit = access.address[lane] >> shift; unit <= last; ++unit) visit(unit);
  });
}

unsigned distinct_units(const WarpAccess& access, std::uint32_t mask, unsigned unit_bytes) {
  DistinctValues units;
  for_each_unit(access, mask, unit_bytes, [&](std::uint64_t unit) { units.add(unit); });
  return units.count();
}

/// The words of each bank, every one once. A lane has at most one word in a bank.
class BankedWords {
 public:
  /// The word's turn in its bank, from 1.
  unsigned add(std::uint64_t word) {
    const std::size_t bank = word % banks;
    const unsigned count = count_of_[bank];
    // Mostly they rise, and then no other of the bank can be the same.
    if (count == 0 || word > last_[bank]) {
      last_[bank] = word;
      return add_another(word);
    }
    for (unsigned i = 0; i < count; ++i) {
      if (words_[bank][i] == word) return i + 1;
    }
    return add_another(word);
  }
  /// The count grows by 1 if the word is new.
  unsigned add_another(std::uint64_t word) {
    const std::size_t bank = word % banks;
    words_[bank][count_of_[bank]] = word;
    ++count_;
    most_ = std::max<unsigned>(most_, ++count_of_[bank]);
    return count_of_[bank];
  }
  unsigned count() const { return count_; }
  unsigned most() const { return most_; }

 private:
  std::array<std::array<std::uint64_t, warp_lanes>, banks> words_;
  std::array<std::uint64_t, banks> last_;  ///< the highest of add(); where there is none: anything
  std::array<std::uint8_t, banks> count_of_{};
  unsigned count_ = 0, most_ = 0;
};

/// True if each lane has one word, and a bank of its own: mostly so, and quickly seen.
bool are_alone(const WarpAccess& access, std::uint32_t mask) {
  if (access.width > word_bytes) return false;
  std::uint32_t taken = 0;
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
    const std::uint32_t bank = 1u << access.address[lane] / word_bytes % banks;
    if ((taken & bank) != 0) return false;
    taken |= bank;
  }
  return true;
}

/// The cost for lanes whose words rise from lane to lane, or stay the same, as those of rows and
/// columns do: nothing has to be remembered to see each once. nullopt: they do not rise.
std::optional<Cost> rising_cost(const WarpAccess& access, std::uint32_t mask) {
  std::array<std::uint8_t, banks> in_bank{};
  unsigned count = 0, most = 0;
  std::uint64_t next = 0;  ///< the least word that is new
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(mask));
    const std::uint64_t last = (access.address[lane] + access.width - 1) / word_bytes;
    std::uint64_t word = access.address[lane] / word_bytes;
    if (word + 1 < next) return std::nullopt;
    if (word < next) ++word;  // the last one of the lane before
    for (; word <= last; ++word, ++count) {
      most = std::max<unsigned>(most, ++in_bank[word % banks]);
    }
    next = last + 1;
  }
  return Cost{most, (count + banks - 1) / banks, 0};
}

/// The largest number of distinct words in one bank, and what it would be without conflicts.
Cost bank_cost(const WarpAccess& access, std::uint32_t mask) {
  if (mask != 0 && are_alone(access, mask)) return {1, 1, 0};
  if (const auto cost = rising_cost(access, mask)) return *cost;
  BankedWords words;
  for_each_unit(access, mask, word_bytes, [&](std::uint64_t word) { words.add(word); });
  return {words.most(), (words.count() + banks - 1) / banks, 0};
}

/// For x = 1 or for x = 2, every two active lanes i and i XOR x have equal addresses.
bool pairs(const WarpAccess& access, std::uint32_t mask) {
  for (const unsigned distance : {1u, 2u}) {
    bool equal = true;
    for_each_lane(mask, [&](unsigned lane) {
      const unsigned other = lane ^ distance;
      if ((mask >> other & 1) != 0) equal &= access.address[lane] == access.address[other];
    });
    if (equal) return true;
  }
  return false;
}

/// True if a load may serve two groups of lanes at once, as long as that makes no bank conflict.
bool may_merge(const WarpAccess& access, std::uint32_t merged) {
  // 128-bit loads by one half of a warp have the room that the other half does not use.
  const bool has_one_half = (access.mask & 0xffff) == 0 || (access.mask >> 16) == 0;
  return (access.width >= 16 && has_one_half) || pairs(access, merged);
}

/// Calls visit(mask) for each group of lanes that a load or store is served in.
template <class Visit>
void for_each_group(const WarpAccess& access, SharedAccess kind, Visit visit) {
  const bool is_load = kind == SharedAccess::load;
  const unsigned group_lanes =
      access.width <= word_bytes ? warp_lanes : warp_lanes * word_bytes / access.width;
  const unsigned merged_lanes = std::min(2 * group_lanes, warp_lanes);
  for (unsigned first = 0; first < warp_lanes; first += merged_lanes) {
    const std::uint32_t merged = access.mask & lanes_from(first, merged_lanes);
    const bool is_one_group = merged_lanes == group_lanes;
    if (is_one_group ||
        (is_load && may_merge(access, merged) && bank_cost(access, merged).transactions <= 1)) {
      visit(merged);
    } else {
      visit(access.mask & lanes_from(first, group_lanes));
      visit(access.mask & lanes_from(first + group_lanes, group_lanes));
    }
  }
}

/// For each active lane, how many lower active lanes have its address: the round it is served in.
std::array<unsigned, warp_lanes> rounds_of(const WarpAccess& access, std::uint32_t mask) {
  std::array<unsigned, warp_lanes> round{};
  for_each_lane(mask, [&](unsigned lane) {
    for_each_lane(mask & lanes_from(0, lane), [&](unsigned lower) {
      if (access.address[lower] == access.address[lane]) ++round[lane];
    });
  });
  return round;
}

/// Calls visit(mask) for the lanes of each round of an atomic.
template <class Visit>
void for_each_round(const WarpAccess& access, std::uint32_t mask, Visit visit) {
  const std::array<unsigned, warp_lanes> round = rounds_of(access, mask);
  std::array<std::uint32_t, warp_lanes> lanes_of{};
  for_each_lane(mask, [&](unsigned lane) { lanes_of[round[lane]] |= 1u << lane; });
  for (const std::uint32_t lanes : lanes_of) {
    if (lanes != 0) visit(lanes);
  }
}

/// The largest number of active lanes in one bank: equal addresses add up, and do so even when
/// nothing else is in their bank.
Cost bank_atomic_cost(const WarpAccess& access, std::uint32_t mask) {
  std::array<unsigned, banks> in_bank{};
  Cost cost;
  for_each_lane(mask, [&](unsigned lane) {
    unsigned& lanes = in_bank[access.address[lane] / word_bytes % banks];
    cost.transactions = std::max(cost.transactions, ++lanes);
  });
  for_each_round(access, mask, [&](std::uint32_t) { ++cost.ideal; });
  return cost;
}

unsigned sectors_for(unsigned bytes) { return (bytes + sector_bytes - 1) / sector_bytes; }

/// Accesses are aligned to their width, so two lanes either share all bytes or none.
unsigned distinct_bytes(const WarpAccess& access) {
  return distinct_units(access, access.mask, access.width) * access.width;
}

}  // namespace

/// Atomics of two words a lane are taken in halves, as stores are.
Cost shared_cost(const WarpAccess& access, SharedAccess kind) {
  Cost sum;
  for_each_group(access, kind, [&](std::uint32_t group) {
    const Cost cost =
        kind == SharedAccess::atomic ? bank_atomic_cost(access, group) : bank_cost(access, group);
    sum.transactions += cost.transactions;
    sum.ideal += cost.ideal;
  });
  return sum;
}

WarpAccess matrix_rows(const WarpAccess& access) {
  WarpAccess rows = access;
  rows.width = 16;
  return rows;
}

std::array<unsigned, warp_lanes> shared_passes(const WarpAccess& access, SharedAccess kind) {
  std::array<unsigned, warp_lanes> passes{};
  unsigned before = 0;
  for_each_group(access, kind, [&](std::uint32_t group) {
    if (are_alone(access, group)) {
      for_each_lane(group, [&](unsigned lane) { passes[lane] = before + 1; });
      before += group != 0 ? 1 : 0;
      return;
    }
    BankedWords words;
    for_each_lane(group, [&](unsigned lane) {
      const std::uint64_t first = access.address[lane] / word_bytes;
      const std::uint64_t last = (access.address[lane] + access.width - 1) / word_bytes;
      unsigned pass = 0;
      if (kind == SharedAccess::atomic) {
        pass = words.add_another(first);  // its lanes never share one
      } else {
        for (std::uint64_t word = first; word <= last; ++word)
          pass = std::max(pass, words.add(word));
      }
      passes[lane] = before + pass;
    });
    before += words.most();
  });
  return passes;
}

bool is_calibrated(const WarpAccess& access, SharedAccess kind) {
  if (kind != SharedAccess::load || access.width < 16 || access.mask == ~0u) return true;
  return (access.mask & 0xffff) == 0 || (access.mask >> 16) == 0;
}

Cost global_cost(const WarpAccess& access) {
  const unsigned bytes = distinct_bytes(access);
  return {distinct_units(access, access.mask, sector_bytes), sectors_for(bytes), bytes};
}

Cost cluster_cost(const WarpAccess& access, bool takes_turns) {
  Cost cost = global_cost(access);
  if (!takes_turns) return cost;
  cost.transactions = 0;
  for_each_round(access, access.mask, [&](std::uint32_t lanes) {
    cost.transactions += distinct_units(access, lanes, sector_bytes);
  });
  return cost;
}

}  // namespace warpmeter::model
